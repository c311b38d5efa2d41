package arena

import (
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tagus-ros/tagus/internal/invariants"
	"github.com/tagus-ros/tagus/internal/pool"
)

// sparse is how many times the limit the file is large: with room to spare,
// ranges of changing sizes find a place without moving anything.
const sparse = 4

// Arena is the payload memory of a process. All methods may be called by
// several goroutines at once.
type Arena struct {
	limit     int64
	limitName string
	retain    int64
	recycle   Recycle
	host      *host
	back      backing
	classes   [pool.Classes]class

	closed   atomic.Bool
	frozen   atomic.Bool  // nothing is given back
	free     atomic.Int64 // bytes of the slots in free lists
	misuse   atomic.Uint64
	failures atomic.Uint64

	// Trimming (trim.go).
	timer  *time.Timer
	armed  atomic.Bool   // the timer runs, or its function does
	epoch  atomic.Uint32 // counts armings: slots carry it instead of a time
	cutoff atomic.Uint32 // epoch before the last arming

	// reclaimMu is held from taking idle chunks until their bytes can be had by
	// others, so that one Get at the limit waits for another's instead of failing.
	reclaimMu sync.Mutex

	mu        sync.Mutex
	holes     ranges
	committed int64     // counts a range from before its commit until after its punch
	pending   int64     // of these, bytes being committed
	busy      int       // goroutines that commit or punch; the file stays open for them
	quiet     sync.Cond // busy is 0
	gone      bool      // the memory is unmapped
	counts    counts
}

// New makes an arena.
func New(c Config) (*Arena, error) {
	c = c.withDefaults()
	a := &Arena{retain: c.Retain, recycle: c.Recycle, host: c.host, back: c.backing}
	a.quiet.L = &a.mu
	a.limit, a.limitName = a.host.limit(c.Limit)
	if a.back == nil {
		var err error
		if a.back, err = makeBacking(c.Heap, a.limit); err != nil {
			return nil, err
		}
	}
	page := a.back.page()
	for i := range a.classes {
		k := &a.classes[i]
		k.arena = a
		k.size = pool.ClassSize(i)
		k.bytes = (max(int64(k.size), small) + page - 1) &^ (page - 1)
	}
	a.holes.give(0, a.back.size())
	a.timer = time.AfterFunc(time.Hour, a.trim)
	a.timer.Stop()
	return a, nil
}

func makeBacking(onHeap bool, limit int64) (backing, error) {
	page := int64(os.Getpagesize())
	least := (limit + page - 1) &^ (page - 1)
	if onHeap {
		return newHeap(sparse*least, page), nil
	}
	return newBacking(sparse*least, least)
}

// Get returns a slot with n usable bytes and one reference. It fails with
// *ErrArenaFull, or ErrClosed. A negative n counts as 0. While a slot of the size
// class is free it allocates nothing and makes no system call.
func (a *Arena) Get(n int) (*Slot, error) {
	n = max(n, 0)
	i := pool.Class(n)
	if i == pool.Classes {
		a.failures.Add(1)
		return nil, &ErrArenaFull{Wanted: int64(n), Limit: pool.MaxSize, LimitName: LimitClass}
	}
	c := &a.classes[i]
	s, err := a.take(c)
	if s == nil && err == nil {
		s, err = a.grow(c, n)
	}
	if err != nil {
		return nil, err
	}
	if invariants.Enabled {
		s.mustBePoisoned()
	}
	s.n = n
	s.refs.Store(1)
	return s, nil
}

// take returns a free slot of the class, or nil.
func (a *Arena) take(c *class) (*Slot, error) {
	c.mu.Lock()
	if a.closed.Load() {
		c.mu.Unlock()
		return nil, ErrClosed
	}
	s := c.newest
	if a.recycle == FIFO {
		s = c.oldest
	}
	if s == nil {
		c.mu.Unlock()
		return nil, nil
	}
	c.remove(s)
	c.gets++
	c.mu.Unlock()
	a.free.Add(-int64(c.size))
	return s, nil
}

// release makes a slot free whose last reference is gone.
func (a *Arena) release(s *Slot) {
	if invariants.Enabled && !a.frozen.Load() && !a.closed.Load() { // what a closed arena held may still be read by peers
		s.poison()
	}
	ch := s.chunk
	c := ch.class
	c.mu.Lock()
	c.push(s)
	ch.epoch = a.epoch.Load()
	idle := ch.idle()
	c.mu.Unlock()
	free := a.free.Add(int64(c.size))
	switch {
	case a.closed.Load():
		a.finish()
	case a.frozen.Load():
	case a.recycle == Off:
		if idle {
			a.giveBackIdle(c)
		}
	case free > a.retain && !a.armed.Load():
		a.arm()
	}
}

// Freeze ends giving memory back to the system: what was released stays readable to
// those who have it mapped, until Close.
func (a *Arena) Freeze() {
	a.frozen.Store(true)
	a.reclaimMu.Lock() // a trim that is under way ends first
	_ = a.recycle
	a.reclaimMu.Unlock()
}

// FD returns a descriptor that was opened read-only, for handing to peers, and
// the size of the file in bytes. The descriptor stays the arena's and is -1 on
// plain memory.
func (a *Arena) FD() (ro int, size int64) { return a.back.fd(), a.back.size() }

// Holds says whether address lies in the mapping that View shows, so that a
// memory fault there can be told from others. On plain memory, which can be
// written, the answer is always false.
func (a *Arena) Holds(address uintptr) bool { return a.back.holds(address) }

// Limit returns the bound of the committed bytes, and its name.
func (a *Arena) Limit() (bytes int64, name string) { return a.limit, a.limitName }

// Close ends the arena: Get fails from now on, and the memory is unmapped. While
// slots are in use it returns *ErrInUse and the unmapping is left to the last
// Unref; calling Close again then tells whether that has come. Peers keep what
// they have mapped.
func (a *Arena) Close() error {
	a.closed.Store(true)
	a.timer.Stop()
	a.mu.Lock()
	for a.busy > 0 {
		a.quiet.Wait()
	}
	a.mu.Unlock()
	return a.finish()
}

// finish unmaps a closed arena when nothing is in use.
func (a *Arena) finish() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.gone {
		return nil
	}
	if slots, bytes := a.inUse(); slots > 0 || a.busy > 0 {
		return &ErrInUse{Slots: slots, Bytes: bytes}
	}
	a.gone = true
	return a.back.close()
}

// inUse counts the slots that somebody holds.
func (a *Arena) inUse() (slots int, bytes int64) {
	for i := range a.classes {
		c := &a.classes[i]
		c.mu.Lock()
		n := c.slots - c.free
		c.mu.Unlock()
		slots += n
		bytes += int64(n) * int64(c.size)
	}
	return slots, bytes
}
