package zenoh

import (
	"context"
	"net"
	"sync/atomic"

	"github.com/tagus-ros/tagus/zenoh/internal/keyexpr"
	"github.com/tagus-ros/tagus/zenoh/internal/transport"
	"github.com/tagus-ros/tagus/zenoh/internal/wire"
)

// face is the session's view of one link: what the peer declared on it, and
// the handling of what comes. But for t, own and reader everything belongs to
// the reading goroutine.
type face struct {
	s        *Session
	t        *transport.Transport
	endpoint string
	err      error                    // why it ended; set before t is done
	own      atomic.Pointer[[]string] // our aliases by number
	reader   atomic.Uint64            // goid of the reading goroutine

	theirs     map[uint16]*route // the peer's aliases
	theirBytes int
	ours       []*route // routes of our aliases, made at first use
	routes     map[string]*route
	scratch    []byte

	// Records and samples are kept, since they escape into handlers.
	push     wire.Push
	request  wire.Request
	response wire.Response
	declared wire.Declare
	interest wire.Interest
	final    wire.ResponseFinal
	oam      wire.OAM
	sample   Sample
}

// route is a key in use and the subscribers it goes to.
type route struct {
	key     string
	subs    []*Subscriber
	version uint64 // of Session.subs when subs was made; 0: never
}

const (
	// maxRoutes bounds the keys kept beside the aliases. Who publishes to more
	// keys than this makes the session compute their routes again and again.
	maxRoutes = 8192
	// maxTheirBytes bounds the text of the peer's aliases.
	maxTheirBytes = 64 << 20
)

func newFace(s *Session, conn net.Conn, agreed transport.Agreed, endpoint string) *face {
	f := &face{s: s, endpoint: endpoint, theirs: map[uint16]*route{}, routes: map[string]*route{}}
	own := make([]string, 1, 64)
	f.own.Store(&own)
	f.t = transport.New(conn, agreed, s.cfg.limits(), s.buffers, f)
	return f
}

// Closed implements transport.Handler.
func (f *face) Closed(err error) { f.err = err }

// Message implements transport.Handler.
func (f *face) Message(in *wire.Reader, lane transport.Lane, own *transport.Owned) {
	if f.reader.Load() == 0 {
		f.reader.Store(goid())
	}
	switch wire.MessageID(in.Peek()) {
	case wire.IDPush:
		if f.push.Decode(in); !in.Failed() {
			f.pushed(lane, own)
		}
	case wire.IDDeclare:
		if f.declared.Decode(in); !in.Failed() {
			f.declaredBy(&f.declared, in)
		}
	case wire.IDRequest:
		if f.request.Decode(in); !in.Failed() {
			f.requested(own)
		}
	case wire.IDResponse:
		if f.response.Decode(in); !in.Failed() {
			f.responded(own)
		}
	case wire.IDResponseFinal:
		if f.final.Decode(in); !in.Failed() {
			f.s.finalised(f, f.final.ID)
		}
	case wire.IDInterest:
		if f.interest.Decode(in); !in.Failed() {
			f.interested(&f.interest)
		}
	case wire.IDOAM:
		f.oam.Decode(in)
	default:
		in.Fail("unknown network message")
	}
}

// route finds what an expression on the wire stands for; nil if that is nothing.
func (f *face) route(w *wire.WireExpr) *route {
	var prefix string
	switch {
	case w.Scope == 0:
		return f.routeOf(w.Suffix)
	case w.Sender:
		r := f.theirs[w.Scope]
		if r == nil || len(w.Suffix) == 0 {
			return r
		}
		prefix = r.key
	default:
		own := *f.own.Load()
		if int(w.Scope) >= len(own) {
			return nil
		}
		if len(w.Suffix) == 0 {
			return f.routeOfOurs(w.Scope, own[w.Scope])
		}
		prefix = own[w.Scope]
	}
	f.scratch = append(append(f.scratch[:0], prefix...), w.Suffix...)
	return f.routeOf(f.scratch)
}

func (f *face) routeOfOurs(id uint16, key string) *route {
	for int(id) >= len(f.ours) {
		f.ours = append(f.ours, nil)
	}
	if f.ours[id] == nil {
		f.ours[id] = &route{key: key}
	}
	return f.ours[id]
}

