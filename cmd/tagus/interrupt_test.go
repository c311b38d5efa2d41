package main

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/graph"
)

// A verb is to end within a second of an interrupt; the rest of this is for a machine that has other things to do.
const interruptLimit = 3 * time.Second

// TestInterrupt ends each verb while it waits for something.
func TestInterrupt(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TAGUS_DIR", dir)
	t.Setenv("ROS_DOMAIN_ID", "0")
	for _, c := range []struct {
		args  string
		topic string // that exists once the verb waits; "warning" if that tells; "" if neither does
	}{
		{"topic echo /none std_msgs/msg/String", "/none"},
		{"topic echo /none --spin-time 60", ""},
		{"topic hz /none", "warning"},
		{"topic bw /none", "warning"},
		{"topic delay /none", "warning"},
		{"topic pub /none std_msgs/msg/String -1", "/none"},
		{"topic pub /none std_msgs/msg/String -r 100", "/none"},
		{"topic pub /none std_msgs/msg/String -1 -w 0 --keep-alive 60", "/none"},
	} {
		t.Run(c.args, func(t *testing.T) {
			ctx, interrupt := context.WithCancel(context.Background())
			defer interrupt()
			var out syncBuffer
			done := make(chan int, 1)
			go func() {
				done <- execute(ctx, env{in: strings.NewReader(""), out: &out, err: &out, now: time.Now}, strings.Fields(c.args))
			}()
			switch c.topic {
			case "warning":
				out.waitFor(t, "WARNING: topic [/none] does not appear to be published yet\n")
			case "":
				waitForMember(t, dir)
			default:
				waitForTopic(t, c.topic)
			}
			begin := time.Now()
			interrupt()
			select {
			case status := <-done:
				if status != 0 {
					t.Errorf("status %d, output %s", status, out.String())
				}
				t.Logf("ended after %v", time.Since(begin))
			case <-time.After(interruptLimit):
				t.Fatalf("still at work %v after the interrupt", interruptLimit)
			}
		})
	}
}

func waitForTopic(t *testing.T, topic string) {
	t.Helper()
	waitForGraph(t, func(g *graph.Graph) bool {
		return g.Count(graph.KindPublisher, topic)+g.Count(graph.KindSubscription, topic) > 0
	})
}

// waitForMember waits for a verb that has joined and has no endpoint yet: its files tell.
func waitForMember(t *testing.T, dir string) {
	t.Helper()
	for begin := time.Now(); time.Since(begin) < 30*time.Second; time.Sleep(time.Millisecond) {
		if files, _ := filepath.Glob(dir + "/0/*.sock"); len(files) > 0 {
			return
		}
	}
	t.Fatal("nobody has joined")
}

func waitForGraph(t *testing.T, done func(*graph.Graph) bool) {
	t.Helper()
	d, err := tagus.Join()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.WatchGraph(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	defer stop()
	if err := d.Graph().Wait(ctx, done); err != nil {
		t.Fatal(err)
	}
}

// syncBuffer is an output that can be waited on.
type syncBuffer struct {
	mu      sync.Mutex
	b       bytes.Buffer
	changed chan struct{}
}

var _ io.Writer = (*syncBuffer)(nil)

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func (s *syncBuffer) waitFor(t *testing.T, text string) {
	t.Helper()
	limit := time.After(30 * time.Second)
	for {
		s.mu.Lock()
		if strings.Contains(s.b.String(), text) {
			s.mu.Unlock()
			return
		}
		if s.changed == nil {
			s.changed = make(chan struct{})
		}
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-changed:
		case <-limit:
			t.Fatalf("output has no %q: %s", text, s.String())
		}
	}
}
