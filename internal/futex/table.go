package futex

import (
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/tagus-ros/tagus/internal/clock"
)

// table does in this process what the kernel does for all: it keeps sleepers by address. It is compiled and tested on all
// systems and used where there is no futex.
type table struct {
	buckets [64]bucket
}

type bucket struct {
	mu          sync.Mutex
	first, last *sleeper
	free        *sleeper // by next
}

type sleeper struct {
	addr       *atomic.Uint32
	wake       chan struct{} // capacity 1: waking never blocks
	timer      *time.Timer   // nil until the first deadline
	next, prev *sleeper
}

func (t *table) bucket(addr *atomic.Uint32) *bucket {
	h := uint64(uintptr(unsafe.Pointer(addr))) >> 2 * 0x9e3779b97f4a7c15
	return &t.buckets[h>>58]
}

func (t *table) wait(addr *atomic.Uint32, val uint32, deadline int64) Result {
	b := t.bucket(addr)
	b.mu.Lock()
	// Comparing under the lock that a waker takes makes this one step, as in the kernel.
	if addr.Load() != val {
		b.mu.Unlock()
		return Changed
	}
	s := b.push(addr)
	b.mu.Unlock()

	var expired <-chan time.Time
	if deadline >= 0 {
		d := time.Duration(deadline - clock.Mono())
		if s.timer == nil {
			s.timer = time.NewTimer(d)
		} else {
			s.timer.Reset(d)
		}
		expired = s.timer.C
	}
	r := Woken
	select {
	case <-s.wake:
	case <-expired:
		b.mu.Lock()
		if s.addr != nil { // still in the list: nobody woke us
			b.remove(s)
			r = TimedOut
		}
		b.mu.Unlock()
		if r == Woken {
			<-s.wake
		}
	}
	if deadline >= 0 {
		s.timer.Stop()
	}
	b.mu.Lock()
	s.next, b.free = b.free, s
	b.mu.Unlock()
	return r
}

func (t *table) wakeUp(addr *atomic.Uint32, n int) int {
	b := t.bucket(addr)
	woken := 0
	b.mu.Lock()
	for s := b.first; s != nil && woken != n; {
		next := s.next
		if s.addr == addr {
			b.remove(s)
			s.wake <- struct{}{}
			woken++
		}
		s = next
	}
	b.mu.Unlock()
	return woken
}

func (b *bucket) push(addr *atomic.Uint32) *sleeper {
	s := b.free
	if s == nil {
		s = &sleeper{wake: make(chan struct{}, 1)}
	} else {
		b.free = s.next
	}
	s.addr, s.prev, s.next = addr, b.last, nil
	if b.last == nil {
		b.first = s
	} else {
		b.last.next = s
	}
	b.last = s
	return s
}

func (b *bucket) remove(s *sleeper) {
	if s.prev == nil {
		b.first = s.next
	} else {
		s.prev.next = s.next
	}
	if s.next == nil {
		b.last = s.prev
	} else {
		s.next.prev = s.prev
	}
	s.addr, s.prev, s.next = nil, nil, nil
}
