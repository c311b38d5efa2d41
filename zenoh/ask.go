package zenoh

import (
	"context"
	"sync"
	"time"

	"github.com/tagus-ros/tagus/zenoh/internal/keyexpr"
	"github.com/tagus-ros/tagus/zenoh/internal/transport"
	"github.com/tagus-ros/tagus/zenoh/internal/wire"
)

// QuerierOptions are options of NewQuerier and Session.Ask; the zero value is fine.
type QuerierOptions struct {
	Target        Target
	Consolidation Consolidation
	Timeout       time.Duration // after which the query ends with ErrTimeout; 0: Config.QueryTimeout
	Priority      Priority
	Express       bool
	Destination   Locality
}

// QueryOptions are what a query has besides its key; the zero value is fine.
type QueryOptions struct {
	Parameters string // "name=value;name=value"
	Payload    []byte // nil: none
	Encoding   Encoding
	Attachment []byte // nil: none
	Source     SourceInfo
}

// Reply is one answer to a query: a sample or an error. It is lent as samples are.
type Reply struct {
	Sample *Sample     // nil if Err is set
	Err    *ReplyError // the queryable's (or the router's) word that there is no reply
	// Responder and Entity name the queryable; the zero ID means unknown.
	Responder ID
	Entity    uint32
}

// Retain returns a reply that stays valid until its Release.
func (r *Reply) Retain() *Reply {
	k := *r
	if r.Sample != nil {
		k.Sample = r.Sample.Retain()
	} else {
		k.Err = &ReplyError{append([]byte(nil), r.Err.Payload...), r.Err.Encoding}
	}
	return &k
}

// Release gives a reply of Retain back.
func (r *Reply) Release() {
	if r.Sample != nil {
		r.Sample.Release()
	}
}

// Ask is a query under way.
type Ask struct {
	s       *Session
	id      uint32
	key     string
	any     bool
	cons    Consolidation
	onReply func(*Reply)
	onDone  func(error)
	face    *face // asked over it; nil: this session only
	timer   *time.Timer
	unhook  func() bool // from the context

	mu       sync.Mutex
	parts    int // that have not said their last word: this session, the link
	remote   bool
	partial  error // of a part
	running  int   // callbacks
	ended    bool
	err      error
	finished bool
	best     map[string]*Reply
	order    []string // of best, as they came first
}

// grace is how much longer than us a router waits for replies.
const grace = 500 * time.Millisecond

// Querier asks queries of one key expression.
type Querier struct {
	s     *Session
	alias *alias
	opts  QuerierOptions
	mu    sync.Mutex
	done  bool
}

// NewQuerier declares a querier: its key is sent once and stands for a number from then on.
func (s *Session) NewQuerier(key string, opts QuerierOptions) (*Querier, error) {
	if err := keyexpr.Check(key); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	return &Querier{s: s, alias: s.useKey(key), opts: opts}, nil
}

// Key is the key expression.
func (q *Querier) Key() string { return q.alias.key }

// Ask asks as Session.Ask does.
func (q *Querier) Ask(ctx context.Context, o QueryOptions, onReply func(*Reply), onDone func(error)) (*Ask, error) {
	q.mu.Lock()
	done := q.done
	q.mu.Unlock()
	if done {
		return nil, ErrClosed
	}
	return q.s.ask(ctx, q.alias, &q.opts, &o, onReply, onDone)
}

// Query asks as Session.Query does.
func (q *Querier) Query(ctx context.Context, o QueryOptions) ([]*Reply, error) {
	return collect(func(onReply func(*Reply), onDone func(error)) error {
		_, err := q.Ask(ctx, o, onReply, onDone)
		return err
	})
}

// Close gives the querier's number back; queries under way go on. More calls do nothing.
func (q *Querier) Close() error {
	q.mu.Lock()
	done := q.done
	q.done = true
	q.mu.Unlock()
	if done {
		return nil
	}
	q.s.mu.Lock()
	defer q.s.mu.Unlock()
	if !q.s.closed {
		q.s.dropKey(q.alias)
	}
	return nil
}

