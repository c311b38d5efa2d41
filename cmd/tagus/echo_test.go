package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/msgs/std_msgs"
	"github.com/tagus-ros/tagus/qos"
)

// echoing runs "topic echo" beside the domain that the test publishes in.
type echoing struct {
	out, err syncBuffer
	stop     context.CancelFunc
	done     chan int
}

func startEcho(t *testing.T, args ...string) *echoing {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	r := &echoing{stop: stop, done: make(chan int, 1)}
	go func() {
		r.done <- execute(ctx, env{in: strings.NewReader(""), out: &r.out, err: &r.err, now: time.Now}, append([]string{"topic", "echo"}, args...))
	}()
	t.Cleanup(func() { r.end(t) })
	return r
}

// end interrupts the verb and waits for its end.
func (r *echoing) end(t *testing.T) {
	t.Helper()
	r.stop()
	select {
	case status := <-r.done:
		r.done <- status
		if status != 0 {
			t.Errorf("status %d: %s", status, r.err.String())
		}
	case <-time.After(10 * time.Second):
		t.Error("echo does not end")
	}
}

func testDomain(t *testing.T) (*tagus.Domain, *tagus.Node) {
	t.Helper()
	t.Setenv("TAGUS_DIR", t.TempDir())
	t.Setenv("ROS_DOMAIN_ID", "0")
	d, err := tagus.Join()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	n, err := d.NewNode("talker")
	if err != nil {
		t.Fatal(err)
	}
	return d, n
}

func matched(t *testing.T, p interface {
	WaitForSubscriptions(context.Context, int) error
}) {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	defer stop()
	if err := p.WaitForSubscriptions(ctx, 1); err != nil {
		t.Fatal(err)
	}
}

// TestEchoQoS checks that the subscription fits what publishers offer, and the notice when they differ.
func TestEchoQoS(t *testing.T) {
	for _, c := range []struct {
		name string
		pubs []qos.Profile
		want string
	}{
		{"reliable", []qos.Profile{qos.Default()}, ""},
		{"best effort", []qos.Profile{qos.SensorData()}, ""},
		{"mixed", []qos.Profile{qos.Default(), qos.SensorData()},
			"Some, but not all, publishers are offering QoSReliabilityPolicy.RELIABLE. Falling back to QoSReliabilityPolicy.BEST_EFFORT as it will connect to all publishers\n"},
		{"latched", []qos.Profile{qos.ActionStatus()}, ""},
		{"latched and not", []qos.Profile{qos.ActionStatus(), qos.Default()},
			"Some, but not all, publishers are offering QoSDurabilityPolicy.TRANSIENT_LOCAL. Falling back to QoSDurabilityPolicy.VOLATILE as it will connect to all publishers\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, n := testDomain(t)
			var pubs []*tagus.Publisher[std_msgs.String]
			for _, q := range c.pubs {
				p, err := tagus.NewPublisher[std_msgs.String](n, "t", q)
				if err != nil {
					t.Fatal(err)
				}
				pubs = append(pubs, p)
			}
			r := startEcho(t, "/t")
			for _, p := range pubs {
				matched(t, p)
				if err := p.Publish(&std_msgs.String{Data: "hi"}); err != nil {
					t.Fatal(err)
				}
			}
			r.out.waitFor(t, strings.Repeat("data: hi\n---\n", len(pubs)))
			r.end(t)
			if got, want := r.out.String(), c.want+strings.Repeat("data: hi\n---\n", len(pubs)); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// TestEchoMalformed checks that what does not decode is told, and does not stop the rest.
func TestEchoMalformed(t *testing.T) {
	_, n := testDomain(t)
	ts := (*std_msgs.String)(nil).ROSType()
	p, err := tagus.NewSerializedPublisher(n, "t", ts.Name, ts.Hash, ts.Definition(), qos.Default())
	if err != nil {
		t.Fatal(err)
	}
	r := startEcho(t, "/t")
	matched(t, p)
	for _, payload := range []string{"\x00\x01\x00\x00\xff\xff\xff\x7fx", "\x00\x01\x00\x00", "\x00\x01\x00\x00\x03\x00\x00\x00hi\x00"} {
		if err := p.Publish([]byte(payload)); err != nil {
			t.Fatal(err)
		}
	}
	r.out.waitFor(t, "data: hi\n---\n")
	r.end(t)
	if got := r.err.String(); strings.Count(got, "a message on /t is no std_msgs/msg/String") != 1 {
		t.Errorf("got %q", got)
	}
}

// TestEchoLost checks what is said about lost messages: the callback waits until the queue has given up some.
func TestEchoLost(t *testing.T) {
	_, n := testDomain(t)
	p, err := tagus.NewPublisher[std_msgs.String](n, "t", qos.Default())
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"/t"}, {"/t", "--no-lost-messages"}, {"/t", "--csv"}} {
		gate := make(chan struct{})
		var out, errOut syncBuffer
		slow := &slowWriter{w: &out, gate: gate, busy: make(chan struct{}, 1)}
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan int, 1)
		go func() {
			done <- execute(ctx, env{in: strings.NewReader(""), out: slow, err: &errOut, now: time.Now}, append([]string{"topic", "echo", "--qos-depth", "2"}, args...))
		}()
		matched(t, p)
		publish := func(text string) {
			if err := p.Publish(&std_msgs.String{Data: text}); err != nil {
				t.Fatal(err)
			}
		}
		publish("first")
		<-slow.busy
		for _, text := range []string{"lost", "lost", "lost", "kept", "last"} {
			publish(text)
		}
		close(gate)
		out.waitFor(t, "last")
		stop()
		if status := <-done; status != 0 {
			t.Errorf("status %d: %s", status, errOut.String())
		}
		const text = "A message was lost!!!\n\ttotal count change:3\n\ttotal count: 3---\n"
		got := out.String()
		switch {
		case len(args) == 1 && strings.Count(got, text) != 1, len(args) > 1 && strings.Contains(got, "lost"):
			t.Errorf("%v: got %q", args, got)
		case len(args) > 1 && args[1] == "--csv" && !strings.Contains(errOut.String(), "3 messages were lost, 3 so far"):
			t.Errorf("%v: got %q", args, errOut.String())
		}
		ctx, stop = context.WithTimeout(context.Background(), 30*time.Second)
		for p.Matched() > 0 && ctx.Err() == nil { // the next one is to find the topic without the last one
			time.Sleep(time.Millisecond)
		}
		stop()
	}
}

// slowWriter waits at its gate.
type slowWriter struct {
	w    *syncBuffer
	gate chan struct{}
	busy chan struct{}
}

func (s *slowWriter) Write(p []byte) (int, error) {
	select {
	case s.busy <- struct{}{}:
	default:
	}
	<-s.gate
	return s.w.Write(p)
}
