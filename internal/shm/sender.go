package shm

import (
	"fmt"
	"sync/atomic"

	"github.com/tagus-ros/tagus/internal/arena"
	"github.com/tagus-ros/tagus/internal/transport"
	"github.com/tagus-ros/tagus/internal/wake"
)

// ProtocolError says what the other side of a connection wrote that no correct
// peer writes. The connection is closed; nothing else is harmed.
type ProtocolError struct{ What string }

func (e *ProtocolError) Error() string { return "protocol error: " + e.What }

// sender is the publisher's half of a ring pair. What lies in the ring and what
// the reader holds is kept in private memory: slots are taken back from there,
// never from words that the reader can write.
//
// All methods are called under the Outlet's mutex.
type sender struct {
	ring    ring
	area    *wake.Area // of the subscription's executor
	leaf    int
	keepAll bool
	lentMax int64 // bytes of slots that the reader may hold
	fault   func(error)

	tail     uint64
	taken    uint64                       // entries below are accounted for: lent, evicted or returned
	retRead  uint64                       // returns below were read
	shadow   []*arena.Slot                // what lies in the ring, by entry number modulo capacity
	mirror   []atomic.Pointer[arena.Slot] // the same for a reader of this process, else nil
	lent     []lentSlot                   // what the reader took and has not returned, in the order taken
	lentSize int64
	broken   bool
	counts   transport.LinkCounts
}

type lentSlot struct {
	index uint64
	slot  *arena.Slot
}

var _ transport.Link = (*sender)(nil)

// newSender makes the publisher's half. fault is called at most once, under the
// Outlet's mutex, when the reader broke the protocol; it must only take note.
func newSender(r ring, area *wake.Area, leaf int, keepAll bool, lentMax int64, fault func(error)) *sender {
	return &sender{
		ring: r, area: area, leaf: leaf, keepAll: keepAll, lentMax: lentMax, fault: fault,
		shadow: make([]*arena.Slot, r.cap),
		lent:   make([]lentSlot, 0, min(r.rcap-r.cap, 16)),
	}
}

func (s *sender) Path() transport.Path  { return transport.PathSHM }
func (s *sender) Takes() transport.Form { return transport.FormBytes }

// Begin writes the first sequence number owed before the first entry.
func (s *sender) Begin(first uint64) {
	s.ring.last.Store(first - 1)
	s.ring.first.Store(first)
}

// Push queues the slot of m. When the ring is full the oldest entry makes room,
// by the same swap with which the reader takes it.
func (s *sender) Push(m *transport.Message) {
	if s.broken {
		return
	}
	s.Collect()
	if s.broken {
		return
	}
	s.ring.last.Store(m.Sequence)
	switch {
	case m.Slot == nil:
		s.counts.NoSlot++
		return
	case s.lentSize > s.lentMax && !s.keepAll: // else Room has said so
		s.counts.LeaseLimit++
		return
	}
	for s.tail-s.taken == s.ring.cap {
		if s.evict() {
			s.counts.Evicted++
		} else if s.broken {
			return
		}
	}
	offset, stamp := s.ring.entry(s.tail)
	m.Slot.Ref()
	s.shadow[s.tail%s.ring.cap] = m.Slot
	offset.Store(uint64(m.Slot.Offset()))
	if s.mirror != nil {
		s.mirror[s.tail%s.ring.cap].Store(m.Slot)
	}
	stamp.Store(uint64(m.Stamp))
	s.tail++
	s.ring.tail.Store(s.tail)
	s.area.Signal(s.leaf)
}

// drop takes entry number i out of the shadow and gives its slot back.
func (s *sender) drop(i uint64) {
	p := &s.shadow[i%s.ring.cap]
	(*p).Unref()
	*p = nil
}

