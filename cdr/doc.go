// Package cdr writes and reads the CDR encoding of ROS 2 messages (plain
// XCDR version 1), which is what generated message code is made of.
//
// An [Encoder] writes little-endian into a buffer that the caller has sized; a
// [Decoder] reads either byte order, checks every length against what is left
// before it allocates anything, and never panics on input. Both are plain
// values without locks: one goroutine uses one of them at a time.
//
// The package holds no knowledge of message types and uses no reflection. It
// must not import anything but the standard library.
package cdr

// EncapsulationSize is the length in bytes of the header in front of every
// CDR body. Alignment counts from the byte after it.
const EncapsulationSize = 4

// MaxAlign is the largest alignment in bytes that the encoding uses.
const MaxAlign = 8

// PutEncapsulation writes the header of a little-endian body into the first
// four bytes of b, which must have that many.
func PutEncapsulation(b []byte) {
	_ = b[3]
	b[0], b[1], b[2], b[3] = 0x00, 0x01, 0x00, 0x00
}

// Align returns off rounded up to a multiple of a, a power of two.
func Align(off, a int) int { return (off + a - 1) &^ (a - 1) }
