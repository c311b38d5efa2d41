package gen

import (
	"strings"

	"github.com/tagus-ros/tagus/rosidl"
)

// methods of cdr.Encoder and cdr.Decoder by base type
var codecMethod = map[rosidl.TypeID]string{
	rosidl.Int8: "Int8", rosidl.Uint8: "Uint8", rosidl.Int16: "Int16", rosidl.Uint16: "Uint16",
	rosidl.Int32: "Int32", rosidl.Uint32: "Uint32", rosidl.Int64: "Int64", rosidl.Uint64: "Uint64",
	rosidl.Float32: "Float32", rosidl.Float64: "Float64", rosidl.Bool: "Bool", rosidl.Byte: "Uint8",
	rosidl.String: "String", rosidl.BoundedString: "String", rosidl.WString: "WString", rosidl.BoundedWString: "WString",
}

// sizes writes Size, which adds up constants as far as alignment is known.
func (m *message) sizes() {
	m.p("// Size is the end of the encoding of m that starts at off.")
	m.p("func (%sCDR) Size(off int, m *%s) int {", m.name, m.name)
	s := &sizer{message: m, known: 1}
	for i := range m.fields {
		s.field(&m.fields[i])
	}
	if len(m.fields) == 0 {
		s.pending = 1
	}
	s.flush()
	m.p("return off\n}\n")
}

// sizer keeps what is known of the offset: it is a multiple of known plus rest,
// after pending more bytes.
type sizer struct {
	*message
	known, rest, pending int
}

func (s *sizer) flush() {
	if s.pending > 0 {
		s.p("off += %d", s.pending)
		s.pending = 0
	}
}

func (s *sizer) unknown() { s.known, s.rest = 1, 0 }

// add accounts for n bytes at a multiple of align.
func (s *sizer) add(align, n int) {
	if s.known%align == 0 {
		gap := (align - s.rest%align) % align
		s.pending += gap + n
		s.rest = (s.rest + gap + n) % s.known
		return
	}
	s.flush()
	s.p("off = cdr.Align(off, %d)", align)
	s.known, s.rest, s.pending = align, n%align, n
}

func (s *sizer) field(f *field) {
	expr := "m." + f.goName
	switch {
	case f.sequence() && (f.Type.ID.Size() > 0 || s.g.aliasable(f.Type)):
		size, align := f.Type.ID.Size(), f.Type.ID.Size()
		if f.nested != nil {
			size, align = f.nested.size, f.nested.align
		}
		s.flush()
		s.p("off = cdr.SliceSize(off, len(%s), %d, %d)", expr, size, align)
		s.unknown()
	case f.sequence() || f.Type.Shape == rosidl.Array && f.Type.ID.Size() == 0:
		if f.sequence() {
			s.add(4, 4)
		}
		s.flush()
		s.p("for i := range %s {", expr)
		s.element(f, expr+"[i]")
		s.p("}")
		s.unknown()
	case f.Type.ID.Size() > 0:
		n := 1
		if f.Type.Shape == rosidl.Array {
			n = f.Type.Capacity
		}
		s.add(f.Type.ID.Size(), n*f.Type.ID.Size())
	default:
		s.flush()
		s.element(f, expr)
		s.unknown()
	}
}

// element adds a string or a message.
func (s *sizer) element(f *field, expr string) {
	switch {
	case f.nested != nil:
		s.p("off = %sCDR{}.Size(off, &%s)", f.elem, expr)
	case f.Type.ID.IsWide():
		s.p("off = cdr.WStringSize(off, %s)", expr)
	default:
		s.p("off = cdr.StringSize(off, %s)", expr)
	}
}

