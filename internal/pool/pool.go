package pool

import "sync"

// stale is the number of Puts after which a class that took part in none of
// them may lose buffers to a class that is in use. Evicting sooner would let
// two classes that alternate, and do not fit together, empty each other.
const stale = 256

// Pool keeps released buffers, last in first out, up to a bound of bytes. The
// zero Pool keeps nothing. A Pool may be used by several goroutines at once.
type Pool struct {
	max int64

	mu      sync.Mutex
	kept    int64
	puts    uint64
	stats   Stats
	classes [Classes]shelf
}

// shelf is the stack of kept buffers of one class.
type shelf struct {
	free [][]byte
	used uint64 // Pool.puts when a buffer was last taken from here or put here
}

// Stats are counts since the pool was made, and the bytes it keeps now.
type Stats struct {
	Kept    int64  // bytes kept idle, at most the bound
	Gets    uint64 // buffers handed out
	Misses  uint64 // of these, freshly allocated
	Dropped uint64 // own buffers left to the collector because of the bound
	Foreign uint64 // buffers given to Put that no Get had made
}

// New makes a pool that keeps at most max bytes; 0 or less keeps nothing.
func New(max int64) *Pool { return &Pool{max: max} }

// Get returns a buffer of length n with the capacity of its size class; its
// contents are arbitrary. It never fails: what the pool does not have is
// allocated, and a buffer above MaxSize is plain memory that Put will not keep.
// n must not be negative.
func (p *Pool) Get(n int) []byte {
	i := Class(n)
	if i == Classes {
		p.mu.Lock()
		p.stats.Gets++
		p.stats.Misses++
		p.mu.Unlock()
		return make([]byte, n)
	}
	p.mu.Lock()
	p.stats.Gets++
	s := &p.classes[i]
	s.used = p.puts
	last := len(s.free) - 1
	if last < 0 {
		p.stats.Misses++
		p.mu.Unlock()
		return make([]byte, n, ClassSize(i))
	}
	b := s.free[last]
	s.free[last] = nil
	s.free = s.free[:last]
	p.kept -= int64(cap(b))
	p.mu.Unlock()
	return b[:n]
}

// Put gives a buffer of Get back; the caller must not use it any more. At the
// bound, buffers of classes that have long been idle make room; if there are
// none, b is left to the collector. A buffer that no Get made (its capacity is
// not that of a class) is not kept.
func (p *Pool) Put(b []byte) {
	size := cap(b)
	i := Class(size)
	p.mu.Lock()
	defer p.mu.Unlock()
	if size == 0 || i == Classes || ClassSize(i) != size {
		p.stats.Foreign++
		return
	}
	p.puts++
	if p.kept+int64(size) > p.max && !p.makeRoom(int64(size)) {
		p.stats.Dropped++
		return
	}
	s := &p.classes[i]
	s.used = p.puts
	s.free = append(s.free, b[:size])
	p.kept += int64(size)
}

// makeRoom drops buffers of stale classes until n more bytes fit, largest class
// first, and says whether they do. p.mu is held.
func (p *Pool) makeRoom(n int64) bool {
	if n > p.max {
		return false
	}
	for i := Classes - 1; i >= 0; i-- {
		s := &p.classes[i]
		if len(s.free) == 0 || p.puts-s.used <= stale {
			continue
		}
		drop := 0
		for drop < len(s.free) && p.kept+n > p.max {
			p.kept -= int64(cap(s.free[drop]))
			drop++
		}
		p.stats.Dropped += uint64(drop)
		rest := copy(s.free, s.free[drop:]) // the bottom of the stack is the coldest
		clear(s.free[rest:])
		s.free = s.free[:rest]
		if p.kept+n <= p.max {
			return true
		}
	}
	return false
}

// Stats returns the counts of the pool.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.Kept = p.kept
	return s
}
