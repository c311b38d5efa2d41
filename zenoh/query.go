package zenoh

import (
	"context"
	"strings"
	"sync/atomic"

	"github.com/tagus-ros/tagus/zenoh/internal/keyexpr"
	"github.com/tagus-ros/tagus/zenoh/internal/transport"
	"github.com/tagus-ros/tagus/zenoh/internal/wire"
)

// Query is a received query. It is lent to the queryable's callback, and
// finished when that returns; Retain takes it along, to be answered later.
type Query struct {
	Key        string // for ever
	Parameters string // for ever
	HasPayload bool
	Payload    []byte // read-only
	Attachment []byte // nil: none
	Source     SourceInfo

	encoding wire.Encoding
	in       *asked
	q        *Queryable
	own      *transport.Owned
	held     bool
	ended    atomic.Bool
}

// asked is one query as it came, whichever number of queryables it goes to.
// When all references are gone the asker is told that no more replies come.
type asked struct {
	s    *Session
	face *face // nil: asked by this session
	ask  *Ask
	id   uint32
	key  string
	any  bool // replies may have any key
	qos  wire.QoS
	refs atomic.Int32
}

func (in *asked) unref() {
	if in.refs.Add(-1) != 0 {
		return
	}
	if in.ask != nil {
		in.ask.partEnd(nil)
		return
	}
	m := wire.ResponseFinal{ID: in.id, QoS: in.qos}
	var buf [32]byte
	_ = in.face.t.Send(context.Background(), in.lane(), m.Append(buf[:0]), nil) // an error means that nobody waits any more
}

// lane is the query's own, and never drops: an asker who misses the end waits for its time-out.
func (in *asked) lane() transport.Lane {
	return transport.Lane{Priority: in.qos.Priority(), Reliable: true, Block: true, Express: in.qos.Express()}
}

// dispatch calls the queryables.
func (in *asked) dispatch(found []*Queryable, b *wire.Query, own *transport.Owned) {
	parameters := string(b.Parameters)
	in.any = hasParameter(parameters, "_anyke")
	for _, q := range found {
		if q.closed.Load() {
			continue
		}
		x := &Query{Key: in.key, Parameters: parameters, HasPayload: b.Body, Payload: b.Payload, Attachment: b.Attachment,
			Source: b.Source, encoding: b.Encoding, in: in, q: q, own: own}
		q.fn(x)
		x.ended.Store(true)
	}
}

// hasParameter looks for a name among "name=value;name;…".
func hasParameter(parameters, name string) bool {
	for p := range strings.SplitSeq(parameters, ";") {
		if n, _, _ := strings.Cut(p, "="); n == name {
			return true
		}
	}
	return false
}

// Encoding tells what the payload is.
func (x *Query) Encoding() Encoding { return encodingOf(&x.encoding) }

// Retain returns a query that can be answered until its Release, which
// finishes it. Who never releases it lets the asker wait for its time-out.
func (x *Query) Retain() *Query {
	x.in.refs.Add(1)
	k := &Query{Key: x.Key, Parameters: x.Parameters, HasPayload: x.HasPayload, Source: x.Source, in: x.in, q: x.q, held: true}
	if x.own != nil {
		x.own.Ref()
		k.own, k.Payload, k.Attachment, k.encoding = x.own, x.Payload, x.Attachment, x.encoding
		return k
	}
	k.Payload = append([]byte(nil), x.Payload...)
	if x.Attachment != nil {
		k.Attachment = append([]byte{}, x.Attachment...)
	}
	k.encoding = wire.Encoding{ID: x.encoding.ID, Schema: append([]byte(nil), x.encoding.Schema...)}
	return k
}

// Release finishes a query of Retain; more calls, and calls on a lent query, do nothing.
func (x *Query) Release() {
	if !x.held || x.ended.Swap(true) {
		return
	}
	if x.own != nil {
		x.own.Unref()
	}
	x.in.unref()
}

// Reply answers with a value at key, which must intersect the query's key
// unless the query says otherwise (parameter _anyke); "" stands for the query's
// key. There may be any number of replies. payload is the caller's again
// afterwards. A reply waits for a congested link, but not beyond ctx.
func (x *Query) Reply(ctx context.Context, key string, payload []byte, o PutOptions) error {
	return x.reply(ctx, key, Put, payload, &o)
}

// ReplyDelete answers that key has no value any more.
func (x *Query) ReplyDelete(ctx context.Context, key string, o PutOptions) error {
	return x.reply(ctx, key, Delete, nil, &o)
}

func (x *Query) reply(ctx context.Context, key string, kind Kind, payload []byte, o *PutOptions) error {
	if x.ended.Load() {
		return ErrAnswered
	}
	if key == "" {
		key = x.Key
	} else if err := keyexpr.Check(key); err != nil {
		return err
	} else if !x.in.any && !keyexpr.Intersects(key, x.Key) {
		return &KeyError{Text: key, What: "does not intersect the query's key " + x.Key}
	}
	if err := o.Encoding.check(); err != nil {
		return err
	}
	m := wire.Response{ID: x.in.id, QoS: x.in.qos, Responder: wire.Responder{ID: x.in.s.cfg.ID, Entity: x.q.id}}
	m.Reply.Body = wire.Sample{Delete: kind == Delete, Timestamp: o.Timestamp, Encoding: o.Encoding.wire(), Source: o.Source,
		Attachment: o.Attachment, Payload: payload}
	if x.in.s.cfg.Timestamps && o.Timestamp.IsZero() {
		m.Reply.Body.Timestamp = x.in.s.clock.New()
	}
	return x.in.respond(ctx, key, &m)
}

// ReplyError answers that there is no reply, and why.
func (x *Query) ReplyError(ctx context.Context, payload []byte, e Encoding) error {
	if x.ended.Load() {
		return ErrAnswered
	}
	if err := e.check(); err != nil {
		return err
	}
	m := wire.Response{ID: x.in.id, QoS: x.in.qos, Responder: wire.Responder{ID: x.in.s.cfg.ID, Entity: x.q.id},
		IsErr: true, Err: wire.Err{Encoding: e.wire(), Payload: payload}}
	return x.in.respond(ctx, x.Key, &m)
}

func (in *asked) respond(ctx context.Context, key string, m *wire.Response) error {
	if in.ask != nil {
		in.ask.reply(key, m, nil)
		return nil
	}
	m.Key = wire.WireExpr{Suffix: bytesOf(key), Sender: true}
	b := in.s.buffers.Get(m.HeadBound())
	defer in.s.buffers.Put(b)
	return in.face.t.Send(ctx, in.lane(), m.AppendHead(b[:0]), m.Payload())
}
