package lifecycle

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/qos"
	"github.com/tagus-ros/tagus/rosidl"
)

// Publisher sends messages of type T to a topic while its node is active. In other states it refuses with [ErrInactive], at no cost worth
// mentioning. Messages that it keeps for late joiners (transient local) reach those in every state. It is safe for concurrent use.
type Publisher[T any] struct {
	n       *Node
	p       *tagus.Publisher[T]
	ts      *rosidl.TypeSupport[T]
	refusal *tagus.EndpointError

	refused atomic.Uint64

	mu    sync.Mutex
	out   map[*T]struct{} // messages that New gave out
	spare []*T            // of those, the ones whose publication was refused
}

// NewPublisher makes a managed publisher, as tagus.NewPublisher does for one that works in every state.
func NewPublisher[T any, P rosidl.Message[T]](n *Node, topic string, q qos.Profile, opts ...tagus.PublisherOption) (*Publisher[T], error) {
	p, err := tagus.NewPublisher[T, P](n.Node, topic, q, opts...)
	if err != nil {
		return nil, err
	}
	return &Publisher[T]{
		n: n, p: p, ts: P(nil).ROSType(), out: make(map[*T]struct{}),
		refusal: &tagus.EndpointError{Kind: "publisher", Name: p.Topic(), Op: "publish", Err: ErrInactive},
	}, nil
}

// refuse counts a refusal. Its error is always the same one, so that a driver which goes on publishing costs nothing.
func (p *Publisher[T]) refuse() error {
	p.refused.Add(1)
	return p.refusal
}

// Publish sends m, which stays the caller's. Errors: ErrInactive, and those of tagus.Publisher.
func (p *Publisher[T]) Publish(m *T) error {
	if !p.n.gate.enter() {
		return p.refuse()
	}
	err := p.p.Publish(m)
	p.n.gate.leave()
	return err
}

// PublishOwned sends m and takes it with everything reachable from it, also when an error is returned. Errors as Publish.
func (p *Publisher[T]) PublishOwned(m *T) error {
	p.mu.Lock()
	_, ours := p.out[m]
	delete(p.out, m)
	p.mu.Unlock()
	if !p.n.gate.enter() {
		if ours {
			p.keep(m)
		}
		return p.refuse()
	}
	err := p.p.PublishOwned(m)
	p.n.gate.leave()
	return err
}

// keep puts a message that New gave out aside for the next New. What its user put in is dropped.
//
//go:noinline
func (p *Publisher[T]) keep(m *T) {
	var zero T
	*m = zero
	p.mu.Lock()
	p.spare = append(p.spare, m)
	p.mu.Unlock()
}

// New returns a message to fill and to give to PublishOwned, as that of tagus.Publisher.
func (p *Publisher[T]) New() *T {
	var m *T
	p.mu.Lock()
	if i := len(p.spare) - 1; i >= 0 {
		m, p.spare = p.spare[i], p.spare[:i]
	}
	p.mu.Unlock()
	if m != nil {
		p.ts.Default(m)
	} else {
		m = p.p.New()
	}
	p.mu.Lock()
	p.out[m] = struct{}{}
	p.mu.Unlock()
	return m
}

// Loan is a message whose payload lies in the transport's memory. It belongs to one goroutine at a time and ends with Publish or Discard.
type Loan[T any] struct {
	p *Publisher[T]
	l *tagus.Loan[T]
}

// Loan returns memory of the transport for one message, as that of tagus.Publisher; it refuses with ErrInactive when the node is not active.
func (p *Publisher[T]) Loan(shape *T) (Loan[T], error) {
	if !p.n.gate.enter() {
		return Loan[T]{}, p.refuse()
	}
	l, err := p.p.Loan(shape)
	p.n.gate.leave()
	if err != nil {
		return Loan[T]{}, err
	}
	return Loan[T]{p, l}, nil
}

// Msg is the message to fill. It is valid until the loan ends.
func (l Loan[T]) Msg() *T { return l.l.Msg() }

// Publish sends the message and ends the loan, also when an error is returned. Errors as [Publisher.Publish].
func (l Loan[T]) Publish() error {
	if !l.p.n.gate.enter() {
		l.l.Discard()
		return l.p.refuse()
	}
	err := l.l.Publish()
	l.p.n.gate.leave()
	return err
}

// Discard ends the loan without publishing.
func (l Loan[T]) Discard() { l.l.Discard() }

// Topic is the fully qualified name of the topic.
func (p *Publisher[T]) Topic() string { return p.p.Topic() }

// QoS is the profile in force.
func (p *Publisher[T]) QoS() qos.Profile { return p.p.QoS() }

// GID identifies the publisher in the graph and in every message.
func (p *Publisher[T]) GID() graph.GID { return p.p.GID() }

// Matched is how many subscriptions are matched and ready to receive.
func (p *Publisher[T]) Matched() int { return p.p.Matched() }

// WaitForSubscriptions returns when at least n subscriptions are matched: what is published from then on reaches them. It returns ctx's error
// when that ends first.
func (p *Publisher[T]) WaitForSubscriptions(ctx context.Context, n int) error {
	return p.p.WaitForSubscriptions(ctx, n)
}

// PublisherStats is what a publisher counted.
type PublisherStats struct {
	tagus.PublisherStats
	Inactive uint64 // publications and loans that were refused since the node was not active
}

// Stats returns the counts so far.
func (p *Publisher[T]) Stats() PublisherStats {
	return PublisherStats{p.p.Stats(), p.refused.Load()}
}

// Close ends the publisher. Messages that were accepted are still delivered. It is idempotent.
func (p *Publisher[T]) Close() error { return p.p.Close() }
