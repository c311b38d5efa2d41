package exec

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tagus-ros/tagus/internal/futex"
	"github.com/tagus-ros/tagus/internal/wake"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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
			case <-time.After(20 * time.Second):
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

// wait receives from ch, or ends the test.
func wait(t testing.TB, ch <-chan struct{}, what string) {
	t.Helper()
	timer := time.NewTimer(20 * time.Second)
	defer timer.Stop()
	select {
	case <-ch:
	case <-timer.C:
		t.Fatalf("no %s within 20 s", what)
	}
}

func TestNewNeedsArea(t *testing.T) {
	if _, err := New(Options{}); !errors.Is(err, ErrNoArea) {
		t.Errorf("%v, want %v", err, ErrNoArea)
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

// TestNothingAfterSpinReturned ends Spin at random moments under fire from signals, timers and calls.
func TestNothingAfterSpinReturned(t *testing.T) {
	e := newExecutor(t, Options{CPU: -1})
	var spinning atomic.Bool
	check := func() {
		if !spinning.Load() {
			t.Error("callback without Spin")
		}
	}
	var entry Entry
	entry.Task = taskFunc(func(context.Context) bool { check(); return rand.IntN(4) != 0 })
	leaf, _ := e.Attach(pollFunc(func() { check(); e.Ready(&entry) }))
	tm, _ := e.NewTimer(20*time.Microsecond, func(context.Context, time.Duration) { check() })
	defer tm.Stop()
	end := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-end:
					return
				default:
					e.area.Signal(leaf)
				}
			}
		})
	}
	for range 200 {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(time.Duration(rand.IntN(1000))*time.Microsecond, cancel)
		spinning.Store(true)
		if err := e.Spin(ctx); err != nil {
			t.Error(err)
		}
		spinning.Store(false)
		cancel()
	}
	close(end)
	wg.Wait()
}

type pollFunc func()

func (f pollFunc) Poll() { f() }

func TestEndOfContext(t *testing.T) {
	e := newExecutor(t, Options{CPU: -1})
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	e.NewTimer(1, func(context.Context, time.Duration) { t.Error("callback though the context had ended") })
	if err := e.Spin(ended); err != nil {
		t.Error(err)
	}
	e.Call(func() { e.timers.remove(e.timers[0]) })

	// From inside: nothing runs after the callback that ended it.
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	var entry, second Entry
	entry.Task = taskFunc(func(context.Context) bool {
		if n++; n == 100 {
			cancel()
		}
		return true
	})
	second.Task = taskFunc(func(context.Context) bool {
		if n >= 100 {
			t.Error("callback after the one that ended the context")
		}
		return true
	})
	e.Do(func() { e.Ready(&entry); e.Ready(&second) })
	if err := e.Spin(ctx); err != nil {
		t.Error(err)
	}
	if n != 100 {
		t.Errorf("%d callbacks, want 100", n)
	}

	// The same by a timer, with a task ready.
	e = newExecutor(t, Options{CPU: -1})
	ctx, cancel = context.WithCancel(context.Background())
	over := false
	e.NewTimer(time.Microsecond, func(context.Context, time.Duration) {
		over = true
		cancel()
	})
	var third Entry
	third.Task = taskFunc(func(context.Context) bool {
		if over {
			t.Error("task after the timer that ended the context")
		}
		return true
	})
	e.Do(func() { e.Ready(&third) })
	if err := e.Spin(ctx); err != nil {
		t.Error(err)
	}
}

func TestSpinTwice(t *testing.T) {
	e := newExecutor(t, Options{CPU: -1})
	spin(t, e)
	if err := e.Spin(context.Background()); !errors.Is(err, ErrSpinning) {
		t.Errorf("second Spin: %v, want %v", err, ErrSpinning)
	}
	e.Call(func() {
		if err := e.Spin(context.Background()); !errors.Is(err, ErrSpinning) {
			t.Errorf("Spin in a callback: %v, want %v", err, ErrSpinning)
		}
	})
}

func TestSeveralExecutors(t *testing.T) {
	const n = 4
	var counters [n]*counter
	var leaves [n]int
	for i := range n {
		e := newExecutor(t, Options{CPU: -1})
		counters[i] = newCounter(e)
		leaves[i], _ = e.Attach(counters[i])
		spin(t, e)
	}
	for range 500 {
		for i, c := range counters {
			c.e.area.Signal(leaves[i])
		}
		for i, c := range counters {
			wait(t, c.ran, fmt.Sprint("callback of executor ", i))
		}
	}
}

// TestFIFO: tasks run in the order in which they became ready, and one that has more goes to the back.
func TestFIFO(t *testing.T) {
	e := newExecutor(t, Options{CPU: -1})
	var order []int
	done := make(chan struct{})
	var entries [3]Entry
	for i := range entries {
		left := 3
		entries[i].Task = taskFunc(func(context.Context) bool {
			order = append(order, i)
			if left--; left == 0 && i == 2 {
				close(done)
			}
			return left > 0
		})
	}
	e.Do(func() {
		for i := range entries {
			e.Ready(&entries[i])
			e.Ready(&entries[i]) // is in already
		}
	})
	stop := spin(t, e)
	wait(t, done, "last run")
	stop()
	if got := fmt.Sprint(order); got != "[0 1 2 0 1 2 0 1 2]" {
		t.Errorf("order %v", got)
	}
}

