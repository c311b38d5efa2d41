package zenoh

import (
	"context"
	"encoding/binary"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/tagus-ros/tagus/zenoh/internal/wire"
)

// AdvancedPublisherOptions are options of NewAdvancedPublisher.
type AdvancedPublisherOptions struct {
	PublisherOptions
	// Cache is how many of the newest samples are kept for those who come late or missed some; 0: none.
	Cache int
	// Sequence numbers the samples, so that subscribers see gaps. Without it they are stamped with the session's clock.
	Sequence bool
	// Heartbeat is how long after a sample its number is told once more, for the
	// case that it was the last and got lost; 0: never. It needs Sequence.
	Heartbeat time.Duration
	// HeartbeatAlways tells the last number in this rhythm, whether it is new or not.
	HeartbeatAlways bool
	// Detect makes the publisher known to subscribers that were there before it.
	Detect bool
}

// AdvancedPublisher is a publisher whose samples can be had later, too.
type AdvancedPublisher struct {
	p         *Publisher
	opts      AdvancedPublisherOptions
	token     *Token
	queryable *Queryable
	beats     *Publisher

	// order keeps samples in the order of their numbers. No callback runs under
	// it: subscribers of this session get theirs from a queue.
	order sync.Mutex

	mu      sync.Mutex // guards what follows; comes after order
	closed  bool
	next    uint32    // number of the next sample
	cache   []*Sample // oldest first
	local   []*Sample // to be delivered in this session, in order
	running bool      // somebody delivers
	timer   *time.Timer
	armed   bool
}

// NewAdvancedPublisher declares an advanced publisher. Its key must hold no wildcards.
func (s *Session) NewAdvancedPublisher(key string, opts AdvancedPublisherOptions) (_ *AdvancedPublisher, err error) {
	if opts.Heartbeat > 0 && !opts.Sequence {
		return nil, errors.New("zenoh: heartbeats need numbered samples")
	}
	p := &AdvancedPublisher{opts: opts}
	defer func() {
		if err != nil {
			_ = p.Close()
		}
	}()
	if p.p, err = s.NewPublisher(key, opts.PublisherOptions); err != nil {
		return nil, err
	}
	entity := byTimestamp
	if opts.Sequence {
		entity = strconv.FormatUint(uint64(p.p.id), 10)
	}
	own := advancedKey(key, "pub", s.ID(), entity)
	if opts.Cache > 0 {
		if p.queryable, err = s.NewQueryable(own, p.answer, QueryableOptions{}); err != nil {
			return nil, err
		}
	}
	if opts.Heartbeat > 0 {
		if p.beats, err = s.NewPublisher(own, PublisherOptions{Congestion: Block}); err != nil {
			return nil, err
		}
		p.timer = time.AfterFunc(time.Hour, p.beat)
		if p.timer.Stop(); opts.HeartbeatAlways {
			p.armed = true
			p.timer.Reset(opts.Heartbeat)
		}
	}
	if opts.Detect {
		if p.token, err = s.NewToken(own); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Key is the publisher's key.
func (p *AdvancedPublisher) Key() string { return p.p.Key() }

// ID is the publisher's number within the session.
func (p *AdvancedPublisher) ID() uint32 { return p.p.ID() }

// Put sends and keeps a sample; see Publisher.Put. What is dropped for
// congestion is kept all the same: subscribers that see the gap ask for it.
func (p *AdvancedPublisher) Put(ctx context.Context, payload []byte, o PutOptions) error {
	return p.put(ctx, Put, payload, &o)
}

// Delete sends and keeps the word that the key has no value any more.
func (p *AdvancedPublisher) Delete(ctx context.Context, o PutOptions) error {
	return p.put(ctx, Delete, nil, &o)
}

func (p *AdvancedPublisher) put(ctx context.Context, kind Kind, payload []byte, o *PutOptions) error {
	s := p.p.s
	if err := o.Encoding.check(); err != nil {
		return err
	}
	if o.Encoding == (Encoding{}) {
		o.Encoding = p.opts.Encoding
	}
	p.order.Lock()
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		p.order.Unlock()
		return ErrClosed
	}
	if p.opts.Sequence {
		o.Source = SourceInfo{ID: s.ID(), Entity: p.p.id, Sequence: p.next}
		p.next++
	}
	if o.Timestamp.IsZero() && (!p.opts.Sequence || s.cfg.Timestamps) {
		o.Timestamp = s.clock.New()
	}
	m := samples.Get().(*Sample)
	body := wire.Sample{Delete: kind == Delete, Timestamp: o.Timestamp, Encoding: o.Encoding.wire(), Source: o.Source,
		Attachment: o.Attachment, Payload: payload}
	m.set(s, p.p.Key(), p.p.qos, p.p.lane.Reliable, &body, nil)
	// Kept first, sent then: who asks in between gets it at least once.
	if p.opts.Cache > 0 {
		if len(p.cache) >= p.opts.Cache {
			p.cache[0].Release()
			p.cache = p.cache[:copy(p.cache, p.cache[1:])]
		}
		p.cache = append(p.cache, m.Retain())
	}
	if p.timer != nil && !p.armed {
		p.armed = true
		p.timer.Reset(p.opts.Heartbeat)
	}
	to := p.p.opts.Destination
	deliver := false
	if to.local() && len(p.p.locals()) > 0 {
		if p.running {
			p.local = append(p.local, m.Retain())
		} else {
			p.running, deliver = true, true
			p.local = append(p.local, m)
		}
	}
	p.mu.Unlock()
	var err error
	if to.remote() {
		err = s.put(ctx, p.p.alias, nil, p.p.lane, p.p.qos, Remote, kind, payload, o)
	}
	p.order.Unlock()
	if deliver {
		p.deliver()
	}
	*m = Sample{}
	samples.Put(m)
	return err
}

// deliver hands what is queued to the subscribers of this session.
func (p *AdvancedPublisher) deliver() {
	p.mu.Lock()
	for len(p.local) > 0 {
		m := p.local[0]
		p.local = p.local[:copy(p.local, p.local[1:])]
		subs := p.p.locals()
		p.mu.Unlock()
		for _, sub := range subs {
			sub.deliver(m)
		}
		m.Release()
		p.mu.Lock()
	}
	p.running = false
	p.mu.Unlock()
}

// beat tells the number of the last sample.
func (p *AdvancedPublisher) beat() {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return
	}
	next := p.next
	p.armed = false
	p.mu.Unlock()
	var err error
	if next > 0 {
		ctx, cancel := context.WithTimeout(context.Background(), p.opts.Heartbeat)
		defer cancel()
		err = p.beats.Put(ctx, binary.LittleEndian.AppendUint32(nil, next-1))
	}
	if err == nil && !p.opts.HeartbeatAlways || errors.Is(err, ErrClosed) {
		return
	}
	// One that was not sent is repeated.
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed && !p.armed {
		p.armed = true
		p.timer.Reset(p.opts.Heartbeat)
	}
}

