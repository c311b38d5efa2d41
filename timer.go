package tagus

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tagus-ros/tagus/internal/clock"
	"github.com/tagus-ros/tagus/internal/exec"
)

// Timer calls a function at a fixed rate.
type Timer struct {
	n      *Node
	period time.Duration
	fn     func(context.Context, TimerInfo)
	steady bool         // whatever the node's clock does
	group  *exec.Group  // or nil
	hop    trigger      // brings the calls into the group
	due    atomic.Int64 // the point of the call that is on its way there, ns of clock.Mono

	running sync.Mutex // held during a call
	stopped atomic.Bool
	ex      atomic.Pointer[exec.Timer] // while it keeps steady time
	earlier atomic.Uint64              // overruns of timers that it had, and by simulated time

	mu  sync.Mutex
	sim *simTimer // while it follows simulated time
}

// TimerInfo tells a timer's callback how well the rate is kept.
type TimerInfo struct {
	Late     time.Duration // how long after its point in time the call began, never negative
	Overruns uint64        // calls left out so far because earlier ones took too long
}

// TimerOption sets something about a [Timer].
type TimerOption interface{ timer(*timerConfig) }

// timerOption makes a function an option.
type timerOption func(*timerConfig)

func (f timerOption) timer(c *timerConfig) { f(c) }

type timerConfig struct {
	steady bool
	group  *CallbackGroup
}

// WithSteadyTime makes a timer keep real time also while the node takes its time from
// /clock.
func WithSteadyTime() TimerOption {
	return timerOption(func(c *timerConfig) { c.steady = true })
}

// NewTimer calls fn every period, first one period from now, on the node's
// executor. The points in time form a grid that does not drift; after an overrun
// there is at most one call to catch up. Steps of the system clock do not matter.
// The timer ends with Stop or with the node.
//
// While the node takes its time from /clock, so does the timer (see [WithSteadyTime]): a
// message on /clock makes at most one call, of points that it passed the others count as
// overruns, and after a jump back behind the last call the grid begins anew.
func (n *Node) NewTimer(period time.Duration, fn func(context.Context, TimerInfo), opts ...TimerOption) (*Timer, error) {
	var c timerConfig
	for _, o := range opts {
		o.timer(&c)
	}
	t := &Timer{n: n, period: period, fn: fn, steady: c.steady}
	var err error
	if t.group, err = c.group.of(n.executor); err == nil && t.group != nil {
		err = t.hop.open(n.executor, t.group, func(ctx context.Context) {
			t.call(ctx, time.Duration(clock.Mono()-t.due.Load()))
		})
	}
	if err != nil {
		return nil, &EndpointError{"timer", n.FullyQualifiedName(), "new", err}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	err = ErrClosed
	if !n.closed {
		err = t.start(n.simTimers && !t.steady)
	}
	if err != nil {
		t.closeHop()
		return nil, &EndpointError{"timer", n.FullyQualifiedName(), "new", err}
	}
	n.timers = append(n.timers, t)
	return t, nil
}

// switchTimers makes the timers follow the node's clock.
func (n *Node) switchTimers(sim bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.simTimers = sim
	for _, t := range n.timers {
		if t.steady {
			continue
		}
		t.cancel()
		if err := t.start(sim); err != nil {
			n.logger.Error("a timer stands still", "period", t.period, "err", err)
		}
	}
}

func (t *Timer) start(sim bool) error {
	if t.period <= 0 {
		return fmt.Errorf("period %v: want more than 0", t.period)
	}
	if sim {
		return t.startSim()
	}
	call := t.call
	if t.group != nil {
		call = t.send
	}
	et, err := t.n.executor.ex.NewTimer(t.period, call)
	if err != nil {
		return err
	}
	t.ex.Store(et)
	return nil
}

// send has the call made in the timer's group. One that was not made yet goes with it.
func (t *Timer) send(_ context.Context, late time.Duration) {
	if t.hop.fired.Load() {
		t.earlier.Add(1)
	}
	t.due.Store(clock.Mono() - int64(late))
	t.hop.fire()
}

func (t *Timer) closeHop() {
	if t.group != nil {
		t.hop.close()
	}
}

func (t *Timer) call(ctx context.Context, late time.Duration) {
	t.running.Lock()
	defer t.running.Unlock()
	if !t.stopped.Load() {
		t.fn(ctx, TimerInfo{Late: late, Overruns: t.overruns()})
	}
}

func (t *Timer) overruns() uint64 {
	n := t.earlier.Load()
	if et := t.ex.Load(); et != nil {
		n += et.Overruns()
	}
	return n
}

// cancel ends what calls it, without waiting for a call.
func (t *Timer) cancel() {
	if et := t.ex.Swap(nil); et != nil {
		et.Cancel()
		t.earlier.Add(et.Overruns())
	}
	t.mu.Lock()
	st := t.sim
	t.sim = nil
	t.mu.Unlock()
	if st != nil {
		t.n.clock.sim.disarm(&st.alarm)
		st.trigger.close()
	}
}

// Stop ends the timer and waits for a call that is running, unless it is called
// from inside a callback of the same executor.
func (t *Timer) Stop() {
	inside := t.inside()
	t.stopped.Store(true)
	t.n.mu.Lock()
	t.n.timers = slices.DeleteFunc(t.n.timers, func(x *Timer) bool { return x == t })
	t.n.mu.Unlock()
	t.cancel()
	t.closeHop()
	if !inside {
		t.running.Lock()
		_ = t // nothing to do inside
		t.running.Unlock()
	}
}

// inside reports whether the caller is a callback that Stop must not wait for.
func (t *Timer) inside() bool {
	if inside(t.n.executor, t.group, &t.hop.entry) {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sim != nil && t.sim.trigger.entry.RunsHere()
}

// simTimer is a timer by simulated time: an alarm that fires a trigger.
type simTimer struct {
	t       *Timer
	alarm   alarm
	trigger trigger
	last    int64        // when it was last fired; under the mutex of the time
	late    atomic.Int64 // ns, of the point that it was last fired for
}

func (t *Timer) startSim() error {
	st := &simTimer{t: t}
	if err := st.trigger.open(t.n.executor, t.group, func(ctx context.Context) { t.call(ctx, time.Duration(st.late.Load())) }); err != nil {
		return err
	}
	st.alarm = alarm{index: -1, ring: st.ring, reset: st.reset}
	t.mu.Lock()
	t.sim = st
	t.mu.Unlock()
	s := t.n.clock.sim
	s.mu.Lock()
	defer s.mu.Unlock()
	st.last = s.now.Load()
	st.alarm.due = st.last + int64(t.period)
	s.arm(&st.alarm)
	return nil
}

// ring fires for the newest point that has passed and goes on to the next.
func (st *simTimer) ring(now int64) {
	period := int64(st.t.period)
	missed := (now - st.alarm.due) / period
	point := st.alarm.due + missed*period
	if st.trigger.fired.Load() {
		missed++ // the last one was not taken yet: the two go together
	}
	st.t.earlier.Add(uint64(missed))
	st.late.Store(now - point)
	st.last = now
	st.trigger.fire()
	st.alarm.due = point + period
	st.t.n.clock.sim.arm(&st.alarm)
}

// reset begins a new grid: the time has begun, or has gone back behind the last call.
func (st *simTimer) reset(now int64) {
	if now < st.last || st.last == 0 {
		st.last = now
		st.alarm.due = now + int64(st.t.period)
	}
}
