package tagus

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/exec"
	"github.com/tagus-ros/tagus/internal/match"
	"github.com/tagus-ros/tagus/qos"
)

// EventHandlers are called, on the node's executor, when something happens to an
// endpoint that is no message. All are optional.
type EventHandlers struct {
	// Matched: the other end of a pair came or went.
	Matched func(Matched)
	// IncompatibleQoS: an endpoint of the topic was not matched because of its profile.
	IncompatibleQoS func(IncompatibleQoS)
	// IncompatibleType: an endpoint of the topic was not matched because of its type.
	IncompatibleType func(IncompatibleType)
	// DeadlineMissed: nothing was published, or received, for the length of the deadline.
	// It is called again each time that passes.
	DeadlineMissed func(DeadlineMissed)
	// MessageLost, of a subscription: messages were published and never reached it.
	MessageLost func(MessageLost)
}

// Matched tells how many endpoints are matched now.
type Matched struct {
	Current int // matched now
	Change  int // since the last event: above 0 came, below 0 went
}

// IncompatibleQoS tells of an endpoint whose profile does not match.
type IncompatibleQoS struct {
	Other   graph.Endpoint
	Reasons []qos.Reason // each names a policy and what both sides have
	Total   int          // such endpoints so far
}

// IncompatibleType tells of an endpoint whose type does not match.
type IncompatibleType struct {
	Other   graph.Endpoint // with its type and hash
	Reasons []qos.Reason
	Total   int // such endpoints so far
}

// DeadlineMissed tells of a missed deadline.
type DeadlineMissed struct {
	Deadline time.Duration
	Total    uint64 // misses so far
}

// MessageLost tells of lost messages.
type MessageLost struct {
	Count uint64 // lost before the message that was just received
	Total uint64 // lost so far
}

// PubSubOption is an option for publishers and for subscriptions.
type PubSubOption interface {
	PublisherOption
	SubscriptionOption
}

// WithEvents has handlers called for what happens to the endpoint.
func WithEvents(h EventHandlers) PubSubOption { return withEvents{h} }

type withEvents struct{ h EventHandlers }

func (o withEvents) publisher(c *publisherConfig)       { c.events = &o.h }
func (o withEvents) subscription(c *subscriptionConfig) { c.events = &o.h }

// events brings what happened to an endpoint onto the node's executor, in order.
type events struct {
	h     EventHandlers
	e     *Executor
	leaf  int
	entry exec.Entry

	mu       sync.Mutex
	queue    []func()
	matched  int // last reported
	qosBad   int
	typeBad  int
	deadline deadlineWatch
	closed   bool
}

// newEvents makes the queue for an endpoint of n; nil where nothing is to be reported or
// counted.
func newEvents(n *Node, h *EventHandlers, q qos.Profile) (*events, error) {
	if h == nil && !finite(q.Deadline) {
		return nil, nil
	}
	if h == nil {
		h = &EventHandlers{}
	}
	ev := &events{h: *h, e: n.executor}
	ev.entry.Task = ev
	var err error
	ev.leaf, err = n.executor.ex.Attach(ev)
	return ev, err
}

// Poll puts the events in the executor's queue. It is for the executor.
func (ev *events) Poll() { ev.e.ex.Ready(&ev.entry) }

// Run calls one handler. It is for the executor.
func (ev *events) Run(context.Context) (more bool) {
	ev.mu.Lock()
	if len(ev.queue) == 0 || ev.closed {
		ev.mu.Unlock()
		return false
	}
	f := ev.queue[0]
	ev.queue = ev.queue[1:]
	more = len(ev.queue) > 0
	ev.mu.Unlock()
	f()
	return more
}

func (ev *events) postLocked(f func()) {
	if !ev.closed {
		ev.queue = append(ev.queue, f)
		ev.e.area.Signal(ev.leaf)
	}
}

// count reports how many endpoints are matched, if that changed.
func (ev *events) count(matched func() int) {
	if ev == nil || ev.h.Matched == nil {
		return
	}
	ev.mu.Lock()
	defer ev.mu.Unlock()
	now := matched() // under the lock, so that the last report has the last count
	if m := (Matched{Current: now, Change: now - ev.matched}); m.Change != 0 {
		ev.matched = now
		ev.postLocked(func() { ev.h.Matched(m) })
	}
}

// mismatch reports that other does not match, and why.
func (ev *events) mismatch(other graph.Endpoint, reasons []match.Reason) {
	ev.mu.Lock()
	defer ev.mu.Unlock()
	var types, policies []match.Reason
	for _, r := range reasons {
		if strings.HasPrefix(r.Code, "type-") {
			types = append(types, r)
		} else {
			policies = append(policies, r)
		}
	}
	if len(types) > 0 && ev.h.IncompatibleType != nil {
		ev.typeBad++
		e := IncompatibleType{Other: other, Reasons: types, Total: ev.typeBad}
		ev.postLocked(func() { ev.h.IncompatibleType(e) })
	}
	if len(policies) > 0 && ev.h.IncompatibleQoS != nil {
		ev.qosBad++
		e := IncompatibleQoS{Other: other, Reasons: policies, Total: ev.qosBad}
		ev.postLocked(func() { ev.h.IncompatibleQoS(e) })
	}
}

// lost reports n lost messages of total.
func (ev *events) lost(n, total uint64) {
	if ev == nil || ev.h.MessageLost == nil {
		return
	}
	ev.mu.Lock()
	defer ev.mu.Unlock()
	ev.postLocked(func() { ev.h.MessageLost(MessageLost{Count: n, Total: total}) })
}

// close drops what was not reported yet.
func (ev *events) close() {
	if ev == nil {
		return
	}
	ev.mu.Lock()
	ev.closed = true
	t := ev.deadline.timer
	ev.mu.Unlock()
	if t != nil {
		t.Stop()
	}
	ev.e.ex.Detach(ev.leaf)
}

// deadlineWatch looks once a deadline whether a counter has moved. A message resets it in
// effect: after the last one the first miss is told one to two deadlines later.
type deadlineWatch struct {
	timer *exec.Timer
	seen  uint64 // the executor's thread's
	total atomic.Uint64
}

// missed is how many deadlines were missed so far.
func (ev *events) missed() uint64 {
	if ev == nil {
		return 0
	}
	return ev.deadline.total.Load()
}

// finite reports whether a policy's duration is set.
func finite(d time.Duration) bool { return d != 0 && d != qos.Infinite }

// watchDeadline reports each time that count has not moved for the length of the
// deadline, from the first message on.
func (ev *events) watchDeadline(deadline time.Duration, count func() uint64) error {
	if ev == nil || !finite(deadline) {
		return nil
	}
	w := &ev.deadline
	t, err := ev.e.ex.NewTimer(deadline, func(context.Context, time.Duration) {
		n := count()
		if n != w.seen || n == 0 {
			w.seen = n
			return
		}
		if total := w.total.Add(1); ev.h.DeadlineMissed != nil {
			ev.h.DeadlineMissed(DeadlineMissed{Deadline: deadline, Total: total})
		}
	})
	if err != nil {
		return err
	}
	ev.mu.Lock()
	w.timer = t
	ev.mu.Unlock()
	return nil
}
