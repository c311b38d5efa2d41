package exec

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tagus-ros/tagus/internal/clock"
)

// Timer calls a function at the points of a grid: start + k*period, where start is when it was made. The grid never moves, so
// the rate holds whatever the callbacks take. When calls come late, at most one is made up for; grid points that passed
// meanwhile are counted as overruns.
type Timer struct {
	e      *Executor
	period int64
	fn     func(ctx context.Context, late time.Duration)

	due   int64 // next grid point that gets a call; belongs to the executor's thread
	index int   // in the heap, -1: not in it

	running  sync.Mutex // held during a call
	stopped  atomic.Bool
	overruns atomic.Uint64
}

// NewTimer makes a timer whose fn runs on the executor's thread every period, for the first time one period from now. Late
// is how long after its grid point a call begins, never negative. The period must be positive.
func (e *Executor) NewTimer(period time.Duration, fn func(ctx context.Context, late time.Duration)) (*Timer, error) {
	if period <= 0 {
		return nil, fmt.Errorf("exec: timer with period %v: want more than 0", period)
	}
	t := &Timer{e: e, period: int64(period), fn: fn, index: -1}
	t.due = clock.Mono() + t.period
	e.Do(func() {
		if !t.stopped.Load() {
			e.timers.push(t)
		}
	})
	return t, nil
}

// Stop ends the timer. It waits for a call that is running, unless it is called from inside one of the executor's callbacks.
// After it returned no call begins. More calls of Stop do nothing.
func (t *Timer) Stop() {
	t.Cancel()
	if !t.e.OnThread() {
		t.running.Lock() // waits for the end of a running call
		_ = t            // nothing to do inside
		t.running.Unlock()
	}
}

// Cancel is Stop, but does not wait for a call that is running.
func (t *Timer) Cancel() {
	if !t.stopped.Swap(true) {
		t.e.Do(func() { t.e.timers.remove(t) })
	}
}

// Period returns the distance of the grid's points.
func (t *Timer) Period() time.Duration { return time.Duration(t.period) }

// Overruns returns how many points of the grid got no call because calls came too late.
func (t *Timer) Overruns() uint64 { return t.overruns.Load() }

// runTimer makes the call of t, which is due.
func (e *Executor) runTimer(ctx context.Context, t *Timer, now int64) {
	t.call(ctx, now)
	if t.index >= 0 { // not stopped meanwhile
		t.advance(clock.Mono())
		e.timers.fix(t.index)
	}
}

func (t *Timer) call(ctx context.Context, now int64) {
	t.running.Lock()
	defer t.running.Unlock() // also when fn panics
	if t.stopped.Load() {
		return // its removal is on the way
	}
	late := now - t.due
	t.e.count.timed(late)
	t.fn(ctx, time.Duration(late))
}

// advance moves due past the call just made. If grid points passed meanwhile, the latest of them is due at once and the
// others are given up.
func (t *Timer) advance(now int64) {
	t.due += t.period
	if now < t.due {
		return
	}
	if missed := (now - t.due) / t.period; missed > 0 {
		t.due += missed * t.period
		t.overruns.Add(uint64(missed))
		t.e.count.Overruns += uint64(missed)
	}
}

// timerHeap has the timer due first at its root.
type timerHeap []*Timer

func (h timerHeap) less(i, j int) bool { return h[i].due < h[j].due }

func (h timerHeap) swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *timerHeap) push(t *Timer) {
	t.index = len(*h)
	*h = append(*h, t)
	h.up(t.index)
}

func (h *timerHeap) remove(t *Timer) {
	i := t.index
	if i < 0 {
		return
	}
	n := len(*h) - 1
	h.swap(i, n)
	(*h)[n] = nil
	*h = (*h)[:n]
	t.index = -1
	if i < n {
		h.fix(i)
	}
}

// fix restores the order after the timer at i changed.
func (h timerHeap) fix(i int) {
	if !h.down(i) {
		h.up(i)
	}
}

func (h timerHeap) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !h.less(i, parent) {
			return
		}
		h.swap(i, parent)
		i = parent
	}
}

func (h timerHeap) down(i int) (moved bool) {
	for {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(h); c++ {
			if h.less(c, least) {
				least = c
			}
		}
		if least == i {
			return moved
		}
		h.swap(i, least)
		i, moved = least, true
	}
}
