package arena

import "sync"

// small is the least number of bytes committed at once; smaller slots are
// carved from it.
const small = 16 << 10

// class holds the slots of one size.
type class struct {
	arena *Arena
	size  int   // bytes of a slot
	bytes int64 // of a chunk: a multiple of the page size

	mu     sync.Mutex
	newest *Slot // free slots, last released first
	oldest *Slot
	free   int // how many they are
	slots  int // free and in use
	gets   uint64

	_ [32]byte // classes used by different threads should not share a cache line
}

// chunk is a committed range and the slots carved from it; only the small
// classes have more than one. It is given back as a whole.
type chunk struct {
	class *class
	off   int64
	slots []Slot

	// Guarded by class.mu.
	free  int    // slots of it in the free list
	epoch uint32 // of the arena when a slot was last released
}

// idle says whether no slot of the chunk is in use. class.mu is held.
func (c *chunk) idle() bool { return c.free == len(c.slots) }

// push puts a slot on top of the free list. c.mu is held.
func (c *class) push(s *Slot) {
	s.prev = nil
	s.next = c.newest
	if s.next != nil {
		s.next.prev = s
	} else {
		c.oldest = s
	}
	c.newest = s
	c.free++
	s.chunk.free++
}

// remove takes a slot out of the free list. c.mu is held.
func (c *class) remove(s *Slot) {
	if s.prev != nil {
		s.prev.next = s.next
	} else {
		c.newest = s.next
	}
	if s.next != nil {
		s.next.prev = s.prev
	} else {
		c.oldest = s.prev
	}
	s.next, s.prev = nil, nil
	c.free--
	s.chunk.free--
}

// add makes the slots of a chunk free, but for the first used ones.
func (c *class) add(ch *chunk, used int) {
	c.mu.Lock()
	for i := len(ch.slots) - 1; i >= used; i-- {
		c.push(&ch.slots[i])
	}
	c.slots += len(ch.slots)
	c.gets += uint64(used)
	c.mu.Unlock()
	c.arena.free.Add(int64(len(ch.slots)-used) * int64(c.size))
}

// strip takes idle chunks out of the class until they have at least bytes or
// there are no more; the longest unused go first. Chunks used after epoch stay.
func (c *class) strip(bytes int64, epoch uint32) []*chunk {
	var out []*chunk
	c.mu.Lock()
	for s := c.oldest; s != nil && bytes > 0; s = s.prev {
		if ch := s.chunk; s == &ch.slots[0] && ch.idle() && ch.epoch <= epoch {
			out = append(out, ch)
			bytes -= c.bytes
		}
	}
	for _, ch := range out {
		for i := range ch.slots {
			c.remove(&ch.slots[i])
		}
		c.slots -= len(ch.slots)
		c.arena.free.Add(-int64(len(ch.slots)) * int64(c.size))
	}
	c.mu.Unlock()
	return out
}

// hasIdle says whether a chunk could be given back, now or later.
func (c *class) hasIdle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for s := c.oldest; s != nil; s = s.prev {
		if s.chunk.idle() {
			return true
		}
	}
	return false
}
