package tagus

import (
	"container/heap"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tagus-ros/tagus/msgs/rosgraph_msgs"
	"github.com/tagus-ros/tagus/param"
	"github.com/tagus-ros/tagus/qos"
)

// simTime is the time that a node takes from /clock. All that changes it runs on one
// thread, that of the domain's time executor, since a callback on the node's own may wait
// for time to pass.
type simTime struct {
	active atomic.Bool
	now    atomic.Int64 // ns; 0: no message came yet

	mu     sync.Mutex
	alarms alarms
	jumps  []*JumpHandler // replaced, never changed in place
	turned chan struct{}  // closed by the next turn, or nil
	closed bool
}

// alarm is due at a time of a simTime. Its functions are called under its mutex.
type alarm struct {
	due   int64
	index int             // in the heap, -1: not in it
	ring  func(now int64) // at or after due, with the alarm out of the heap
	reset func(now int64) // the time begins, or went back; nil: does not matter
}

// alarms has the alarm due first at its root.
type alarms []*alarm

func (h alarms) Len() int           { return len(h) }
func (h alarms) Less(i, j int) bool { return h[i].due < h[j].due }
func (h alarms) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *alarms) Push(x any) {
	a := x.(*alarm)
	a.index = len(*h)
	*h = append(*h, a)
}

func (h *alarms) Pop() any {
	last := len(*h) - 1
	a := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	a.index = -1
	return a
}

// arm adds a. Called under mu.
func (s *simTime) arm(a *alarm) { heap.Push(&s.alarms, a) }

// disarm takes a out, if it is in.
func (s *simTime) disarm(a *alarm) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.index >= 0 {
		heap.Remove(&s.alarms, a.index)
	}
}

// set is a message on /clock.
func (s *simTime) set(now int64) {
	old := s.now.Load()
	j := Jump{Delta: time.Duration(now - old), Change: NoClockChange}
	told := s.tellBefore(func(h *JumpHandler) bool {
		return j.Delta > 0 && h.Forward > 0 && j.Delta >= h.Forward || j.Delta < 0 && h.Backward > 0 && -j.Delta >= h.Backward
	})
	s.mu.Lock()
	s.now.Store(now)
	if old == 0 || now < old {
		for _, a := range s.alarms {
			if a.reset != nil {
				a.reset(now)
			}
		}
		heap.Init(&s.alarms)
	}
	for len(s.alarms) > 0 && s.alarms[0].due <= now {
		heap.Pop(&s.alarms).(*alarm).ring(now)
	}
	s.mu.Unlock()
	tellAfter(told, j)
}

// turn begins or ends that the clock follows /clock; switched is called before anybody is
// told.
func (s *simTime) turn(on bool, switched func()) {
	if s.active.Load() == on {
		return
	}
	told := s.tellBefore(func(h *JumpHandler) bool { return h.ClockChange })
	s.mu.Lock()
	s.now.Store(0)
	s.active.Store(on)
	s.turnLocked()
	s.mu.Unlock()
	switched()
	j := Jump{Change: SimTimeEnded}
	if on {
		j.Change = SimTimeBegun
	}
	tellAfter(told, j)
}

func (s *simTime) turnLocked() {
	if s.turned != nil {
		close(s.turned)
		s.turned = nil
	}
}

// close ends all waiting.
func (s *simTime) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.turnLocked()
}

// turns gives what is closed by the next turn, or by close.
func (s *simTime) turns() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turned == nil {
		s.turned = make(chan struct{})
		if s.closed {
			defer s.turnLocked()
		}
	}
	return s.turned
}

// turnError says what the end of turns means.
func (s *simTime) turnError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	return ErrClockChanged
}

// sleep waits until d has passed.
func (s *simTime) sleep(ctx context.Context, d int64) error {
	if s.now.Load() == 0 { // time passes from the first message on
		if err := s.sleepUntil(ctx, 1); err != nil {
			return err
		}
	}
	return s.sleepUntil(ctx, s.now.Load()+d)
}

