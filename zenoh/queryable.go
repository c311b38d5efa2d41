package zenoh

import (
	"sync/atomic"

	"github.com/tagus-ros/tagus/zenoh/internal/keyexpr"
	"github.com/tagus-ros/tagus/zenoh/internal/transport"
	"github.com/tagus-ros/tagus/zenoh/internal/wire"
)

// QueryableOptions are options of NewQueryable; the zero value is fine.
type QueryableOptions struct {
	Complete bool     // it has all there is of its key expression
	Origin   Locality // whose queries are answered
}

// Queryable answers queries until it is closed.
type Queryable struct {
	s      *Session
	id     uint32
	key    string
	alias  *alias
	opts   QueryableOptions
	fn     func(*Query)
	closed atomic.Bool
}

// NewQueryable declares a queryable. fn is called for each query, on the
// goroutine that reads the link or, for queries of this session, on the one
// that asks. The query is finished when fn returns, unless it was retained.
func (s *Session) NewQueryable(key string, fn func(*Query), opts QueryableOptions) (*Queryable, error) {
	if err := keyexpr.Check(key); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	q := &Queryable{s: s, id: s.entityID(), key: key, alias: s.useKey(key), opts: opts, fn: fn}
	all := append(append([]*Queryable(nil), *s.queryables.Load()...), q)
	s.queryables.Store(&all)
	if f := s.link.Load(); f != nil && opts.Origin.remote() {
		f.declare(wire.NewDeclare(q.declaration(f)))
	}
	return q, nil
}

// Key is the key expression.
func (q *Queryable) Key() string { return q.key }

func (q *Queryable) declaration(f *face) wire.Declaration {
	return wire.Declaration{Kind: wire.DeclareQueryable, ID: q.id, Key: q.alias.expr(f), Complete: q.opts.Complete}
}

// Close ends the queryable; queries that were retained can still be answered. More calls do nothing.
func (q *Queryable) Close() error {
	if q.closed.Swap(true) {
		return nil
	}
	s := q.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	all := without(*s.queryables.Load(), q)
	s.queryables.Store(&all)
	if f := s.link.Load(); f != nil && q.opts.Origin.remote() {
		f.declare(wire.NewDeclare(wire.Declaration{Kind: wire.UndeclareQueryable, ID: q.id}))
	}
	s.dropKey(q.alias)
	return nil
}

// answering gives the queryables that a query of the given origin goes to, and
// whether one of them has all that the query wants.
func (s *Session) answering(key string, target Target, local bool) (found []*Queryable, complete bool) {
	for _, q := range *s.queryables.Load() {
		if local && !q.opts.Origin.local() || !local && !q.opts.Origin.remote() {
			continue
		}
		if target == AllComplete && !q.opts.Complete || !keyexpr.Intersects(q.key, key) {
			continue
		}
		found = append(found, q)
		complete = complete || q.opts.Complete && keyexpr.Includes(q.key, key)
	}
	return found, complete
}

// requested handles a query of another session.
func (f *face) requested(own *transport.Owned) {
	m := &f.request
	in := &asked{s: f.s, face: f, id: m.ID, qos: m.QoS}
	in.refs.Store(1)
	defer in.unref() // with nobody to answer this is the end of the query
	r := f.route(&m.Key)
	if r == nil {
		f.s.counts.unknownKey.Add(1)
		return
	}
	f.s.counts.asked.Add(1)
	in.key = r.key
	found, _ := f.s.answering(r.key, m.Target, false)
	if len(found) > 0 {
		in.dispatch(found, &m.Body, own)
	}
}
