package rosidl

import (
	"bytes"
	"math"
	"unsafe"

	"github.com/tagus-ros/tagus/cdr"
)

// The functions of this file are called by generated code.

// CopySlice returns dst with the elements of src, in dst's memory if it is enough.
func CopySlice[E any](dst, src []E) []E { return append(dst[:0], src...) }

// Resize returns s with length n, keeping its elements so that what they hold
// can be used again. New ones are zero.
func Resize[E any](s []E, n int) []E {
	if n <= cap(s) {
		return s[:n]
	}
	grown := make([]E, n)
	copy(grown, s[:cap(s)])
	return grown
}

// EqualNumbers compares bit by bit.
func EqualNumbers[E cdr.Number](a, b []E) bool {
	if len(a) != len(b) {
		return false
	}
	var v E
	n := len(a) * int(unsafe.Sizeof(v))
	return bytes.Equal(
		unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(a))), n),
		unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(b))), n))
}

// EqualPlain compares bools and strings.
func EqualPlain[E comparable](a, b []E) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// EqualFloat32 compares bits.
func EqualFloat32(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }

// EqualFloat64 compares bits.
func EqualFloat64(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
