package bench

import (
	"context"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/bench/record"
	"github.com/tagus-ros/tagus/internal/bench/topology"
	"github.com/tagus-ros/tagus/internal/clock"
	perf "github.com/tagus-ros/tagus/msgs/performance_test_msgs"
	"github.com/tagus-ros/tagus/rosidl"
)

// reception is the untyped part of a subscriber.
type reception struct {
	lane  *lane
	index int // among all subscriptions of this process
	row   *record.Row
	gids  []graph.GID // of the row's sources
	touch Touch
	paths [8]uint64 // messages by path
	size  uint32
	first int64 // monotonic nanoseconds of the first and the last message
	last  int64
}

// listener is a subscription of the benchmark.
type listener interface {
	topic() string // fully qualified
	wait(ctx context.Context, n int) error
	stats() tagus.SubscriptionStats
}

type subscriber[T any] struct {
	*reception
	sub   *tagus.Subscription[T]
	parts func(*T) (*perf.PerformanceHeader, []byte)
}

func newSubscriber[T any, P rosidl.Message[T]](n *tagus.Node, r *reception, spec *topology.Subscriber, private bool, parts func(*T) (*perf.PerformanceHeader, []byte)) (listener, error) {
	s := &subscriber[T]{reception: r, parts: parts}
	var opts []tagus.SubscriptionOption
	if private {
		opts = append(opts, tagus.WithPrivateCopy())
	}
	var err error
	s.sub, err = tagus.NewSubscription[T, P](n, spec.Topic, spec.QoS, s.receive, opts...)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// receive is the callback: its first act ends the latency.
func (s *subscriber[T]) receive(_ context.Context, m *tagus.Sample[T]) {
	now := clock.Mono()
	h, payload := s.parts(m.Msg)
	sent := int64(h.Stamp.Sec)*1e9 + int64(h.Stamp.Nanosec)
	number := h.TrackingNumber
	if !s.note(now, sent, number, h.Size, m.Info.Publisher, m.Info.Path) {
		return
	}
	ok := true
	switch s.touch {
	case TouchLine:
		ok = intactLines(payload, number)
	case TouchAll:
		ok = Intact(payload, number)
	}
	if !ok || int(h.Size) != len(payload) {
		s.lane.corrupt.Add(1)
	}
	s.lane.work.Add(record.Span{Kind: record.Callback, Entity: int32(s.index), Number: number, Start: now, End: clock.Mono()})
}

// note records a message; it returns false for one of a publisher that is not of this run.
func (r *reception) note(now, sent int64, number, size uint32, from graph.GID, path tagus.Path) bool {
	r.lane.tend(now)
	source := r.source(from)
	if source < 0 {
		r.lane.foreign.Add(1)
		return false
	}
	if r.first == 0 {
		r.first, r.size = now, size
	}
	r.last = now
	class, lost := r.row.Add(source, number, now-sent)
	r.paths[path&7]++
	r.lane.received.Add(1)
	if class != record.OnTime || lost > 0 {
		r.lane.track(trackEvent{At: now, Latency: now - sent, Row: r.index, Number: number, Class: class, Lost: lost})
	}
	if now-sent > record.SlowNanos {
		r.lane.look(r.index, source, number, sent, now)
	}
	return true
}

// expect makes a publisher of the run known, in the order of the plan.
func (r *reception) expect(gid graph.GID, period time.Duration) {
	r.gids = append(r.gids, gid)
	r.row.AddSource(period)
}

// source finds which publisher a message is from, -1 for none of this run. There are one or a few.
func (r *reception) source(from graph.GID) int {
	for i := range r.gids {
		if r.gids[i] == from {
			return i
		}
	}
	return -1
}

func (s *subscriber[T]) topic() string { return s.sub.Topic() }

func (s *subscriber[T]) wait(ctx context.Context, n int) error {
	return s.sub.WaitForPublishers(ctx, n)
}

func (s *subscriber[T]) stats() tagus.SubscriptionStats { return s.sub.Stats() }