// Collect accounts for what the reader took and returned. The returns are read
// before the head: whatever was returned was taken before.
func (s *sender) Collect() {
	if s.broken {
		return
	}
	rt := s.ring.retTail.Load()
	head := s.ring.head.Load()
	if head < s.taken || head > s.tail {
		s.fail(fmt.Sprintf("ring head %d outside %d to %d", head, s.taken, s.tail))
		return
	}
	for ; s.taken < head; s.taken++ {
		p := &s.shadow[s.taken%s.ring.cap]
		s.lent = append(s.lent, lentSlot{s.taken, *p})
		s.lentSize += int64((*p).Cap())
		*p = nil
	}
	if rt-s.retRead > s.ring.rcap {
		s.fail(fmt.Sprintf("return count %d outside %d to %d", rt, s.retRead, s.retRead+s.ring.rcap))
		return
	}
	if s.retRead < rt {
		for ; s.retRead < rt; s.retRead++ {
			index := s.ring.ret(s.retRead).Load()
			if !s.takeBack(index) {
				s.fail(fmt.Sprintf("entry %d returned, which is not lent", index))
				return
			}
		}
		s.ring.retHead.Store(rt)
	}
	if uint64(len(s.lent)) > s.ring.rcap {
		// Beside what was lent when rt was read, at most a ring was taken since.
		s.fail(fmt.Sprintf("%d entries taken and not returned, limit %d", len(s.lent), s.ring.rcap))
	}
}

// takeBack gives back the lent slot of entry number index. Readers return about
// in order, so it is nearly always the first.
func (s *sender) takeBack(index uint64) bool {
	for i := range s.lent {
		if s.lent[i].index != index {
			continue
		}
		slot := s.lent[i].slot
		copy(s.lent[i:], s.lent[i+1:])
		s.lent[len(s.lent)-1] = lentSlot{}
		s.lent = s.lent[:len(s.lent)-1]
		s.lentSize -= int64(slot.Cap())
		slot.Unref()
		return true
	}
	return false
}

func (s *sender) fail(what string) {
	s.broken = true
	s.fault(&ProtocolError{what})
}

// Room reports whether a pair that refuses rather than drops can take one more: there is
// a place, and the reader does not hold too much.
func (s *sender) Room() bool {
	if !s.keepAll || s.broken {
		return true
	}
	s.Collect()
	return s.tail-s.taken < s.ring.cap && s.lentSize <= s.lentMax
}

// Shed takes the oldest queued message back to win its memory. It reports whether there
// was one that may go.
func (s *sender) Shed() bool {
	if s.Collect(); s.broken || s.keepAll {
		return false
	}
	for s.taken < s.tail {
		if s.ring.head.CompareAndSwap(s.taken, s.taken+1) {
			s.drop(s.taken)
			s.taken++
			s.counts.Evicted++
			return true
		}
		if s.Collect(); s.broken {
			return false
		}
	}
	return false
}

// End leaves what is queued to the reader.
func (s *sender) End(last uint64) { s.ring.last.Store(last) }

// Empty takes back what is queued: entry by entry with the swap, since the
// reader may still be taking.
func (s *sender) Empty() {
	for !s.broken && s.taken < s.tail {
		s.evict()
	}
}

// evict takes the oldest entry out of the ring, by the same swap as the reader. False:
// the reader was quicker, and there is one entry less all the same; or it is broken.
func (s *sender) evict() bool {
	taken := s.taken
	if s.ring.head.CompareAndSwap(taken, taken+1) {
		s.drop(taken)
		s.taken++
		return true
	}
	if s.Collect(); s.taken == taken && !s.broken {
		// A reader that moves the head there and back could keep this up for ever.
		s.fail(fmt.Sprintf("ring head moved back to %d", taken))
	}
	return false
}

// Reclaim takes back everything, queued and lent: nobody maps the arena any
// more on the other side.
func (s *sender) Reclaim() {
	s.broken = true
	for i, slot := range s.shadow {
		if slot != nil {
			slot.Unref()
			s.shadow[i] = nil
		}
	}
	for i := range s.lent {
		s.lent[i].slot.Unref()
		s.lent[i] = lentSlot{}
	}
	s.lent, s.lentSize = s.lent[:0], 0
	s.taken = s.tail
}

// Idle reports whether nothing is queued or lent any more.
func (s *sender) Idle() bool {
	s.Collect()
	return s.taken == s.tail && len(s.lent) == 0
}

func (s *sender) Counts(c *transport.LinkCounts) {
	c.Queued += int(s.tail - s.taken)
	c.Lent += len(s.lent)
	c.Evicted += s.counts.Evicted
	c.LeaseLimit += s.counts.LeaseLimit
	c.NoSlot += s.counts.NoSlot
}