// encoders writes Encode, and Place and Placed where they make sense.
func (m *message) encoders() {
	m.p("// Encode writes m.")
	m.p("func (%sCDR) Encode(e *cdr.Encoder, m *%s) {", m.name, m.name)
	if m.l.flat {
		m.std("unsafe", "unsafe")
		m.p("if cdr.HostFlat && e.StartsAt(%d, %d) {", m.l.first, m.l.align)
		if len(m.l.pads) == 0 {
			m.p("e.Raw(unsafe.Pointer(m), %d)", m.l.size)
		} else {
			m.p("if b := e.Raw(unsafe.Pointer(m), %d); b != nil {", m.l.size)
			for _, p := range m.l.pads {
				m.p("clear(b[%d:%d])", p[0], p[1])
			}
			m.p("}")
		}
		m.p("return\n}")
	}
	for i := range m.fields {
		m.encodeField(&m.fields[i])
	}
	if len(m.fields) == 0 {
		m.p("e.Uint8(0)")
	}
	m.p("}\n")
	if !m.placeable() {
		return
	}
	m.p("// Place writes m but for the elements of its sequences of numbers, which it points to their place.")
	m.p("func (%sCDR) Place(e *cdr.Encoder, m *%s) {", m.name, m.name)
	for i := range m.fields {
		if f := &m.fields[i]; m.g.aliasable(f.Type) {
			m.p("cdr.PlaceSlice(e, &m.%s, %d)", f.goName, f.alignment())
		} else {
			m.encodeField(f)
		}
	}
	m.p("}\n")
	m.p("// Placed tells whether what Place pointed into body is still at its place.")
	m.p("func (%sCDR) Placed(m *%s, body []byte) bool {\noff := 0", m.name, m.name)
	s := &sizer{message: m, known: 8}
	for i := range m.fields {
		if f := &m.fields[i]; m.g.aliasable(f.Type) {
			s.flush()
			m.p("if !cdr.SlicePlaced(body, &off, m.%s, %d) {\nreturn false\n}", f.goName, f.alignment())
			s.unknown()
		} else {
			s.field(f)
		}
	}
	s.flush()
	m.p("return off <= len(body)\n}\n")
}

// alignment is that of the elements of an aliasable sequence.
func (f *field) alignment() int {
	if f.nested != nil {
		return f.nested.align
	}
	return f.Type.ID.Size()
}

func (m *message) encodeField(f *field) {
	expr := "m." + f.goName
	all := expr
	if f.Type.Shape == rosidl.Array {
		all += "[:]"
	}
	switch {
	case f.Type.Shape == rosidl.Single:
		m.encodeElement(f, expr)
	case f.Type.ID == rosidl.Bool:
		if f.sequence() {
			m.p("e.Count(len(%s))", expr)
		}
		m.p("cdr.EncodeBools(e, %s)", all)
	case f.Type.ID.Size() > 0 && f.sequence():
		m.p("cdr.EncodeSlice(e, %s)", expr)
	case f.Type.ID.Size() > 0:
		m.p("cdr.EncodeArray(e, %s)", all)
	default:
		flat := f.sequence() && m.g.aliasable(f.Type)
		if flat {
			m.p("if cdr.HostFlat {\ncdr.EncodeFlat(e, %s)\n} else {", expr)
		}
		if f.sequence() {
			m.p("e.Count(len(%s))", expr)
		}
		m.p("for i := range %s {", expr)
		m.encodeElement(f, expr+"[i]")
		m.p("}")
		if flat {
			m.p("}")
		}
	}
}

func (m *message) encodeElement(f *field, expr string) {
	if f.nested != nil {
		m.p("%sCDR{}.Encode(e, &%s)", f.elem, expr)
		return
	}
	m.p("e.%s(%s)", codecMethod[f.Type.ID], expr)
}