// answer hands out of the cache, in a goroutine of its own: it may be much, and the asker slow.
func (p *AdvancedPublisher) answer(q *Query) {
	kept := p.pick(q.Parameters)
	if len(kept) == 0 {
		return
	}
	q = q.Retain()
	go func() {
		defer q.Release()
		var err error
		for _, m := range kept {
			o := PutOptions{Attachment: m.Attachment, Encoding: m.Encoding(), Timestamp: m.Timestamp, Source: m.Source}
			switch {
			case err != nil: // nobody waits any more
			case m.Kind == Delete:
				err = q.ReplyDelete(context.Background(), m.Key, o)
			default:
				err = q.Reply(context.Background(), m.Key, m.Payload, o)
			}
			m.Release()
		}
	}()
}

// pick takes references to the samples that a query's parameters ask for.
func (p *AdvancedPublisher) pick(parameters string) (kept []*Sample) {
	first, last := uint32(0), uint32(1<<32-1)
	bySequence := false
	if v, ok := parameter(parameters, "_sn"); ok {
		if first, last, ok = sequenceRange(v); !ok {
			return nil
		}
		bySequence = first != 0 || last != 1<<32-1
	}
	limit := -1
	if v, ok := parameter(parameters, "_max"); ok {
		if n, err := strconv.ParseUint(v, 10, 31); err == nil {
			limit = int(n)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.cache) - 1; i >= 0 && len(kept) != limit; i-- {
		m := p.cache[i]
		if bySequence && (m.Source.IsZero() || m.Source.Sequence < first || m.Source.Sequence > last) {
			continue
		}
		kept = append(kept, m.Retain())
	}
	for i, j := 0, len(kept)-1; i < j; i, j = i+1, j-1 {
		kept[i], kept[j] = kept[j], kept[i]
	}
	return kept
}

// Close ends the publisher and what it kept. More calls do nothing.
func (p *AdvancedPublisher) Close() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	if p.timer != nil {
		p.timer.Stop()
	}
	for _, m := range p.cache {
		m.Release()
	}
	p.cache = nil
	p.mu.Unlock()
	var errs []error
	if p.token != nil {
		errs = append(errs, p.token.Close())
	}
	if p.queryable != nil {
		errs = append(errs, p.queryable.Close())
	}
	if p.beats != nil {
		errs = append(errs, p.beats.Close())
	}
	if p.p != nil {
		errs = append(errs, p.p.Close())
	}
	return errors.Join(errs...)
}
