package zenoh

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tagus-ros/tagus/zenoh/internal/keyexpr"
	"github.com/tagus-ros/tagus/zenoh/internal/wire"
)

// Token makes a key alive for as long as it and its session's link are.
type Token struct {
	s      *Session
	id     uint32
	key    string
	closed atomic.Bool
}

// NewToken declares a liveliness token.
func (s *Session) NewToken(key string) (*Token, error) {
	if err := keyexpr.Check(key); err != nil {
		return nil, err
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, ErrClosed
	}
	t := &Token{s: s, id: s.entityID(), key: key}
	s.tokens[t] = struct{}{}
	if f := s.link.Load(); f != nil {
		f.declare(wire.NewDeclare(t.declaration()))
	}
	var told []*LivelinessSubscriber
	if s.raise(key) {
		told = s.tell(nil, LivelinessEvent{key, true}, nil)
	}
	s.mu.Unlock()
	drainAll(told)
	return t, nil
}

// Key is the token's key.
func (t *Token) Key() string { return t.key }

// declaration writes the key out: a token's key is sent once, so a number for it would cost more than it saves.
func (t *Token) declaration() wire.Declaration {
	return wire.Declaration{Kind: wire.DeclareToken, ID: t.id, Key: wire.WireExpr{Suffix: bytesOf(t.key), Sender: true}}
}

// Close ends the token. More calls do nothing.
func (t *Token) Close() error {
	if t.closed.Swap(true) {
		return nil
	}
	s := t.s
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	delete(s.tokens, t)
	if f := s.link.Load(); f != nil {
		f.declare(wire.NewDeclare(wire.Declaration{Kind: wire.UndeclareToken, ID: t.id}))
	}
	var told []*LivelinessSubscriber
	if s.lower(t.key) {
		told = s.tell(nil, LivelinessEvent{t.key, false}, nil)
	}
	s.mu.Unlock()
	drainAll(told)
	return nil
}

// raise and lower count the tokens of a key: this session's, and those the
// router tells of, which may be the same ones over again. They report whether
// the key has come alive or is so no more; Session.mu is held.
func (s *Session) raise(key string) bool {
	s.alive[key]++
	return s.alive[key] == 1
}

func (s *Session) lower(key string) bool {
	if s.alive[key]--; s.alive[key] > 0 {
		return false
	}
	delete(s.alive, key)
	return true
}

// LivelinessEvent says that a key came alive, or that it is so no more.
type LivelinessEvent struct {
	Key   string
	Alive bool
}

// LivelinessOptions are options of NewLivelinessSubscriber; the zero value is fine.
type LivelinessOptions struct {
	History bool // tell of the tokens that are there already, too
}

// LivelinessSubscriber is told of the tokens under a key expression. When the
// link breaks, the tokens of others are reported as gone; when there is one
// again, they come again.
type LivelinessSubscriber struct {
	s       *Session
	id      uint32
	key     string
	history bool
	fn      func(LivelinessEvent)
	closed  atomic.Bool
	ready   chan struct{}
	once    sync.Once

	mu      sync.Mutex
	queue   []LivelinessEvent
	running bool // somebody calls fn
}

// NewLivelinessSubscriber declares a liveliness subscriber. fn is called for
// one event at a time, in order, on a goroutine of the session's or on the one
// whose call made the change.
func (s *Session) NewLivelinessSubscriber(key string, fn func(LivelinessEvent), opts LivelinessOptions) (*LivelinessSubscriber, error) {
	if err := keyexpr.Check(key); err != nil {
		return nil, err
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, ErrClosed
	}
	w := &LivelinessSubscriber{s: s, id: s.entityID(), key: key, history: opts.History, fn: fn, ready: make(chan struct{})}
	if opts.History {
		// What is known already will come again with the answer, and is passed over then.
		for k := range s.alive {
			w.offer(LivelinessEvent{k, true})
		}
	}
	s.watchers[w] = struct{}{}
	if f := s.link.Load(); f != nil {
		f.askTokens(w.id, w.mode(), key)
	}
	s.mu.Unlock()
	w.drain()
	return w, nil
}

func (w *LivelinessSubscriber) mode() wire.InterestMode {
	if w.history {
		return wire.InterestCurrentFuture
	}
	return wire.InterestFuture
}

