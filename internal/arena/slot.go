package arena

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/tagus-ros/tagus/internal/invariants"
)

// Slot is memory for one message. Whoever holds a reference may use it; the last
// Unref makes it free, and from then on nothing of it may be touched.
type Slot struct { // 64 bytes: a cache line of its own
	refs      atomic.Int32
	poisoned  bool // since it was released, in invariants builds
	n         int
	mem, view unsafe.Pointer
	off       int64
	chunk     *chunk
	next      *Slot // towards older ones, in the list of free slots
	prev      *Slot
}

// Mem returns the memory for writing and reading: as many bytes as were asked
// for, with the capacity Cap. What it contains at first is arbitrary.
func (s *Slot) Mem() []byte {
	return unsafe.Slice((*byte)(s.mem), s.chunk.class.size)[:s.n]
}

// View returns the same bytes through a mapping that cannot be written: a write
// is a memory fault. (On plain memory it is the same as Mem.)
func (s *Slot) View() []byte {
	return unsafe.Slice((*byte)(s.view), s.chunk.class.size)[:s.n]
}

// Offset returns where the slot lies in the file of FD, in bytes: a multiple of
// 4096 if Cap is at least that, else of 64.
func (s *Slot) Offset() int64 { return s.off }

// Cap returns the bytes of the slot's size class.
func (s *Slot) Cap() int { return s.chunk.class.size }

// Refs returns the number of references, for tests and reports.
func (s *Slot) Refs() int { return int(s.refs.Load()) }

// Ref adds a reference. The caller must hold one.
func (s *Slot) Ref() {
	if s.refs.Add(1) < 2 {
		s.chunk.class.arena.misused(s, "Ref of a free slot")
	}
}

// Unref drops a reference; the last one makes the slot free. It makes no system
// call and allocates nothing, unless recycling is off.
func (s *Slot) Unref() {
	switch n := s.refs.Add(-1); {
	case n == 0:
		s.chunk.class.arena.release(s)
	case n < 0:
		s.chunk.class.arena.misused(s, "Unref of a free slot")
	}
}

// misused counts a mistake of the caller. A free slot has no reference to get
// wrong: Get sets the count anew.
func (a *Arena) misused(s *Slot, what string) {
	a.misuse.Add(1)
	if invariants.Enabled {
		panic(fmt.Sprintf("arena: %s: offset %d, size %d, references %d", what, s.off, s.Cap(), s.Refs()))
	}
}

// poison fills a slot that was released; only invariants builds do so.
func (s *Slot) poison() {
	invariants.Poison(s.Mem()[:s.Cap()])
	s.poisoned = true
}

// mustBePoisoned panics if somebody wrote to the slot while it was free.
func (s *Slot) mustBePoisoned() {
	if !s.poisoned {
		return
	}
	s.poisoned = false
	if at, ok := invariants.Intact(s.Mem()[:s.Cap()]); !ok {
		panic(fmt.Sprintf("arena: write to a free slot: offset %d, size %d, byte %d", s.off, s.Cap(), at))
	}
}
