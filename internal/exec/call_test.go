package exec

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

func TestDoWithoutSpinRunsHere(t *testing.T) {
	e := newExecutor(t, Options{CPU: -1})
	ran := 0
	e.Do(func() {
		e.Do(func() { ran++ }) // inside: at once
		if ran != 1 {
			t.Error("not at once")
		}
	})
	e.Call(func() { ran++ })
	if ran != 2 {
		t.Errorf("%d functions ran, want 2", ran)
	}
}

func TestDoInsideCallbackRunsAtOnce(t *testing.T) {
	e := newExecutor(t, Options{CPU: -1})
	done := make(chan struct{})
	entry := &Entry{Task: taskFunc(func(context.Context) bool {
		ran := false
		e.Do(func() { ran = true })
		if !ran {
			t.Error("Do did not run at once")
		}
		ran = false
		e.Call(func() { ran = true })
		if !ran {
			t.Error("Call did not run")
		}
		close(done)
		return false
	})}
	e.Do(func() { e.Ready(entry) })
	spin(t, e)
	wait(t, done, "task")
}

// TestCallsUnderChanges calls from many goroutines while Spin begins and ends all the time. Every Call returns, functions of one
// goroutine run in order, and no two run at the same time (the race detector sees to that: n is a plain variable).
func TestCallsUnderChanges(t *testing.T) {
	const callers, each = 4, 500
	e := newExecutor(t, Options{CPU: -1})
	n := 0
	end := make(chan struct{})
	var spinner, wg sync.WaitGroup
	spinner.Go(func() {
		for {
			select {
			case <-end:
				return
			default:
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rand.IntN(500))*time.Microsecond)
			if err := e.Spin(ctx); err != nil {
				t.Error(err)
			}
			cancel()
		}
	})
	for range callers {
		wg.Go(func() {
			last := -1
			for i := range each {
				f := func() {
					n++
					if last != i-1 {
						t.Errorf("function %d after %d", i, last)
					}
					last = i
				}
				if i%2 == 0 {
					e.Do(f)
				} else {
					e.Call(f)
				}
			}
		})
	}
	wg.Wait()
	e.Call(func() {})
	close(end)
	spinner.Wait()
	if n != callers*each {
		t.Errorf("%d functions ran, want %d", n, callers*each)
	}
}

// TestFloodOfCallsDoesNotStarve: functions that come faster than they can be run leave room for callbacks.
func TestFloodOfCallsDoesNotStarve(t *testing.T) {
	e := newExecutor(t, Options{CPU: -1})
	c := newCounter(e)
	leaf, _ := e.Attach(c)
	spin(t, e)
	end := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-end:
					return
				default:
					e.Call(func() {})
				}
			}
		})
	}
	for range 500 {
		e.area.Signal(leaf)
		wait(t, c.ran, "callback")
	}
	close(end)
	wg.Wait()
}

// TestNothingIsLeftInTheQueue: what others queue for a thread that is about to be nobody's still runs.
func TestNothingIsLeftInTheQueue(t *testing.T) {
	// While a stand-in is at work.
	e := newExecutor(t, Options{CPU: -1})
	ran := false
	queue := func() {
		queued := make(chan struct{})
		go func() {
			e.Do(func() { ran = true })
			close(queued)
		}()
		wait(t, queued, "return of Do")
	}
	e.Do(queue)
	if !ran {
		t.Error("left by a stand-in")
	}

	// In the last callback of a Spin.
	ran = false
	ctx, cancel := context.WithCancel(context.Background())
	entry := &Entry{Task: taskFunc(func(context.Context) bool {
		queue()
		cancel()
		return false
	})}
	e.Do(func() { e.Ready(entry) })
	if err := e.Spin(ctx); err != nil {
		t.Fatal(err)
	}
	if !ran {
		t.Error("left by Spin")
	}
}
