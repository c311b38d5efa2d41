package graph

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"

	"github.com/zeebo/xxh3"
)

// ID names a participant: a random 128-bit number stored little-endian, as Zenoh session ids are (index 15 is the most significant
// byte). The zero ID names nobody.
type ID [16]byte

// NewID draws a random ID. Its most significant digit is never zero, so that its short and its long text form are the same.
func NewID() ID {
	var id ID
	rand.Read(id[:]) // never fails: crypto/rand ends the process rather than return weak bytes
	for id[15]>>4 == 0 {
		rand.Read(id[15:])
	}
	return id
}

// String gives 32 lower-case hexadecimal digits, most significant first.
func (id ID) String() string {
	var rev [16]byte
	for i, b := range id {
		rev[15-i] = b
	}
	return hex.EncodeToString(rev[:])
}

// IsZero says whether id names nobody.
func (id ID) IsZero() bool { return id == ID{} }

// Compare orders IDs as numbers: -1, 0 or 1.
func (id ID) Compare(other ID) int {
	for i := 15; i >= 0; i-- {
		if id[i] != other[i] {
			if id[i] < other[i] {
				return -1
			}
			return 1
		}
	}
	return 0
}

// text is the form used in keys: as String, without leading zeros.
func (id ID) text() string {
	s := id.String()
	for len(s) > 1 && s[0] == '0' {
		s = s[1:]
	}
	return s
}

// ParseID reads 1 to 32 lower-case hexadecimal digits, most significant first; fewer than 32 stand for a number with leading
// zeros. Zero is refused.
func ParseID(s string) (ID, error) {
	var id ID
	if len(s) == 0 || len(s) > 32 {
		return ID{}, fmt.Errorf("graph: participant id %.40q has %d digits, want 1 to 32", s, len(s))
	}
	for i := range len(s) {
		c := s[len(s)-1-i]
		var v byte
		switch {
		case c >= '0' && c <= '9':
			v = c - '0'
		case c >= 'a' && c <= 'f':
			v = c - 'a' + 10
		default:
			return ID{}, fmt.Errorf("graph: participant id %q: %q at %d is no lower-case hexadecimal digit", s, c, len(s)-1-i)
		}
		id[i/2] |= v << (4 * (i % 2))
	}
	if id.IsZero() {
		return ID{}, fmt.Errorf("graph: participant id %q is zero", s)
	}
	return id, nil
}

// GID names an entity, the same on every path: the 128-bit XXH3 hash of its liveliness token. The zero GID names nobody.
type GID [16]byte

// String gives the bytes in hexadecimal with dots between, as ros2 prints them.
func (g GID) String() string {
	const digits = "0123456789abcdef"
	var b [47]byte
	for i, v := range g {
		if i > 0 {
			b[3*i-1] = '.'
		}
		b[3*i], b[3*i+1] = digits[v>>4], digits[v&15]
	}
	return string(b[:])
}

// Hex gives the bytes as 32 lower-case hexadecimal digits.
func (g GID) Hex() string { return hex.EncodeToString(g[:]) }

// IsZero says whether g names nobody.
func (g GID) IsZero() bool { return g == GID{} }

// TokenGID is the GID of the entity that a liveliness token stands for.
func TokenGID(token string) GID {
	h := xxh3.HashString128(token)
	var g GID
	for i := range 8 {
		g[i] = byte(h.Lo >> (8 * i))
		g[8+i] = byte(h.Hi >> (8 * i))
	}
	return g
}