// WaitHistory waits until the tokens that were there at the beginning have all
// been reported; without the option History that is never.
func (w *LivelinessSubscriber) WaitHistory(ctx context.Context) error {
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close ends the subscription: no callback begins after it has returned. More calls do nothing.
func (w *LivelinessSubscriber) Close() error {
	if w.closed.Swap(true) {
		return nil
	}
	s := w.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	delete(s.watchers, w)
	if f := s.link.Load(); f != nil {
		m := wire.Interest{ID: w.id, Mode: wire.InterestFinal, QoS: wire.ControlQoS}
		var buf [32]byte
		f.control(m.Append(buf[:0]))
	}
	// Nobody tells us any more of the end of tokens that only w asked for.
	for id, key := range s.remote {
		if !s.watched(key) {
			delete(s.remote, id)
			s.lower(key)
		}
	}
	return nil
}

func (s *Session) watched(key string) bool {
	for w := range s.watchers {
		if keyexpr.Intersects(w.key, key) {
			return true
		}
	}
	return false
}

// offer queues an event if it is w's business; Session.mu is held, which puts events in order.
func (w *LivelinessSubscriber) offer(e LivelinessEvent) bool {
	if !keyexpr.Intersects(w.key, e.Key) {
		return false
	}
	w.mu.Lock()
	w.queue = append(w.queue, e)
	w.mu.Unlock()
	return true
}

// drain calls fn for what is queued, unless somebody does so already.
func (w *LivelinessSubscriber) drain() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running {
		return
	}
	w.running = true
	for len(w.queue) > 0 {
		e := w.queue[0]
		w.queue = w.queue[1:]
		w.mu.Unlock()
		if !w.closed.Load() {
			w.fn(e)
		}
		w.mu.Lock()
	}
	w.queue = nil
	w.running = false
}

func drainAll(told []*LivelinessSubscriber) {
	for _, w := range told {
		w.drain()
	}
}

// tell queues an event with every subscriber it concerns (of those that want
// takes, if it is given) and appends these; Session.mu is held.
func (s *Session) tell(told []*LivelinessSubscriber, e LivelinessEvent, want func(*LivelinessSubscriber) bool) []*LivelinessSubscriber {
	for w := range s.watchers {
		if (want == nil || want(w)) && w.offer(e) {
			told = append(told, w)
		}
	}
	return told
}

// askTokens declares interest in tokens.
func (f *face) askTokens(id uint32, mode wire.InterestMode, key string) {
	m := wire.Interest{ID: id, Mode: mode, Options: wire.InterestKeys | wire.InterestTokens,
		Key: wire.WireExpr{Suffix: bytesOf(key), Sender: true}, QoS: wire.ControlQoS}
	var buf [256]byte
	f.control(m.Append(buf[:0]))
}

// maxRemoteTokens bounds the tokens of others that are remembered.
const maxRemoteTokens = 1 << 20

// tokenUp handles a token of another session.
func (s *Session) tokenUp(f *face, d *wire.Declare, key string) {
	s.mu.Lock()
	if d.Answers {
		if l := s.lookups[d.Interest]; l != nil {
			l.keys = append(l.keys, key)
			s.mu.Unlock()
			return
		}
	}
	var told []*LivelinessSubscriber
	if _, known := s.remote[d.ID]; !known && s.link.Load() == f && len(s.remote) < maxRemoteTokens {
		s.remote[d.ID] = key
		switch {
		case !s.raise(key):
		case d.Answers:
			told = s.tell(nil, LivelinessEvent{key, true}, func(w *LivelinessSubscriber) bool { return w.history })
		default:
			told = s.tell(nil, LivelinessEvent{key, true}, nil)
		}
	}
	s.mu.Unlock()
	drainAll(told)
}

// tokenDown handles its end. A token that is not known by its number may be named by its key.
func (s *Session) tokenDown(id uint32, key string) {
	s.mu.Lock()
	var told []*LivelinessSubscriber
	if k, known := s.remote[id]; known {
		delete(s.remote, id)
		if s.lower(k) {
			told = s.tell(nil, LivelinessEvent{Key: k}, nil)
		}
	} else if key != "" && s.alive[key] == 0 {
		told = s.tell(nil, LivelinessEvent{Key: key}, nil)
	}
	s.mu.Unlock()
	drainAll(told)
}

// lookup is a call of Tokens.
type lookup struct {
	face *face
	keys []string
	done chan error // of capacity 1
}

func (l *lookup) finish(err error) { l.done <- err }

// Tokens gives the keys under a key expression that are alive now, in order. The errors
// are *KeyError, ErrClosed, ErrNoLink (with the tokens of this session) and the
// cause of ctx's end.
func (s *Session) Tokens(ctx context.Context, key string) ([]string, error) {
	if err := keyexpr.Check(key); err != nil {
		return nil, err
	}
	l := &lookup{done: make(chan error, 1)}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, ErrClosed
	}
	for t := range s.tokens {
		if keyexpr.Intersects(t.key, key) {
			l.keys = append(l.keys, t.key)
		}
	}
	f := s.link.Load()
	if f == nil {
		s.mu.Unlock()
		return distinct(l.keys), ErrNoLink
	}
	id := s.entityID()
	l.face = f
	s.lookups[id] = l
	f.askTokens(id, wire.InterestCurrent, key)
	s.mu.Unlock()
	var err error
	select {
	case err = <-l.done:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.lookups, id)
	return distinct(l.keys), err
}

func distinct(keys []string) []string {
	slices.Sort(keys)
	return slices.Compact(keys)
}

// lookedUp handles the peer's word that it has answered an interest.
func (s *Session) lookedUp(f *face, id uint32) {
	s.mu.Lock()
	l := s.lookups[id]
	delete(s.lookups, id)
	for w := range s.watchers {
		if w.id == id {
			w.once.Do(func() { close(w.ready) })
		}
	}
	s.mu.Unlock()
	if l != nil && l.face == f {
		l.finish(nil)
	}
}
