package main

import (
	"context"
	"encoding/json"
	"io"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/internal/bench"
	"github.com/tagus-ros/tagus/internal/bench/machine"
	"github.com/tagus-ros/tagus/internal/bench/record"
	"github.com/tagus-ros/tagus/internal/clock"
	"github.com/tagus-ros/tagus/msgs/sensor_msgs"
	"github.com/tagus-ros/tagus/qos"
)

const demoTopic = "image_raw" // in namespace /camera

// newDemoRole is the hidden verb of one of the demo's processes. It runs until its standard input ends, so that it never outlives the
// demo; an interrupt at the terminal is not for it.
func newDemoRole(e env, name string, fn func(ctx context.Context, e env, f *demoFlags) error) *cobra.Command {
	var f demoFlags
	cmd := &cobra.Command{
		Use:    name,
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: verb(func(*cobra.Command, []string) error {
			signal.Ignore(syscall.SIGINT)
			if err := f.check(); err != nil {
				return usage{err}
			}
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			go func() {
				_, _ = io.Copy(io.Discard, e.in)
				cancel()
			}()
			return fn(ctx, e, &f)
		}),
	}
	f.add(cmd)
	return cmd
}

func joinDemo(f *demoFlags) (*tagus.Domain, error) {
	if f.domain < 0 {
		return tagus.Join()
	}
	return tagus.Join(tagus.WithDomainID(f.domain))
}

// runCamera publishes images by loan: the pattern is written where the viewer reads it.
func runCamera(ctx context.Context, e env, f *demoFlags) error {
	d, err := joinDemo(f)
	if err != nil {
		return err
	}
	defer d.Close()
	n, err := d.NewNode("camera", tagus.WithNamespace("/camera"))
	if err != nil {
		return err
	}
	pub, err := tagus.NewPublisher[sensor_msgs.Image](n, demoTopic, qos.SensorData())
	if err != nil {
		return err
	}
	shape := &sensor_msgs.Image{
		Width: uint32(f.width), Height: uint32(f.height), Encoding: "rgb8", Step: uint32(3 * f.width), Data: make([]byte, f.bytes()),
	}
	shape.Header.FrameID = "camera"
	var line cameraLine
	shoot := func() error {
		l, err := pub.Loan(shape)
		if err != nil {
			return err
		}
		m := l.Msg()
		bench.Fill(m.Data, uint32(line.Sent+1)) // the pattern moves with the number
		now := e.now()
		m.Header.Stamp.Sec, m.Header.Stamp.Nanosec = int32(now.Unix()), uint32(now.Nanosecond())
		return l.Publish()
	}
	if _, err := n.NewTimer(time.Duration(float64(time.Second)/f.rate), func(context.Context, tagus.TimerInfo) {
		if err := shoot(); err != nil {
			if line.Failed == 0 {
				line.Error = err.Error()
			}
			line.Failed++
			return
		}
		line.Sent++
	}); err != nil {
		return err
	}
	say := newSayer(e)
	if _, err := n.NewTimer(time.Second, func(context.Context, tagus.TimerInfo) {
		line.Faults = say.second()
		say.line(line)
	}); err != nil {
		return err
	}
	if err := d.Spin(ctx); err != nil {
		return err
	}
	line.Done, line.Copied, line.Faults = true, pub.Stats().Copied, say.total
	say.line(line)
	return say.err
}

// runViewer checks every byte of every image where it lies.
func runViewer(ctx context.Context, e env, f *demoFlags) error {
	d, err := joinDemo(f)
	if err != nil {
		return err
	}
	defer d.Close()
	n, err := d.NewNode("viewer", tagus.WithNamespace("/camera"))
	if err != nil {
		return err
	}
	v := &viewer{}
	if v.sub, err = tagus.NewSubscription(n, demoTopic, qos.SensorData(), v.see); err != nil {
		return err
	}
	say := newSayer(e)
	if _, err := n.NewTimer(time.Second, func(context.Context, tagus.TimerInfo) {
		l := v.second()
		l.Faults = say.second()
		say.line(l)
	}); err != nil {
		return err
	}
	if err := d.Spin(ctx); err != nil {
		return err
	}
	l := v.all()
	l.Faults = say.total
	say.line(l)
	return say.err
}

// viewer is what the viewer process saw. It lives on the executor's thread.
type viewer struct {
	sub               *tagus.Subscription[sensor_msgs.Image]
	received, damaged uint64
	path              string
	first, last       int64
	latency, gaps     []int64 // of all images, ns
	shown             int     // of latency: what the lines before told
	shownGaps         int
}

func (v *viewer) see(_ context.Context, s *tagus.Sample[sensor_msgs.Image]) {
	now := clock.Mono()
	v.latency = append(v.latency, int64(s.Info.Latency))
	if v.last > 0 {
		v.gaps = append(v.gaps, now-v.last)
	} else {
		v.first = now
	}
	v.last = now
	v.received++
	v.path = s.Info.Path.String()
	m := s.Msg
	if int(m.Step)*int(m.Height) != len(m.Data) || m.Encoding != "rgb8" || !bench.Intact(m.Data, uint32(s.Info.Sequence)) {
		v.damaged++
	}
}

func (v *viewer) line(latency, gaps []int64, over int64) viewerLine {
	l := viewerLine{Received: v.received, Dropped: v.sub.Stats().Lost, Damaged: v.damaged, Path: v.path}
	s := record.Summarise(append([]int64(nil), latency...))
	l.P50, l.P99, l.Max = s.P50, s.P99, s.Max
	l.Jitter = record.Summarise(append([]int64(nil), gaps...)).SD
	if over > 0 {
		l.Rate = float64(len(gaps)) * 1e9 / float64(over)
	}
	return l
}

// second tells what came since the last line.
func (v *viewer) second() viewerLine {
	gaps := v.gaps[v.shownGaps:]
	var over int64
	for _, g := range gaps {
		over += g
	}
	l := v.line(v.latency[v.shown:], gaps, over)
	v.shown, v.shownGaps = len(v.latency), len(v.gaps)
	return l
}

// all tells about the whole time.
func (v *viewer) all() viewerLine {
	l := v.line(v.latency, v.gaps, v.last-v.first)
	l.Done = true
	return l
}

// sayer writes lines of JSON to the demo and counts page faults between them.
type sayer struct {
	enc     *json.Encoder
	counter *machine.Counter
	before  int64
	seconds int
	total   int64 // page faults since the first second
	err     error // of the first line that could not be written
}

func newSayer(e env) *sayer {
	s := &sayer{enc: json.NewEncoder(e.out), counter: machine.NewCounter(nil)}
	s.before = s.counter.Light().MinorFaults
	return s
}

func (s *sayer) line(v any) {
	if err := s.enc.Encode(v); s.err == nil {
		s.err = err
	}
}

// second returns the page faults since it was last called.
func (s *sayer) second() int64 {
	now := s.counter.Light().MinorFaults
	d := now - s.before
	s.before = now
	if s.seconds++; s.seconds > 1 {
		s.total += d
	}
	return d
}
