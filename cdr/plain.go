package cdr

import "unsafe"

// Number is a primitive whose bit patterns are all valid values, so that a
// sequence of it can be copied, or pointed at, as memory.
type Number interface {
	~int8 | ~uint8 | ~int16 | ~uint16 | ~int32 | ~uint32 | ~int64 | ~uint64 | ~float32 | ~float64
}

// FlatHost is 1 where memory is laid out as CDR is: little-endian, with 8-byte
// numbers at multiples of 8; elsewhere 0. Go lays out a struct from nothing but
// the sizes and alignments of its fields, so this decides for generated code
// whether a message may be moved as memory.
const FlatHost = littleEndian * (unsafe.Alignof(struct{ v uint64 }{}.v) / 8) *
	(unsafe.Alignof(struct{ v float64 }{}.v) / 8)

// HostFlat is FlatHost as a bool.
const HostFlat = FlatHost == 1

const hostLittleEndian = littleEndian == 1

// memory returns the bytes that s occupies.
func memory[E any](s []E) []byte {
	var e E
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(e)))
}

// at returns b, which holds n elements, as a slice with cap = len; false if b
// does not start at an address where an E may lie.
func at[E any](b []byte, n int) ([]E, bool) {
	var e E
	p := unsafe.Pointer(unsafe.SliceData(b))
	if uintptr(p)%unsafe.Alignof(e) != 0 {
		return nil, false
	}
	return unsafe.Slice((*E)(p), n), true
}
