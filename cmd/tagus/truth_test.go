package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/internal/clock"
	"github.com/tagus-ros/tagus/msgs/sensor_msgs"
	"github.com/tagus-ros/tagus/qos"
)

// TestRatesAreTrue compares what "topic hz" and "topic bw" tell of three publishers at once with what these did: a camera, a map, a controller.
func TestRatesAreTrue(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 12 s")
	}
	d, n := testDomain(t)
	type source struct {
		topic string
		hz    float64
		bytes int
		pub   *tagus.Publisher[sensor_msgs.Image]
		loop  *pubLoop
		last  int64 // when the last message was published
	}
	sources := []*source{{topic: "/camera", hz: 30, bytes: 6_000_000}, {topic: "/map", hz: 10, bytes: 200_000}, {topic: "/joint", hz: 1000, bytes: 100}}
	for _, s := range sources {
		var err error
		if s.pub, err = tagus.NewPublisher[sensor_msgs.Image](n, s.topic, qos.SensorData()); err != nil {
			t.Fatal(err)
		}
		shape := sensor_msgs.Image{Data: make([]byte, s.bytes)}
		publish := func([]byte) error {
			l, err := s.pub.Loan(&shape)
			if err == nil {
				err = l.Publish()
			}
			s.last = clock.Mono()
			return err
		}
		// As "topic pub" does it, so that a busy machine does not make the rate an uneven one.
		s.loop = &pubLoop{f: &pubFlags{}, send: publish, start: clock.Mono()}
		s.loop.publish()
		period := time.Duration(1e9 / s.hz)
		if _, err := n.NewTimer(period, func(context.Context, tagus.TimerInfo) {
			if s.loop.tick(clock.Mono(), int64(period)); s.loop.err != nil {
				t.Error(s.loop.err)
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	spun := make(chan error, 1)
	go func() { spun <- d.Spin(ctx) }()

	var outs [6]bytes.Buffer
	var errs syncBuffer
	ends := make(chan int, len(outs))
	for i, s := range sources {
		for j, verb := range []string{"hz", "bw"} {
			args := []string{"topic", verb, s.topic, "--time", "11.5", "--json", "-w", "100000"}
			go func() {
				ends <- execute(context.Background(), env{in: strings.NewReader(""), out: &outs[2*i+j], err: &errs, now: time.Now}, args)
			}()
		}
	}
	for range outs {
		if status := <-ends; status != 0 {
			t.Errorf("status %d: %s", status, errs.String())
		}
	}
	stop()
	if err := <-spun; err != nil {
		t.Fatal(err)
	}
	for i, s := range sources {
		truth := float64(s.loop.count-1) / (float64(s.last-s.loop.start) / 1e9)
		var r topicRate
		lastLine(t, &outs[2*i], &r)
		var b topicBandwidth
		lastLine(t, &outs[2*i+1], &b)
		payload := b.Mean
		t.Logf("%s: published at %.3f Hz; hz says %.3f with %d missed; bw says %.3f with %d missed", s.topic, truth, r.Rate, r.Missed, b.Rate/payload, b.Missed)
		// One in a hundred, and the ends of the window, which a busy machine moves.
		busy := 0.2 / (float64(s.last-s.loop.start) / 1e9)
		if math.Abs(r.Rate/truth-1) > 0.01+busy {
			t.Errorf("%s: hz tells %.3f Hz, the publisher had %.3f", s.topic, r.Rate, truth)
		}
		if payload < float64(s.bytes) || payload > float64(s.bytes+200) {
			t.Errorf("%s: bw tells %.1f bytes, want %d and a head", s.topic, payload, s.bytes)
		}
		// It counts from the oldest message until now, which is up to one message too many.
		if more := b.Rate / payload / truth; more < 0.98-busy || more > 1.02+busy+1/float64(s.loop.count-1) {
			t.Errorf("%s: bw tells %.0f bytes/s, the publisher had %.0f", s.topic, b.Rate, truth*payload)
		}
	}
}

// lastLine decodes the last line of an output.
func lastLine(t *testing.T, out *bytes.Buffer, v any) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), v); err != nil {
		t.Fatalf("%q: %v", lines[len(lines)-1], err)
	}
}
