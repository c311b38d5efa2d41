package lifecycle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tagus-ros/tagus"
)

// newNode makes a node in a domain of its own; text gives what has been logged there.
func newNode(t *testing.T, cb Callbacks) (n *Node, text func() string) {
	t.Helper()
	b := &lockedBuffer{}
	d, err := tagus.Join(tagus.WithDir(t.TempDir()), tagus.WithDomainID(7), tagus.WithLogHandler(slog.NewTextHandler(b, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	n, err = NewNode(d, "driver", cb)
	if err != nil {
		t.Fatal(err)
	}
	return n, b.text
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func TestRetryPause(t *testing.T) {
	for _, c := range []struct {
		r    Retry
		want string
	}{
		{Retry{}, "1s 2s 4s 8s 16s 30s 30s"},
		{Retry{Delay: time.Millisecond, MaxDelay: 5 * time.Millisecond}, "1ms 2ms 4ms 5ms 5ms 5ms 5ms"},
		{Retry{Delay: time.Minute}, "1m0s 1m0s 1m0s 1m0s 1m0s 1m0s 1m0s"},
		{Retry{Delay: -1, MaxDelay: -1}, "1s 2s 4s 8s 16s 30s 30s"},
		{Retry{Delay: time.Second, MaxDelay: time.Millisecond}, "1ms 1ms 1ms 1ms 1ms 1ms 1ms"},
	} {
		var got []string
		for i := 1; i <= 7; i++ {
			got = append(got, c.r.pause(i).String())
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%+v: %s, want %s", c.r, s, c.want)
		}
	}
	if d := (Retry{Delay: time.Hour, MaxDelay: 1<<63 - 1}).pause(1000); d <= 0 {
		t.Errorf("the wait has turned over: %v", d)
	}
}

// TestAutostart is the second half of LC-3: configure fails three times and succeeds, and the node ends in active.
func TestAutostart(t *testing.T) {
	var tries atomic.Int32
	n, log := newNode(t, Callbacks{Configure: func(context.Context, State) error {
		if i := tries.Add(1); i <= 3 {
			return fmt.Errorf("no sensor, attempt %d", i)
		}
		return nil
	}})
	if err := n.Autostart(Active, Retry{Delay: time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	if _, err := n.WaitFor(soon(t), Active); err != nil {
		t.Fatal(err)
	}
	if tries.Load() != 4 {
		t.Errorf("%d attempts", tries.Load())
	}
	for i := 1; i <= 3; i++ {
		if !strings.Contains(log(), fmt.Sprint("no sensor, attempt ", i)) {
			t.Errorf("attempt %d is not in the log", i)
		}
	}
	// It has done its work: the node stays where it is put.
	if err := n.Deactivate(soon(t)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(5 * time.Millisecond)
	if n.State() != Inactive {
		t.Error(n.State())
	}
}

func TestReach(t *testing.T) {
	broken := errors.New("broken")
	var failConfigure, faultActivate atomic.Int32
	n, _ := newNode(t, Callbacks{
		Configure: func(context.Context, State) error {
			if failConfigure.Add(-1) >= 0 {
				return broken
			}
			return nil
		},
		Activate: func(context.Context, State) error {
			if faultActivate.Add(-1) >= 0 {
				return Fault(broken)
			}
			return nil
		},
	})
	quick := Retry{Attempts: 3, Delay: time.Microsecond}
	for _, goal := range []State{Inactive, Unconfigured, Active, Active, Unconfigured, Inactive, Active, Inactive} {
		if err := n.Reach(soon(t), goal, quick); err != nil || n.State() != goal {
			t.Fatalf("%v: %v in %v", goal, err, n.State())
		}
	}
	if err := n.Reach(soon(t), Configuring, quick); err == nil {
		t.Error("a transition state was reached")
	}
	// An error on the way leads back to unconfigured, from where it goes on.
	faultActivate.Store(2)
	if err := n.Reach(soon(t), Active, quick); err != nil {
		t.Fatal(err)
	}
	if err := n.Reach(soon(t), Unconfigured, quick); err != nil {
		t.Fatal(err)
	}
	failConfigure.Store(3)
	err := n.Reach(soon(t), Active, quick)
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "3 attempts") || n.State() != Unconfigured {
		t.Errorf("%v in %v", err, n.State())
	}
	ctx, cancel := context.WithCancel(context.Background())
	failConfigure.Store(1 << 30)
	go cancel()
	if err := n.Reach(ctx, Active, Retry{Delay: time.Hour}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := n.Reach(soon(t), Finalized, quick); err != nil {
		t.Fatal(err)
	}
	if err := n.Reach(soon(t), Active, quick); !errors.Is(err, ErrFinalized) {
		t.Error(err)
	}
}

// Reach waits for the changes of others and goes on from where they lead; one that others make in its wait ends that wait.
func TestReachAmongOthers(t *testing.T) {
	began, hold := make(chan struct{}, 10), make(chan error, 10)
	n, _ := newNode(t, Callbacks{Configure: func(context.Context, State) error {
		began <- struct{}{}
		return <-hold
	}})
	reached := make(chan error, 1)
	go func() { reached <- n.Reach(context.Background(), Active, Retry{Delay: time.Hour}) }()
	<-began
	hold <- errors.New("no")
	if _, err := n.WaitFor(soon(t), Unconfigured); err != nil {
		t.Fatal(err)
	}
	other := make(chan error, 1)
	go func() { other <- n.Configure(soon(t)) }()
	<-began
	hold <- nil
	if err := <-other; err != nil {
		t.Fatal(err)
	}
	if err := <-reached; err != nil || n.State() != Active {
		t.Errorf("%v in %v", err, n.State())
	}
}

// An automatic start that cannot succeed ends with the node, or says in the log that it has given up.
func TestAutostartInVain(t *testing.T) {
	n, log := newNode(t, Callbacks{
		Configure: func(context.Context, State) error { panic("no hardware") },
		Error:     func(context.Context, State, error) error { return errors.New("nor hope") },
	})
	if err := n.Autostart(Active, Retry{}); err != nil {
		t.Fatal(err)
	}
	n.work.Wait()
	if s := log(); n.State() != Finalized || !strings.Contains(s, "the automatic start failed") {
		t.Errorf("%v: %s", n.State(), s)
	}
	n, _ = newNode(t, Callbacks{Configure: func(context.Context, State) error { return errors.New("never") }})
	if err := n.Autostart(Active, Retry{Delay: time.Hour}); err != nil {
		t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
}
