package tagus

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/clock"
	"github.com/tagus-ros/tagus/internal/stats"
	"github.com/tagus-ros/tagus/internal/transport"
	"github.com/tagus-ros/tagus/qos"
	"github.com/tagus-ros/tagus/rosidl"
)

// receiver is what every kind of subscription is made of: the inlet, recycled
// samples, and the counts.
type receiver[T any] struct {
	n       *Node
	ts      *rosidl.TypeSupport[T]
	in      *transport.Inlet
	private bool
	raw     func(m *T, payload []byte) // of a subscription without a Go type: takes the payload as it is
	closed  atomic.Bool
	events  *events

	mu   sync.Mutex
	free []*Sample[T]
	lat  atomic.Pointer[stats.Histogram] // made with the first message

	copied    atomic.Uint64
	malformed atomic.Uint64
	writes    atomic.Uint64
	reported  atomic.Int64 // when a malformed message was last logged, ns of clock.Mono
}

// SubscriptionOption sets something about a subscription.
type SubscriptionOption interface{ subscription(*subscriptionConfig) }

// subscriptionOption makes a function an option.
type subscriptionOption func(*subscriptionConfig)

func (f subscriptionOption) subscription(c *subscriptionConfig) { f(c) }

type subscriptionConfig struct {
	events   *EventHandlers
	group    *CallbackGroup
	private  bool
	retained int
}

// DefaultRetained is how many samples a subscription can retain besides the one in
// its callback.
const DefaultRetained = 8

// MaxRetained is the most that WithRetained can ask for.
const MaxRetained = transport.MaxLeases - 1

// WithPrivateCopy gives the callback a message that it may change: the publisher's
// own if nobody else reads it, else a copy.
func WithPrivateCopy() SubscriptionOption {
	return subscriptionOption(func(c *subscriptionConfig) { c.private = true })
}

// WithRetained sets how many samples can be retained at a time, 0 to [MaxRetained].
func WithRetained(n int) SubscriptionOption {
	return subscriptionOption(func(c *subscriptionConfig) { c.retained = n })
}

// open makes the receiver for a topic, woken at st.
func (r *receiver[T]) open(n *Node, topic string, ts *rosidl.TypeSupport[T], q qos.Profile, st transport.Station, opts []SubscriptionOption) error {
	c := subscriptionConfig{retained: DefaultRetained}
	for _, o := range opts {
		o.subscription(&c)
	}
	if c.retained < 0 || c.retained > MaxRetained {
		return &RetainLimitError{Wanted: c.retained, Limit: MaxRetained}
	}
	if c.group != nil {
		s, ok := st.(*station)
		if !ok {
			return errNoCallback
		}
		var err error
		if s.group, err = c.group.of(s.e); err != nil {
			return err
		}
	}
	e, err := n.endpoint(graph.KindSubscription, topic, ts.Name, ts.Hash, q)
	if err != nil {
		return err
	}
	r.private = c.private
	if err := r.openAs(n, e, ts, st, c.retained+1); err != nil {
		return err
	}
	r.in.NeedsBytes = r.raw != nil
	if r.events, err = newEvents(n, c.events, e.QoS); err != nil {
		return err
	}
	if r.events != nil {
		r.in.OnChange(func() { r.events.count(func() int { return r.in.Counts().Feeds }) })
		n.d.listen(e.GID, r.events)
	}
	return r.events.watchDeadline(e.QoS.Deadline, func() uint64 { return r.in.Counts().Received })
}

// openAs makes the receiver for an endpoint, with room for so many leases.
func (r *receiver[T]) openAs(n *Node, e graph.Endpoint, ts *rosidl.TypeSupport[T], st transport.Station, leases int) (err error) {
	r.n, r.ts = n, ts
	if ts.Definition != nil {
		n.d.define(ts.Name, ts.Hash, ts.Definition)
	}
	r.in, err = transport.NewInlet(e, st, leases)
	return err
}

// start makes the receiver known, after its owner is ready to be woken.
func (r *receiver[T]) start(owner closer) error {
	if err := errors.Join(r.n.d.intra.AddSubscription(r.in), r.n.d.shm.AddSubscription(r.in)); err != nil {
		r.end()
		return err
	}
	if err := r.n.own(owner, r.in.Endpoint); err != nil {
		r.end()
		return err
	}
	r.n.d.keepInlet(r.in)
	return nil
}

// keepInlet remembers a subscription until its samples are back, and forgets those
// whose are.
func (d *Domain) keepInlet(in *transport.Inlet) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.inlets = slices.DeleteFunc(d.inlets, func(x *transport.Inlet) bool { return x.Done() })
	d.inlets = append(d.inlets, in)
}

func (r *receiver[T]) end() {
	r.n.d.unlisten(r.GID())
	r.events.close()
	r.in.Close()
	r.n.d.intra.RemoveSubscription(r.in)
	r.n.d.shm.RemoveSubscription(r.in)
}

