package futex

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tagus-ros/tagus/internal/clock"
)

// both runs a test on what this system offers and on the table that stands in for it elsewhere.
func both(t *testing.T, test func(t *testing.T, wait func(*atomic.Uint32, uint32, int64) Result, wake func(*atomic.Uint32, int) int)) {
	t.Run("system", func(t *testing.T) { test(t, Wait, Wake) })
	t.Run("table", func(t *testing.T) {
		var tab table
		test(t, tab.wait, tab.wakeUp)
	})
}

func TestChangedWordDoesNotSleep(t *testing.T) {
	both(t, func(t *testing.T, wait func(*atomic.Uint32, uint32, int64) Result, wake func(*atomic.Uint32, int) int) {
		var w atomic.Uint32
		w.Store(7)
		if r := wait(&w, 8, -1); r != Changed {
			t.Errorf("%v, want %v", r, Changed)
		}
		if n := wake(&w, -1); n != 0 {
			t.Errorf("woke %d of nobody", n)
		}
	})
}

func TestDeadline(t *testing.T) {
	both(t, func(t *testing.T, wait func(*atomic.Uint32, uint32, int64) Result, wake func(*atomic.Uint32, int) int) {
		var w atomic.Uint32
		for _, d := range []time.Duration{-time.Hour, 0, 50 * time.Microsecond, 3 * time.Millisecond} {
			deadline := max(clock.Mono()+int64(d), 0)
			if r := wait(&w, 0, deadline); r != TimedOut {
				t.Errorf("%v: %v, want %v", d, r, TimedOut)
			}
			// The kernel's clock and ours may differ by a fraction of a microsecond.
			if early := deadline - clock.Mono(); early > 1000 {
				t.Errorf("%v: %d ns early", d, early)
			}
		}
	})
}

func TestWakeCounts(t *testing.T) {
	both(t, func(t *testing.T, wait func(*atomic.Uint32, uint32, int64) Result, wake func(*atomic.Uint32, int) int) {
		var w, other atomic.Uint32
		const sleepers = 5
		var wg sync.WaitGroup
		for range sleepers {
			wg.Go(func() {
				if r := wait(&w, 0, -1); r != Woken {
					t.Errorf("%v, want %v", r, Woken)
				}
			})
		}
		var stranger sync.WaitGroup
		stranger.Go(func() { wait(&other, 0, -1) })
		// Each call wakes no more than it was told to, and all together wake everybody once.
		for woken := 0; woken < sleepers; {
			n := wake(&w, min(2, sleepers-woken))
			if n > 2 {
				t.Fatalf("woke %d, want at most 2", n)
			}
			woken += n
		}
		wg.Wait()
		for wake(&other, -1) == 0 {
		}
		stranger.Wait()
	})
}

// TestHandOver sends a number back and forth; a lost wake-up would end it.
func TestHandOver(t *testing.T) {
	both(t, func(t *testing.T, wait func(*atomic.Uint32, uint32, int64) Result, wake func(*atomic.Uint32, int) int) {
		const rounds = 5000
		var w atomic.Uint32 // even: one side's turn, odd: the other's
		turns := func(mine uint32) {
			for range rounds {
				for {
					v := w.Load()
					if v%2 == mine {
						break
					}
					if wait(&w, v, clock.Mono()+int64(20*time.Second)) == TimedOut {
						t.Error("lost wake-up")
						return
					}
				}
				w.Add(1)
				wake(&w, 1)
			}
		}
		var wg sync.WaitGroup
		wg.Go(func() { turns(0) })
		wg.Go(func() { turns(1) })
		wg.Wait()
	})
}

func TestCallsAreCounted(t *testing.T) {
	var w atomic.Uint32
	before := Calls()
	Wait(&w, 1, -1)
	Wait(&w, 0, 0)
	Wake(&w, 1)
	after := Calls()
	if n := after.Waits - before.Waits; n != 2 {
		t.Errorf("%d waits counted, want 2", n)
	}
	if n := after.Wakes - before.Wakes; n != 1 {
		t.Errorf("%d wakes counted, want 1", n)
	}
}

func TestNoAllocations(t *testing.T) {
	both(t, func(t *testing.T, wait func(*atomic.Uint32, uint32, int64) Result, wake func(*atomic.Uint32, int) int) {
		var w atomic.Uint32
		f := func() {
			wait(&w, 0, clock.Mono()+20_000)
			wait(&w, 1, -1)
			wake(&w, 1)
		}
		f()
		if n := testing.AllocsPerRun(200, f); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

func TestCanceler(t *testing.T) {
	var c Canceler
	calls := make(chan struct{}, 10)
	wake := func() { calls <- struct{}{} }

	c.Begin(context.Background(), wake).End()

	ctx, cancel := context.WithCancel(context.Background())
	a := c.Begin(ctx, wake)
	if b := c.Begin(ctx, wake); b != a {
		t.Error("two registrations with one context")
	} else {
		b.End()
	}
	if n := testing.AllocsPerRun(100, func() { c.Begin(ctx, wake).End() }); n != 0 {
		t.Errorf("%v allocations for the same context again", n)
	}
	other, cancelOther := context.WithCancel(context.Background())
	defer cancelOther()
	o := c.Begin(other, wake) // while a is in use: a must stay
	cancel()
	select {
	case <-calls:
	case <-time.After(10 * time.Second):
		t.Fatal("not called at the end of the context")
	}
	a.End()
	o.End()

	// A registration that nobody uses makes room, and is called no more.
	for range 100 {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		c.Begin(ctx, wake).End()
	}
	if n := len(c.watches); n > 2 {
		t.Errorf("%d registrations kept, want at most the 2 that were in use at once", n)
	}

	last, cancelLast := context.WithCancel(context.Background())
	c.Begin(last, wake).End()
	for len(calls) > 0 {
		<-calls
	}
	c.Release()
	cancelLast()
	cancelOther()
	if n := len(calls); n != 0 {
		t.Errorf("called %d times after Release", n)
	}
}
