package transport

import "github.com/tagus-ros/tagus/zenoh/internal/wire"

// rxLane is the receiving side of one lane: the last sequence number and the
// message being put together from fragments.
type rxLane struct {
	last    uint32
	chain   bool   // a message is under way; buf holds what has come
	skip    bool   // too large: what comes is thrown away until its end
	buf     []byte // length: bytes come so far
	lastLen int    // size of the last message, a guess for the next
}

// accept reports whether sn follows what has come: anything up to half the
// range ahead does. What comes twice or late does not.
func (l *rxLane) accept(sn uint32) (ok, next bool) {
	d := (sn - l.last) & wire.SNMask
	if d == 0 || d > wire.SNMask/2 {
		return false, false
	}
	l.last = sn
	return true, d == 1
}

// maxGuess bounds the memory that is reserved on the ground of the message before.
const maxGuess = 8 << 20

// fragment takes one fragment in. It returns the whole message with its last
// fragment; the caller owns it then.
func (r *receiver) fragment(l *rxLane, f *wire.Fragment, payload []byte) []byte {
	ok, next := l.accept(f.SN)
	if !ok {
		r.counts.Stale++
		return nil
	}
	if r.patch {
		switch {
		case f.Drop:
			if l.chain {
				r.counts.Incomplete++
			}
			r.drop(l)
			return nil
		case f.First:
			if l.chain {
				r.counts.Incomplete++
			}
			r.drop(l)
			l.chain = true
		case !l.chain:
			return nil // the start was not seen
		}
	}
	if l.chain && !next && !f.First {
		r.counts.Incomplete++
		r.drop(l)
		return nil
	}
	l.chain = true
	if l.skip {
		if !f.More {
			r.drop(l)
		}
		return nil
	}
	if !r.grow(l, len(payload)) {
		r.counts.TooLarge++
		r.drop(l)
		l.chain, l.skip = f.More, f.More
		return nil
	}
	l.buf = append(l.buf, payload...)
	if f.More {
		return nil
	}
	whole := l.buf
	r.partial -= cap(whole)
	l.lastLen, l.buf, l.chain = len(whole), nil, false
	return whole
}

// grow makes room for n more bytes, within the limits on one message and on all of them.
func (r *receiver) grow(l *rxLane, n int) bool {
	need := len(l.buf) + n
	if need > r.limits.MaxMessage {
		return false
	}
	if need <= cap(l.buf) {
		return true
	}
	want := need
	if l.buf != nil {
		want = max(need, min(2*cap(l.buf), r.limits.MaxMessage))
	} else if guess := l.lastLen; guess > need && guess <= maxGuess {
		want = guess
	}
	others := r.partial - cap(l.buf)
	if others+want > r.limits.MaxReceiveMemory {
		if want = need; others+want > r.limits.MaxReceiveMemory {
			return false
		}
	}
	b := r.buffers.Get(want)[:len(l.buf)]
	copy(b, l.buf)
	r.partial += cap(b) - cap(l.buf)
	if l.buf != nil {
		r.buffers.Put(l.buf)
	}
	l.buf = b
	return true
}

// drop forgets the message under way.
func (r *receiver) drop(l *rxLane) {
	if l.buf != nil {
		r.partial -= cap(l.buf)
		r.buffers.Put(l.buf)
	}
	l.buf, l.chain, l.skip = nil, false, false
}
