package wire

import "fmt"

// Error is malformed input. What names the record and the field.
type Error struct {
	What   string
	Offset int // bytes from the start of the input
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("zenoh wire: byte %d: %s", e.Offset, e.What) }

// Reader reads one batch or message. After the first failure every read gives
// zero and Err tells what happened, so decoders check once at their end. The
// zero Reader is at the end of an empty input.
type Reader struct {
	b    []byte
	i    int
	what string // of the failure; "" while all is well
}

// NewReader returns a Reader over b; what it returns points into b.
func NewReader(b []byte) Reader { return Reader{b: b} }

// Reset starts anew with b.
func (r *Reader) Reset(b []byte) { *r = Reader{b: b} }

// Len is the number of bytes left; 0 after a failure.
func (r *Reader) Len() int {
	if r.what != "" {
		return 0
	}
	return len(r.b) - r.i
}

// Offset is the number of bytes read.
func (r *Reader) Offset() int { return r.i }

// Err is nil or an *Error.
func (r *Reader) Err() error {
	if r.what == "" {
		return nil
	}
	return &Error{r.what, r.i}
}

// Failed reports whether a read has failed, without building the error.
func (r *Reader) Failed() bool { return r.what != "" }

// Fail records a failure at the present place unless there is one already.
func (r *Reader) Fail(what string) {
	if what == "" {
		what = "malformed"
	}
	if r.what == "" {
		r.what = what
	}
}

// Peek returns the next byte without reading it, 0 if there is none.
func (r *Reader) Peek() byte {
	if r.Len() == 0 {
		return 0
	}
	return r.b[r.i]
}

// Byte reads one byte.
func (r *Reader) Byte(what string) byte {
	if r.Len() == 0 {
		r.Fail(what)
		return 0
	}
	c := r.b[r.i]
	r.i++
	return c
}

// Uint reads a variable-length integer: seven bits a byte, least significant
// first, for at most eight bytes; a ninth byte holds eight bits.
func (r *Reader) Uint(what string) uint64 {
	if r.what != "" {
		return 0
	}
	var v uint64
	for n := uint(0); r.i < len(r.b); n++ {
		c := r.b[r.i]
		r.i++
		if n == 8 {
			return v | uint64(c)<<56
		}
		v |= uint64(c&0x7f) << (7 * n)
		if c < 0x80 {
			return v
		}
	}
	r.Fail(what)
	return 0
}

// Bounded reads a variable-length integer that must not exceed max.
func (r *Reader) Bounded(max uint64, what string) uint64 {
	v := r.Uint(what)
	if v > max {
		r.Fail(what)
		return 0
	}
	return v
}

// Uint16 reads a variable-length integer of 16 bits.
func (r *Reader) Uint16(what string) uint16 { return uint16(r.Bounded(0xffff, what)) }

// Uint32 reads a variable-length integer of 32 bits.
func (r *Reader) Uint32(what string) uint32 { return uint32(r.Bounded(0xffffffff, what)) }

// Take reads n bytes as they are.
func (r *Reader) Take(n uint64, what string) []byte {
	if n > uint64(r.Len()) {
		r.Fail(what)
		return nil
	}
	s := r.b[r.i : r.i+int(n) : r.i+int(n)]
	r.i += int(n)
	return s
}

// Bytes reads a length of at most max and as many bytes. The result is never nil without a failure.
func (r *Reader) Bytes(max uint64, what string) []byte {
	s := r.Take(r.Bounded(max, what), what)
	if s == nil && r.what == "" {
		return []byte{}
	}
	return s
}

// Rest reads all that is left.
func (r *Reader) Rest() []byte { return r.Take(uint64(r.Len()), "") }

// Bounds of lengths on the wire.
const (
	max8  = 0xff
	max16 = 0xffff
	max32 = 0xffffffff
)
