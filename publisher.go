package tagus

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/transport"
	"github.com/tagus-ros/tagus/qos"
	"github.com/tagus-ros/tagus/rosidl"
)

// Publisher sends messages of type T to a topic. It is safe for concurrent use.
type Publisher[T any] struct {
	emitter[T]
	loans  []*Loan[T] // not in use; under mu
	closed atomic.Bool
	owner  closer // what its node closes
	events *events

	loaned    atomic.Uint64
	fallbacks atomic.Uint64
}

// PublisherOption sets something about a [Publisher].
type PublisherOption interface{ publisher(*publisherConfig) }

type publisherConfig struct{ events *EventHandlers }

// NewPublisher makes a publisher on a topic; the name is expanded as ROS 2 does
// ("chatter", "~/status", "/tf"). The type argument P follows from T.
func NewPublisher[T any, P rosidl.Message[T]](n *Node, topic string, q qos.Profile, opts ...PublisherOption) (*Publisher[T], error) {
	return NewPublisherOf(n, topic, P(nil).ROSType(), q, opts...)
}

// open makes the publisher known, as owner's.
func (p *Publisher[T]) open(owner closer, h *EventHandlers) (err error) {
	p.owner = owner
	if p.events, err = newEvents(p.n, h, p.QoS()); err != nil {
		return err
	}
	if p.events != nil {
		p.out.OnChange(func() { p.events.count(p.out.Links) })
		p.n.d.listen(p.GID(), p.events)
	}
	err = p.events.watchDeadline(p.QoS().Deadline, p.out.Accepted)
	if err == nil {
		err = p.n.d.addOutlet(p.out)
	}
	if err == nil {
		err = p.n.own(owner, p.out.Endpoint)
	}
	if err != nil {
		p.end()
	}
	return err
}

func (d *Domain) addOutlet(o *transport.Outlet) error {
	return errors.Join(d.intra.AddPublisher(o), d.shm.AddPublisher(o))
}

// Topic is the fully qualified name of the topic.
func (p *Publisher[T]) Topic() string { return p.out.Endpoint.Name }

// QoS is the profile in force.
func (p *Publisher[T]) QoS() qos.Profile { return p.out.Endpoint.QoS }

// GID identifies the publisher in the graph and in every message.
func (p *Publisher[T]) GID() graph.GID { return p.out.Endpoint.GID }

func (p *Publisher[T]) fail(op string, err error) error {
	return &EndpointError{"publisher", p.out.Endpoint.Name, op, err}
}

// Publish sends m, which stays the caller's. It never blocks: a full queue gives
// up its oldest message, which its subscription counts. Errors: ErrClosed; a bound
// of the type that m breaks; [*QueueFullError]; shared memory is full, which names
// the limit (readers that need no shared memory have received the message then).
func (p *Publisher[T]) Publish(m *T) error { return p.publish(m, nil) }

// PublishOwned sends m and takes it with everything reachable from it; the caller
// must not touch it again, also when an error is returned. Readers in this process
// get m itself; when the last is done and m came from New, it is used again. Errors
// as Publish.
func (p *Publisher[T]) PublishOwned(m *T) error {
	v := p.values.own(m)
	err := p.publish(m, v)
	v.Drop()
	return err
}

// New returns a message to fill and to give to PublishOwned: numbers are zero,
// strings empty, slices of length 0 with the capacity that earlier messages had.
// Fixed arrays of over 4096 bytes are not cleared.
func (p *Publisher[T]) New() *T { return p.values.new() }

func (p *Publisher[T]) publish(m *T, v *transport.Value) error {
	if err := p.emit(m, v); err != nil {
		return p.fail("publish", err)
	}
	return nil
}

// Matched is how many subscriptions are matched and ready to receive.
func (p *Publisher[T]) Matched() int { return p.out.Links() }

// WaitForSubscriptions returns when at least n subscriptions are matched: what is
// published from then on reaches them. It returns ctx's error when that ends first.
func (p *Publisher[T]) WaitForSubscriptions(ctx context.Context, n int) error {
	if err := p.out.WaitLinks(ctx, n); err != nil {
		return p.fail("wait for subscriptions", err)
	}
	return nil
}

// PublisherStats is what a publisher counted.
type PublisherStats struct {
	Published      uint64 // messages accepted
	Bytes          uint64 // of CDR that were written to shared memory
	Copied         uint64 // payload bytes that were copied to publish
	Loaned         uint64 // messages published by loan
	LoanFallbacks  uint64 // of those, copied after all: what precedes the sequence changed its length
	Evicted        uint64 // messages that made room in a full queue of a subscription
	LeaseLimit     uint64 // messages not queued: the subscription's process holds too much of the memory
	ArenaFull      uint64 // publications for which there was no shared memory
	Refused        uint64 // publications that break a bound of the type
	DeadlineMissed uint64 // deadlines that passed without a publication
	Matched        int    // subscriptions
	Queued         int    // messages in queues of subscriptions
	Lent           int    // messages that subscriptions hold
}

// Stats returns the counts so far.
func (p *Publisher[T]) Stats() PublisherStats {
	accepted, c := p.out.Counts()
	return PublisherStats{
		Published: accepted, Bytes: p.bytes.Load(), Copied: p.copied.Load(),
		Loaned: p.loaned.Load(), LoanFallbacks: p.fallbacks.Load(),
		Evicted: c.Evicted, LeaseLimit: c.LeaseLimit,
		ArenaFull: p.full.Load(), Refused: p.refused.Load(),
		DeadlineMissed: p.events.missed(),
		Matched:        p.out.Links(), Queued: c.Queued, Lent: c.Lent,
	}
}

// Close ends the publisher. Messages that were accepted are still delivered. It is
// idempotent.
func (p *Publisher[T]) Close() error {
	if p.closed.Swap(true) {
		return nil
	}
	p.end()
	p.n.disown(p.owner, p.out.Endpoint)
	return nil
}

func (p *Publisher[T]) end() {
	p.n.d.unlisten(p.GID())
	p.events.close()
	p.out.Close()
	p.n.d.intra.RemovePublisher(p.out)
	p.n.d.shm.RemovePublisher(p.out)
}
