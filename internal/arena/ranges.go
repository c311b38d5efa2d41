package arena

import "slices"

// span is a range of the file, in bytes.
type span struct{ off, size int64 }

// ranges holds the parts of the file that are not committed, sorted by offset,
// neighbours joined, so that what one class gave back can serve any other.
type ranges struct{ free []span }

// take removes size bytes from the smallest span that has them and returns
// their offset; false means that no span is large enough.
func (r *ranges) take(size int64) (off int64, ok bool) {
	best := -1
	for i, s := range r.free {
		if s.size >= size && (best < 0 || s.size < r.free[best].size) {
			best = i
			if s.size == size {
				break
			}
		}
	}
	if best < 0 {
		return 0, false
	}
	s := &r.free[best]
	off = s.off
	s.off += size
	s.size -= size
	if s.size == 0 {
		r.free = slices.Delete(r.free, best, best+1)
	}
	return off, true
}

// give puts a range back that take returned, or a part of the file that is new.
func (r *ranges) give(off, size int64) {
	i, _ := slices.BinarySearchFunc(r.free, off, func(s span, off int64) int {
		switch {
		case s.off < off:
			return -1
		case s.off > off:
			return 1
		}
		return 0
	})
	left := i > 0 && r.free[i-1].off+r.free[i-1].size == off
	right := i < len(r.free) && off+size == r.free[i].off
	switch {
	case left && right:
		r.free[i-1].size += size + r.free[i].size
		r.free = slices.Delete(r.free, i, i+1)
	case left:
		r.free[i-1].size += size
	case right:
		r.free[i].off = off
		r.free[i].size += size
	default:
		r.free = slices.Insert(r.free, i, span{off, size})
	}
}

// largest returns the size of the largest span.
func (r *ranges) largest() int64 {
	most := int64(0)
	for _, s := range r.free {
		most = max(most, s.size)
	}
	return most
}