func (f *face) routeOf(key []byte) *route {
	if r := f.routes[string(key)]; r != nil {
		return r
	}
	k := string(key)
	if keyexpr.Check(k) != nil {
		return nil
	}
	if len(f.routes) >= maxRoutes {
		clear(f.routes)
	}
	r := &route{key: k}
	f.routes[k] = r
	return r
}

// matching gives the subscribers of a route.
func (f *face) matching(r *route) []*Subscriber {
	if v := f.s.subVersion.Load() + 1; r.version != v {
		// The version is read first: a change in between makes the next look do this again.
		r.subs, r.version = f.s.matching(r.subs[:0], r.key, false), v
	}
	return r.subs
}

func (f *face) pushed(lane transport.Lane, own *transport.Owned) {
	m := &f.push
	r := f.route(&m.Key)
	if r == nil {
		f.s.counts.unknownKey.Add(1)
		return
	}
	subs := f.matching(r)
	if len(subs) == 0 {
		f.s.counts.unmatched.Add(1)
		return
	}
	if !m.Body.Timestamp.IsZero() {
		f.s.clock.see(m.Body.Timestamp.Time)
	}
	f.sample.set(f.s, r.key, m.QoS, lane.Reliable, &m.Body, own)
	for _, sub := range subs {
		sub.deliver(&f.sample)
	}
	f.sample = Sample{}
}

// declare queues a declaration; it never waits. Declarations are sent in the
// order of these calls, before all other traffic.
func (f *face) declare(d wire.Declare) {
	var buf [256]byte
	f.control(d.Append(buf[:0]))
}

func (f *face) control(b []byte) {
	// An error means that the link ends; what is declared will be replayed on the next.
	_ = f.t.Send(context.Background(), transport.Lane{Priority: wire.PriorityControl, Reliable: true, Block: true, Unbounded: true}, b, nil)
}

// declaredBy handles a declaration of the peer's.
func (f *face) declaredBy(d *wire.Declare, in *wire.Reader) {
	switch d.Kind {
	case wire.DeclareKey:
		r := f.route(&d.Key)
		if r == nil || d.ID == 0 {
			f.s.counts.unknownKey.Add(1)
			return
		}
		if old := f.theirs[uint16(d.ID)]; old != nil {
			f.theirBytes -= len(old.key)
		}
		if f.theirBytes += len(r.key); f.theirBytes > maxTheirBytes {
			in.Fail("declarations: more than 64 MiB of keys")
			return
		}
		f.theirs[uint16(d.ID)] = &route{key: r.key}
	case wire.UndeclareKey:
		if old := f.theirs[uint16(d.ID)]; old != nil {
			f.theirBytes -= len(old.key)
			delete(f.theirs, uint16(d.ID))
		}
	case wire.DeclareToken:
		if r := f.route(&d.Key); r != nil {
			f.s.tokenUp(f, d, r.key)
		} else {
			f.s.counts.unknownKey.Add(1)
		}
	case wire.UndeclareToken:
		key := ""
		if !d.Key.IsNull() {
			if r := f.route(&d.Key); r != nil {
				key = r.key
			}
		}
		f.s.tokenDown(d.ID, key)
	case wire.DeclareFinal:
		if d.Answers {
			f.s.lookedUp(f, d.Interest)
		}
	}
	// Subscribers and queryables of others are of no interest here: the router matches.
}

// interested answers a peer that asks for our declarations; routers do not ask clients.
func (f *face) interested(m *wire.Interest) {
	if m.Mode != wire.InterestCurrent && m.Mode != wire.InterestCurrentFuture {
		return
	}
	var key string
	if !m.Key.IsNull() {
		r := f.route(&m.Key)
		if r == nil {
			f.s.counts.unknownKey.Add(1)
			return
		}
		key = r.key
	}
	answer := func(d wire.Declaration) {
		msg := wire.NewDeclare(d)
		msg.Answers, msg.Interest = true, m.ID
		f.declare(msg)
	}
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	f.s.declarations(f, func(k string, d wire.Declaration) {
		var option byte
		switch d.Kind {
		case wire.DeclareSubscriber:
			option = wire.InterestSubscribers
		case wire.DeclareQueryable:
			option = wire.InterestQueryables
		case wire.DeclareToken:
			option = wire.InterestTokens
		}
		if m.Options&option != 0 && (key == "" || keyexpr.Intersects(k, key)) {
			answer(d)
		}
	})
	answer(wire.Declaration{Kind: wire.DeclareFinal})
}
