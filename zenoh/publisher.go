package zenoh

import (
	"context"
	"sync/atomic"

	"github.com/tagus-ros/tagus/zenoh/internal/keyexpr"
	"github.com/tagus-ros/tagus/zenoh/internal/transport"
	"github.com/tagus-ros/tagus/zenoh/internal/wire"
)

// PublisherOptions are options of NewPublisher and Session.Put; the zero value is fine.
type PublisherOptions struct {
	Priority    Priority
	Congestion  Congestion
	Reliability Reliability
	Express     bool     // do not wait for other messages that could share a batch
	Encoding    Encoding // of samples that name none
	Destination Locality
}

// PutOptions are what a sample has besides its payload; the zero value is fine.
type PutOptions struct {
	Attachment []byte // nil: none
	Encoding   Encoding
	Timestamp  Timestamp
	Source     SourceInfo
}

// Publisher puts samples at one key.
type Publisher struct {
	s      *Session
	id     uint32
	alias  *alias
	opts   PublisherOptions
	lane   transport.Lane
	qos    wire.QoS
	closed atomic.Bool
	local  atomic.Pointer[localRoute]
}

// localRoute are the subscribers of this session that a publisher reaches.
type localRoute struct {
	subs    []*Subscriber
	version uint64
}

// NewPublisher declares a publisher: its key is sent once and stands for a number from then on.
func (s *Session) NewPublisher(key string, opts PublisherOptions) (*Publisher, error) {
	if err := keyexpr.Check(key); err != nil {
		return nil, err
	}
	if err := opts.Encoding.check(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	p := &Publisher{s: s, id: s.entityID(), opts: opts}
	if opts.Destination.remote() {
		p.alias = s.useKey(key)
	} else {
		p.alias = &alias{key: key}
	}
	p.lane, p.qos = opts.lane()
	return p, nil
}

func (o *PublisherOptions) lane() (transport.Lane, wire.QoS) {
	l := transport.Lane{Priority: o.Priority.wire(), Reliable: o.Reliability == Reliable, Express: o.Express}
	q := wire.QoS(l.Priority)
	if o.Congestion == Block {
		q |= wire.QoSBlock
		l.Block = l.Reliable // best effort is never worth waiting for
	}
	if o.Express {
		q |= wire.QoSExpress
	}
	return l, q
}

// Key is the publisher's key.
func (p *Publisher) Key() string { return p.alias.key }

// ID is the publisher's number within the session, as it stands in SourceInfo.
func (p *Publisher) ID() uint32 { return p.id }

// Put sends payload, which belongs to the caller again when Put returns. It
// waits no longer than the congestion option says and never beyond ctx; a
// message dropped for congestion is ErrCongested. Subscribers of this session
// are called before it returns.
func (p *Publisher) Put(ctx context.Context, payload []byte) error {
	return p.put(ctx, Put, payload, &PutOptions{})
}

// PutWith is Put with an attachment and more.
func (p *Publisher) PutWith(ctx context.Context, payload []byte, o PutOptions) error {
	return p.put(ctx, Put, payload, &o)
}

// Delete tells subscribers that the key has no value any more. Encoding in o is not used.
func (p *Publisher) Delete(ctx context.Context, o PutOptions) error {
	return p.put(ctx, Delete, nil, &o)
}

func (p *Publisher) put(ctx context.Context, kind Kind, payload []byte, o *PutOptions) error {
	if p.closed.Load() {
		return ErrClosed
	}
	s := p.s
	if o.Encoding == (Encoding{}) {
		o.Encoding = p.opts.Encoding
	} else if err := o.Encoding.check(); err != nil {
		return err
	}
	var subs []*Subscriber
	if p.opts.Destination.local() {
		subs = p.locals()
	}
	return s.put(ctx, p.alias, subs, p.lane, p.qos, p.opts.Destination, kind, payload, o)
}

// locals are the subscribers of this session that the publisher reaches.
func (p *Publisher) locals() []*Subscriber {
	r := p.local.Load()
	if v := p.s.subVersion.Load() + 1; r == nil || r.version != v {
		r = &localRoute{p.s.matching(nil, p.alias.key, true), v}
		p.local.Store(r)
	}
	return r.subs
}

// Close gives the publisher's number back. More calls do nothing.
func (p *Publisher) Close() error {
	if p.closed.Swap(true) || !p.opts.Destination.remote() {
		return nil
	}
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	if !p.s.closed {
		p.s.dropKey(p.alias)
	}
	return nil
}

// Put sends one sample without a publisher; the key, which may hold wildcards,
// is written out. See Publisher.Put.
func (s *Session) Put(ctx context.Context, key string, payload []byte, opts PublisherOptions, o PutOptions) error {
	return s.putOnce(ctx, key, Put, payload, &opts, &o)
}

// Delete tells subscribers that the key has no value any more.
func (s *Session) Delete(ctx context.Context, key string, opts PublisherOptions, o PutOptions) error {
	return s.putOnce(ctx, key, Delete, nil, &opts, &o)
}

func (s *Session) putOnce(ctx context.Context, key string, kind Kind, payload []byte, opts *PublisherOptions, o *PutOptions) error {
	if err := keyexpr.Check(key); err != nil {
		return err
	}
	if o.Encoding == (Encoding{}) {
		o.Encoding = opts.Encoding
	}
	if err := o.Encoding.check(); err != nil {
		return err
	}
	var subs []*Subscriber
	if opts.Destination.local() {
		subs = s.matching(nil, key, true)
	}
	lane, qos := opts.lane()
	return s.put(ctx, &alias{key: key}, subs, lane, qos, opts.Destination, kind, payload, o)
}

// put delivers here and sends.
func (s *Session) put(ctx context.Context, a *alias, subs []*Subscriber, lane transport.Lane, qos wire.QoS, to Locality, kind Kind, payload []byte, o *PutOptions) error {
	s.counts.put.Add(1)
	var m wire.Push
	m.QoS = qos
	m.Body = wire.Sample{Delete: kind == Delete, Timestamp: o.Timestamp, Encoding: o.Encoding.wire(), Source: o.Source,
		Attachment: o.Attachment, Payload: payload}
	if s.cfg.Timestamps && m.Body.Timestamp.IsZero() {
		m.Body.Timestamp = s.clock.New()
	}
	if len(subs) > 0 {
		local := samples.Get().(*Sample)
		local.set(s, a.key, qos, lane.Reliable, &m.Body, nil)
		for _, sub := range subs {
			sub.deliver(local)
		}
		*local = Sample{}
		samples.Put(local)
	}
	if !to.remote() {
		return nil
	}
	f := s.link.Load()
	if f == nil {
		return s.unsent()
	}
	m.Key = a.expr(f)
	var buf [512]byte
	head := buf[:0]
	if n := m.HeadBound(); n > len(buf) {
		b := s.buffers.Get(n)
		defer s.buffers.Put(b)
		head = b[:0]
	}
	err := f.t.Send(ctx, lane, m.AppendHead(head), payload)
	if err != nil {
		return s.sendError(err)
	}
	return nil
}

// unsent accounts for a sample that no link took.
func (s *Session) unsent() error {
	s.counts.noLink.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	return nil
}

// sendError tells the end of the link from what is the caller's business.
func (s *Session) sendError(err error) error {
	switch err.(type) {
	case *CloseError:
		return s.unsent()
	}
	if err == ErrClosed {
		return s.unsent()
	}
	return err
}
