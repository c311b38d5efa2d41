package dynamic

import (
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/tagus-ros/tagus/rosidl"
)

// The ROS 2 tools are written in Python; this file writes values as they do.

// appendFloat writes a float as Python's repr does: the shortest text that reads
// back, with a point, and an exponent below 1e-4 and from 1e16.
func appendFloat(dst []byte, x float64) []byte {
	switch {
	case x != x:
		return append(dst, "nan"...)
	case math.IsInf(x, 1):
		return append(dst, "inf"...)
	case math.IsInf(x, -1):
		return append(dst, "-inf"...)
	}
	if a := math.Abs(x); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.AppendFloat(dst, x, 'e', -1, 64)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, x, 'f', -1, 64)
	for _, c := range dst[start:] {
		if c == '.' {
			return dst
		}
	}
	return append(dst, ".0"...)
}

// floatOf is a float32 or float64 from its bits.
func floatOf(id rosidl.TypeID, bits uint64) float64 {
	if id == rosidl.Float32 {
		return float64(math.Float32frombits(uint32(bits)))
	}
	return math.Float64frombits(bits)
}

// appendRepr writes a string as Python's repr does.
func appendRepr(dst []byte, s string) []byte {
	quote := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, "\"") {
		quote = '"'
	}
	dst = append(dst, quote)
	for _, r := range s {
		switch {
		case r == rune(quote) || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case r < 0x20 || r == 0x7f || r >= 0x80 && r <= 0xff && !unicode.IsPrint(r):
			dst = append(dst, `\x`...)
			dst = appendHex(dst, uint32(r), 2)
		case r <= 0xffff && !unicode.IsPrint(r):
			dst = append(dst, `\u`...)
			dst = appendHex(dst, uint32(r), 4)
		case !unicode.IsPrint(r):
			dst = append(dst, `\U`...)
			dst = appendHex(dst, uint32(r), 8)
		default:
			dst = append(dst, string(r)...)
		}
	}
	return append(dst, quote)
}

func appendHex(dst []byte, v uint32, digits int) []byte {
	for shift := 4 * (digits - 1); shift >= 0; shift -= 4 {
		dst = append(dst, "0123456789abcdef"[v>>shift&15])
	}
	return dst
}

// AppendPython writes the message as the representation of its Python object:
// std_msgs.msg.String(data='hi').
func (m *Message) AppendPython(dst []byte) []byte {
	dst = append(dst, strings.ReplaceAll(m.typ.Name, "/", ".")...)
	dst = append(dst, '(')
	for i := range m.values {
		f := &m.typ.Fields[i]
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(dst, f.Name...)
		dst = append(dst, '=')
		if f.Type.Shape == rosidl.Single {
			dst = m.appendPythonElement(dst, i, -1)
			continue
		}
		dst = append(dst, '[')
		for j := range m.length(i) {
			if j > 0 {
				dst = append(dst, ", "...)
			}
			dst = m.appendPythonElement(dst, i, j)
		}
		dst = append(dst, ']')
	}
	return append(dst, ')')
}

// appendPythonElement writes element j of field i, or the single value.
func (m *Message) appendPythonElement(dst []byte, i, j int) []byte {
	f := &m.typ.Fields[i]
	switch ref := m.values[i].ref.(type) {
	case *string:
		return appendRepr(dst, *ref)
	case *Message:
		return ref.AppendPython(dst)
	case *[]string:
		return appendRepr(dst, (*ref)[j])
	case *[]Message:
		return (*ref)[j].AppendPython(dst)
	}
	bits := m.bitsAt(i, j)
	switch f.Type.ID {
	case rosidl.Bool:
		if bits != 0 {
			return append(dst, "True"...)
		}
		return append(dst, "False"...)
	case rosidl.Byte:
		return appendByteRepr(dst, byte(bits))
	case rosidl.Float32, rosidl.Float64:
		return appendFloat(dst, floatOf(f.Type.ID, bits))
	}
	return appendInteger(dst, f.Type.ID, bits)
}

// appendByteRepr writes one byte as Python writes bytes.
func appendByteRepr(dst []byte, b byte) []byte {
	dst = append(dst, 'b')
	if b >= 0x7f {
		dst = append(dst, `'\x`...)
		return append(appendHex(dst, uint32(b), 2), '\'')
	}
	return appendRepr(dst, string(rune(b)))
}

// bitsAt are the bits of element j of field i, or of the single number.
func (m *Message) bitsAt(i, j int) uint64 {
	if j < 0 {
		return m.values[i].bits
	}
	return m.numbers(i).at(m.typ.Fields[i].Type.ID, j)
}

func appendInteger(dst []byte, id rosidl.TypeID, bits uint64) []byte {
	switch id {
	case rosidl.Int8, rosidl.Int16, rosidl.Int32, rosidl.Int64:
		return strconv.AppendInt(dst, int64(bits), 10)
	}
	return strconv.AppendUint(dst, bits, 10)
}
