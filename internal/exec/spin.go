package exec

import (
	"context"

	"github.com/tagus-ros/tagus/internal/clock"
)

// Spin runs the loop in the calling goroutine, locked to its thread, until ctx ends, and returns nil then; after that no callback
// runs. An error says that the loop could not be started: ErrSpinning, or what the system refused (a processor, a priority). Callbacks get
// ctx. A panic of a callback goes on to the caller and leaves the executor usable.
func (e *Executor) Spin(ctx context.Context) error {
	return e.spin(ctx, nil)
}

// spin is Spin that also ends when until, if given, says so.
func (e *Executor) spin(ctx context.Context, until func() bool) error {
	if e.OnThread() {
		return ErrSpinning // from inside a callback; waiting for the owner would be for ever
	}
	if err := e.enter(); err != nil {
		return err
	}
	defer e.leave()
	if e.opts.ExtraProc {
		addProc(1)
		defer addProc(-1)
	}
	th, err := tune(&e.opts)
	defer th.restore() // also what had succeeded before an error
	if err != nil {
		return err
	}
	// The end of ctx wakes the thread; what it means is seen by the loop itself.
	e.cancel.Begin(ctx, e.area.Poke)
	defer e.cancel.Release()
	e.pool.start(ctx)
	defer e.pool.stop()
	e.loop(ctx, until)
	return nil
}

func (e *Executor) enter() error {
	c := &e.calls
	c.mu.Lock()
	if c.spinning {
		c.mu.Unlock()
		return ErrSpinning
	}
	c.spinning = true
	c.mu.Unlock()
	e.owner.Lock() // a stand-in may be at work
	e.beOwner()
	return nil
}

func (e *Executor) leave() {
	e.publish()
	c := &e.calls
	c.mu.Lock()
	c.spinning = false
	c.mu.Unlock()
	e.endOwner()
	e.standIn() // what was queued too late for the loop
}

func (e *Executor) loop(ctx context.Context, until func() bool) {
	done := ctx.Done()
	e.yield = yielder{last: clock.Mono()}
	for !ended(done) && (until == nil || !until()) {
		e.count.Turns++
		e.area.Take(e.visit)
		if e.calls.some.Load() {
			e.runCalls()
			if ended(done) {
				return
			}
		}
		now := clock.Mono()
		if e.restedAt != 0 {
			e.yield.slept(e.restedAt, now)
			e.restedAt = 0
		}
		idle := true
		if len(e.timers) > 0 && e.timers[0].due <= now {
			idle = false
			e.runTimer(ctx, e.timers[0], now)
			if ended(done) {
				return
			}
		}
		if q := e.pop(); q != nil {
			idle = false
			e.count.Tasks++
			if q.Task.Run(ctx) {
				e.Ready(q)
			}
		}
		switch {
		case now >= e.yield.next():
			e.publish()
			e.yield.yield(&e.count)
		case idle:
			if until != nil && until() { // a function given to Do may have changed it
				return
			}
			e.rest(now)
		default:
			e.idleSince = 0
		}
	}
}

func ended(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// rest looks out for work, first awake if so configured, then asleep, until there is some or the first timer is due.
func (e *Executor) rest(now int64) {
	deadline := int64(-1)
	if len(e.timers) > 0 {
		deadline = e.timers[0].due
	}
	if e.opts.Spin > 0 {
		if e.idleSince == 0 {
			e.idleSince = now
		}
		if until := e.idleSince + int64(e.opts.Spin); now < until {
			until = min(until, e.yield.next()) // the turn that follows yields
			if deadline >= 0 {
				until = min(until, deadline)
			}
			e.area.Spin(until)
			return
		}
	}
	e.publish()
	e.area.Wait(deadline)
	e.idleSince, e.restedAt = 0, now
}
