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

// Subscription hands the messages of a topic to a callback while its node is active. What comes in other states is dropped and counted. It is
// safe for concurrent use.
//
// One that is transient local joins the topic anew at each activation, as a late joiner: it is given the kept messages of all publishers,
// also those that it was given in an earlier activation, since the node may have forgotten them in between.
type Subscription[T any] struct {
	n       *Node
	fn      func(context.Context, *tagus.Sample[T])
	join    func(of *membership) (*tagus.Subscription[T], error)
	latched bool

	current  atomic.Pointer[membership] // whose messages count; nil: none
	inactive atomic.Uint64

	mu     sync.Mutex
	sub    *tagus.Subscription[T]
	closed bool
}

// membership is what tells the messages of an earlier join from those of the current one.
type membership struct{ _ byte }

// NewSubscription makes a managed subscription, as tagus.NewSubscription does for one that works in every state.
func NewSubscription[T any, P rosidl.Message[T]](n *Node, topic string, q qos.Profile, fn func(context.Context, *tagus.Sample[T]), opts ...tagus.SubscriptionOption) (*Subscription[T], error) {
	s := &Subscription[T]{n: n, fn: fn}
	s.join = func(of *membership) (*tagus.Subscription[T], error) {
		return tagus.NewSubscription[T, P](n.Node, topic, q, func(ctx context.Context, sample *tagus.Sample[T]) { s.receive(ctx, sample, of) }, opts...)
	}
	first := new(membership)
	if q.Durability != qos.TransientLocal {
		s.current.Store(first)
	}
	sub, err := s.join(first)
	if err != nil {
		return nil, err
	}
	s.sub = sub
	if s.latched = sub.QoS().Durability == qos.TransientLocal; s.latched {
		s.current.Store(nil) // best available, and latched is what was
	}
	if err := n.add(s); err != nil {
		s.Close()
		return nil, &tagus.EndpointError{Kind: "subscription", Name: sub.Topic(), Op: "new", Err: err}
	}
	return s, nil
}

func (s *Subscription[T]) receive(ctx context.Context, sample *tagus.Sample[T], of *membership) {
	if s.current.Load() != of || !s.n.gate.enterCallback() {
		s.inactive.Add(1)
		return
	}
	defer s.n.gate.leaveCallback()
	s.fn(ctx, sample)
}

// arm has a transient-local subscription drop what still comes by its old join.
func (s *Subscription[T]) arm() {
	if s.latched {
		s.current.Store(nil)
	}
}

func (s *Subscription[T]) resume() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.latched || s.closed || s.current.Load() != nil {
		return nil
	}
	of := new(membership)
	s.current.Store(of)
	sub, err := s.join(of)
	if err != nil {
		return err
	}
	// Its messages do not count any more. Its end may have to wait for a callback, which this must not.
	old := s.sub
	s.n.work.Go(func() { _ = old.Close() })
	s.sub = sub
	return nil
}

func (s *Subscription[T]) pause() {}

// now is the tagus subscription behind s.
func (s *Subscription[T]) now() *tagus.Subscription[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sub
}

// Topic is the fully qualified name of the topic.
func (s *Subscription[T]) Topic() string { return s.now().Topic() }

// QoS is the profile in force.
func (s *Subscription[T]) QoS() qos.Profile { return s.now().QoS() }

// GID identifies the subscription in the graph; of one that is transient local, since the last activation.
func (s *Subscription[T]) GID() graph.GID { return s.now().GID() }

// WaitForPublishers returns when at least n publishers are matched. It returns ctx's error when that ends first.
func (s *Subscription[T]) WaitForPublishers(ctx context.Context, n int) error {
	return s.now().WaitForPublishers(ctx, n)
}

// SubscriptionStats is what a subscription counted. Of one that is transient local all but Inactive is since the last activation.
type SubscriptionStats struct {
	tagus.SubscriptionStats
	Inactive uint64 // messages that came while the node was not active, dropped; those are in Received too
}

// Stats returns the counts so far.
func (s *Subscription[T]) Stats() SubscriptionStats {
	return SubscriptionStats{s.now().Stats(), s.inactive.Load()}
}

// Close ends the subscription: no callback starts after it returned. It waits for one that runs, unless it is called from a callback of the
// same executor. It is idempotent.
func (s *Subscription[T]) Close() error {
	s.mu.Lock()
	s.closed = true
	sub := s.sub
	s.mu.Unlock()
	s.n.remove(s)
	return sub.Close()
}
