package arena

import (
	"errors"
	"os"
	"unsafe"

	"github.com/tagus-ros/tagus/internal/memfd"
	"golang.org/x/sys/unix"
)

// file is a memory file with its two mappings.
type file struct {
	f         *memfd.File
	ro        int // read-only descriptor
	mem, view []byte
}

// newBacking makes a memory file of size bytes. If the address space is too
// small for that, it makes do with half, and again, down to least.
func newBacking(size, least int64) (backing, error) {
	for {
		b, err := newFile(size)
		if err == nil || !errors.Is(err, unix.ENOMEM) || size/2 < least {
			return b, err
		}
		size = size / 2 &^ (int64(os.Getpagesize()) - 1)
	}
}

func newFile(size int64) (backing, error) {
	f, err := memfd.Create("tagus-arena", size)
	if err != nil {
		return nil, err
	}
	b := &file{f: f, ro: -1}
	if b.ro, err = f.ReadOnly(); err == nil {
		if b.mem, err = memfd.Map(f.FD(), size, true); err == nil {
			b.view, err = memfd.Map(b.ro, size, false)
		}
	}
	if err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *file) page() int64 { return int64(os.Getpagesize()) }
func (b *file) size() int64 { return b.f.Size() }
func (b *file) fd() int     { return b.ro }

func (b *file) commit(off, n int64) error {
	err := memfd.Commit(b.f.FD(), off, n)
	if err != nil {
		return errors.Join(err, b.punch(off, n))
	}
	return nil
}

func (b *file) punch(off, n int64) error { return memfd.Punch(b.f.FD(), off, n) }

func (b *file) at(off int64) (mem, view unsafe.Pointer) {
	return unsafe.Pointer(&b.mem[off]), unsafe.Pointer(&b.view[off])
}

func (b *file) holds(address uintptr) bool {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(b.view)))
	return address >= start && address-start < uintptr(len(b.view))
}

func (b *file) close() error {
	var errs []error
	for _, m := range [][]byte{b.mem, b.view} {
		if m != nil {
			errs = append(errs, memfd.Unmap(m))
		}
	}
	if b.ro >= 0 {
		errs = append(errs, unix.Close(b.ro))
	}
	return errors.Join(append(errs, b.f.Close())...)
}
