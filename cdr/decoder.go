package cdr

import (
	"fmt"
	"hash/maphash"
	"math"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// Error says where and why a payload is not the encoding of a message.
type Error struct {
	Offset int    // of the body, in bytes
	What   string // "a string of 4096 bytes where 12 are left"
}

func (e *Error) Error() string {
	return fmt.Sprintf("cdr: at byte %d of the body: %s", e.Offset, e.What)
}

// Decoder reads a payload: encapsulation and body. After the first error every
// read yields zero and every count 0, so that generated code asks once, at the
// end, with Err. Bytes after the message are ignored.
//
// A decoder remembers the last strings it saw and hands out the same ones
// again, so that repeated values (frame ids, joint names) cost no allocation;
// keep one decoder for each subscription. The zero value reads nothing: Reset.
type Decoder struct {
	buf    []byte // body
	off    int
	swap   bool // the payload's byte order is not the host's
	big    bool
	err    error
	resets int
	seen   *stringCache
}

// Reset makes d read payload, encapsulation first. A header that is not plain
// CDR of either byte order is an error, as is a payload shorter than it.
func (d *Decoder) Reset(payload []byte) {
	d.buf, d.off, d.err = nil, 0, nil
	if d.resets < 2 {
		d.resets++
	}
	if len(payload) < EncapsulationSize {
		d.err = &Error{What: fmt.Sprintf("a payload of %d bytes has no room for the encapsulation header", len(payload))}
		return
	}
	if payload[0] != 0 || payload[1] > 1 {
		d.err = &Error{What: fmt.Sprintf("encapsulation %#02x%02x is not plain CDR", payload[0], payload[1])}
		return
	}
	d.big = payload[1] == 0
	d.swap = d.big
	if !hostLittleEndian {
		d.swap = !d.big
	}
	d.buf = payload[EncapsulationSize:]
}

// Err is the first error, an [*Error], or nil.
func (d *Decoder) Err() error { return d.err }

// Failed tells whether there was an error.
func (d *Decoder) Failed() bool { return d.err != nil }

// Offset is the number of bytes of the body read so far.
func (d *Decoder) Offset() int { return d.off }

// Left is the number of bytes of the body not yet read.
func (d *Decoder) Left() int { return len(d.buf) - d.off }

// Plain tells whether the payload has the host's byte order and the host lays
// out memory as CDR does, so that messages may be moved as memory.
func (d *Decoder) Plain() bool { return HostFlat && !d.swap }

// Fail records an error at the current place unless there is one already.
func (d *Decoder) Fail(what string) {
	if d.err == nil {
		d.err = &Error{Offset: d.off, What: what}
	}
	d.buf, d.off = nil, 0
}

// next aligns and takes n bytes, or fails and returns nil.
func (d *Decoder) next(align, n int) []byte {
	off := (d.off + align - 1) &^ (align - 1)
	if off > len(d.buf) || n > len(d.buf)-off {
		d.short(n)
		return nil
	}
	d.off = off + n
	return d.buf[off:d.off:d.off]
}

func (d *Decoder) short(n int) {
	if d.err == nil {
		d.Fail(fmt.Sprintf("%d bytes wanted where %d are left", n, d.Left()))
	}
}

// Bool reads one byte; all but 0 is true.
func (d *Decoder) Bool() bool { return d.Uint8() != 0 }

// Uint8 reads one byte.
func (d *Decoder) Uint8() uint8 {
	if b := d.next(1, 1); b != nil {
		return b[0]
	}
	return 0
}

// Int8 reads one byte.
func (d *Decoder) Int8() int8 { return int8(d.Uint8()) }

// Uint16 reads 2 bytes.
func (d *Decoder) Uint16() uint16 {
	b := d.next(2, 2)
	if b == nil {
		return 0
	}
	v := uint16(b[0]) | uint16(b[1])<<8
	if d.big {
		v = bits.ReverseBytes16(v)
	}
	return v
}

// Int16 reads 2 bytes.
func (d *Decoder) Int16() int16 { return int16(d.Uint16()) }

// Uint32 reads 4 bytes.
func (d *Decoder) Uint32() uint32 {
	b := d.next(4, 4)
	if b == nil {
		return 0
	}
	_ = b[3]
	v := uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
	if d.big {
		v = bits.ReverseBytes32(v)
	}
	return v
}

// Int32 reads 4 bytes.
func (d *Decoder) Int32() int32 { return int32(d.Uint32()) }

// Uint64 reads 8 bytes.
func (d *Decoder) Uint64() uint64 {
	b := d.next(8, 8)
	if b == nil {
		return 0
	}
	_ = b[7]
	v := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
	if d.big {
		v = bits.ReverseBytes64(v)
	}
	return v
}

// Int64 reads 8 bytes.
func (d *Decoder) Int64() int64 { return int64(d.Uint64()) }

// Float32 reads 4 bytes.
func (d *Decoder) Float32() float32 { return math.Float32frombits(d.Uint32()) }

// Float64 reads 8 bytes.
func (d *Decoder) Float64() float64 { return math.Float64frombits(d.Uint64()) }

// Count reads the number of elements of a sequence whose elements take at
// least min bytes each. A count that what is left cannot hold is an error, as
// is one over bound (if bound is not negative). The result is 0 after an error.
func (d *Decoder) Count(min, bound int) int {
	n := uint64(d.Uint32())
	if n == 0 {
		return 0
	}
	if bound >= 0 && n > uint64(bound) {
		d.Fail(fmt.Sprintf("a sequence of %d elements over its bound of %d", n, bound))
		return 0
	}
	if n*uint64(min) > uint64(d.Left()) {
		d.Fail(fmt.Sprintf("a sequence of %d elements of at least %d bytes where %d bytes are left", n, min, d.Left()))
		return 0
	}
	return int(n)
}

// String reads a string of at most bound bytes (no bound if negative) into *p.
// If *p has that value already it is left alone; the string never points into
// the payload.
func (d *Decoder) String(p *string, bound int) {
	n := uint64(d.Uint32())
	if n <= 1 {
		if n == 1 {
			if b := d.next(1, 1); b != nil && b[0] != 0 {
				d.Fail("a string without terminator")
			}
		}
		*p = ""
		return
	}
	if n > uint64(d.Left()) {
		d.Fail(fmt.Sprintf("a string of %d bytes where %d are left", n, d.Left()))
		return
	}
	b := d.next(1, int(n))
	if b[n-1] != 0 {
		d.Fail("a string without terminator")
		return
	}
	b = b[:n-1]
	if bound >= 0 && len(b) > bound {
		d.Fail(fmt.Sprintf("a string of %d bytes over its bound of %d", len(b), bound))
		return
	}
	if *p != string(b) {
		*p = d.intern(b)
	}
}

// WString reads a UTF-16 string of at most bound code units (no bound if
// negative) into *p. Lone surrogates become U+FFFD.
func (d *Decoder) WString(p *string, bound int) {
	n := d.Count(2, bound)
	if n == 0 {
		if d.err == nil {
			*p = ""
		}
		return
	}
	units := d.next(2, 2*n)
	size := 0 // of the text in UTF-8
	for i := 0; i < len(units); {
		r, used := d.rune(units[i:])
		size += utf8.RuneLen(r)
		i += used
	}
	var small [256]byte
	text := small[:0]
	if size > len(small) {
		text = make([]byte, 0, size)
	}
	for i := 0; i < len(units); {
		r, used := d.rune(units[i:])
		text = utf8.AppendRune(text, r)
		i += used
	}
	if *p != string(text) {
		*p = d.intern(text)
	}
}

// rune reads a character from UTF-16 and tells how many bytes it took.
func (d *Decoder) rune(units []byte) (r rune, used int) {
	r = d.unit(units)
	if !utf16.IsSurrogate(r) {
		return r, 2
	}
	if len(units) >= 4 {
		if r := utf16.DecodeRune(r, d.unit(units[2:])); r != utf8.RuneError {
			return r, 4
		}
	}
	return utf8.RuneError, 2
}

func (d *Decoder) unit(b []byte) rune {
	if d.big {
		return rune(b[0])<<8 | rune(b[1])
	}
	return rune(b[1])<<8 | rune(b[0])
}

// StartsAt aligns to first and tells whether the next byte then lies at a
// multiple of align; see [Encoder.StartsAt].
func (d *Decoder) StartsAt(first, align int) bool {
	d.next(first, 0)
	return d.off&(align-1) == 0
}

// Raw reads n bytes into the memory at p. Only for memory in which every bit
// pattern is a value.
func (d *Decoder) Raw(p unsafe.Pointer, n int) {
	if b := d.next(1, n); b != nil {
		bulkCopy(unsafe.Slice((*byte)(p), n), b)
	}
}

// DecodeArray reads len(s) elements into s.
func DecodeArray[E Number](d *Decoder, s []E) {
	var v E
	size := int(unsafe.Sizeof(v))
	if len(s) == 0 {
		return
	}
	if b := d.next(size, size*len(s)); b != nil {
		copy(memory(s), b)
		if d.swap {
			swap(memory(s), size)
		}
	}
}

// DecodeSlice reads a sequence of at most bound elements (no bound if
// negative) into *s, whose capacity is used again.
func DecodeSlice[E Number](d *Decoder, s *[]E, bound int) {
	var v E
	n := d.Count(int(unsafe.Sizeof(v)), bound)
	*s = sized(*s, n)
	DecodeArray(d, *s)
}

// DecodeBools reads len(s) elements into s; all bytes but 0 are true.
func DecodeBools(d *Decoder, s []bool) {
	if b := d.next(1, len(s)); b != nil {
		for i := range s {
			s[i] = b[i] != 0
		}
	}
}

// DecodeFlat reads a sequence of messages whose memory is their encoding (see
// [EncodeFlat]; Plain must hold) into *s, whose capacity is used again.
func DecodeFlat[E any](d *Decoder, s *[]E, bound int) {
	var v E
	size := int(unsafe.Sizeof(v))
	n := d.Count(size, bound)
	if n == 0 {
		*s = (*s)[:0]
		return
	}
	b := d.next(int(unsafe.Alignof(v)), size*n)
	if b == nil {
		n = 0
	}
	*s = sized(*s, n)
	bulkCopy(memory(*s), b)
}

// AliasSlice makes *s point to the elements of a sequence in the payload, with
// cap = len. Where that is not possible, because the byte order differs or the
// payload does not lie at a multiple of the element's alignment, *s is a copy.
// The memory *s had is not used: it may be another payload.
func AliasSlice[E Number](d *Decoder, s *[]E, bound int) {
	var v E
	size := int(unsafe.Sizeof(v))
	*s = nil
	n := d.Count(size, bound)
	if n == 0 {
		return
	}
	b := d.next(size, size*n)
	if b == nil {
		return
	}
	if d.swap {
		*s = make([]E, n)
		bulkCopy(memory(*s), b)
		swap(memory(*s), size)
		return
	}
	alias(b, s, n)
}

// AliasFlat is [AliasSlice] for messages whose memory is their encoding.
func AliasFlat[E any](d *Decoder, s *[]E, bound int) {
	var v E
	size := int(unsafe.Sizeof(v))
	*s = nil
	n := d.Count(size, bound)
	if n == 0 {
		return
	}
	if b := d.next(int(unsafe.Alignof(v)), size*n); b != nil {
		alias(b, s, n)
	}
}

func alias[E any](b []byte, s *[]E, n int) {
	if there, ok := at[E](b, n); ok {
		*s = there
		return
	}
	*s = make([]E, n)
	bulkCopy(memory(*s), b)
}

// Sized returns a slice of length n, s itself if its capacity is enough. Only
// for n that were checked against what is left of the payload.
func sized[E any](s []E, n int) []E {
	if n <= cap(s) {
		return s[:n]
	}
	return make([]E, n)
}

// Grow returns s longer by at least one element and at most n elements long,
// keeping what it has. It never takes more memory at once than the rest of the
// payload could fill or s already uses, so that a count which lies costs no
// more than the payload itself.
func Grow[E any](d *Decoder, s []E, n int) []E {
	if len(s) < cap(s) {
		return s[:min(n, cap(s))]
	}
	var v E
	more := max(len(s), d.Left()/max(1, int(unsafe.Sizeof(v))), 1)
	grown := make([]E, min(n, len(s)+more))
	copy(grown, s)
	return grown
}

const (
	cachedStrings   = 128
	cachedStringLen = 512 // longer ones are not remembered
)

// stringCache holds the last string seen for each of a few hash values.
type stringCache struct {
	seed maphash.Seed
	last [cachedStrings]string
}

// intern returns b as a string, the remembered one if there is one.
func (d *Decoder) intern(b []byte) string {
	if len(b) > cachedStringLen || d.resets < 2 {
		return string(b)
	}
	if d.seen == nil {
		d.seen = &stringCache{seed: maphash.MakeSeed()}
	}
	p := &d.seen.last[maphash.Bytes(d.seen.seed, b)%cachedStrings]
	if *p != string(b) {
		*p = string(b)
	}
	return *p
}

// Take returns the bytes of n numbers of the given size, in the byte order that
// LittleEndian tells, or nil after an error. They are part of the payload.
func (d *Decoder) Take(size, n int) []byte {
	if n == 0 {
		return nil
	}
	return d.next(size, size*n)
}

// LittleEndian tells the byte order of the payload.
func (d *Decoder) LittleEndian() bool { return !d.big }