// decoders writes Decode, and Alias and Unalias where they make sense.
func (m *message) decoders() {
	m.p("// Decode reads m, using again what it has.")
	m.p("func (%sCDR) Decode(d *cdr.Decoder, m *%s) {", m.name, m.name)
	if m.l.flat {
		m.p("if d.Plain() && d.StartsAt(%d, %d) {\nd.Raw(unsafe.Pointer(m), %d)\nreturn\n}", m.l.first, m.l.align, m.l.size)
	}
	for i := range m.fields {
		m.decodeField(&m.fields[i], false)
	}
	if len(m.fields) == 0 {
		m.p("d.Uint8()")
	}
	m.p("}\n")
	if !m.l.aliases {
		return
	}
	m.p("// Alias reads m with sequences of numbers pointing into the payload.")
	m.p("func (%sCDR) Alias(d *cdr.Decoder, m *%s) {", m.name, m.name)
	for i := range m.fields {
		m.decodeField(&m.fields[i], true)
	}
	m.p("}\n")
	m.p("// Unalias lets go of the payload.")
	m.p("func (%sCDR) Unalias(m *%s) {", m.name, m.name)
	for i := range m.fields {
		f := &m.fields[i]
		switch {
		case m.g.aliasable(f.Type):
			m.p("m.%s = nil", f.goName)
		case f.nested == nil || !f.nested.aliases:
		case f.Type.Shape == rosidl.Single:
			m.p("%sCDR{}.Unalias(&m.%s)", f.elem, f.goName)
		default:
			m.p("for i := range m.%s {\n%sCDR{}.Unalias(&m.%s[i])\n}", f.goName, f.elem, f.goName)
		}
	}
	m.p("}\n")
}

func (m *message) decodeField(f *field, alias bool) {
	expr := "m." + f.goName
	switch {
	case f.Type.Shape == rosidl.Single:
		m.decodeElement(f, expr, alias)
	case f.Type.Shape == rosidl.Array && f.Type.ID == rosidl.Bool:
		m.p("cdr.DecodeBools(d, %s[:])", expr)
	case f.Type.Shape == rosidl.Array && f.Type.ID.Size() > 0:
		m.p("cdr.DecodeArray(d, %s[:])", expr)
	case f.Type.Shape == rosidl.Array:
		m.p("for i := range %s {", expr)
		m.decodeElement(f, expr+"[i]", alias)
		m.p("}")
	case f.Type.ID == rosidl.Bool:
		m.p("%s = rosidl.Resize(%s, d.Count(1, %d))\ncdr.DecodeBools(d, %s)", expr, expr, f.bound(), expr)
	case f.Type.ID.Size() > 0:
		verb := "Decode"
		if alias {
			verb = "Alias"
		}
		m.p("cdr.%sSlice(d, &%s, %d)", verb, expr, f.bound())
	default:
		m.decodeSequence(f, expr, alias)
	}
}

// decodeSequence reads strings or messages one by one, or flat messages at once.
func (m *message) decodeSequence(f *field, expr string, alias bool) {
	flat := m.g.aliasable(f.Type)
	verb := "Decode"
	if alias {
		verb = "Alias"
	}
	if flat {
		m.p("if d.Plain() {\ncdr.%sFlat(d, &%s, %d)\n} else {", verb, expr, f.bound())
	} else {
		m.p("{")
	}
	least := 4
	if f.nested != nil {
		least = f.nested.min
	}
	m.p("n := d.Count(%d, %d)", least, f.bound())
	if flat && alias {
		m.p("s := []%s(nil)", f.elem)
	} else {
		m.p("s := %s[:0]", expr)
	}
	m.p("for i := 0; i < n && !d.Failed(); i++ {\nif i == len(s) {\ns = cdr.Grow(d, s, n)\n}")
	m.decodeElement(f, "s[i]", alias)
	m.p("}\n%s = s\n}", expr)
}

func (m *message) decodeElement(f *field, expr string, alias bool) {
	switch {
	case f.nested != nil && alias && f.nested.aliases:
		m.p("%sCDR{}.Alias(d, &%s)", f.elem, expr)
	case f.nested != nil:
		m.p("%sCDR{}.Decode(d, &%s)", f.elem, expr)
	case f.Type.ID.IsString():
		m.p("d.%s(&%s, %d)", codecMethod[f.Type.ID], expr, f.textBound())
	default:
		m.p("%s = d.%s()", expr, codecMethod[f.Type.ID])
	}
}

// list joins Go literals.
func list(values []rosidl.Value) string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = literal(v)
	}
	return strings.Join(out, ", ")
}
