package tagus

import (
	"context"
	"iter"
	"sync"

	"github.com/tagus-ros/tagus/internal/exec"
	"github.com/tagus-ros/tagus/internal/transport"
	"github.com/tagus-ros/tagus/internal/wake"
	"github.com/tagus-ros/tagus/qos"
	"github.com/tagus-ros/tagus/rosidl"
)

// PullSubscription is a subscription without a callback: its owner takes the
// messages. It needs no executor; a waiting Receive sleeps on a word of its own,
// which publishers wake. It is safe for concurrent use.
type PullSubscription[T any] struct {
	receiver[T]
	st pullStation

	turn chan struct{} // holds a token while a goroutine takes or sleeps: one at a time
}

// pullSummaryWords gives a pull subscription 4,096 leaves.
const pullSummaryWords = 1

// pullStation is where a pull subscription is woken.
type pullStation struct {
	d      *Domain
	area   *wake.Area
	offset uint64
	visit  func(leaf int)

	mu      sync.Mutex
	sources []transport.Poller // by leaf
	free    []int
}

// open makes a place to sleep in the domain's inbox.
func (s *pullStation) open(d *Domain) (err error) {
	s.d, s.visit = d, s.poll
	s.area, s.offset, err = d.inbox.Area(pullSummaryWords)
	return err
}

// close gives it back. Nobody sleeps there any more.
func (s *pullStation) close() {
	s.area.Release()
	s.d.inbox.Release(s.offset, pullSummaryWords)
}

func (s *pullStation) Attach(src transport.Poller) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.free); n > 0 {
		leaf := s.free[n-1]
		s.free = s.free[:n-1]
		s.sources[leaf] = src
		return leaf, nil
	}
	if len(s.sources) == s.area.Leaves() {
		return 0, &exec.LimitError{Limit: "publishers of one pull subscription", Value: s.area.Leaves()}
	}
	s.sources = append(s.sources, src)
	return len(s.sources) - 1, nil
}

func (s *pullStation) Detach(leaf int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if leaf < len(s.sources) && s.sources[leaf] != nil {
		s.sources[leaf] = nil
		s.free = append(s.free, leaf)
	}
}

func (s *pullStation) Area() *wake.Area  { return s.area }
func (s *pullStation) Offset() uint64    { return s.offset }
func (s *pullStation) SummaryWords() int { return pullSummaryWords }
func (s *pullStation) Ready()            {}

// poll looks at the source behind a leaf.
func (s *pullStation) poll(leaf int) {
	s.mu.Lock()
	var src transport.Poller
	if leaf < len(s.sources) {
		src = s.sources[leaf]
	}
	s.mu.Unlock()
	if src != nil {
		src.Poll()
	}
}

// NewPullSubscription makes a subscription whose messages are taken with Take,
// Receive or All. Samples are the caller's until Release; at most 9 can be out at a
// time (see [WithRetained]).
func NewPullSubscription[T any, P rosidl.Message[T]](n *Node, topic string, q qos.Profile, opts ...SubscriptionOption) (*PullSubscription[T], error) {
	return NewPullSubscriptionOf(n, topic, P(nil).ROSType(), q, opts...)
}

// Take returns the oldest message that is there, without waiting. The caller
// releases it. While another goroutine waits in Receive, that one gets what comes, and
// Take returns nothing.
func (s *PullSubscription[T]) Take() (*Sample[T], bool) {
	select {
	case s.turn <- struct{}{}:
	default:
		return nil, false
	}
	defer s.yield()
	sample := s.pull()
	return sample, sample != nil
}

// yield lets another goroutine have its turn.
func (s *PullSubscription[T]) yield() { <-s.turn }

// pull looks what was signalled and takes the oldest message. It is called with the turn.
// Whether the subscription is closed is asked after what was signalled was taken, since
// Close signals too.
func (s *PullSubscription[T]) pull() *Sample[T] {
	s.st.area.Take(s.st.visit)
	if s.closed.Load() {
		return nil
	}
	sample, _ := s.take()
	if sample != nil {
		sample.state.Store(sampleRetained)
	}
	return sample
}

// Receive waits for the oldest message. The caller releases it. Errors: ctx's when it
// ends first, ErrClosed.
func (s *PullSubscription[T]) Receive(ctx context.Context) (*Sample[T], error) {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, &EndpointError{"subscription", s.Topic(), "receive", ctx.Err()}
	}
	defer s.yield()
	for {
		if sample := s.pull(); sample != nil {
			return sample, nil
		}
		if s.closed.Load() {
			return nil, &EndpointError{"subscription", s.Topic(), "receive", ErrClosed}
		}
		if err := s.st.area.WaitContext(ctx); err != nil {
			return nil, &EndpointError{"subscription", s.Topic(), "receive", err}
		}
	}
}

// All yields messages until ctx ends, which is the last error it yields, or the
// subscription closes. Each sample is released when the loop goes on; Retain keeps it.
func (s *PullSubscription[T]) All(ctx context.Context) iter.Seq2[*Sample[T], error] {
	return func(yield func(*Sample[T], error) bool) {
		for {
			sample, err := s.Receive(ctx)
			if err != nil {
				yield(nil, err)
				return
			}
			sample.state.Store(sampleLent)
			on := yield(sample, nil)
			if sample.state.CompareAndSwap(sampleLent, sampleFree) {
				s.finish(sample)
			}
			if !on {
				return
			}
		}
	}
}

// WaitForPublishers returns when at least n publishers are matched. It returns ctx's
// error when that ends first.
func (s *PullSubscription[T]) WaitForPublishers(ctx context.Context, n int) error {
	return s.waitForPublishers(ctx, n)
}

// Close ends the subscription; a waiting Receive returns ErrClosed. Samples that are
// out stay valid until their Release. It is idempotent.
func (s *PullSubscription[T]) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	s.st.area.Poke()
	s.turn <- struct{}{}
	defer s.yield()
	s.end()
	s.n.disown(s, s.in.Endpoint)
	s.st.close()
	return nil
}
