package exec

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestAttachLimit(t *testing.T) {
	e := newExecutor(t, Options{CPU: -1})
	used := map[int]bool{}
	for range e.area.Leaves() {
		leaf, err := e.Attach(pollFunc(func() {}))
		if err != nil {
			t.Fatal(err)
		}
		if used[leaf] || leaf < 0 || leaf >= e.area.Leaves() {
			t.Fatalf("leaf %d", leaf)
		}
		used[leaf] = true
	}
	_, err := e.Attach(pollFunc(func() {}))
	var limit *LimitError
	if !errors.As(err, &limit) || limit.Value != e.area.Leaves() {
		t.Fatalf("one more: %v, want a limit of %d", err, e.area.Leaves())
	}
	e.Detach(77)
	e.Detach(77)
	if leaf, err := e.Attach(pollFunc(func() {})); err != nil || leaf != 77 {
		t.Errorf("after Detach: leaf %d, %v; want 77", leaf, err)
	}
	for _, bad := range []int{-1, e.area.Leaves(), 1 << 40} {
		e.Detach(bad)
	}
}

// TestDetachUnderFire is 5000 rounds of attaching, receiving and detaching inside a spinning executor, while others signal all
// leaves all the time. Each round receives, and nothing is polled after Detach returned.
func TestDetachUnderFire(t *testing.T) {
	rounds := 5000
	if testing.Short() {
		rounds = 500
	}
	e := newExecutor(t, Options{CPU: -1})
	spin(t, e)
	end := make(chan struct{})
	var noise, wg sync.WaitGroup
	noise.Go(func() {
		for {
			select {
			case <-end:
				return
			default:
				e.area.Signal(rand.IntN(16))
			}
		}
	})
	const threads = 4
	for range threads {
		wg.Go(func() {
			for round := range rounds / threads {
				c := newCounter(e)
				var detached atomic.Bool
				leaf, err := e.Attach(pollFunc(func() {
					if detached.Load() {
						t.Error("polled after Detach")
					}
					c.Poll()
				}))
				if err != nil {
					t.Error(err)
					return
				}
				e.area.Signal(leaf)
				wait(t, c.ran, "callback")
				if round%2 == 0 {
					e.area.Signal(leaf) // a poll may be on its way
				}
				e.Detach(leaf)
				detached.Store(true)
			}
		})
	}
	wg.Wait()
	close(end)
	noise.Wait()
}

func TestDetachFromCallbacks(t *testing.T) {
	e := newExecutor(t, Options{CPU: -1})
	polls := 0
	done := make(chan struct{})
	var own int
	own, _ = e.Attach(pollFunc(func() {
		polls++
		e.Detach(own)
		e.area.Signal(own)
		close(done)
	}))
	e.area.Signal(own)
	spin(t, e)
	wait(t, done, "poll")
	e.Call(func() {})
	if polls != 1 {
		t.Errorf("%d polls", polls)
	}

	// From a task and from a timer, another source whose leaf is marked at that moment.
	other := newCounter(e)
	leaf, _ := e.Attach(other)
	var entry Entry
	ran := make(chan struct{})
	entry.Task = taskFunc(func(context.Context) bool {
		e.area.Signal(leaf)
		e.Detach(leaf)
		close(ran)
		return false
	})
	e.Do(func() { e.Ready(&entry) })
	wait(t, ran, "task")
	e.Call(func() {})
	if n := other.polls.Load(); n != 0 {
		t.Errorf("%d polls after Detach", n)
	}
}

// TestDetachWaitsForPoll holds a Poll open. Detach of that source must wait; that of another one must not.
func TestDetachWaitsForPoll(t *testing.T) {
	e := newExecutor(t, Options{CPU: -1})
	inside, leave := make(chan struct{}), make(chan struct{})
	var ended atomic.Bool
	leaf, _ := e.Attach(pollFunc(func() {
		close(inside)
		<-leave
		ended.Store(true)
	}))
	other, _ := e.Attach(pollFunc(func() {}))
	spin(t, e)
	e.area.Signal(leaf)
	wait(t, inside, "poll")
	e.Detach(other)
	detached := make(chan struct{})
	go func() {
		e.Detach(leaf)
		if !ended.Load() {
			t.Error("Detach returned during Poll")
		}
		close(detached)
	}()
	select {
	case <-detached:
	case <-time.After(20 * time.Millisecond): // time for Detach to be wrong
	}
	close(leave)
	wait(t, detached, "end of Detach")
}
