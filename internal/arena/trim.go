package arena

// arm starts the timer, unless it runs. What is idle now has been unused for
// TrimAfter when it fires; slots released meanwhile carry the next epoch.
func (a *Arena) arm() {
	if !a.armed.CompareAndSwap(false, true) {
		return
	}
	a.cutoff.Store(a.epoch.Add(1) - 1)
	a.timer.Reset(TrimAfter)
}

// trim gives idle chunks back while more than the retention bound is idle,
// largest first, and runs again only if there is something left to trim.
func (a *Arena) trim() {
	if !a.begin() {
		return
	}
	a.reclaimMu.Lock()
	for i := len(a.classes) - 1; i >= 0 && !a.frozen.Load(); i-- {
		excess := a.free.Load() - a.retain
		if excess <= 0 {
			break
		}
		c := &a.classes[i]
		for _, ch := range c.strip(excess, a.cutoff.Load()) {
			if a.giveBack(ch) {
				a.count(&a.counts.trims)
			}
		}
	}
	a.reclaimMu.Unlock()
	a.done()
	a.armed.Store(false)
	if a.free.Load() > a.retain && !a.closed.Load() && a.hasIdle() {
		a.arm()
	}
}

func (a *Arena) hasIdle() bool {
	for i := range a.classes {
		if a.classes[i].hasIdle() {
			return true
		}
	}
	return false
}

// reclaim gives at least bytes of idle chunks back if there are so many, and
// says whether it gave any. Chunks that are large enough alone go first, the
// smallest of them; else the largest. a.reclaimMu is held.
func (a *Arena) reclaim(bytes int64) bool {
	if !a.begin() {
		return false
	}
	defer a.done()
	given := int64(0)
	visit := func(c *class) {
		for _, ch := range c.strip(bytes-given, ^uint32(0)) {
			if a.giveBack(ch) {
				given += c.bytes
				a.count(&a.counts.reclaims)
			}
		}
	}
	first := len(a.classes)
	for i := range a.classes {
		if a.classes[i].bytes >= bytes {
			first = min(first, i)
			if visit(&a.classes[i]); given >= bytes {
				return true
			}
		}
	}
	for i := first - 1; i >= 0 && given < bytes; i-- {
		visit(&a.classes[i])
	}
	return given > 0
}

// giveBackIdle gives the idle chunks of a class back: recycling is off.
func (a *Arena) giveBackIdle(c *class) {
	if !a.begin() {
		return
	}
	a.reclaimMu.Lock()
	for _, ch := range c.strip(1<<62, ^uint32(0)) {
		if a.giveBack(ch) {
			a.count(&a.counts.trims)
		}
	}
	a.reclaimMu.Unlock()
	a.done()
}

// giveBack punches a chunk that strip took out. If the system refuses, the chunk
// stays committed and is free again.
func (a *Arena) giveBack(ch *chunk) bool {
	c := ch.class
	if err := a.back.punch(ch.off, c.bytes); err != nil {
		a.count(&a.counts.punchErrors)
		c.add(ch, 0)
		return false
	}
	a.mu.Lock()
	a.committed -= c.bytes
	a.holes.give(ch.off, c.bytes)
	a.counts.givenBack += uint64(c.bytes)
	a.mu.Unlock()
	return true
}

func (a *Arena) count(n *uint64) {
	a.mu.Lock()
	*n++
	a.mu.Unlock()
}

// begin keeps the memory mapped until done; false means that it is closed.
func (a *Arena) begin() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed.Load() {
		return false
	}
	a.busy++
	return true
}
