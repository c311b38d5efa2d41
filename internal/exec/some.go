package exec

import (
	"cmp"
	"context"
	"slices"

	"github.com/tagus-ros/tagus/internal/clock"
)

// SpinUntil is Spin that ends when done says so, with nil; when ctx ends first, with its error. done is asked at the beginning and after
// each callback and each wake-up, on the executor's thread: what it looks at should change in callbacks, or else be followed by a
// [Executor.Do].
func (e *Executor) SpinUntil(ctx context.Context, done func() bool) error {
	over := false
	err := e.spin(ctx, func() bool {
		over = done()
		return over
	})
	if err == nil && !over {
		err = ctx.Err()
	}
	return err
}

// SpinSome runs what is ready now, each timer and each task at most once, and returns how many callbacks that were. It does not wait for
// anything to become ready. What becomes ready meanwhile, also more of the same task, is left to the next call. Options about the thread
// (its processor and priority) do not hold during it. Errors as those of Spin.
func (e *Executor) SpinSome(ctx context.Context) (ran int, err error) {
	if e.OnThread() {
		return 0, ErrSpinning
	}
	if err := e.enter(); err != nil {
		return 0, err
	}
	defer e.leave()
	done := ctx.Done()
	before := e.count.Tasks + e.count.Timers
	e.area.Take(e.visit)
	e.runCalls()
	now := clock.Mono()
	var due []*Timer
	for _, t := range e.timers {
		if t.due <= now {
			due = append(due, t)
		}
	}
	slices.SortFunc(due, func(a, b *Timer) int { return cmp.Compare(a.due, b.due) })
	for _, t := range due {
		if ended(done) {
			break
		}
		if t.index >= 0 { // not stopped meanwhile
			e.runTimer(ctx, t, now)
		}
	}
	for last := e.last; !ended(done); {
		q := e.pop()
		if q == nil {
			break
		}
		e.count.Tasks++
		if q.Task.Run(ctx) {
			e.Ready(q)
		}
		if q == last {
			break
		}
	}
	return int(e.count.Tasks+e.count.Timers-before) + e.pool.some(ctx), nil
}