// Ask sends a query and returns. onReply is called for each reply, possibly on
// several goroutines at once if queryables of this session answer; then, and
// exactly once if Ask returned no error, onDone: with nil if all replies have
// come, else with ErrTimeout, ErrNoLink, ErrClosed or the cause of ctx's end.
// ctx covers the whole query.
func (s *Session) Ask(ctx context.Context, key string, opts QuerierOptions, o QueryOptions, onReply func(*Reply), onDone func(error)) (*Ask, error) {
	if err := keyexpr.Check(key); err != nil {
		return nil, err
	}
	return s.ask(ctx, &alias{key: key}, &opts, &o, onReply, onDone)
}

// Query asks and waits for all replies, which stay valid (releasing them makes
// their memory reusable, but is not required). With an error it returns the
// replies that had come; see Ask.
func (s *Session) Query(ctx context.Context, key string, opts QuerierOptions, o QueryOptions) ([]*Reply, error) {
	return collect(func(onReply func(*Reply), onDone func(error)) error {
		_, err := s.Ask(ctx, key, opts, o, onReply, onDone)
		return err
	})
}

func collect(ask func(func(*Reply), func(error)) error) ([]*Reply, error) {
	var mu sync.Mutex
	var replies []*Reply
	done := make(chan error, 1)
	err := ask(func(r *Reply) {
		k := r.Retain()
		mu.Lock()
		replies = append(replies, k)
		mu.Unlock()
	}, func(err error) { done <- err })
	if err != nil {
		return nil, err
	}
	err = <-done
	mu.Lock()
	defer mu.Unlock()
	return replies, err
}

func (s *Session) ask(ctx context.Context, key *alias, opts *QuerierOptions, o *QueryOptions, onReply func(*Reply), onDone func(error)) (*Ask, error) {
	if err := o.Encoding.check(); err != nil {
		return nil, err
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	timeout := opts.Timeout
	if timeout <= 0 {
		timeout = s.cfg.QueryTimeout
	}
	a := &Ask{s: s, key: key.key, any: hasParameter(o.Parameters, "_anyke"), cons: opts.Consolidation, onReply: onReply, onDone: onDone, parts: 1}
	if a.cons == Auto {
		if a.cons = Latest; hasParameter(o.Parameters, "_time") {
			a.cons = None
		}
	}
	var found []*Queryable
	complete := false
	if opts.Destination.local() {
		found, complete = s.answering(key.key, opts.Target, true)
	}
	abroad := opts.Destination.remote() && !(opts.Target == BestMatching && complete)
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, ErrClosed
	}
	s.counts.queries.Add(1)
	for s.nextAsk++; s.asks[s.nextAsk] != nil; s.nextAsk++ {
	}
	a.id = s.nextAsk
	s.asks[a.id] = a
	if abroad {
		if a.face = s.link.Load(); a.face != nil {
			a.parts++
			a.remote = true
		} else {
			a.partial = ErrNoLink
		}
	}
	s.mu.Unlock()
	a.mu.Lock() // the end may come before the hooks are set
	if timeout < Forever {
		a.timer = time.AfterFunc(timeout, func() { a.end(ErrTimeout) })
	}
	if ctx.Done() != nil {
		a.unhook = context.AfterFunc(ctx, func() { a.end(context.Cause(ctx)) })
	}
	a.mu.Unlock()

	qos := wire.QoS(opts.Priority.wire()) | wire.QoSBlock
	if opts.Express {
		qos |= wire.QoSExpress
	}
	body := wire.Query{Consolidation: a.cons, Parameters: bytesOf(o.Parameters), Source: o.Source, Body: o.Payload != nil,
		Encoding: o.Encoding.wire(), Payload: o.Payload, Attachment: o.Attachment}
	if f := a.face; f != nil {
		// Routers have a timer, too, and answer with an error; ours should be the first.
		theirs := timeout
		if theirs < Forever-grace {
			theirs += grace
		}
		m := wire.Request{ID: a.id, Key: key.expr(f), QoS: qos, Target: opts.Target, Timeout: theirs, Body: body}
		b := s.buffers.Get(m.Bound())
		lane := transport.Lane{Priority: opts.Priority.wire(), Reliable: true, Block: true, Express: opts.Express}
		if err := f.t.Send(ctx, lane, m.Append(b[:0]), nil); err != nil {
			if _, lost := err.(*CloseError); lost || err == ErrClosed {
				err = ErrNoLink
			}
			a.remoteEnd(err)
		}
		s.buffers.Put(b)
	}
	if len(found) > 0 {
		in := &asked{s: s, ask: a, key: key.key, qos: qos}
		in.refs.Store(1)
		a.mu.Lock()
		a.parts++
		a.mu.Unlock()
		in.dispatch(found, &body, nil)
		in.unref()
	}
	a.partEnd(nil)
	return a, nil
}

