package shm

import (
	"errors"
	"sync/atomic"
	"unsafe"
)

// Layout of a ring pair, little-endian, 64-byte aligned. Words that one side
// writes share no cache line with words of the other.
//
//	  0   8  head     oldest entry in the ring; taken from with compare-and-swap by both sides
//	 64   8  tail     entries below are written; the publisher's
//	 72   8  first    first sequence number owed, 0 before the pair is live; the publisher's
//	 80   8  last     newest sequence number accepted, queued or not; the publisher's
//	128   8  rettail  returns below are written; the subscription's
//	192   8  rethead  returns below were read; the publisher's
//	256  16  × capacity  entries: slot offset in the arena, start of publish
//	      8  × returns   returned entry numbers
//
// Entries and returns are numbered from 0 and lie at number modulo capacity.
const (
	ringHead    = 0
	ringTail    = 64
	ringFirst   = 72
	ringLast    = 80
	ringRetTail = 128
	ringRetHead = 192
	ringEntries = 256
	entrySize   = 16
	returnSize  = 8
)

// maxRingEntries bounds what a peer can ask to have mapped and walked.
const maxRingEntries = 1 << 16

// ringSize is the number of bytes that a ring pair takes, a multiple of 64.
func ringSize(capacity, returns uint32) int {
	n := ringEntries + int(capacity)*entrySize + int(returns)*returnSize
	return (n + 63) &^ 63
}

// returnsFor is how many returns must have room for a reader that holds at most so many
// leases. Between two looks of the publisher at the returns come back, at most: what was
// held at the first look, one entry more that the reader took only to make room, all
// that lay in the ring, and the one that was pushed since.
func returnsFor(capacity, leases int) int { return capacity + leases + 2 }

var errRingBounds = errors.New("ring capacity out of range")

// ring is one side's view of a ring pair in memory that both sides write.
type ring struct {
	head, tail, first, last *atomic.Uint64
	retTail, retHead        *atomic.Uint64
	entries                 unsafe.Pointer
	rets                    unsafe.Pointer
	cap, rcap               uint64
}

// newRing lays a ring pair over mem, which must stay mapped as long as the
// ring is used.
func newRing(mem []byte, capacity, returns uint32) (ring, error) {
	if capacity == 0 || returns == 0 || capacity > maxRingEntries || returns > maxRingEntries ||
		len(mem) < ringSize(capacity, returns) || uintptr(unsafe.Pointer(unsafe.SliceData(mem)))%64 != 0 {
		return ring{}, errRingBounds
	}
	word := func(off int) *atomic.Uint64 { return (*atomic.Uint64)(unsafe.Pointer(&mem[off])) }
	r := ring{
		head: word(ringHead), tail: word(ringTail), first: word(ringFirst), last: word(ringLast),
		retTail: word(ringRetTail), retHead: word(ringRetHead),
		entries: unsafe.Pointer(&mem[ringEntries]),
		cap:     uint64(capacity), rcap: uint64(returns),
	}
	r.rets = unsafe.Add(r.entries, int(capacity)*entrySize)
	return r, nil
}

// entry returns the two words of entry number i.
func (r *ring) entry(i uint64) (offset, stamp *atomic.Uint64) {
	p := unsafe.Add(r.entries, int(i%r.cap)*entrySize)
	return (*atomic.Uint64)(p), (*atomic.Uint64)(unsafe.Add(p, 8))
}

// ret returns the word of return number i.
func (r *ring) ret(i uint64) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Add(r.rets, int(i%r.rcap)*returnSize))
}
