package zenoh

import (
	"context"
	"sync/atomic"

	"github.com/tagus-ros/tagus/notify"
	"github.com/tagus-ros/tagus/zenoh/internal/keyexpr"
	"github.com/tagus-ros/tagus/zenoh/internal/wire"
)

// SubscriberOptions are options of NewSubscriber; the zero value is fine.
type SubscriberOptions struct {
	Origin Locality // whose samples are wanted
}

// Subscriber receives the samples of a key expression until it is closed.
type Subscriber struct {
	s       *Session
	id      uint32
	key     string
	alias   *alias
	opts    SubscriberOptions
	fn      func(*Sample)
	closed  atomic.Bool
	running atomic.Int32
	idle    notify.Event
}

// NewSubscriber declares a subscriber. fn is called for each sample, on the
// goroutine that reads the link and, for samples of this session, on the one
// that puts; so possibly on several at once. It is lent the sample.
func (s *Session) NewSubscriber(key string, fn func(*Sample), opts SubscriberOptions) (*Subscriber, error) {
	if err := keyexpr.Check(key); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	sub := &Subscriber{s: s, id: s.entityID(), key: key, alias: s.useKey(key), opts: opts, fn: fn}
	all := append(append([]*Subscriber(nil), *s.subs.Load()...), sub)
	s.subs.Store(&all)
	s.subVersion.Add(1)
	if f := s.link.Load(); f != nil && opts.Origin.remote() {
		f.declare(wire.NewDeclare(sub.declaration(f)))
	}
	return sub, nil
}

// Key is the key expression.
func (sub *Subscriber) Key() string { return sub.key }

func (sub *Subscriber) declaration(f *face) wire.Declaration {
	return wire.Declaration{Kind: wire.DeclareSubscriber, ID: sub.id, Key: sub.alias.expr(f)}
}

// Close ends the subscription: no callback begins after it has returned. One
// that is running may still run; see Drain. More calls do nothing.
func (sub *Subscriber) Close() error {
	if sub.closed.Swap(true) {
		return nil
	}
	s := sub.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	all := without(*s.subs.Load(), sub)
	s.subs.Store(&all)
	s.subVersion.Add(1)
	if f := s.link.Load(); f != nil && sub.opts.Origin.remote() {
		f.declare(wire.NewDeclare(wire.Declaration{Kind: wire.UndeclareSubscriber, ID: sub.id}))
	}
	s.dropKey(sub.alias)
	return nil
}

// Drain waits, after Close, until no callback is running. It must not be
// called by the callback itself.
func (sub *Subscriber) Drain(ctx context.Context) error {
	for sub.running.Load() != 0 {
		if err := sub.idle.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (sub *Subscriber) deliver(m *Sample) {
	sub.running.Add(1)
	if !sub.closed.Load() {
		sub.s.counts.delivered.Add(1)
		sub.fn(m)
	}
	if sub.running.Add(-1) == 0 && sub.closed.Load() {
		_ = sub.idle.Notify()
	}
}

// matching appends the subscribers that a sample of the given origin goes to.
func (s *Session) matching(dst []*Subscriber, key string, local bool) []*Subscriber {
	for _, sub := range *s.subs.Load() {
		if local && !sub.opts.Origin.local() || !local && !sub.opts.Origin.remote() {
			continue
		}
		if keyexpr.Intersects(sub.key, key) {
			dst = append(dst, sub)
		}
	}
	return dst
}

// without returns a copy of all that lacks x.
func without[T comparable](all []T, x T) []T {
	out := make([]T, 0, len(all))
	for _, y := range all {
		if y != x {
			out = append(out, y)
		}
	}
	return out
}
