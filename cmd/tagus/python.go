package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/tagus-ros/tagus/rosidl"
	"github.com/tagus-ros/tagus/rosidl/dynamic"
)

// Single values, as against messages, are shown by the ros2 command line as Python prints them; this file does so.

// pythonText is str() of the value of a field. Fixed arrays of numbers are printed as lists.
func pythonText(f *dynamic.Field, list bool, v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	if !list {
		return pythonRepr(f, v)
	}
	r := reflect.ValueOf(v)
	parts := make([]string, r.Len())
	for i := range parts {
		parts[i] = pythonRepr(f, r.Index(i).Interface())
	}
	text := "[" + strings.Join(parts, ", ") + "]"
	if code := arrayCodes[f.Type.ID]; code != "" && f.Type.Shape != rosidl.Array {
		if len(parts) == 0 {
			return "array('" + code + "')"
		}
		return "array('" + code + "', " + text + ")"
	}
	return text
}

// arrayCodes are the letters by which Python tells arrays of numbers apart.
var arrayCodes = map[rosidl.TypeID]string{
	rosidl.Int8: "b", rosidl.Uint8: "B", rosidl.Int16: "h", rosidl.Uint16: "H", rosidl.Int32: "i", rosidl.Uint32: "I", rosidl.Int64: "q",
	rosidl.Uint64: "Q", rosidl.Float32: "f", rosidl.Float64: "d",
}

// pythonRepr is repr() of one value.
func pythonRepr(f *dynamic.Field, v any) string {
	switch v := v.(type) {
	case *dynamic.Message:
		return string(v.AppendPython(nil))
	case bool:
		if v {
			return "True"
		}
		return "False"
	case string:
		return pythonQuoted(v)
	case float32:
		return pythonFloat(float64(v))
	case float64:
		return pythonFloat(v)
	case uint8:
		if f.Type.ID == rosidl.Byte {
			return pythonBytes([]byte{v})
		}
	}
	return fmt.Sprint(v)
}

func pythonFloat(x float64) string {
	switch {
	case x != x:
		return "nan"
	case math.IsInf(x, 0):
		return strings.Replace(strings.ToLower(strconv.FormatFloat(x, 'g', -1, 64)), "+", "", 1)
	}
	if a := math.Abs(x); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(x, 'e', -1, 64)
	}
	s := strconv.FormatFloat(x, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// pythonQuoted is repr() of a text.
func pythonQuoted(s string) string {
	q := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, "\"") {
		q = '"'
	}
	var b strings.Builder
	b.WriteRune(q)
	for _, r := range s {
		switch {
		case r == q || r == '\\':
			b.WriteString("\\" + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case strconv.IsPrint(r):
			b.WriteRune(r)
		case r <= 0xff:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteRune(q)
	return b.String()
}

// pythonBytes is repr() of bytes.
func pythonBytes(p []byte) string {
	q := byte('\'')
	if s := string(p); strings.Contains(s, "'") && !strings.Contains(s, "\"") {
		q = '"'
	}
	b := make([]byte, 0, 4*len(p)+3)
	b = append(b, 'b', q)
	for _, c := range p {
		switch {
		case c == q || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c < 0x20 || c > 0x7e:
			b = fmt.Appendf(b, `\x%02x`, c)
		default:
			b = append(b, c)
		}
	}
	return string(append(b, q))
}

// jsonValue is the value of a field as JSON, as dynamic writes it within a message.
func jsonValue(v any) []byte {
	switch v := v.(type) {
	case *dynamic.Message:
		return v.AppendJSON(nil)
	case bool:
		return strconv.AppendBool(nil, v)
	case string:
		return jsonText(v)
	case float32:
		return jsonFloat(float64(v), 32)
	case float64:
		return jsonFloat(v, 64)
	}
	r := reflect.ValueOf(v)
	if r.Kind() != reflect.Slice {
		return fmt.Append(nil, v)
	}
	b := []byte{'['}
	for i := range r.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, jsonValue(r.Index(i).Interface())...)
	}
	return append(b, ']')
}

// jsonFloat gives texts for what JSON has no number for.
func jsonFloat(x float64, bits int) []byte {
	switch {
	case x != x:
		return []byte(`"NaN"`)
	case math.IsInf(x, 1):
		return []byte(`"Infinity"`)
	case math.IsInf(x, -1):
		return []byte(`"-Infinity"`)
	}
	if a := math.Abs(x); a != 0 && (a < 1e-6 || a >= 1e21) {
		return strconv.AppendFloat(nil, x, 'e', -1, bits)
	}
	return strconv.AppendFloat(nil, x, 'f', -1, bits)
}

func jsonText(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // texts can always be encoded
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
