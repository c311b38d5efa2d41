package gen

import (
	"github.com/tagus-ros/tagus/rosidl"
)

// values writes what works on messages in memory.
func (m *message) values() {
	if m.l.bounds {
		m.check()
	}
	m.reset()
	if m.l.defs {
		m.defaults()
	}
	m.copies()
	m.equal()
	if m.l.slices {
		m.recycle()
	}
}

func (m *message) check() {
	m.p("// Check verifies bounds.")
	m.p("func (%sCDR) Check(m *%s) error {", m.name, m.name)
	for i := range m.fields {
		f := &m.fields[i]
		expr := "m." + f.goName
		if f.Type.Shape == rosidl.Bounded {
			m.p("if n := len(%s); n > %d {\nreturn rosidl.CheckLen(%q, n, %d, \"elements\")\n}", expr, f.Type.Capacity, f.Name, f.Type.Capacity)
		}
		inner := f.Type.StringCapacity > 0 || f.nested != nil && f.nested.bounds
		switch {
		case !inner:
		case f.Type.Shape == rosidl.Single:
			m.checkElement(f, expr, false)
		default:
			m.p("for i := range %s {", expr)
			m.checkElement(f, expr+"[i]", true)
			m.p("}")
		}
	}
	m.p("return nil\n}\n")
}

func (m *message) checkElement(f *field, expr string, indexed bool) {
	if f.nested != nil {
		m.p("if err := (%sCDR{}).Check(&%s); err != nil {", f.elem, expr)
		if indexed {
			m.p("return rosidl.InElement(%q, i, err)\n}", f.Name)
		} else {
			m.p("return rosidl.InField(%q, err)\n}", f.Name)
		}
		return
	}
	length, unit := "len("+expr+")", "bytes"
	if f.Type.ID.IsWide() {
		length, unit = "cdr.WStringLen("+expr+")", "UTF-16 units"
	}
	m.p("if n := %s; n > %d {", length, f.Type.StringCapacity)
	if indexed {
		m.p("return rosidl.CheckLen(rosidl.Element(%q, i), n, %d, %q)\n}", f.Name, f.Type.StringCapacity, unit)
	} else {
		m.p("return rosidl.CheckLen(%q, n, %d, %q)\n}", f.Name, f.Type.StringCapacity, unit)
	}
}

func (m *message) reset() {
	m.p("// Reset sets m to zero, keeping capacity.")
	m.p("func (%sCDR) Reset(m *%s) {", m.name, m.name)
	if !m.l.slices && !m.l.big {
		m.p("*m = %s{}\n}\n", m.name)
		return
	}
	for i := range m.fields {
		m.resetField(&m.fields[i], "Reset")
	}
	m.p("}\n")
}

// resetField writes the part of Reset or Default for one field.
func (m *message) resetField(f *field, verb string) {
	expr := "m." + f.goName
	zero := "0"
	switch {
	case f.Type.ID == rosidl.Bool:
		zero = "false"
	case f.Type.ID.IsString():
		zero = `""`
	}
	switch {
	case f.sequence():
		m.p("%s = %s[:0]", expr, expr)
	case f.nested != nil && f.Type.Shape == rosidl.Single:
		m.p("%sCDR{}.%s(&%s)", f.elem, verb, expr)
	case f.nested != nil:
		m.p("for i := range %s {\n%sCDR{}.%s(&%s[i])\n}", expr, f.elem, verb, expr)
	case f.Type.Shape == rosidl.Single:
		m.p("%s = %s", expr, zero)
	case f.Type.ID.Size()*f.Type.Capacity <= maxCleared:
		m.p("%s = %s{}", expr, f.goType())
	}
}

func (m *message) defaults() {
	m.p("// Default sets m to the default values of its definition.")
	m.p("func (%sCDR) Default(m *%s) {", m.name, m.name)
	for i := range m.fields {
		f := &m.fields[i]
		expr := "m." + f.goName
		switch {
		case f.Default == nil:
			verb := "Reset"
			if f.nested != nil && f.nested.defs {
				verb = "Default"
			}
			m.resetField(f, verb)
		case f.Type.Shape == rosidl.Single:
			m.p("%s = %s", expr, literal(f.Default.Values[0]))
		case f.Type.Shape == rosidl.Array:
			m.p("%s = %s{%s}", expr, f.goType(), list(f.Default.Values))
		case len(f.Default.Values) == 0:
			m.p("%s = %s[:0]", expr, expr)
		default:
			m.p("%s = append(%s[:0], %s)", expr, expr, list(f.Default.Values))
		}
	}
	m.p("}\n")
}

