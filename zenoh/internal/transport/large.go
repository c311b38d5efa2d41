package transport

import (
	"context"
	"sync"
	"time"

	"github.com/tagus-ros/tagus/zenoh/internal/wire"
)

// large is a message in fragments. Its bytes stay where the sender has them,
// and the sender waits.
type large struct {
	chunk   chunk
	parts   [2][]byte // what is not yet assembled: head, payload
	head    []byte    // parts[0] from its beginning, in memory of our own
	lane    Lane
	sn      uint32 // of the next fragment
	first   bool   // nothing is assembled yet
	frags   int    // fragments assembled
	orphan  []byte // not nil: the sender is gone, parts point into this pooled memory
	ended   bool
	changed event
}

func (l *large) left() int { return len(l.parts[0]) + len(l.parts[1]) }

// finish tells the sender that all is written; mu is held.
func (l *large) finish(p *pipeline) {
	if l.orphan != nil {
		p.buffers.Put(l.orphan)
		l.release()
		return
	}
	l.ended = true
	l.changed.notify()
}

func (l *large) release() {
	l.parts, l.orphan = [2][]byte{}, nil
	larges.Put(l)
}

var larges = sync.Pool{New: func() any { return new(large) }}

// fragmentSize is the payload of every fragment but the last. It does not
// depend on the header's length, so the number of fragments is known beforehand.
func (p *pipeline) fragmentSize() int { return p.batch - prefix - wire.MaxFragmentHeader }

// sendLarge sends a message that fits no batch. It is called with mu held and unlocks it.
func (p *pipeline) sendLarge(ctx context.Context, o Lane, head, payload []byte) error {
	q := &p.queues[o.Priority]
	if !o.Block && q.congested {
		p.counts.Dropped[o.Priority]++
		p.mu.Unlock()
		return ErrCongested
	}
	n := len(head) + len(payload)
	count := (n + p.fragmentSize() - 1) / p.fragmentSize()
	l := larges.Get().(*large)
	l.changed.clear()
	l.head = append(l.head[:0], head...)
	l.parts = [2][]byte{l.head, payload}
	l.lane, l.first, l.sn = o, true, q.take(o.Reliable, uint32(count))
	l.frags, l.ended, l.chunk = 0, false, chunk{large: l}
	if o.Unbounded {
		l.adopt(p)
	}
	p.enqueue(o.Priority, &l.chunk)
	p.sends++
	p.counts.Messages++
	p.kick(o.Express) // unlocks
	if o.Unbounded {
		return nil
	}
	kept, err := p.waitLarge(ctx, q, l)
	if !kept {
		l.release()
	}
	return err
}

// waitLarge waits until l is written. One that may be dropped has WaitBeforeDrop
// for its first fragments and, for each that was written, twice as much more,
// up to WaitBetweenDrop in all. kept says that the pipeline still needs l.
func (p *pipeline) waitLarge(ctx context.Context, q *queue, l *large) (kept bool, err error) {
	wait, more := p.limits.WaitBeforeDrop, p.limits.WaitBetweenDrop
	if l.lane.Block {
		wait, more = p.limits.WaitBeforeClose, 0
	}
	var deadline time.Time
	credited := -p.limits.QueueDepth // as many would have found room in the queue at once
	frags := 0
	for {
		p.mu.Lock()
		if l.ended {
			p.mu.Unlock()
			return false, nil
		}
		if p.dead {
			p.mu.Unlock()
			return p.giveUp(ctx, q, l)
		}
		moved := l.frags != frags
		frags = l.frags
		p.mu.Unlock()
		if deadline.IsZero() {
			deadline = time.Now().Add(wait)
		} else if l.lane.Block && moved {
			deadline = time.Now().Add(wait) // unresponsive means that nothing moves
		}
		for ; credited < frags && more > 0; credited++ {
			wait = min(2*wait, more)
			more -= wait
			deadline = deadline.Add(wait)
		}
		if err := l.changed.wait(ctx, deadline); err != nil {
			return p.giveUp(ctx, q, l)
		}
	}
}