// Cancel ends the query: onDone is called with context.Canceled unless it was called before.
func (a *Ask) Cancel() { a.end(context.Canceled) }

// remoteEnd is the last word of the link.
func (a *Ask) remoteEnd(err error) {
	a.mu.Lock()
	waited := a.remote
	a.remote = false
	a.mu.Unlock()
	if waited {
		a.partEnd(err)
	}
}

func (a *Ask) partEnd(err error) {
	a.mu.Lock()
	if a.partial == nil {
		a.partial = err
	}
	a.parts--
	done, err := a.parts == 0, a.partial
	a.mu.Unlock()
	if done {
		a.end(err)
	}
}

// end ends the query, for whatever reason comes first.
func (a *Ask) end(err error) {
	a.s.mu.Lock()
	if a.s.asks[a.id] == a {
		delete(a.s.asks, a.id)
	}
	a.s.mu.Unlock()
	a.mu.Lock()
	if a.ended {
		a.mu.Unlock()
		return
	}
	a.ended, a.err = true, err
	if a.timer != nil {
		a.timer.Stop()
	}
	if a.unhook != nil {
		a.unhook()
	}
	finish := a.running == 0
	a.finished = finish
	a.mu.Unlock()
	if finish {
		a.finish()
	}
}

// finish is called once, when no reply can come any more.
func (a *Ask) finish() {
	for _, key := range a.order {
		r := a.best[key]
		a.onReply(r)
		r.Release()
	}
	a.onDone(a.err)
}

// reply takes one answer in.
func (a *Ask) reply(key string, m *wire.Response, own *transport.Owned) {
	r := &Reply{Responder: m.Responder.ID, Entity: m.Responder.Entity}
	if m.IsErr {
		r.Err = &ReplyError{m.Err.Payload, encodingOf(&m.Err.Encoding)}
	} else {
		if !a.any && !keyexpr.Intersects(a.key, key) {
			a.s.counts.unmatched.Add(1)
			return
		}
		r.Sample = new(Sample)
		r.Sample.set(a.s, key, m.QoS, true, &m.Reply.Body, own)
	}
	a.mu.Lock()
	if a.ended {
		a.mu.Unlock()
		return
	}
	if r.Sample != nil && a.cons != None && !a.consolidate(r) {
		a.mu.Unlock()
		return
	}
	a.running++
	a.mu.Unlock()
	a.onReply(r)
	a.mu.Lock()
	a.running--
	finish := a.ended && a.running == 0 && !a.finished
	a.finished = a.finished || finish
	a.mu.Unlock()
	if finish {
		a.finish()
	}
}

// consolidate reports whether r is to be handed on now; mu is held.
func (a *Ask) consolidate(r *Reply) bool {
	key := r.Sample.Key
	old := a.best[key]
	if old != nil && r.Sample.Timestamp.Compare(&old.Sample.Timestamp) < 0 {
		return false
	}
	if a.best == nil {
		a.best = map[string]*Reply{}
	}
	if a.cons == Monotonic {
		// Only the time of what was handed on is needed.
		a.best[key] = &Reply{Sample: &Sample{Timestamp: r.Sample.Timestamp}}
		return true
	}
	if old == nil {
		a.order = append(a.order, key)
	} else {
		old.Release()
	}
	a.best[key] = r.Retain()
	return false
}

// responded handles an answer from the link.
func (f *face) responded(own *transport.Owned) {
	m := &f.response
	f.s.mu.Lock()
	a := f.s.asks[m.ID]
	f.s.mu.Unlock()
	if a == nil || a.face != f {
		f.s.counts.unmatched.Add(1)
		return
	}
	key := ""
	if !m.IsErr {
		r := f.route(&m.Key)
		if r == nil {
			f.s.counts.unknownKey.Add(1)
			return
		}
		key = r.key
		if !m.Reply.Body.Timestamp.IsZero() {
			f.s.clock.see(m.Reply.Body.Timestamp.Time)
		}
	}
	a.reply(key, m, own)
}

// finalised handles the peer's word that no more replies come.
func (s *Session) finalised(f *face, id uint32) {
	s.mu.Lock()
	a := s.asks[id]
	s.mu.Unlock()
	if a != nil && a.face == f {
		a.remoteEnd(nil)
	}
}
