package dynamic

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tagus-ros/tagus/rosidl"
)

// Print says how to print a message. The zero value prints all of it.
type Print struct {
	Truncate  int  // most elements of a list and characters of a text; 0: no limit
	NoArrays  bool // only the type and length of lists
	NoStrings bool // only the length of texts
	Flow      bool // on one line
}

// Echo is how "topic echo" prints if not told otherwise.
var Echo = Print{Truncate: 128}

// AppendYAML writes the message as the ROS 2 tools print it: YAML, fields in the
// order of the definition, ending in a new line.
func (m *Message) AppendYAML(dst []byte, p Print) []byte {
	w := yamlWriter{dst: dst, p: p}
	if p.Flow || len(m.values) == 0 {
		w.flowMessage(m, 2)
		w.dst = append(w.dst, '\n')
	} else {
		w.block(m, 0, false)
	}
	return w.dst
}

type yamlWriter struct {
	dst []byte
	p   Print
}

func (w *yamlWriter) write(s string) { w.dst = append(w.dst, s...) }

func (w *yamlWriter) indent(n int) {
	for range n {
		w.dst = append(w.dst, ' ')
	}
}

// block writes a message that has fields, each on lines of its own. If
// continued, the first one follows what the line begins with.
func (w *yamlWriter) block(m *Message, indent int, continued bool) {
	for i := range m.values {
		if i > 0 || !continued {
			w.indent(indent)
		}
		f := &m.typ.Fields[i]
		w.write(f.Name + ":")
		if f.Type.Shape != rosidl.Single {
			w.list(m, i, indent)
			continue
		}
		if nested, ok := m.values[i].ref.(*Message); ok && len(nested.values) > 0 {
			w.write("\n")
			w.block(nested, indent+2, false)
			continue
		}
		w.write(" ")
		w.element(m, i, -1, indent+2)
		w.write("\n")
	}
}

// list writes what follows the name of a list.
func (w *yamlWriter) list(m *Message, i, indent int) {
	n := m.length(i)
	switch {
	case w.p.NoArrays:
		w.write(" ")
		w.text(abbreviated(&m.typ.Fields[i], n), indent+2)
		w.write("\n")
		return
	case n == 0:
		w.write(" []\n")
		return
	}
	w.write("\n")
	for j := range w.shown(n) {
		w.indent(indent)
		w.write("- ")
		if list, ok := m.values[i].ref.(*[]Message); ok && len((*list)[j].values) > 0 {
			w.block(&(*list)[j], indent+2, true)
			continue
		}
		w.element(m, i, j, indent+2)
		w.write("\n")
	}
	if w.shown(n) < n {
		w.indent(indent)
		w.write("- '...'\n")
	}
}

// shown is how many of n elements are printed.
func (w *yamlWriter) shown(n int) int {
	if w.p.Truncate > 0 {
		return min(n, w.p.Truncate)
	}
	return n
}

// flowMessage writes a message on one line; lines of a text begin further in.
func (w *yamlWriter) flowMessage(m *Message, indent int) {
	w.write("{")
	for i := range m.values {
		if i > 0 {
			w.write(", ")
		}
		f := &m.typ.Fields[i]
		w.write(f.Name + ": ")
		n := m.length(i)
		switch {
		case f.Type.Shape == rosidl.Single:
			w.element(m, i, -1, indent+2)
		case w.p.NoArrays:
			w.text(abbreviated(f, n), indent+2)
		default:
			w.write("[")
			for j := range w.shown(n) {
				if j > 0 {
					w.write(", ")
				}
				w.element(m, i, j, indent+4)
			}
			if w.shown(n) < n {
				w.write(", '...'")
			}
			w.write("]")
		}
	}
	w.write("}")
}

// element writes element j of field i, or the single value. Messages are written
// on one line.
func (w *yamlWriter) element(m *Message, i, j, indent int) {
	switch ref := m.values[i].ref.(type) {
	case *string:
		w.string(*ref, indent)
	case *Message:
		w.flowMessage(ref, indent)
	case *[]string:
		w.string((*ref)[j], indent)
	case *[]Message:
		w.flowMessage(&(*ref)[j], indent)
	default:
		w.number(m.typ.Fields[i].Type.ID, m.bitsAt(i, j), indent)
	}
}

// string writes a text field, shortened as asked for.
func (w *yamlWriter) string(s string, indent int) {
	n := utf8.RuneCountInString(s)
	switch {
	case w.p.NoStrings:
		s = fmt.Sprintf("<string length: <%d>>", n)
	case w.p.Truncate > 0 && n > w.p.Truncate:
		s = firstRunes(s, w.p.Truncate) + "..."
	}
	w.text(s, indent)
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

func (w *yamlWriter) number(id rosidl.TypeID, bits uint64, indent int) {
	switch id {
	case rosidl.Bool:
		if bits != 0 {
			w.write("true")
		} else {
			w.write("false")
		}
	case rosidl.Byte: // a text of one character, as Python has it
		w.text(string(rune(bits)), indent)
	case rosidl.Float32, rosidl.Float64:
		start := len(w.dst)
		w.dst = appendFloat(w.dst, floatOf(id, bits))
		switch s := string(w.dst[start:]); {
		case s == "nan" || s == "inf":
			w.dst = append(w.dst[:start], "."+s...)
		case s == "-inf":
			w.dst = append(w.dst[:start], "-.inf"...)
		case !strings.Contains(s, ".") && strings.Contains(s, "e"):
			w.dst = append(w.dst[:start], strings.Replace(s, "e", ".0e", 1)...)
		}
	default:
		w.dst = appendInteger(w.dst, id, bits)
	}
}

// abbreviated stands for a list whose elements are not printed.
func abbreviated(f *Field, n int) string {
	name := idlNames[f.Type.ID]
	if f.Nested != nil {
		name = f.Nested.Name
	}
	switch f.Type.Shape {
	case rosidl.Array:
		return fmt.Sprintf("<array type: %s[%d]>", name, f.Type.Capacity)
	case rosidl.Bounded:
		return fmt.Sprintf("<sequence type: %s[%d], length: %d>", name, f.Type.Capacity, n)
	}
	return fmt.Sprintf("<sequence type: %s, length: %d>", name, n)
}

// idlNames are the names of base types outside of .msg files.
var idlNames = map[rosidl.TypeID]string{
	rosidl.Int8: "int8", rosidl.Uint8: "uint8", rosidl.Int16: "int16", rosidl.Uint16: "uint16",
	rosidl.Int32: "int32", rosidl.Uint32: "uint32", rosidl.Int64: "int64", rosidl.Uint64: "uint64",
	rosidl.Float32: "float", rosidl.Float64: "double", rosidl.Bool: "boolean", rosidl.Byte: "octet",
	rosidl.String: "string", rosidl.BoundedString: "string", rosidl.WString: "wstring", rosidl.BoundedWString: "wstring",
}
