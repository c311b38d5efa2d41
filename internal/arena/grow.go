package arena

import (
	"errors"
	"unsafe"
)

// grow commits a chunk for the class and returns a slot of it. If a limit stands
// in the way, idle chunks of other classes are given back first.
func (a *Arena) grow(c *class, n int) (*Slot, error) {
	s, err := a.attempt(c, n)
	if full := (*ErrArenaFull)(nil); err == nil || !errors.As(err, &full) {
		return s, err
	}
	a.reclaimMu.Lock()
	for s, err = a.attempt(c, n); err != nil; s, err = a.attempt(c, n) {
		if full := (*ErrArenaFull)(nil); !errors.As(err, &full) || !a.reclaim(a.short(c.bytes)) {
			break
		}
	}
	a.reclaimMu.Unlock()
	if err == nil {
		return s, nil
	}
	// Perhaps a slot came back meanwhile.
	if s, _ := a.take(c); s != nil {
		return s, nil
	}
	a.failures.Add(1)
	return nil, err
}

// short returns how many bytes must be given back so that bytes more fit under
// the limit; if they do fit, something else stands in the way, and it is all of them.
func (a *Arena) short(bytes int64) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	if over := a.committed + bytes - a.limit; over > 0 {
		return over
	}
	return bytes
}

// attempt reserves and commits a chunk without giving anything back.
func (a *Arena) attempt(c *class, n int) (*Slot, error) {
	off, pending, err := a.reserve(c, n)
	if err != nil {
		return nil, err
	}
	err = a.headroom(pending, n)
	if err == nil {
		if err = a.back.commit(off, c.bytes); err != nil {
			err = &ErrArenaFull{Wanted: int64(n), LimitName: LimitSystem, Err: err}
		}
	}
	if err == nil {
		a.mu.Lock()
		a.pending -= c.bytes
		a.counts.commits++
		a.counts.peak = max(a.counts.peak, a.committed)
		a.mu.Unlock()
		s := a.carve(c, off)
		a.done()
		return s, nil
	}
	a.mu.Lock()
	a.pending -= c.bytes
	a.committed -= c.bytes
	a.holes.give(off, c.bytes)
	a.mu.Unlock()
	a.done()
	return nil, err
}

// reserve counts the bytes of a chunk and finds it a place. It returns the bytes
// that are about to be committed, those of other goroutines included.
func (a *Arena) reserve(c *class, n int) (off, pending int64, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed.Load() {
		return 0, 0, ErrClosed
	}
	if a.committed+c.bytes > a.limit {
		return 0, 0, &ErrArenaFull{Wanted: int64(n), Free: max(0, a.limit-a.committed), Limit: a.limit, LimitName: a.limitName}
	}
	off, ok := a.holes.take(c.bytes)
	if !ok {
		return 0, 0, &ErrArenaFull{Wanted: int64(n), Free: a.holes.largest(), Limit: a.back.size(), LimitName: LimitRange}
	}
	a.committed += c.bytes
	a.pending += c.bytes
	a.busy++
	return off, a.pending, nil
}

// headroom refuses to grow by bytes if the cgroup or the machine has too little
// left: under a cgroup a commit does not fail, the process is killed.
func (a *Arena) headroom(bytes int64, n int) error {
	left, limit, name := a.host.headroom(bytes)
	if left >= bytes {
		return nil
	}
	return &ErrArenaFull{Wanted: int64(n), Free: max(0, left), Limit: limit, LimitName: name}
}

// carve makes the slots of a committed chunk, keeps the first for the caller and
// makes the others free.
func (a *Arena) carve(c *class, off int64) *Slot {
	ch := &chunk{class: c, off: off, slots: make([]Slot, max(1, c.bytes/int64(c.size))), epoch: a.epoch.Load()}
	mem, view := a.back.at(off)
	for i := range ch.slots {
		s := &ch.slots[i]
		s.chunk = ch
		s.off = off + int64(i)*int64(c.size)
		s.mem = unsafe.Add(mem, i*c.size)
		s.view = unsafe.Add(view, i*c.size)
	}
	c.add(ch, 1)
	return &ch.slots[0]
}

// done ends what reserve or begin started.
func (a *Arena) done() {
	a.mu.Lock()
	if a.busy--; a.busy == 0 {
		a.quiet.Broadcast()
	}
	a.mu.Unlock()
	if a.closed.Load() {
		a.finish()
	}
}
