package shm

import (
	"errors"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/tagus-ros/tagus/internal/wake"
)

func TestInboxAreas(t *testing.T) {
	b, err := NewInbox()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	seen := make(map[uint64]bool)
	var offs []uint64
	for {
		a, off, err := b.Area(8)
		if full := (*InboxFullError)(nil); errors.As(err, &full) {
			if full.Limit != InboxSize || len(offs) < 100 {
				t.Errorf("after %d areas: %v", len(offs), err)
			}
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if seen[off] || off%64 != 0 || a.Leaves() != wake.Leaves(8) {
			t.Fatalf("area at %d with %d leaves", off, a.Leaves())
		}
		seen[off] = true
		offs = append(offs, off)
		a.Signal(5)
	}
	// One that comes back is handed out again, as good as new.
	b.Release(offs[3], 8)
	a, off, err := b.Area(8)
	if err != nil || off != offs[3] || a.Ready() {
		t.Errorf("area at %d (%v), something signalled: %v; want a fresh one at %d", off, err, a.Ready(), offs[3])
	}
}

// A sleeper whose flag was overwritten is not heard by signallers, and yet wakes.
func TestInboxRouse(t *testing.T) {
	b, err := NewInbox()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	a, off, err := b.Area(1)
	if err != nil {
		t.Fatal(err)
	}
	woke := make(chan bool)
	go func() { woke <- a.Wait(-1) }()
	flag := (*atomic.Uint32)(unsafe.Pointer(&b.mem[off+4]))
	for flag.Load() == 0 {
	}
	for awake := false; !awake; {
		flag.Store(0)
		a.Signal(3)
		b.Rouse()
		select {
		case <-woke:
			awake = true
		default:
		}
	}
}
