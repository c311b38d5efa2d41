package tagus

import (
	"context"
	"errors"
	"time"

	"github.com/tagus-ros/tagus/internal/clock"
)

// ClockType says which time a [Clock] shows.
type ClockType uint8

// The types of clocks, numbered as in ROS 2.
const (
	// ROSTime is the time on /clock if the node's parameter use_sim_time is set, else
	// SystemTime.
	ROSTime ClockType = iota + 1
	// SystemTime is that of the host since 1970-01-01 UTC. It may step.
	SystemTime
	// SteadyTime never steps. It begins anywhere: only differences mean something.
	SteadyTime
)

// String names the type.
func (t ClockType) String() string {
	switch t {
	case ROSTime:
		return "ROS time"
	case SystemTime:
		return "system time"
	case SteadyTime:
		return "steady time"
	}
	return "unknown time"
}

// ErrClockChanged says that a node's clock began to follow /clock, or ceased to, while
// somebody waited for a time of it.
var ErrClockChanged = errors.New("the clock changed between simulated and system time")

// Clock shows time and waits for it. It is safe for concurrent use.
type Clock struct {
	typ ClockType
	sim *simTime // what ROS time shows of a node, else nil
}

// NewClock makes a clock. One of ROS time that belongs to no node is one of system time.
func NewClock(t ClockType) *Clock { return &Clock{typ: t} }

// Clock is the node's clock, of ROS time.
func (n *Node) Clock() *Clock { return n.clock }

// Type is which time the clock shows.
func (c *Clock) Type() ClockType { return c.typ }

// Simulated reports whether the clock follows /clock.
func (c *Clock) Simulated() bool { return c.sim != nil && c.sim.active.Load() }

// Now is the time that it shows. A clock that follows /clock shows the epoch until the
// first message came.
func (c *Clock) Now() time.Time { return time.Unix(0, c.now()) }

func (c *Clock) now() int64 {
	switch {
	case c.typ == SteadyTime:
		return clock.Mono()
	case c.Simulated():
		return c.sim.now.Load()
	}
	return clock.Wall()
}

// Sleep returns when d has passed on the clock, never earlier. A clock that follows
// /clock passes no time before the first message came. Errors: ctx's when that ends
// first, ErrClockChanged, ErrClosed when the node is closed.
func (c *Clock) Sleep(ctx context.Context, d time.Duration) error {
	if c.Simulated() {
		return c.sim.sleep(ctx, int64(d))
	}
	return c.wait(ctx, d)
}

// SleepUntil returns when the clock shows t or later. Errors as Sleep.
func (c *Clock) SleepUntil(ctx context.Context, t time.Time) error {
	if c.Simulated() {
		return c.sim.sleepUntil(ctx, t.UnixNano())
	}
	for {
		left := t.UnixNano() - c.now()
		if left <= 0 {
			return ctx.Err()
		}
		if err := c.wait(ctx, time.Duration(left)); err != nil {
			return err
		}
	}
}

// wait lets real time pass.
func (c *Clock) wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	var turned <-chan struct{}
	if c.sim != nil {
		turned = c.sim.turns()
		if c.Simulated() {
			return ErrClockChanged
		}
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-turned:
		return c.sim.turnError()
	}
}

// OnJump has a handler told of jumps of the clock until remove is called. Only ROS time
// that follows /clock is seen to jump: each message on /clock is a jump by the time since
// the last one. The functions of the handler run one at a time on a thread that all nodes
// of the domain share for this, not on the node's executor; they should be short.
func (c *Clock) OnJump(h JumpHandler) (remove func()) {
	if c.sim == nil {
		return func() {}
	}
	return c.sim.onJump(h)
}

// JumpHandler says which jumps are told, and to whom.
type JumpHandler struct {
	Forward     time.Duration // the smallest jump forward that is told; 0: none is
	Backward    time.Duration // the smallest jump backward that is told, above 0; 0: none is
	ClockChange bool          // tell when the node begins to follow /clock, and when it ceases to
	Before      func()        // called before the clock shows the new time; may be nil
	After       func(Jump)    // called after that; may be nil
}

// Jump is a step of a clock.
type Jump struct {
	Delta  time.Duration // forward is above 0
	Change ClockChange
}

// ClockChange says whether a jump is a change between simulated and system time.
type ClockChange uint8

// The changes, numbered as in ROS 2.
const (
	NoClockChange ClockChange = iota + 1 // a step within simulated time
	SimTimeBegun                         // the clock follows /clock from now on
	SimTimeEnded                         // it shows system time from now on
	_
)

// Rate makes a loop turn at a fixed rate. It belongs to one goroutine.
type Rate struct {
	c      *Clock
	period int64
	last   int64 // beginning of the turn that runs
}

// NewRate makes a rate of one turn a period, the first of which begins now.
func (c *Clock) NewRate(period time.Duration) *Rate {
	return &Rate{c: c, period: int64(max(period, 0)), last: c.now()}
}

// Sleep waits for the end of the turn's period. A turn that took longer is followed by
// the next at once, without catching up more than one. Errors as [Clock.Sleep].
func (r *Rate) Sleep(ctx context.Context) error {
	now := r.c.now()
	next := r.last + r.period
	if now < r.last { // the clock went back
		next = now + r.period
	}
	r.last = next
	if next > now {
		return r.c.SleepUntil(ctx, time.Unix(0, next))
	}
	if now-next > r.period {
		r.last = now
	}
	return ctx.Err()
}