func (s *simTime) sleepUntil(ctx context.Context, due int64) error {
	turned := s.turns()
	rung := make(chan struct{})
	a := &alarm{due: due, index: -1, ring: func(int64) { close(rung) }}
	s.mu.Lock()
	switch {
	case !s.active.Load(): // turned since the caller looked
		s.mu.Unlock()
		return s.turnError()
	case s.now.Load() >= due:
		s.mu.Unlock()
		return ctx.Err()
	}
	s.arm(a)
	s.mu.Unlock()
	defer s.disarm(a)
	select {
	case <-rung:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-turned:
		return s.turnError()
	}
}

func (s *simTime) onJump(h JumpHandler) (remove func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jumps = append(slices.Clone(s.jumps), &h)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.jumps = slices.DeleteFunc(slices.Clone(s.jumps), func(x *JumpHandler) bool { return x == &h })
	}
}

// tellBefore calls Before of the handlers that a jump is for, and returns these.
func (s *simTime) tellBefore(concerns func(*JumpHandler) bool) []*JumpHandler {
	s.mu.Lock()
	all := s.jumps
	s.mu.Unlock()
	var told []*JumpHandler
	for _, h := range all {
		if concerns(h) {
			told = append(told, h)
			if h.Before != nil {
				h.Before()
			}
		}
	}
	return told
}

func tellAfter(told []*JumpHandler, j Jump) {
	for _, h := range told {
		if h.After != nil {
			h.After(j)
		}
	}
}

// timeExecutor is the executor that brings /clock to the nodes, made when the first node
// wants it. It spins by itself until the domain ends.
func (d *Domain) timeExecutor() (*Executor, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, ErrClosed
	}
	if d.times == nil {
		e, err := newExecutor(d, executorConfig{cpu: -1})
		if err != nil {
			return nil, err
		}
		d.times = e
		d.spins.Add(1)
		go func() {
			defer d.spins.Done()
			if err := e.ex.Spin(d.ending); err != nil {
				d.log.Error("the thread that follows /clock ended", "err", err)
			}
		}()
	}
	return d.times, nil
}

// useSimTime is the parameter by which a node takes its time from /clock.
const useSimTime = "use_sim_time"

// declareTime declares it and does what it says, now and when it changes.
func (n *Node) declareTime() error {
	p, err := param.Declare(n, useSimTime, false, param.Descriptor{Description: "take the time from /clock"})
	if err != nil {
		return err
	}
	p.Watch(func(_, on bool) {
		if err := n.followClock(on); err != nil {
			n.logger.Error("use_sim_time has no effect", "err", err)
		}
	})
	if !p.Value() {
		return nil
	}
	return n.followClock(true)
}

// followClock begins or ends that the node's clock follows /clock. Calls do not overlap.
func (n *Node) followClock(on bool) error {
	e, err := n.d.timeExecutor()
	if err != nil {
		return err
	}
	if n.clockSub != nil {
		err = n.clockSub.Close()
		n.clockSub = nil
	}
	e.ex.Call(func() { n.clock.sim.turn(on, func() { n.switchTimers(on) }) })
	if !on || err != nil {
		return err
	}
	s := &Subscription[rosgraph_msgs.Clock]{fn: func(_ context.Context, s *Sample[rosgraph_msgs.Clock]) {
		n.clock.sim.set(int64(s.Msg.Clock.Sec)*1e9 + int64(s.Msg.Clock.Nanosec))
	}}
	s.st.e = e
	s.st.entry.Task = s
	if err = s.open(n, "/clock", (*rosgraph_msgs.Clock)(nil).ROSType(), qos.Clock(), &s.st, nil); err == nil {
		err = s.start(s)
	}
	if err != nil {
		return &EndpointError{"subscription", "/clock", "new", err}
	}
	n.clockSub = s
	return nil
}
