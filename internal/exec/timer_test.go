package exec

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tagus-ros/tagus/internal/clock"
)

func TestAdvance(t *testing.T) {
	e := newExecutor(t, Options{CPU: -1})
	for _, c := range []struct {
		what              string
		due, now          int64
		wantDue, overruns int64
	}{
		{"in time", 100, 101, 110, 0},
		{"just in time", 100, 109, 110, 0},
		{"next one due now", 100, 110, 110, 0},
		{"one catch-up", 100, 115, 110, 0},
		{"one given up", 100, 120, 120, 1},
		{"one given up, not on the grid", 100, 129, 120, 1},
		{"ninety given up", 100, 1015, 1010, 90},
	} {
		tm := &Timer{e: e, period: 10, due: c.due}
		tm.advance(c.now)
		if tm.due != c.wantDue || tm.Overruns() != uint64(c.overruns) {
			t.Errorf("%s: due %d, %d overruns; want %d, %d", c.what, tm.due, tm.Overruns(), c.wantDue, c.overruns)
		}
	}
}

func TestHeap(t *testing.T) {
	var h timerHeap
	var all []*Timer
	for i := range 200 {
		tm := &Timer{due: int64(i * 7919 % 211), index: -1}
		all = append(all, tm)
		h.push(tm)
	}
	for i, tm := range all {
		switch i % 3 {
		case 0:
			h.remove(tm)
			h.remove(tm) // nothing the second time
		case 1:
			tm.due += 100
			h.fix(tm.index)
		}
	}
	var dues []int64
	for len(h) > 0 {
		dues = append(dues, h[0].due)
		h.remove(h[0])
	}
	if want := 200 - 67; len(dues) != want || !slices.IsSorted(dues) {
		t.Errorf("%d timers in the order %v, want %d in order", len(dues), dues, want)
	}
}

func TestTimerRefusesPeriod(t *testing.T) {
	e := newExecutor(t, Options{CPU: -1})
	for _, period := range []time.Duration{0, -1, -time.Second} {
		if _, err := e.NewTimer(period, func(context.Context, time.Duration) {}); err == nil {
			t.Errorf("%v: accepted", period)
		}
	}
}

