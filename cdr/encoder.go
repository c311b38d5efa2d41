package cdr

import (
	"errors"
	"math"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// ErrShortBuffer is returned by [Encoder.Err] when the message did not fit
// into the buffer: it was changed after its size was taken, or a string or
// sequence has more than 2^32-1 elements.
var ErrShortBuffer = errors.New("cdr: the message does not fit into the buffer made for it")

// Encoder writes the body of a message into a buffer of the caller. It never
// grows the buffer; what does not fit is not written and shows in Err. Padding
// is written as zeros. The zero value has no room: use [NewEncoder] or Reset.
type Encoder struct {
	buf []byte
	off int
	bad bool
}

// NewEncoder returns an encoder over body, the bytes after the encapsulation.
// Its first byte must lie at a multiple of 8 for Place to work.
func NewEncoder(body []byte) Encoder { return Encoder{buf: body} }

// Reset makes e write to body from its start, without error.
func (e *Encoder) Reset(body []byte) { *e = Encoder{buf: body} }

// Len is the number of bytes written so far.
func (e *Encoder) Len() int { return e.off }

// Err is [ErrShortBuffer] if something did not fit, else nil.
func (e *Encoder) Err() error {
	if e.bad {
		return ErrShortBuffer
	}
	return nil
}

// next aligns and reserves n bytes, or returns nil.
func (e *Encoder) next(align, n int) []byte {
	off := (e.off + align - 1) &^ (align - 1)
	if off > len(e.buf) || n > len(e.buf)-off {
		e.fail()
		return nil
	}
	for i := e.off; i < off; i++ {
		e.buf[i] = 0
	}
	e.off = off + n
	return e.buf[off:e.off:e.off]
}

// fail stops all further writing.
func (e *Encoder) fail() {
	e.bad = true
	e.buf = e.buf[:0]
	e.off = 0
}

// Bool writes one byte, 0 or 1.
func (e *Encoder) Bool(v bool) {
	if b := e.next(1, 1); b != nil {
		b[0] = 0
		if v {
			b[0] = 1
		}
	}
}

// Uint8 writes one byte.
func (e *Encoder) Uint8(v uint8) {
	if b := e.next(1, 1); b != nil {
		b[0] = v
	}
}

// Int8 writes one byte.
func (e *Encoder) Int8(v int8) { e.Uint8(uint8(v)) }

// Uint16 writes 2 bytes.
func (e *Encoder) Uint16(v uint16) {
	if b := e.next(2, 2); b != nil {
		_ = b[1]
		b[0], b[1] = byte(v), byte(v>>8)
	}
}

// Int16 writes 2 bytes.
func (e *Encoder) Int16(v int16) { e.Uint16(uint16(v)) }

// Uint32 writes 4 bytes.
func (e *Encoder) Uint32(v uint32) {
	if b := e.next(4, 4); b != nil {
		_ = b[3]
		b[0], b[1], b[2], b[3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
	}
}

// Int32 writes 4 bytes.
func (e *Encoder) Int32(v int32) { e.Uint32(uint32(v)) }

// Uint64 writes 8 bytes.
func (e *Encoder) Uint64(v uint64) {
	if b := e.next(8, 8); b != nil {
		_ = b[7]
		b[0], b[1], b[2], b[3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
		b[4], b[5], b[6], b[7] = byte(v>>32), byte(v>>40), byte(v>>48), byte(v>>56)
	}
}

// Int64 writes 8 bytes.
func (e *Encoder) Int64(v int64) { e.Uint64(uint64(v)) }

// Float32 writes 4 bytes.
func (e *Encoder) Float32(v float32) { e.Uint32(math.Float32bits(v)) }

// Float64 writes 8 bytes.
func (e *Encoder) Float64(v float64) { e.Uint64(math.Float64bits(v)) }

// Count writes the number of elements of a sequence.
func (e *Encoder) Count(n int) {
	if uint64(n) > math.MaxUint32 {
		e.fail()
		return
	}
	e.Uint32(uint32(n))
}

// String writes the length with the terminator, the bytes, and the terminator.
func (e *Encoder) String(s string) {
	e.Count(len(s) + 1)
	if b := e.next(1, len(s)+1); b != nil {
		copy(b, s)
		b[len(s)] = 0
	}
}

// StringSize is the end of a string that follows off.
func StringSize(off int, s string) int { return Align(off, 4) + 4 + len(s) + 1 }

// WString writes s as UTF-16: the number of code units, then 2 bytes each,
// without terminator. Invalid UTF-8 is written as U+FFFD.
func (e *Encoder) WString(s string) {
	n := WStringLen(s)
	e.Count(n)
	b := e.next(2, 2*n)
	if b == nil {
		return
	}
	i := 0
	for _, r := range s {
		if r >= 0x10000 {
			hi, lo := utf16.EncodeRune(r)
			b[i], b[i+1] = byte(hi), byte(hi>>8)
			i += 2
			r = lo
		}
		b[i], b[i+1] = byte(r), byte(r>>8)
		i += 2
	}
}

// WStringLen is the number of UTF-16 code units of s.
func WStringLen(s string) int {
	n := utf8.RuneCountInString(s)
	for _, r := range s {
		if r >= 0x10000 {
			n++
		}
	}
	return n
}

// WStringSize is the end of a wide string that follows off.
func WStringSize(off int, s string) int { return Align(off, 4) + 4 + 2*WStringLen(s) }

// StartsAt aligns to first and tells whether the next byte then lies at a
// multiple of align. Generated code asks before it moves a message as memory:
// first is the alignment of the message's first number, align its largest.
func (e *Encoder) StartsAt(first, align int) bool {
	e.next(first, 0)
	return e.off&(align-1) == 0
}

// Raw writes the n bytes at p and returns where they lie now, or nil if they
// do not fit. Nothing is copied if they lie there already.
func (e *Encoder) Raw(p unsafe.Pointer, n int) []byte {
	b := e.next(1, n)
	if b != nil && unsafe.Pointer(unsafe.SliceData(b)) != p {
		bulkCopy(b, unsafe.Slice((*byte)(p), n))
	}
	return b
}

// EncodeArray writes the elements of s without a count.
func EncodeArray[E Number](e *Encoder, s []E) {
	var v E
	size := int(unsafe.Sizeof(v))
	if len(s) == 0 {
		return
	}
	b := e.next(size, size*len(s))
	if b == nil || unsafe.Pointer(unsafe.SliceData(b)) == unsafe.Pointer(unsafe.SliceData(s)) {
		return
	}
	bulkCopy(b, memory(s))
	if !hostLittleEndian {
		swap(b, size)
	}
}

// EncodeSlice writes a sequence: the count, then the elements. Elements that
// already lie at their place in the buffer are not copied.
func EncodeSlice[E Number](e *Encoder, s []E) {
	e.Count(len(s))
	EncodeArray(e, s)
}

// EncodeBools writes the elements of s without a count.
func EncodeBools(e *Encoder, s []bool) {
	if b := e.next(1, len(s)); b != nil {
		copy(b, memory(s))
	}
}

// EncodeFlat writes a sequence of messages whose memory is their encoding,
// without gap from one to the next, and whose first number has the alignment of
// the whole. Elements that already lie at their place are not copied.
func EncodeFlat[E any](e *Encoder, s []E) {
	var v E
	e.Count(len(s))
	if len(s) == 0 {
		return
	}
	b := e.next(int(unsafe.Alignof(v)), int(unsafe.Sizeof(v))*len(s))
	if b != nil && unsafe.Pointer(unsafe.SliceData(b)) != unsafe.Pointer(unsafe.SliceData(s)) {
		bulkCopy(b, memory(s))
	}
}

// PlaceSlice writes the count of *s and makes *s point to where its elements, of
// the given alignment, belong in the buffer (cap = len), without writing them. It
// fails if the buffer does not lie at a multiple of 8.
func PlaceSlice[E any](e *Encoder, s *[]E, align int) {
	var v E
	n := len(*s)
	e.Count(n)
	if n == 0 {
		*s = nil
		return
	}
	b := e.next(align, int(unsafe.Sizeof(v))*n)
	if b == nil {
		return
	}
	placed, ok := at[E](b, n)
	if !ok || !hostLittleEndian {
		e.fail()
		return
	}
	*s = placed
}

// SlicePlaced tells whether s, of elements of the given alignment, lies in body
// where the encoding of a message that has come to *off wants it, and moves *off
// past it.
func SlicePlaced[E any](body []byte, off *int, s []E, align int) bool {
	var v E
	o := Align(*off, 4) + 4
	if len(s) == 0 {
		*off = o
		return true
	}
	o = Align(o, align)
	*off = o + int(unsafe.Sizeof(v))*len(s)
	return *off <= len(body) &&
		unsafe.Pointer(unsafe.SliceData(s)) == unsafe.Pointer(unsafe.SliceData(body[o:]))
}

// SliceSize is the end of a sequence of n elements of the given size and
// alignment that follows off. An empty sequence is not padded.
func SliceSize(off, n, size, align int) int {
	off = Align(off, 4) + 4
	if n == 0 {
		return off
	}
	return Align(off, align) + n*size
}

// swap reverses the bytes of each element of the given size.
func swap(b []byte, size int) {
	switch size {
	case 2:
		for ; len(b) >= 2; b = b[2:] {
			b[0], b[1] = b[1], b[0]
		}
	case 4:
		for ; len(b) >= 4; b = b[4:] {
			b[0], b[1], b[2], b[3] = b[3], b[2], b[1], b[0]
		}
	case 8:
		for ; len(b) >= 8; b = b[8:] {
			b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7] = b[7], b[6], b[5], b[4], b[3], b[2], b[1], b[0]
		}
	}
}

// Put writes numbers of the given size whose bytes are little-endian already.
func (e *Encoder) Put(size int, b []byte) {
	if len(b) > 0 {
		if dst := e.next(size, len(b)); dst != nil {
			copy(dst, b)
		}
	}
}
