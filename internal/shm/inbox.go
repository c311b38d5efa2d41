package shm

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/tagus-ros/tagus/internal/futex"
	"github.com/tagus-ros/tagus/internal/memfd"
	"github.com/tagus-ros/tagus/internal/transport"
	"github.com/tagus-ros/tagus/internal/wake"
)

// InboxSize is the number of bytes of a process's inbox: room for the places
// to sleep of its executors and pull subscriptions. It is sparse; only what is
// used is committed.
const InboxSize = 4 << 20

// Inbox is the memory in which a process is woken: it hands out wake areas, and
// peers map it to signal them. On systems without shared memory, and for
// participants that stay alone, it is plain memory.
type Inbox struct {
	mem    []byte
	fd     int // the memfd for peers; -1 when there is none
	commit func(off, n int64) error
	close  func() error

	mu     sync.Mutex
	closed bool
	next   int
	free   map[int][]int      // offsets of released areas by summary words
	areas  map[int]*wake.Area // in use, by offset
}

// InboxFullError says that no more executors and pull subscriptions fit.
type InboxFullError struct{ Wanted, Limit int }

func (e *InboxFullError) Error() string {
	return fmt.Sprintf("no room for another executor or pull subscription: %d bytes wanted, limit inbox = %d bytes", e.Wanted, e.Limit)
}

// Area hands out a zeroed wake area and its offset in the inbox.
func (b *Inbox) Area(summaryWords int) (*wake.Area, uint64, error) {
	n := wake.AreaSize(summaryWords)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, 0, transport.ErrClosed
	}
	off := b.next
	if f := b.free[summaryWords]; len(f) > 0 {
		off = f[len(f)-1]
		b.free[summaryWords] = f[:len(f)-1]
	} else {
		if off+n > len(b.mem) {
			return nil, 0, &InboxFullError{n, len(b.mem)}
		}
		if err := b.commit(int64(off), int64(n)); err != nil {
			return nil, 0, fmt.Errorf("inbox: %w", err)
		}
		b.next = off + n
	}
	clear(b.mem[off : off+n])
	a, err := wake.NewArea(b.mem[off:off+n], summaryWords)
	if err != nil {
		return nil, 0, err
	}
	b.areas[off] = a
	return a, uint64(off), nil
}

// Rouse wakes whoever sleeps although something was signalled. That happens only if a
// peer overwrote the flag by which signallers know that he sleeps; without this he would
// sleep for ever.
func (b *Inbox) Rouse() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for off, a := range b.areas {
		if a.Ready() {
			futex.Wake((*atomic.Uint32)(unsafe.Pointer(&b.mem[off])), 1) // the area's word
		}
	}
}

// Release takes an area back. Peers may still signal it for a moment: whoever
// gets it next is woken for nothing, at worst.
func (b *Inbox) Release(off uint64, summaryWords int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.areas, int(off))
	b.free[summaryWords] = append(b.free[summaryWords], int(off))
}

// FD is the memfd that peers map, or -1.
func (b *Inbox) FD() int { return b.fd }

// Close unmaps the inbox. Nobody may use its areas any more.
func (b *Inbox) Close() error {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	return b.close()
}

// NewInbox makes an inbox of InboxSize bytes. Without shared memory on this
// system it is plain memory, which no peer can map.
func NewInbox() (*Inbox, error) {
	b := &Inbox{fd: -1, free: make(map[int][]int), areas: make(map[int]*wake.Area)}
	f, err := memfd.Create("tagus-inbox", InboxSize)
	if errors.Is(err, errors.ErrUnsupported) {
		words := make([]uint64, InboxSize/8+8)
		for uintptr(unsafe.Pointer(&words[0]))%64 != 0 {
			words = words[1:]
		}
		b.mem = unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), InboxSize)
		b.commit = func(int64, int64) error { return nil }
		b.close = func() error { return nil }
		return b, nil
	}
	if err != nil {
		return nil, err
	}
	b.mem, err = memfd.Map(f.FD(), InboxSize, true)
	if err != nil {
		f.Close()
		return nil, err
	}
	b.fd = f.FD()
	b.commit = func(off, n int64) error { return memfd.Commit(f.FD(), off, n) }
	b.close = func() error {
		err := memfd.Unmap(b.mem)
		return errors.Join(err, f.Close())
	}
	return b, nil
}
