package arena

import (
	"sync"
	"unsafe"
)

// backing is the memory under an arena. commit and punch may be called by
// several goroutines at once, for ranges that do not overlap; offsets and sizes
// are multiples of page.
type backing interface {
	page() int64
	size() int64                             // of the offsets that may be used
	commit(off, n int64) error               // on an error nothing of the range is committed
	punch(off, n int64) error                // undoes commit
	at(off int64) (mem, view unsafe.Pointer) // off lies in a committed range
	fd() int                                 // for peers, -1 if there is none
	holds(address uintptr) bool              // whether view memory lies there; false if it can be written
	close() error                            // nothing is accessed any more
}

// heap is memory of the Go heap, one allocation per committed range. Offsets
// into it mean nothing to other processes.
type heap struct {
	total int64
	align int64 // page size
	mu    sync.Mutex
	parts map[int64][]byte // by offset
}

func newHeap(size, page int64) *heap {
	return &heap{total: size, align: page, parts: make(map[int64][]byte)}
}

func (h *heap) page() int64 { return h.align }
func (h *heap) size() int64 { return h.total }
func (h *heap) fd() int     { return -1 }

func (h *heap) holds(uintptr) bool { return false }

func (h *heap) commit(off, n int64) error {
	b := make([]byte, n+h.align)
	skip := -int64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (h.align - 1)
	h.mu.Lock()
	h.parts[off] = b[skip : skip+n]
	h.mu.Unlock()
	return nil
}

func (h *heap) punch(off, _ int64) error {
	h.mu.Lock()
	delete(h.parts, off)
	h.mu.Unlock()
	return nil
}

// at knows only the start of each range, which is all the arena asks for.
func (h *heap) at(off int64) (mem, view unsafe.Pointer) {
	h.mu.Lock()
	p := unsafe.Pointer(unsafe.SliceData(h.parts[off]))
	h.mu.Unlock()
	return p, p
}

func (h *heap) close() error {
	h.mu.Lock()
	h.parts = nil
	h.mu.Unlock()
	return nil
}
