package exec

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tagus-ros/tagus/internal/wake"
)

func newExecutor(t testing.TB, o Options) *Executor {
	t.Helper()
	a, err := wake.NewHeapArea(1)
	if err != nil {
		t.Fatal(err)
	}
	o.Area = a
	e, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// spin runs e in a goroutine of its own and returns when the loop is running; the function returned ends it and waits for
// its end.
func spin(t testing.TB, e *Executor) (stop func()) {
	t.Helper()
	first := newCounter(e)
	leaf, err := e.Attach(first)
	if err != nil {
		t.Fatal(err)
	}
	e.area.Signal(leaf)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Spin(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			select {
			case err := <-done:
				if err != nil {
					t.Errorf("Spin: %v", err)
				}
			case <-time.After(10 * time.Second):
				t.Error("Spin does not return")
			}
		})
	}
	t.Cleanup(stop)
	wait(t, first.ran, "first callback")
	e.Detach(leaf)
	return stop
}

// counter is a source and a task: each poll makes one callback ready.
type counter struct {
	e     *Executor
	entry Entry
	polls atomic.Int64
	runs  atomic.Int64
	ran   chan struct{}
}

func newCounter(e *Executor) *counter {
	c := &counter{e: e, ran: make(chan struct{}, 1)}
	c.entry.Task = c
	return c
}

func (c *counter) Poll() {
	c.polls.Add(1)
	c.e.Ready(&c.entry)
}

func (c *counter) Run(context.Context) bool {
	c.runs.Add(1)
	select {
	case c.ran <- struct{}{}:
	default:
	}
	return false
}

func wait(t testing.TB, ch <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-ch:
	case <-time.After(10 * time.Second):
		t.Fatalf("no %s within 10 s", what)
	}
}

func TestSignalRunsTask(t *testing.T) {
	e := newExecutor(t, Options{CPU: -1})
	c := newCounter(e)
	leaf, err := e.Attach(c)
	if err != nil {
		t.Fatal(err)
	}
	spin(t, e)
	for i := range 1000 {
		if !e.area.Signal(leaf) {
			t.Fatal("leaf refused")
		}
		wait(t, c.ran, "callback")
		if n := c.runs.Load(); n != int64(i+1) {
			t.Fatalf("%d callbacks after %d signals", n, i+1)
		}
	}
}

func TestNothingBeforeSpinAndAfter(t *testing.T) {
	e := newExecutor(t, Options{CPU: -1})
	c := newCounter(e)
	leaf, _ := e.Attach(c)
	e.area.Signal(leaf)
	if c.polls.Load() != 0 {
		t.Fatal("polled before Spin")
	}
	stop := spin(t, e)
	wait(t, c.ran, "callback for the signal before Spin")
	stop()
	n := c.runs.Load()
	e.area.Signal(leaf)
	if c.runs.Load() != n {
		t.Fatal("ran after Spin")
	}
	spin(t, e)
	wait(t, c.ran, "callback in the second Spin")
}

func TestSpinTwice(t *testing.T) {
	e := newExecutor(t, Options{CPU: -1})
	spin(t, e)
	e.Call(func() {})
	if err := e.Spin(context.Background()); !errors.Is(err, ErrSpinning) {
		t.Errorf("second Spin: %v, want %v", err, ErrSpinning)
	}
	e.Call(func() {
		if err := e.Spin(context.Background()); !errors.Is(err, ErrSpinning) {
			t.Errorf("Spin in a callback: %v, want %v", err, ErrSpinning)
		}
	})
}

func TestTimer(t *testing.T) {
	e := newExecutor(t, Options{CPU: -1})
	ticks := make(chan struct{}, 1000)
	tm, err := e.NewTimer(time.Millisecond, func(_ context.Context, late time.Duration) {
		if late < 0 {
			t.Errorf("called %v early", -late)
		}
		select {
		case ticks <- struct{}{}:
		default:
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	spin(t, e)
	for range 100 {
		wait(t, ticks, "tick")
	}
	tm.Stop()
	for len(ticks) > 0 {
		<-ticks
	}
	e.Call(func() {})
	if len(ticks) != 0 {
		t.Error("tick after Stop")
	}
}
