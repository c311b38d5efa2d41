package dynamic

import (
	"fmt"
	"unicode/utf8"

	"github.com/tagus-ros/tagus/rosidl"
)

// AppendCSV writes all values of the message and of those in it with commas
// between, as "topic echo --csv" does.
func (m *Message) AppendCSV(dst []byte, p Print) []byte {
	for i := range m.values {
		f := &m.typ.Fields[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		n := m.length(i)
		switch {
		case f.Type.Shape == rosidl.Single:
			dst = m.appendCSVElement(dst, i, -1, p)
		case p.NoArrays:
			dst = append(dst, abbreviated(f, n)...)
		default:
			for j := range n {
				if j > 0 {
					dst = append(dst, ',')
				}
				if p.Truncate > 0 && j >= p.Truncate {
					dst = append(dst, "..."...)
					break
				}
				dst = m.appendCSVElement(dst, i, j, p)
			}
		}
	}
	return dst
}

func (m *Message) appendCSVElement(dst []byte, i, j int, p Print) []byte {
	text := func(s string) []byte {
		n := utf8.RuneCountInString(s)
		switch {
		case p.NoStrings:
			return fmt.Appendf(dst, "<string length: <%d>>", n)
		case p.Truncate > 0 && n > p.Truncate:
			return append(append(dst, firstRunes(s, p.Truncate)...), "..."...)
		}
		return append(dst, s...)
	}
	switch ref := m.values[i].ref.(type) {
	case *string:
		return text(*ref)
	case *[]string:
		return text((*ref)[j])
	case *Message:
		return ref.AppendCSV(dst, p)
	case *[]Message:
		return (*ref)[j].AppendCSV(dst, p)
	}
	return m.appendPythonElement(dst, i, j)
}
