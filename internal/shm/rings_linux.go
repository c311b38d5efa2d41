package shm

import (
	"slices"

	"golang.org/x/sys/unix"

	"github.com/tagus-ros/tagus/internal/memfd"
)

// ringMemory hands out blocks for ring pairs to one other process, from memfds that
// are shared with it. The process's end frees them all.
type ringMemory struct {
	segments []ringSegment
	free     map[int][]block // by size
	doubted  int             // segments that were given up
}

type ringSegment struct {
	mem    []byte
	used   int
	blocks int  // handed out and not put back
	proven bool // the other process has accepted a pair in it
	given  bool // up: the other process cannot reach it
}

// maxDoubted bounds how many segments are given up.
const maxDoubted = 256

// block is memory for one ring pair.
type block struct {
	segment int
	offset  int
	mem     []byte
}

// segmentSize is what one memfd holds at least; a deep queue gets a larger one.
const segmentSize = 64 << 10

// get returns a zeroed block of size bytes. When it lies in a new segment, fd is the
// memfd to hand to the other process, else -1; the caller closes it.
func (r *ringMemory) get(size int) (b block, fd int, err error) {
	if f := r.free[size]; len(f) > 0 {
		b = f[len(f)-1]
		r.free[size] = f[:len(f)-1]
		clear(b.mem)
		r.segments[b.segment].blocks++
		return b, -1, nil
	}
	for i := range r.segments {
		if s := &r.segments[i]; !s.given && len(s.mem)-s.used >= size {
			return s.carve(i, size), -1, nil
		}
	}
	n := max(segmentSize, (size+4095)&^4095)
	f, err := memfd.Create("tagus-rings", int64(n))
	if err != nil {
		return block{}, -1, err
	}
	defer f.Close()
	if err := memfd.Commit(f.FD(), 0, int64(n)); err != nil {
		return block{}, -1, err
	}
	mem, err := memfd.Map(f.FD(), int64(n), true)
	if err != nil {
		return block{}, -1, err
	}
	if fd, err = unix.FcntlInt(uintptr(f.FD()), unix.F_DUPFD_CLOEXEC, 0); err != nil {
		memfd.Unmap(mem)
		return block{}, -1, err
	}
	r.segments = append(r.segments, ringSegment{mem: mem})
	i := len(r.segments) - 1
	return r.segments[i].carve(i, size), fd, nil
}

func (s *ringSegment) carve(i, size int) block {
	b := block{segment: i, offset: s.used, mem: s.mem[s.used : s.used+size : s.used+size]}
	s.used += size
	s.blocks++
	return b
}

// doubt gives a segment up in which no pair was ever accepted: the next block comes from
// a new one.
func (r *ringMemory) doubt(segment int) {
	s := &r.segments[segment]
	if s.proven || s.given || r.doubted == maxDoubted {
		return
	}
	r.doubted++
	s.given = true
	for size, free := range r.free {
		r.free[size] = slices.DeleteFunc(free, func(b block) bool { return b.segment == segment })
	}
}

func (r *ringMemory) put(b block) {
	s := &r.segments[b.segment]
	if s.blocks--; s.given {
		if s.blocks == 0 {
			memfd.Unmap(s.mem)
			s.mem = nil
		}
		return
	}
	if r.free == nil {
		r.free = make(map[int][]block)
	}
	r.free[len(b.mem)] = append(r.free[len(b.mem)], b)
}

// release unmaps everything.
func (r *ringMemory) release() {
	for _, s := range r.segments {
		if s.mem != nil {
			memfd.Unmap(s.mem)
		}
	}
	*r = ringMemory{}
}