// take leases and decodes the oldest message. It returns nil when there is none; more
// says whether it should be called again.
func (r *receiver[T]) take() (s *Sample[T], more bool) {
	s = r.sample()
	for {
		ok, more := r.in.Take(&s.rec)
		if !ok {
			r.put(s)
			return nil, false
		}
		err := s.decode(r.ts, r.private)
		if err == nil {
			r.note(s)
			return s, more
		}
		r.refuse(s, err)
		if !more {
			r.put(s)
			return nil, false
		}
	}
}

// note fills in the information of s and counts it.
func (r *receiver[T]) note(s *Sample[T]) {
	rec := &s.rec
	latency := rec.Arrived - rec.Stamp
	if rec.Lost > 0 && r.events != nil {
		r.events.lost(rec.Lost, r.in.Counts().Lost)
	}
	s.Info = MessageInfo{
		SourceTime:   time.Unix(0, rec.Source),
		ReceivedTime: time.Unix(0, rec.Taken),
		Sequence:     rec.Sequence,
		Publisher:    rec.GID,
		Path:         rec.Path,
		Latency:      time.Duration(latency),
	}
	h := r.lat.Load()
	if h == nil {
		r.lat.CompareAndSwap(nil, new(stats.Histogram))
		h = r.lat.Load()
	}
	h.Record(latency)
}

// addCopied counts payload bytes that were copied to receive.
func (r *receiver[T]) addCopied(n int) {
	r.copied.Add(uint64(n))
	r.n.d.copied.Add(uint64(n))
}

// refuse counts a message that does not decode, gives it back, and says so at most
// once in ten seconds.
func (r *receiver[T]) refuse(s *Sample[T], err error) {
	r.malformed.Add(1)
	r.ts.Unalias(s.mine())
	gid := s.rec.GID
	r.in.Release(&s.rec)
	now := clock.Mono()
	if last := r.reported.Load(); (last == 0 || now-last > int64(10*time.Second)) && r.reported.CompareAndSwap(last, now) {
		r.n.d.log.Error("malformed message refused", "topic", r.in.Endpoint.Name, "type", r.ts.Name, "publisher", gid.String(), "err", err, "refused", r.malformed.Load())
	}
}

// finish gives back what s holds, and s itself.
func (r *receiver[T]) finish(s *Sample[T]) {
	if s.own != nil && s.Msg == s.own && !r.private {
		r.ts.Unalias(s.own)
	}
	s.Msg = nil
	r.in.Release(&s.rec)
	r.put(s)
}

func (r *receiver[T]) sample() *Sample[T] {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.free); n > 0 {
		s := r.free[n-1]
		r.free = r.free[:n-1]
		s.state.Store(sampleLent)
		return s
	}
	s := &Sample[T]{rx: r}
	s.state.Store(sampleLent)
	return s
}

func (r *receiver[T]) put(s *Sample[T]) {
	s.state.Store(sampleFree)
	r.mu.Lock()
	r.free = append(r.free, s)
	r.mu.Unlock()
}

// RetainLimitError says that more samples were to be retained than can be.
type RetainLimitError struct{ Wanted, Limit int }

func (e *RetainLimitError) Error() string {
	return fmt.Sprintf("%d retained samples wanted, limit retained_samples = %d", e.Wanted, e.Limit)
}

// SubscriptionStats is what a subscription counted.
type SubscriptionStats struct {
	Received       uint64  // messages taken
	Lost           uint64  // messages owed and never taken: holes in the sequence numbers
	Evicted        uint64  // of those, given up here to keep the newest Depth of several publishers
	Duplicate      uint64  // messages seen before, discarded
	Expired        uint64  // messages older than their lifespan, discarded
	DeadlineMissed uint64  // deadlines that passed without a message
	Malformed      uint64  // messages that did not decode, refused
	Faults         uint64  // publishers that broke the protocol and were disconnected
	WritesToLent   uint64  // callbacks stopped because they wrote to a lent message
	Copied         uint64  // payload bytes copied to receive
	Waiting        int     // messages in the queue
	Retained       int     // samples in a callback, retained or taken
	Publishers     int     // matched publishers
	Latency        Latency // from the start of publish until the message was taken
}

// Latency sums up a distribution of times.
type Latency = stats.Summary

// Stats returns the counts so far.
func (r *receiver[T]) Stats() SubscriptionStats {
	c := r.in.Counts()
	s := SubscriptionStats{
		Received: c.Received, Lost: c.Lost, Evicted: c.Evicted, Duplicate: c.Duplicate,
		Expired: c.Expired, DeadlineMissed: r.events.missed(),
		Malformed: r.malformed.Load(), Faults: c.Faults, WritesToLent: r.writes.Load(),
		Copied: r.copied.Load(), Waiting: c.Waiting, Retained: c.Leases, Publishers: c.Feeds,
	}
	if h := r.lat.Load(); h != nil {
		s.Latency = h.Summary()
	}
	return s
}

// Topic is the fully qualified name of the topic.
func (r *receiver[T]) Topic() string { return r.in.Endpoint.Name }

// QoS is the profile in force.
func (r *receiver[T]) QoS() qos.Profile { return r.in.Endpoint.QoS }

// GID identifies the subscription in the graph.
func (r *receiver[T]) GID() graph.GID { return r.in.Endpoint.GID }