// TestTimerKeepsGrid lets a 1 kHz timer run beside traffic. Every point of its grid must have had a call or been counted as an
// overrun, no call may be early, and no two may be for one point.
func TestTimerKeepsGrid(t *testing.T) {
	const period = time.Millisecond
	e := newExecutor(t, Options{CPU: -1})
	c := newCounter(e)
	leaf, _ := e.Attach(c)
	var calls, first, last int64
	var tm *Timer
	tm, err := e.NewTimer(period, func(_ context.Context, late time.Duration) {
		now := clock.Mono()
		calls++
		if late < 0 {
			t.Errorf("call %d was %v early", calls, -late)
		}
		due := tm.due
		if now < due {
			t.Errorf("call %d at %d, due at %d", calls, now, due)
		}
		if due <= last {
			t.Errorf("call %d for %d, the one before for %d", calls, due, last)
		}
		if last != 0 && (due-last)%int64(period) != 0 {
			t.Errorf("call %d is %d after the one before", calls, due-last)
		}
		if first == 0 {
			first = due
		}
		last = due
		if calls%3 == 0 {
			e.area.Signal(leaf)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := e.Spin(ctx); err != nil {
		t.Fatal(err)
	}
	// The machine may have had other things to do between the last call and here.
	least, most := (last-first)/int64(period)+1, (clock.Mono()-first)/int64(period)+1
	if all := calls + int64(tm.Overruns()); all < least || all > most {
		t.Errorf("%d calls and %d overruns make %d points, want %d to %d", calls, tm.Overruns(), all, least, most)
	}
	s := e.Stats()
	if s.Timers != uint64(calls) || s.Overruns != tm.Overruns() {
		t.Errorf("stats %+v; want %d calls, %d overruns", s, calls, tm.Overruns())
	}
	t.Logf("%d calls, %d overruns, late %v on average, %v at most", calls, tm.Overruns(), s.LateTotal/time.Duration(calls), s.LateMax)
}

// TestOverrun lets one call take ten periods: one immediate call follows, and then the old grid.
func TestOverrun(t *testing.T) {
	const period = 10 * time.Millisecond
	e := newExecutor(t, Options{CPU: -1})
	type call struct{ at, due, end int64 }
	var calls []call
	done := make(chan struct{})
	var tm *Timer
	tm, err := e.NewTimer(period, func(context.Context, time.Duration) {
		c := call{at: clock.Mono(), due: tm.due}
		if len(calls) == 2 {
			for clock.Mono() < c.at+int64(10*period)+int64(period/2) {
			}
		}
		c.end = clock.Mono()
		calls = append(calls, c)
		if len(calls) == 8 {
			close(done)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	stop := spin(t, e)
	wait(t, done, "eighth call")
	stop()
	long := calls[2]
	immediate := 0
	for _, c := range calls[3:8] {
		if (c.due-calls[0].due)%int64(period) != 0 {
			t.Errorf("call for %d is off the grid of %d", c.due, calls[0].due)
		}
		if c.due <= long.end {
			immediate++
		}
	}
	if immediate != 1 {
		t.Errorf("%d calls for points that passed during the long one, want 1: %v", immediate, calls)
	}
	if tm.Overruns() < 9 {
		t.Errorf("%d overruns, want at least 9", tm.Overruns())
	}
}

// TestOverloadedTimersShare: of two timers that each want all of the thread, none gets more than the other.
func TestOverloadedTimersShare(t *testing.T) {
	e := newExecutor(t, Options{CPU: -1})
	var n [3]int64
	done := make(chan struct{})
	for i := range n {
		e.NewTimer(100*time.Microsecond, func(context.Context, time.Duration) {
			for end := clock.Mono() + 300_000; clock.Mono() < end; {
			}
			if n[i]++; n[0]+n[1]+n[2] == 300 {
				close(done)
			}
		})
	}
	stop := spin(t, e)
	wait(t, done, "300th call")
	stop()
	if slices.Max(n[:])-slices.Min(n[:]) > 2 {
		t.Errorf("calls %v", n)
	}
}

// TestTimersDoNotStarveTasks, nor tasks timers: a timer whose call takes longer than its period takes turns with tasks.
func TestTimersDoNotStarveTasks(t *testing.T) {
	e := newExecutor(t, Options{CPU: -1})
	var ticks, runs int64
	done := make(chan struct{})
	e.NewTimer(100*time.Microsecond, func(context.Context, time.Duration) {
		for end := clock.Mono() + 150_000; clock.Mono() < end; {
		}
		ticks++
	})
	e.NewTimer(100*time.Microsecond, func(context.Context, time.Duration) {
		for end := clock.Mono() + 150_000; clock.Mono() < end; {
		}
	})
	busy := &Entry{Task: taskFunc(func(context.Context) bool {
		if runs++; runs == 200 {
			close(done)
		}
		return true
	})}
	e.Do(func() { e.Ready(busy) })
	stop := spin(t, e)
	wait(t, done, "200th run")
	stop()
	// Before the timers are due for the first time, the task has the thread for itself.
	if ticks == 0 {
		t.Error("the timer never ran")
	}
	s := e.Stats()
	if s.Timers > s.Tasks+1 {
		t.Errorf("%d timer calls, %d tasks: more than turn and turn about", s.Timers, s.Tasks)
	}
}

type taskFunc func(context.Context) bool

func (f taskFunc) Run(ctx context.Context) bool { return f(ctx) }

func TestStopWaitsForRunningCall(t *testing.T) {
	e := newExecutor(t, Options{CPU: -1})
	spin(t, e)
	for range 20 {
		inside, leave := make(chan struct{}), make(chan struct{})
		var ended atomic.Bool
		first := true
		tm, _ := e.NewTimer(time.Millisecond, func(context.Context, time.Duration) {
			if !first {
				return // Stop has not got here yet
			}
			first = false
			close(inside)
			<-leave
			ended.Store(true)
		})
		wait(t, inside, "call")
		stopped := make(chan struct{})
		go func() {
			tm.Stop()
			if !ended.Load() {
				t.Error("Stop returned during the call")
			}
			close(stopped)
		}()
		select {
		case <-stopped:
		case <-time.After(5 * time.Millisecond): // time for Stop to be wrong
		}
		close(leave)
		wait(t, stopped, "end of Stop")
		tm.Stop()
	}
	e.Call(func() {
		if n := len(e.timers); n != 0 {
			t.Errorf("%d timers left", n)
		}
	})
}

func TestStopFromCallbacks(t *testing.T) {
	e := newExecutor(t, Options{CPU: -1})
	var a, b *Timer
	calls := 0
	done := make(chan struct{})
	a, _ = e.NewTimer(time.Millisecond, func(context.Context, time.Duration) {
		if calls++; calls == 3 {
			a.Stop()
			b.Stop()
			close(done)
		}
	})
	b, _ = e.NewTimer(time.Hour, func(context.Context, time.Duration) {})
	spin(t, e)
	wait(t, done, "third call")
	e.Call(func() {
		if calls != 3 || len(e.timers) != 0 {
			t.Errorf("%d calls, %d timers left; want 3, 0", calls, len(e.timers))
		}
	})
}

// TestShorterTimerFromOutside: a timer made while the thread sleeps for a later one is in time.
func TestShorterTimerFromOutside(t *testing.T) {
	e := newExecutor(t, Options{CPU: -1})
	e.NewTimer(time.Hour, func(context.Context, time.Duration) {})
	spin(t, e)
	ran := make(chan struct{}, 1)
	tm, _ := e.NewTimer(time.Millisecond, func(context.Context, time.Duration) {
		select {
		case ran <- struct{}{}:
		default:
		}
	})
	wait(t, ran, "call")
	tm.Stop()
}
