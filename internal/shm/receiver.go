package shm

import (
	"fmt"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/transport"
)

// receiver is the subscription's half of a ring pair. What it reads there it
// believes only after it has won the swap of the head, and only within bounds.
//
// All methods are called under the Inlet's mutex.
type receiver struct {
	ring ring
	gid  graph.GID // of the publisher
	view []byte    // the publisher's arena, read-only

	scanned  uint64 // entries below were noted
	head     uint64 // highest head seen: it never moves backwards
	retTail  uint64
	finished bool // a fault was reported: nothing more is read
}

var _ transport.Source = (*receiver)(nil)

func newReceiver(r ring, gid graph.GID, view []byte) *receiver {
	return &receiver{ring: r, gid: gid, view: view}
}

func (r *receiver) First() uint64 { return max(r.ring.first.Load(), 1) }
func (r *receiver) Last() uint64  { return r.ring.last.Load() }

// begun reports whether the publisher has made the pair live.
func (r *receiver) begun() bool { return r.ring.first.Load() != 0 }

// Scan notes the entries from where it left off to the tail.
func (r *receiver) Scan(note func(index uint64, stamp int64)) (uint64, error) {
	if r.finished {
		return r.head, nil
	}
	// tail moves up behind the first load of head, and head behind tail.
	before := r.ring.head.Load()
	tail := r.ring.tail.Load()
	head := r.ring.head.Load()
	if before < r.head || before > tail || head < before || tail < r.scanned || tail > head && tail-head > r.ring.cap {
		return 0, r.fault("ring head %d and tail %d, after %d and %d, capacity %d", head, tail, r.head, r.scanned, r.ring.cap)
	}
	r.head = head
	for i := max(r.scanned, head); i < tail; i++ {
		_, word := r.ring.entry(i)
		stamp := int64(word.Load())
		if r.ring.head.Load() > i {
			continue // made room meanwhile: the stamp may be another's
		}
		r.scanned = i + 1
		note(i, stamp)
	}
	r.scanned = max(r.scanned, tail)
	return r.head, nil
}

func (r *receiver) fault(format string, args ...any) error {
	r.finished = true
	return &ProtocolError{fmt.Sprintf(format, args...)}
}

// Claim wins entry number index or finds that the publisher took it back.
func (r *receiver) Claim(index uint64, rec *transport.Received) (bool, error) {
	word, _ := r.ring.entry(index)
	offset := word.Load()
	if !r.win(index) {
		return false, nil
	}
	if rec == nil {
		return true, nil
	}
	if what := transport.ReadSlot(r.view, offset, &r.gid, rec); what != "" {
		return true, r.fault("entry %d: %s", index, what)
	}
	return true, nil
}

// win moves the head past entry number index, if it is the oldest. What was read of
// the entry before holds from then on.
func (r *receiver) win(index uint64) bool {
	if r.finished || !r.ring.head.CompareAndSwap(index, index+1) {
		return false
	}
	r.head = max(r.head, index+1)
	return true
}

// Return gives a lease back. The returns have room for every entry that can be
// queued or lent at a time.
func (r *receiver) Return(index uint64) {
	r.ring.ret(r.retTail).Store(index)
	r.retTail++
	r.ring.retTail.Store(r.retTail)
}
