package param

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// String gives the value as "ros2 param get --hide-type" prints it, which is as Python writes it: True, 1.5, text, [1, 2], ['a', 'b'], None
// where there is none.
func (v Value) String() string {
	switch v.typ {
	case NotSet:
		return "None"
	case Bool:
		return pythonBool(v.bool())
	case Integer:
		return strconv.FormatInt(v.int(), 10)
	case Double:
		return pythonDouble(v.double())
	case String:
		return v.text
	case ByteArray:
		return pythonList(v.list.([]byte), pythonByte)
	case BoolArray:
		return pythonList(v.list.([]bool), pythonBool)
	case IntegerArray:
		return pythonList(v.list.([]int64), func(n int64) string { return strconv.FormatInt(n, 10) })
	case DoubleArray:
		return pythonList(v.list.([]float64), pythonDouble)
	case StringArray:
		return pythonList(v.list.([]string), pythonText)
	}
	return v.typ.String()
}

// Sentence gives the value as "ros2 param get" prints it: "Integer value is: 5", "String values are: ['a', 'b']", "Parameter not set.".
func (v Value) Sentence() string {
	if !v.IsSet() {
		return "Parameter not set."
	}
	label := [...]string{Bool: "Boolean value is:", Integer: "Integer value is:", Double: "Double value is:", String: "String value is:",
		ByteArray: "Byte values are:", BoolArray: "Boolean values are:", IntegerArray: "Integer values are:", DoubleArray: "Double values are:",
		StringArray: "String values are:"}[v.typ]
	return label + " " + v.String()
}

func pythonList[E any](list []E, text func(E) string) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, e := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(text(e))
	}
	b.WriteByte(']')
	return b.String()
}

func pythonBool(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

// pythonByte writes a byte as Python does the element of a list of bytes: b'\x01', b'A'.
func pythonByte(b byte) string {
	switch {
	case b == '\'':
		return `b"'"`
	case b == '\\':
		return `b'\\'`
	case b == '\t':
		return `b'\t'`
	case b == '\n':
		return `b'\n'`
	case b == '\r':
		return `b'\r'`
	case b >= ' ' && b <= '~':
		return "b'" + string(rune(b)) + "'"
	}
	return fmt.Sprintf(`b'\x%02x'`, b)
}

// pythonDouble writes the fewest digits that read back as the same number, with an exponent outside 1e-4 to 1e16.
func pythonDouble(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// pythonText quotes a text as Python does: with double quotes only if it has single ones and no double ones.
func pythonText(s string) string {
	quote := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	var b strings.Builder
	b.WriteRune(quote)
	for _, c := range s {
		switch {
		case c == quote || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\t':
			b.WriteString(`\t`)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case unicode.IsPrint(c):
			b.WriteRune(c)
		case c <= 0xff:
			fmt.Fprintf(&b, `\x%02x`, c)
		case c <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			fmt.Fprintf(&b, `\U%08x`, c)
		}
	}
	b.WriteRune(quote)
	return b.String()
}
