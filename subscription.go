package tagus

import (
	"context"
	"errors"
	"runtime"
	"sync"

	"github.com/tagus-ros/tagus/qos"
	"github.com/tagus-ros/tagus/rosidl"
)

// Subscription hands the messages of a topic to a callback on the node's executor.
// It is safe for concurrent use.
type Subscription[T any] struct {
	receiver[T]
	st station
	fn func(context.Context, *Sample[T])

	running sync.Mutex // held while the callback runs
}

// NewSubscription makes a subscription on a topic; the name is expanded as ROS 2
// does. fn runs on the node's executor, one message at a time, oldest first. It is
// lent the sample: see [Sample]. The type argument P follows from T.
func NewSubscription[T any, P rosidl.Message[T]](n *Node, topic string, q qos.Profile, fn func(context.Context, *Sample[T]), opts ...SubscriptionOption) (*Subscription[T], error) {
	return newSubscription(n, topic, P(nil).ROSType(), q, fn, nil, opts)
}

func newSubscription[T any](n *Node, topic string, ts *rosidl.TypeSupport[T], q qos.Profile, fn func(context.Context, *Sample[T]), raw func(*T, []byte), opts []SubscriptionOption) (*Subscription[T], error) {
	s := &Subscription[T]{fn: fn}
	s.raw = raw
	s.st.e = n.executor
	s.st.entry.Task = s
	err := s.open(n, topic, ts, q, &s.st, opts)
	if err == nil {
		err = s.start(s)
	}
	if err != nil {
		return nil, &EndpointError{"subscription", topic, "new", err}
	}
	return s, nil
}

// Run runs the callback for the oldest message. It is for the executor.
func (s *Subscription[T]) Run(ctx context.Context) (more bool) {
	s.running.Lock()
	defer s.running.Unlock()
	if s.closed.Load() {
		return false
	}
	sample, more := s.take()
	if sample == nil {
		return false
	}
	returned := false
	defer func() { // also when the callback panics
		// Lent, it goes back now; retained, its Release gives it back.
		if sample.state.CompareAndSwap(sampleLent, sampleFree) {
			s.finish(sample)
		}
		if !returned && more {
			s.in.Nudge()
		}
	}()
	s.call(ctx, sample)
	returned = true
	return more
}

// call runs the callback. A write to a lent message, which lies in memory mapped for
// reading, is reported; any other panic is the user's and goes on.
func (s *Subscription[T]) call(ctx context.Context, sample *Sample[T]) {
	defer func() {
		if p := recover(); p != nil {
			if !s.lentWrite(p) {
				panic(p)
			}
		}
	}()
	s.fn(ctx, sample)
}

// lentWrite reports whether the panic p is a fault in memory that is lent.
func (s *Subscription[T]) lentWrite(p any) bool {
	err, ok := p.(runtime.Error)
	var fault interface{ Addr() uintptr }
	if !ok || !errors.As(err, &fault) || !s.n.d.shm.Lent(fault.Addr()) {
		return false
	}
	s.writes.Add(1)
	s.n.d.log.Error("write to a lent message of "+s.Topic()+": it is read-only; use WithPrivateCopy to change messages",
		"topic", s.Topic(), "type", s.ts.Name, "node", s.n.FullyQualifiedName())
	return true
}

// WaitForPublishers returns when at least n publishers are matched. It returns ctx's
// error when that ends first.
func (s *Subscription[T]) WaitForPublishers(ctx context.Context, n int) error {
	return s.waitForPublishers(ctx, n)
}

func (r *receiver[T]) waitForPublishers(ctx context.Context, n int) error {
	if err := r.in.WaitFeeds(ctx, n); err != nil {
		return &EndpointError{"subscription", r.Topic(), "wait for publishers", err}
	}
	return nil
}

// Close ends the subscription: no callback starts after it returned. It waits for one
// that runs, unless it is called from a callback of the same executor. Retained
// samples stay valid until their Release. It is idempotent.
func (s *Subscription[T]) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	if !s.st.inside() {
		s.running.Lock() // waits for the end of a running callback
		defer s.running.Unlock()
	}
	s.end()
	s.n.disown(s, s.in.Endpoint)
	return nil
}
