package wire

import (
	"crypto/rand"
	"errors"
	"fmt"
)

// ID names a Zenoh session: an unsigned integer of up to 128 bits, never zero, least significant byte first.
type ID [16]byte

// NewID returns a random ID.
func NewID() ID {
	var id ID
	for id[15] == 0 {
		_, _ = rand.Read(id[:]) // never fails, by its contract
	}
	return id
}

// Len is the number of bytes of the ID on the wire; 0 for the zero ID.
func (id ID) Len() int {
	n := len(id)
	for n > 0 && id[n-1] == 0 {
		n--
	}
	return n
}

// IsZero reports whether id is the invalid zero ID.
func (id ID) IsZero() bool { return id == ID{} }

// String gives lower-case hexadecimal, most significant digit first, without leading zeros: the form that stands in keys.
func (id ID) String() string {
	const digits = "0123456789abcdef"
	var buf [32]byte
	for i := range id {
		buf[31-2*i], buf[30-2*i] = digits[id[i]&15], digits[id[i]>>4]
	}
	i := 0
	for i < len(buf)-1 && buf[i] == '0' {
		i++
	}
	return string(buf[i:])
}

// ParseID is the inverse of ID.String.
func ParseID(s string) (ID, error) {
	var id ID
	if s == "" || len(s) > 32 {
		return id, fmt.Errorf("zenoh id %q: want 1 to 32 hexadecimal digits", s)
	}
	if s[0] == '0' {
		return id, fmt.Errorf("zenoh id %q: leading zero", s)
	}
	for i := range len(s) {
		c := s[len(s)-1-i]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		default:
			return ID{}, fmt.Errorf("zenoh id %q: %q is no lower-case hexadecimal digit", s, c)
		}
		id[i/2] |= c << (4 * (i & 1))
	}
	return id, nil
}

// MarshalText implements encoding.TextMarshaler.
func (id ID) MarshalText() ([]byte, error) {
	if id.IsZero() {
		return nil, errors.New("zenoh id: zero")
	}
	return []byte(id.String()), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (id *ID) UnmarshalText(b []byte) (err error) {
	*id, err = ParseID(string(b))
	return err
}

func (id *ID) append(dst []byte) []byte { return append(dst, id[:id.Len()]...) }

// appendNibble appends the size of the ID in the upper half of a byte, low in the lower half, then the ID.
func (id *ID) appendNibble(dst []byte, low byte) []byte {
	return id.append(append(dst, byte(id.Len()-1)<<4|low))
}

// readID reads an ID of n bytes. Leading zeros are tolerated, zero is not.
func (r *Reader) readID(n uint64, what string) (id ID) {
	if n > 16 {
		r.Fail(what)
		return id
	}
	copy(id[:], r.Take(n, what))
	if id.IsZero() {
		r.Fail(what)
	}
	return id
}