func (m *message) copies() {
	m.p("// Copy makes dst a deep copy of src.")
	m.p("func (%sCDR) Copy(dst, src *%s) {", m.name, m.name)
	if !m.l.slices {
		m.p("*dst = *src\n}\n")
		return
	}
	for i := range m.fields {
		f := &m.fields[i]
		deep := f.nested != nil && f.nested.slices
		switch {
		case f.sequence() && deep:
			m.p("dst.%s = rosidl.Resize(dst.%s, len(src.%s))", f.goName, f.goName, f.goName)
			m.p("for i := range src.%s {\n%sCDR{}.Copy(&dst.%s[i], &src.%s[i])\n}", f.goName, f.elem, f.goName, f.goName)
		case f.sequence():
			m.p("dst.%s = rosidl.CopySlice(dst.%s, src.%s)", f.goName, f.goName, f.goName)
		case deep && f.Type.Shape == rosidl.Array:
			m.p("for i := range src.%s {\n%sCDR{}.Copy(&dst.%s[i], &src.%s[i])\n}", f.goName, f.elem, f.goName, f.goName)
		case deep:
			m.p("%sCDR{}.Copy(&dst.%s, &src.%s)", f.elem, f.goName, f.goName)
		default:
			m.p("dst.%s = src.%s", f.goName, f.goName)
		}
	}
	m.p("}\n")
}

func (m *message) equal() {
	m.p("// Equal compares a and b.")
	m.p("func (%sCDR) Equal(a, b *%s) bool {", m.name, m.name)
	for i := range m.fields {
		f := &m.fields[i]
		a, b := "a."+f.goName, "b."+f.goName
		all := ""
		if f.Type.Shape == rosidl.Array {
			all = "[:]"
		}
		single := f.Type.Shape == rosidl.Single
		switch {
		case f.nested != nil && single:
			m.p("if !(%sCDR{}).Equal(&%s, &%s) {\nreturn false\n}", f.elem, a, b)
		case f.nested != nil:
			if f.sequence() {
				m.p("if len(%s) != len(%s) {\nreturn false\n}", a, b)
			}
			m.p("for i := range %s {\nif !(%sCDR{}).Equal(&%s[i], &%s[i]) {\nreturn false\n}\n}", a, f.elem, a, b)
		case single && f.Type.ID == rosidl.Float32:
			m.p("if !rosidl.EqualFloat32(%s, %s) {\nreturn false\n}", a, b)
		case single && f.Type.ID == rosidl.Float64:
			m.p("if !rosidl.EqualFloat64(%s, %s) {\nreturn false\n}", a, b)
		case single:
			m.p("if %s != %s {\nreturn false\n}", a, b)
		case f.Type.ID.IsString() || f.Type.ID == rosidl.Bool:
			m.p("if !rosidl.EqualPlain(%s%s, %s%s) {\nreturn false\n}", a, all, b, all)
		default:
			m.p("if !rosidl.EqualNumbers(%s%s, %s%s) {\nreturn false\n}", a, all, b, all)
		}
	}
	m.p("return true\n}\n")
}

func (m *message) recycle() {
	m.p("// Recycle resets m with the slices of own.")
	m.p("func (%sCDR) Recycle(m *%s, own *rosidl.Owned) {", m.name, m.name)
	for i := range m.fields {
		f := &m.fields[i]
		deep := f.nested != nil && f.nested.slices
		switch {
		case f.sequence() && deep:
			m.p("rosidl.RecycleMessages(own, &m.%s, func(m *%s, own *rosidl.Owned) { %sCDR{}.Recycle(m, own) })", f.goName, f.elem, f.elem)
		case f.sequence():
			m.p("rosidl.RecycleSlice(own, &m.%s)", f.goName)
		case deep && f.Type.Shape == rosidl.Array:
			m.p("for i := range m.%s {\n%sCDR{}.Recycle(&m.%s[i], own)\n}", f.goName, f.elem, f.goName)
		case deep:
			m.p("%sCDR{}.Recycle(&m.%s, own)", f.elem, f.goName)
		default:
			m.resetField(f, "Reset")
		}
	}
	m.p("}\n")
}
