package zenoh

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/tagus-ros/tagus/internal/pool"
)

// Session is a member of a Zenoh network. All methods may be called by several
// goroutines at once, and from callbacks.
type Session struct {
	cfg       Config
	endpoints []locator
	clock     *hlc
	buffers   *pool.Pool
	counts    counters

	// link is where to send; nil while there is none. It is set only after
	// everything was declared on it.
	link atomic.Pointer[face]

	// What the reading goroutine looks at without a lock: replaced as a whole, under mu.
	subs       atomic.Pointer[[]*Subscriber]
	subVersion atomic.Uint64
	queryables atomic.Pointer[[]*Queryable]

	// mu guards what follows. It is a leaf but for a pipeline's own lock:
	// nothing blocks and no callback runs under it.
	mu        sync.Mutex
	closed    bool
	state     State
	nextID    uint32 // entities and interests
	aliases   map[string]*alias
	tokens    map[*Token]struct{}
	asks      map[uint32]*Ask
	nextAsk   uint32
	watchers  map[*LivelinessSubscriber]struct{}
	lookups   map[uint32]*lookup
	remote    map[uint32]string // tokens as the router numbers them
	alive     map[string]int    // how many tokens each key has
	stateSeen sync.Mutex        // keeps OnState in order

	cancel  context.CancelFunc
	manager atomic.Uint64 // goid of the managing goroutine
	managed chan struct{} // closed when it is gone
}

// Open makes a session and connects it. ctx bounds the first connection only.
// The errors are *LocatorError, *ValueError and *OpenError.
func Open(ctx context.Context, cfg Config) (*Session, error) {
	if err := cfg.fill(); err != nil {
		return nil, err
	}
	s := newSession(cfg)
	for _, e := range cfg.Connect {
		l, err := parseLocator(e)
		if err != nil {
			return nil, err
		}
		s.endpoints = append(s.endpoints, l)
	}
	var first *face
	if !cfg.Background {
		var err error
		if first, err = s.connect(ctx); err != nil {
			return nil, err
		}
	}
	manage, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	if first != nil {
		s.up(first)
	}
	go s.manage(manage, first)
	return s, nil
}

func newSession(cfg Config) *Session {
	s := &Session{
		cfg: cfg, clock: newHLC(cfg.ID), buffers: pool.New(cfg.BufferPool), nextID: 1,
		aliases: map[string]*alias{}, tokens: map[*Token]struct{}{}, asks: map[uint32]*Ask{},
		watchers: map[*LivelinessSubscriber]struct{}{}, lookups: map[uint32]*lookup{}, remote: map[uint32]string{}, alive: map[string]int{},
		managed: make(chan struct{}),
	}
	s.subs.Store(new([]*Subscriber))
	s.queryables.Store(new([]*Queryable))
	return s
}

// ID is the session's identity in the network.
func (s *Session) ID() ID { return s.cfg.ID }

// NewTimestamp returns a timestamp of the session's clock, greater than every one before.
func (s *Session) NewTimestamp() Timestamp { return s.clock.New() }

// State tells about the link.
func (s *Session) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Close ends the session: what is queued is still sent (no longer than
// Config.CloseTimeout), queries end with ErrClosed, and no callback begins
// after it has returned. Called from a callback it does not wait for that one.
// More calls do nothing.
func (s *Session) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	asks := make([]*Ask, 0, len(s.asks))
	for _, a := range s.asks {
		asks = append(asks, a)
	}
	s.subs.Store(new([]*Subscriber))
	s.subVersion.Add(1)
	s.queryables.Store(new([]*Queryable))
	for w := range s.watchers {
		w.closed.Store(true)
	}
	clear(s.watchers)
	for id, l := range s.lookups {
		delete(s.lookups, id)
		l.finish(ErrClosed)
	}
	s.mu.Unlock()
	for _, a := range asks {
		a.end(ErrClosed)
	}
	f := s.link.Swap(nil)
	s.cancel() // interrupts an attempt to connect, and makes the manager close the link
	if me := goid(); me == s.manager.Load() || f != nil && me == f.reader.Load() {
		return nil
	}
	<-s.managed
	return nil
}

// entityID returns a number that no other entity or interest of the session has; mu is held.
func (s *Session) entityID() uint32 {
	id := s.nextID
	s.nextID++
	return id
}
