package transport

import (
	"context"
	"math/bits"
	"sync"
	"time"

	"github.com/tagus-ros/tagus/internal/clock"
	"github.com/tagus-ros/tagus/internal/pool"
	"github.com/tagus-ros/tagus/zenoh/internal/wire"
)

// Lane is how a message travels.
type Lane struct {
	Priority wire.Priority
	Reliable bool
	Block    bool // wait for room, as long as WaitBeforeClose, rather than drop
	Express  bool // write at once
	// Unbounded messages never wait: they get memory beyond the queue's depth. For
	// declarations, of which there are no more than there are entities.
	Unbounded bool
}

// Limits of the sending side; every zero field stands for its default.
type Limits struct {
	QueueDepth      int           // batches per priority; 2
	WaitBeforeDrop  time.Duration // 1 ms
	WaitBetweenDrop time.Duration // 50 ms: how much a message in fragments may wait in all beyond the first wait
	WaitBeforeClose time.Duration // 5 s
	MaxMessage      int           // bytes, both ways; 1 GiB
	// FinishCopy is how much of a message whose sender gave up in its middle may
	// be copied so that it arrives all the same; more, and the message is broken
	// off. 16 MiB; negative: none.
	FinishCopy         int
	NoBurst            bool          // always let the sender write (for measurements)
	CloseFlush         time.Duration // 1 s: how long closing may wait for what is queued
	MaxReceiveMemory   int           // bytes of messages being put together from fragments; MaxMessage
	KeepAlivesPerLease int           // 4
}

func (l *Limits) fill() {
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	defInt := func(d *int, v int) {
		if *d == 0 {
			*d = v
		}
	}
	defInt(&l.QueueDepth, 2)
	def(&l.WaitBeforeDrop, time.Millisecond)
	def(&l.WaitBetweenDrop, 50*time.Millisecond)
	def(&l.WaitBeforeClose, 5*time.Second)
	def(&l.CloseFlush, time.Second)
	defInt(&l.MaxMessage, 1<<30)
	defInt(&l.FinishCopy, 16<<20)
	defInt(&l.MaxReceiveMemory, l.MaxMessage)
	defInt(&l.KeepAlivesPerLease, 4)
}

const priorities = 8

// burstGap is the mean distance of messages below which the writer goroutine
// takes over, so that many messages share one system call.
const burstGap = 8 * time.Microsecond

// pipeline is the sending side of a transport.
type pipeline struct {
	link    link
	limits  Limits
	batch   int  // most bytes of a batch, prefix included
	qos     bool // priorities were negotiated
	patch   bool // First and Drop markers were negotiated
	buffers *pool.Pool
	fail    func(error) // ends the transport; called without mu

	wake event // the writer goroutine has the role of the writer
	step func() bool

	mu       sync.Mutex
	queues   [priorities]queue
	pending  uint8 // bit p: queues[p] is not empty
	err      error // set once: nothing is accepted any more
	dead     bool  // nothing is written any more either
	writing  bool  // somebody has the role of the writer
	handed   bool  // and it is the writer goroutine
	closing  bool  // err is set, but what is queued is still written
	flushed  event // told when the queues run empty while closing
	w        writer
	free     *chunk // empty batches
	frees    int
	sends    uint64
	lastKick int64 // clock.Mono when the writer's role was last taken
	kickSend uint64
	counts   SendCounts
}

// SendCounts are totals of a transport's sending side.
type SendCounts struct {
	Messages  uint64
	Bytes     uint64 // written to the link
	Fragments uint64
	Batches   uint64
	Writes    uint64 // system calls
	Direct    uint64 // of these, by the sender itself
	Dropped   [priorities]uint64
}

func newPipeline(l link, limits Limits, batch int, qos, patch bool, initialSN uint32, buffers *pool.Pool, fail func(error)) *pipeline {
	p := &pipeline{link: l, limits: limits, batch: batch, qos: qos, patch: patch, buffers: buffers, fail: fail}
	for i := range p.queues {
		p.queues[i].sn = [2]uint32{initialSN, initialSN}
	}
	p.step = p.attempt
	p.w.init(p)
	return p
}

// priority maps to the one queue there is when priorities were not negotiated.
func (p *pipeline) priority(o wire.Priority) wire.Priority {
	if !p.qos {
		return wire.PriorityData
	}
	return o & 7
}

// send queues one network message, given in two parts that belong to the
// caller again when send returns, and sees to its being written.
func (p *pipeline) send(ctx context.Context, o Lane, head, payload []byte) error {
	n := len(head) + len(payload)
	if n > p.limits.MaxMessage {
		return &TooLargeError{n, p.limits.MaxMessage}
	}
	o.Priority = p.priority(o.Priority)
	q := &p.queues[o.Priority]
	p.mu.Lock()
	if p.err != nil {
		err := p.err
		p.mu.Unlock()
		return err
	}
	if n+wire.MaxFrameHeader+prefix > p.batch {
		return p.sendLarge(ctx, o, head, payload)
	}
	c := p.open(q, o, n)
	if c == nil {
		if c = p.waitRoom(ctx, q, o, n); c == nil {
			return p.refused(ctx, q, o) // unlocks
		}
	}
	c.buf = append(append(c.buf, head...), payload...)
	p.sends++
	p.counts.Messages++
	p.kick(o.Express) // unlocks
	return nil
}