// giveUp ends the waiting for l, which did not get through in time. What has
// begun is brought to its end without the sender, if what is left of it may be
// copied; what has not, is dropped. When giveUp returns nothing refers to the
// sender's memory any more.
func (p *pipeline) giveUp(ctx context.Context, q *queue, l *large) (kept bool, err error) {
	p.mu.Lock()
	for p.w.busy && !p.w.copies && !l.ended {
		p.w.wanted = true
		p.w.idle.Wait() // the system call does not block, so this is short
	}
	if l.ended {
		p.mu.Unlock()
		return false, nil
	}
	assembled := p.disown(l)
	unresponsive := l.lane.Block && ctx.Err() == nil
	if !p.dead && !unresponsive && (assembled || !l.first && l.left() <= p.limits.FinishCopy) {
		l.adopt(p)
		p.mu.Unlock()
		return true, nil
	}
	if err = p.err; !p.dead {
		q.congested = !l.lane.Block
		p.counts.Dropped[l.lane.Priority]++
		switch {
		case unresponsive:
			err = &CloseError{Reason: wire.ReasonUnresponsive}
		case l.lane.Block:
			err = context.Cause(ctx)
		default:
			err = ErrCongested
		}
	}
	p.remove(q, l, assembled)
	p.mu.Unlock()
	if unresponsive && err != nil {
		p.fail(err)
	}
	return false, err
}

// disown copies what is assembled of l and not yet written, and reports whether that is its end.
func (p *pipeline) disown(l *large) (assembled bool) {
	w := &p.w
	for i := w.pos; i < len(w.owners); i++ {
		if w.owners[i] == l {
			w.vecs[i] = append([]byte(nil), w.vecs[i]...)
			w.owners[i] = nil
		}
	}
	for _, c := range w.sent {
		assembled = assembled || c == &l.chunk
	}
	return assembled
}

// adopt copies what is not yet assembled of l.
func (l *large) adopt(p *pipeline) {
	l.orphan = p.buffers.Get(l.left())
	n := copy(l.orphan, l.parts[0])
	copy(l.orphan[n:], l.parts[1])
	l.parts = [2][]byte{nil, l.orphan}
	if len(l.orphan) == 0 {
		l.orphan = []byte{} // still not nil
	}
}

// remove makes the pipeline forget l.
func (p *pipeline) remove(q *queue, l *large, assembled bool) {
	w := &p.w
	if assembled {
		for i, c := range w.sent {
			if c == &l.chunk {
				w.sent = append(w.sent[:i], w.sent[i+1:]...)
				w.prios = append(w.prios[:i], w.prios[i+1:]...)
				return
			}
		}
	}
	q.remove(&l.chunk)
	if !l.first && p.patch {
		// The receiver has a part of it: tell it to forget that.
		f := wire.Fragment{Reliable: l.lane.Reliable, Priority: l.lane.Priority, SN: l.sn, Drop: true}
		c := p.newBatch()
		c.extra = true
		c.buf = f.Append(c.buf)
		if c.next = q.head; q.tail == nil {
			q.tail = c
		}
		q.head = c
	}
	if q.head == nil {
		p.pending &^= 1 << l.lane.Priority
	}
}

// fragments assembles as many fragments of l as the write may carry and reports whether these were the last.
func (w *writer) fragments(p *pipeline, l *large, limit int) (last bool) {
	for len(w.vecs) < maxVectors && w.left < limit {
		n := min(l.left(), p.fragmentSize())
		f := wire.Fragment{Reliable: l.lane.Reliable, Priority: l.lane.Priority, SN: l.sn, More: n < l.left(), First: l.first && p.patch}
		at := len(w.headers)
		w.headers = f.Append(append(w.headers, 0, 0))
		header := w.headers[at:]
		size := len(header) - prefix + n
		header[0], header[1] = byte(size), byte(size>>8)
		if w.copies {
			w.scratch = append(w.scratch, header...)
		} else {
			w.add(header, nil)
		}
		for i := range l.parts {
			k := min(n, len(l.parts[i]))
			if k == 0 {
				continue
			}
			part := l.parts[i][:k]
			l.parts[i] = l.parts[i][k:]
			n -= k
			if w.copies {
				w.scratch = append(w.scratch, part...)
			} else {
				w.add(part, l)
			}
		}
		if w.copies {
			w.add(w.scratch, nil)
		}
		l.first = false
		l.sn = (l.sn + 1) & wire.SNMask
		l.frags++
		p.counts.Fragments++
		p.counts.Batches++
		if l.left() == 0 {
			return true
		}
	}
	return false
}