func TestOnThread(t *testing.T) {
	e := newExecutor(t, Options{CPU: -1})
	other := newExecutor(t, Options{CPU: -1})
	if e.OnThread() {
		t.Error("before Spin")
	}
	e.Call(func() {
		if !e.OnThread() {
			t.Error("not in a call without Spin")
		}
	})
	spin(t, e)
	spin(t, other)
	if e.OnThread() {
		t.Error("outside")
	}
	e.Call(func() {
		if !e.OnThread() {
			t.Error("not in a call")
		}
		if other.OnThread() {
			t.Error("on another executor's thread")
		}
	})
}

// TestSystemCalls: an executor that has work makes none, and a signal from one of its own callbacks makes none.
func TestSystemCalls(t *testing.T) {
	e := newExecutor(t, Options{CPU: -1})
	const signals = 1000
	var first, last futex.Counts
	done := make(chan struct{})
	var entry Entry
	var leaf int
	runs := 0
	entry.Task = taskFunc(func(context.Context) bool {
		switch runs++; runs {
		case 1:
			first = futex.Calls()
		case signals:
			last = futex.Calls()
			close(done)
			return false
		}
		e.area.Signal(leaf)
		return false
	})
	leaf, _ = e.Attach(pollFunc(func() { e.Ready(&entry) }))
	spin(t, e)
	e.area.Signal(leaf)
	wait(t, done, "last signal")
	if first != last {
		t.Errorf("%+v before, %+v after %d signals", first, last, signals)
	}
}

// TestOneSleepForEachSignal counts the system calls of a signal to a sleeping executor: one to wake it and one for it to sleep
// again.
func TestOneSleepForEachSignal(t *testing.T) {
	e := newExecutor(t, Options{CPU: -1})
	c := newCounter(e)
	leaf, _ := e.Attach(c)
	stop := spin(t, e)
	const signals = 200
	asleep(t, e)
	before := futex.Calls()
	for range signals {
		e.area.Signal(leaf)
		wait(t, c.ran, "callback")
		asleep(t, e)
	}
	now := futex.Calls()
	if n := now.Wakes - before.Wakes; n != signals {
		t.Errorf("%d wakes for %d signals", n, signals)
	}
	if n := now.Waits - before.Waits; n > signals+1 {
		t.Errorf("%d sleeps for %d signals", n, signals)
	}
	stop()
}

// asleep waits until e has fallen asleep since the last callback.
func asleep(t testing.TB, e *Executor) {
	t.Helper()
	s := e.Stats()
	for deadline := time.Now().Add(20 * time.Second); ; {
		// What the executor tells it tells before it sleeps; so twice the same figures with all done mean that it does.
		time.Sleep(20 * time.Microsecond)
		n := e.Stats()
		if n == s && !e.area.Ready() && e.area.Asleep() {
			return
		}
		s = n
		if time.Now().After(deadline) {
			t.Fatal("does not fall asleep")
		}
	}
}

func TestBusyPollNeedsNoWake(t *testing.T) {
	e := newExecutor(t, Options{CPU: -1, Spin: time.Hour})
	c := newCounter(e)
	leaf, _ := e.Attach(c)
	stop := spin(t, e)
	before := futex.Calls()
	for range 1000 {
		e.area.Signal(leaf)
		wait(t, c.ran, "callback")
	}
	if now := futex.Calls(); now != before {
		t.Errorf("%+v before, %+v after", before, now)
	}
	stop()

	// One that looks for a while only sleeps then.
	e = newExecutor(t, Options{CPU: -1, Spin: time.Millisecond})
	spin(t, e)
	asleep(t, e)
}

func TestNoAllocationsPerTurn(t *testing.T) {
	e := newExecutor(t, Options{CPU: -1})
	c := newCounter(e)
	leaf, _ := e.Attach(c)
	ticks := make(chan struct{}, 1)
	tm, _ := e.NewTimer(50*time.Microsecond, func(context.Context, time.Duration) {
		select {
		case ticks <- struct{}{}:
		default:
		}
	})
	defer tm.Stop()
	spin(t, e)
	// AllocsPerRun counts the whole process, the executor's thread included. It allows one processor, which the executor
	// leaves to this goroutine when it yields.
	if n := testing.AllocsPerRun(100, func() {
		e.area.Signal(leaf)
		<-c.ran
		<-ticks
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestPanicLeavesExecutorUsable(t *testing.T) {
	for what, arrange := range map[string]func(e *Executor) (cleanup func()){
		"task": func(e *Executor) func() {
			entry := &Entry{Task: taskFunc(func(context.Context) bool { panic("boom") })}
			e.Do(func() { e.Ready(entry) })
			return func() {}
		},
		"poll": func(e *Executor) func() {
			leaf, _ := e.Attach(pollFunc(func() { panic("boom") }))
			e.area.Signal(leaf)
			return func() { e.Detach(leaf) }
		},
		"timer": func(e *Executor) func() {
			tm, _ := e.NewTimer(time.Millisecond, func(context.Context, time.Duration) { panic("boom") })
			return tm.Stop
		},
		"call": func(e *Executor) func() {
			entry := &Entry{Task: taskFunc(func(context.Context) bool {
				go e.Do(func() { panic("boom") })
				return false
			})}
			e.Do(func() { e.Ready(entry) })
			return func() {}
		},
	} {
		t.Run(what, func(t *testing.T) {
			e := newExecutor(t, Options{CPU: -1})
			cleanup := arrange(e)
			func() {
				defer func() {
					if r := recover(); r != "boom" {
						t.Errorf("recovered %v", r)
					}
				}()
				ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
				defer cancel()
				e.Spin(ctx)
			}()
			if e.OnThread() {
				t.Error("still the executor's thread")
			}
			cleanup()
			c := newCounter(e)
			leaf, _ := e.Attach(c)
			spin(t, e)
			e.area.Signal(leaf)
			wait(t, c.ran, "callback after the panic")
		})
	}
}