// open returns the batch that takes a message of n bytes, its frame begun, or nil if there is no room.
func (p *pipeline) open(q *queue, o Lane, n int) *chunk {
	c := q.tail
	if c != nil {
		switch {
		case c.large != nil || !c.fits(n, p.batch):
			c = nil
		case c.framed && c.reliable == o.Reliable:
			return c
		case !c.fits(n+wire.MaxFrameHeader, p.batch):
			c = nil
		}
	}
	if c == nil {
		if q.batches >= p.limits.QueueDepth && !o.Unbounded {
			return nil
		}
		c = p.newBatch()
		if c.extra = q.batches >= p.limits.QueueDepth; !c.extra {
			q.batches++
		}
		p.enqueue(o.Priority, c)
	}
	f := wire.Frame{Reliable: o.Reliable, Priority: o.Priority, SN: q.take(o.Reliable, 1)}
	c.buf = f.Append(c.buf)
	c.framed, c.reliable = true, o.Reliable
	return c
}

func (p *pipeline) enqueue(prio wire.Priority, c *chunk) {
	p.queues[prio].push(c)
	p.pending |= 1 << prio
}

// maxFree bounds the empty batches kept beside the buffer pool.
const maxFree = 4

func (p *pipeline) newBatch() *chunk {
	c := p.free
	if c == nil {
		return &chunk{buf: p.buffers.Get(p.batch)[:prefix]}
	}
	p.free = c.next
	p.frees--
	c.next = nil
	return c
}

// recycle takes back a batch that was written.
func (p *pipeline) recycle(c *chunk) {
	if p.frees >= maxFree {
		p.buffers.Put(c.buf)
		return
	}
	*c = chunk{buf: c.buf[:prefix], next: p.free}
	p.free = c
	p.frees++
}

// waitRoom waits for a batch; nil: there is none, mu is held either way.
func (p *pipeline) waitRoom(ctx context.Context, q *queue, o Lane, n int) *chunk {
	if !o.Block && q.congested {
		return nil
	}
	wait := p.limits.WaitBeforeDrop
	if o.Block {
		wait = p.limits.WaitBeforeClose
	}
	deadline := time.Now().Add(wait)
	for {
		q.waiting++
		p.mu.Unlock()
		err := q.room.wait(ctx, deadline)
		p.mu.Lock()
		q.waiting--
		if p.err != nil {
			q.room.notify() // for the next one that waits
			return nil
		}
		// A batch that came back at the last moment counts.
		c := p.open(q, o, n)
		if q.waiting > 0 && q.batches < p.limits.QueueDepth {
			q.room.notify()
		}
		if c != nil || err != nil {
			return c
		}
	}
}

// refused ends a send that found no room; it unlocks mu.
func (p *pipeline) refused(ctx context.Context, q *queue, o Lane) error {
	err := p.err
	switch {
	case err != nil:
	case !o.Block:
		q.congested = true
		p.counts.Dropped[o.Priority]++
		err = ErrCongested
	case ctx.Err() != nil:
		p.counts.Dropped[o.Priority]++
		err = context.Cause(ctx)
	default:
		p.counts.Dropped[o.Priority]++
		p.mu.Unlock()
		err = &CloseError{Reason: wire.ReasonUnresponsive}
		p.fail(err)
		return err
	}
	p.mu.Unlock()
	return err
}

// kick makes sure that somebody writes; it unlocks mu.
func (p *pipeline) kick(express bool) {
	if p.writing {
		p.mu.Unlock()
		return
	}
	p.writing = true
	now := clock.Mono()
	mean := (now - p.lastKick) / int64(max(p.sends-p.kickSend, 1))
	p.lastKick, p.kickSend = now, p.sends
	if p.link.direct() && (express || mean >= int64(burstGap) || p.limits.NoBurst) {
		p.writeDirect() // unlocks
		return
	}
	p.handed = true
	p.mu.Unlock()
	p.wake.notify()
}

// stop makes every sender and the writer return; what is queued is forgotten.
func (p *pipeline) stop(err error) {
	p.mu.Lock()
	p.dead, p.err = true, err
	for i := range p.queues {
		for c := p.queues[i].head; c != nil; c = c.next {
			if c.large != nil {
				c.large.changed.notify()
			}
		}
	}
	for _, c := range p.w.sent {
		if c.large != nil {
			c.large.changed.notify()
		}
	}
	p.mu.Unlock()
	for i := range p.queues {
		p.queues[i].room.notify()
	}
	p.wake.notify()
	p.flushed.notify()
}

// flush lets what is queued be written, and then last, before it returns; no
// longer than CloseFlush or until ctx ends. New messages are refused.
func (p *pipeline) flush(ctx context.Context, last []byte) {
	p.mu.Lock()
	if p.err != nil {
		p.mu.Unlock()
		return
	}
	p.err = ErrClosed
	p.closing = true
	c := p.newBatch()
	c.extra = true
	c.buf = append(c.buf, last...)
	p.enqueue(priorities-1, c)
	p.kick(true) // unlocks
	for i := range p.queues {
		p.queues[i].room.notify()
	}
	deadline := time.Now().Add(p.limits.CloseFlush)
	for {
		p.mu.Lock()
		done := p.pending == 0 && !p.writing
		p.mu.Unlock()
		if done || p.flushed.wait(ctx, deadline) != nil {
			return
		}
	}
}

// keepAlive writes a KeepAlive if nothing else is on its way.
func (p *pipeline) keepAlive() {
	p.mu.Lock()
	if p.err != nil || p.pending != 0 || p.writing {
		p.mu.Unlock()
		return
	}
	c := p.newBatch()
	c.extra = true
	c.buf = wire.AppendKeepAlive(c.buf)
	p.enqueue(p.priority(wire.PriorityControl), c)
	p.kick(true) // unlocks
}

func (p *pipeline) stats() SendCounts {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts
}

// first is the most urgent priority that has something to send.
func (p *pipeline) first() int { return bits.TrailingZeros8(p.pending) }
