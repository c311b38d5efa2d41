package transport

import (
	"sync"

	"github.com/tagus-ros/tagus/zenoh/internal/wire"
)

// What one write may carry: little at first and after the link has cut a write
// short, so that an urgent message does not wait behind much; more with each
// write of full size that goes through.
const (
	maxVectors   = 64
	maxWrite     = 1 << 20
	minWrite     = 64 << 10
	directRounds = 4 // writes a sender makes for others before the writer goroutine takes over
	headerSpace  = prefix + wire.MaxFragmentHeader
)

// writer assembles what goes to the link. Its fields belong to whoever has
// the role of the writer, and change under the pipeline's mu only.
type writer struct {
	vecs    [][]byte // not yet written, from pos on
	owners  []*large // whose payload each vector is; nil: memory of our own
	pos     int
	left    int      // bytes
	sent    []*chunk // given back when left is 0
	prios   []uint8  // of sent
	headers []byte   // fragment headers of the present write
	busy    bool     // in a system call that reads vecs
	idle    sync.Cond
	wanted  bool // somebody waits on idle for the end of busy
	limit   int  // bytes of the next write, about
	whole   int  // bytes of the present write
	err     error
	copies  bool // writing blocks, so payloads are copied: one batch at a time
	scratch []byte
}

func (w *writer) init(p *pipeline) {
	w.vecs = make([][]byte, 0, maxVectors+3)
	w.owners = make([]*large, 0, maxVectors+3)
	w.headers = make([]byte, 0, maxVectors*headerSpace)
	w.idle.L = &p.mu
	w.limit = minWrite
	if w.copies = !p.link.direct(); w.copies {
		w.scratch = make([]byte, 0, p.batch)
	}
}

// fill assembles the next write in order of priority and reports whether there is any.
func (w *writer) fill(p *pipeline) bool {
	if w.left > 0 {
		return true
	}
	w.vecs, w.owners, w.headers, w.pos = w.vecs[:0], w.owners[:0], w.headers[:0], 0
	w.scratch = w.scratch[:0]
	limit := w.limit
	for p.pending != 0 && len(w.vecs) < maxVectors && w.left < limit {
		prio := p.first()
		q := &p.queues[prio]
		c := q.head
		if c.large != nil {
			if !w.fragments(p, c.large, limit) {
				continue // it stays at the head
			}
		} else {
			c.seal()
			w.add(c.buf, nil)
			p.counts.Batches++
		}
		q.pop()
		if q.head == nil {
			p.pending &^= 1 << prio
		}
		w.sent = append(w.sent, c)
		w.prios = append(w.prios, uint8(prio))
	}
	w.whole = w.left
	return w.left > 0
}

func (w *writer) add(b []byte, owner *large) {
	w.vecs = append(w.vecs, b)
	w.owners = append(w.owners, owner)
	w.left += len(b)
}

// wrote accounts for n bytes that the link has taken.
func (w *writer) wrote(p *pipeline, n int) {
	p.counts.Writes++
	p.counts.Bytes += uint64(n)
	w.left -= n
	for n > 0 {
		v := w.vecs[w.pos]
		if n < len(v) {
			w.vecs[w.pos] = v[n:]
			return
		}
		n -= len(v)
		w.vecs[w.pos] = nil
		w.pos++
	}
	if w.left > 0 {
		return
	}
	for i, l := range w.owners {
		if l != nil {
			l.changed.notify()
			w.owners[i] = nil
		}
	}
	for i, c := range w.sent {
		q := &p.queues[w.prios[i]]
		w.sent[i] = nil
		q.congested = false
		if c.large != nil {
			c.large.finish(p)
			continue
		}
		if !c.extra {
			q.batches--
			if q.waiting > 0 {
				q.room.notify()
			}
		}
		p.recycle(c)
	}
	w.sent, w.prios = w.sent[:0], w.prios[:0]
}

// once makes one attempt to write what is assembled. mu is held before and after.
func (w *writer) once(p *pipeline) (full bool, err error) {
	w.busy = true
	vecs := w.vecs[w.pos:]
	p.mu.Unlock()
	n, full, err := p.link.writev(vecs)
	p.mu.Lock()
	w.busy = false
	if w.wanted {
		w.wanted = false
		w.idle.Broadcast()
	}
	switch {
	case w.copies:
	case full:
		w.limit = minWrite
	case w.whole >= w.limit:
		w.limit = min(w.limit+minWrite, maxWrite)
	}
	w.wrote(p, n)
	return full, err
}

// writeDirect lets the sender write. It is called with mu held and the role
// of the writer taken; it unlocks mu.
func (p *pipeline) writeDirect() {
	for range directRounds {
		if !p.w.fill(p) {
			p.writing = false
			closing := p.closing
			p.mu.Unlock()
			if closing {
				p.flushed.notify()
			}
			return
		}
		p.counts.Direct++
		full, err := p.w.once(p)
		if err != nil {
			p.mu.Unlock()
			p.fail(&CloseError{Err: err})
			return
		}
		if full {
			break
		}
	}
	p.handed = true
	p.mu.Unlock()
	p.wake.notify()
}

// attempt is once for a link that waits in between; it takes mu itself.
func (p *pipeline) attempt() (again bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return false
	}
	again, p.w.err = p.w.once(p)
	return again && p.w.err == nil
}

// run is the writer goroutine; it ends when the pipeline is stopped.
func (p *pipeline) run() {
	p.mu.Lock()
	for {
		for !p.handed {
			if p.dead {
				p.mu.Unlock()
				return
			}
			p.mu.Unlock()
			p.wake.block()
			p.mu.Lock()
		}
		for !p.dead && p.w.fill(p) {
			full, err := p.w.once(p)
			if full && err == nil {
				p.mu.Unlock()
				if err = p.link.park(p.step); err == nil {
					err = p.w.err
				}
				p.mu.Lock()
			}
			if err != nil {
				p.mu.Unlock()
				p.fail(&CloseError{Err: err})
				p.mu.Lock()
				break
			}
		}
		p.handed = false
		if p.w.left == 0 {
			p.writing = false
		}
		if p.closing {
			p.flushed.notify()
		}
	}
}
