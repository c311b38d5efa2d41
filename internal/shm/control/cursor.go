package control

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"
)

// MaxText is the longest text in a message or an announcement, in bytes.
const MaxText = 1024

var le = binary.LittleEndian

// cursor reads fields from bytes that are not trusted. After the first error
// it returns zeros.
type cursor struct {
	s    string // all bytes; texts are parts of it
	at   int    // offset of the next field
	end  int    // offset that fields must not pass
	what string
	err  error
}

func (c *cursor) fail(at int, format string, args ...any) {
	if c.err == nil {
		c.err = &ParseError{What: c.what, At: at, Why: fmt.Sprintf(format, args...)}
	}
}

// take returns the next n bytes, or "" if there are fewer.
func (c *cursor) take(n int) string {
	if c.err != nil {
		return ""
	}
	if n > c.end-c.at {
		c.fail(c.at, "%d bytes are wanted, %d are left", n, c.end-c.at)
		return ""
	}
	s := c.s[c.at : c.at+n]
	c.at += n
	return s
}

func (c *cursor) u8() uint8 {
	if s := c.take(1); s != "" {
		return s[0]
	}
	return 0
}

func (c *cursor) u16() uint16 { return uint16(c.number(2)) }
func (c *cursor) u32() uint32 { return uint32(c.number(4)) }
func (c *cursor) u64() uint64 { return c.number(8) }
func (c *cursor) i64() int64  { return int64(c.number(8)) }

func (c *cursor) number(n int) (v uint64) {
	s := c.take(n)
	for i := len(s) - 1; i >= 0; i-- {
		v = v<<8 | uint64(s[i])
	}
	return v
}

func (c *cursor) bytes16() (b [16]byte) {
	copy(b[:], c.take(16))
	return b
}

// skip passes over reserved bytes, which may hold anything.
func (c *cursor) skip(n int) { c.take(n) }

// text reads a text: its length as u16, then UTF-8.
func (c *cursor) text(name string) string {
	at := c.at
	n := int(c.u16())
	if c.err == nil && n > MaxText {
		c.fail(at, "%s has %d bytes, MaxText is %d", name, n, MaxText)
	}
	s := c.take(n)
	if c.err == nil && !utf8.ValidString(s) {
		c.fail(at+2, "%s is not UTF-8", name)
	}
	return s
}

// name is a text of an entity: not empty and without control characters.
func (c *cursor) name(what string) string {
	at := c.at
	s := c.text(what)
	if c.err != nil {
		return ""
	}
	if why := nameFlaw(s); why != "" {
		c.fail(at, "%s %s", what, why)
	}
	return s
}

func nameFlaw(s string) string {
	if s == "" {
		return "is empty"
	}
	for i := range len(s) {
		if s[i] < 0x20 || s[i] == 0x7f {
			return fmt.Sprintf("has the control character %#02x", s[i])
		}
	}
	return ""
}

// appendText is for texts that are known to be short enough.
func appendText(b []byte, s string) []byte {
	return append(le.AppendUint16(b, uint16(len(s))), s...)
}
