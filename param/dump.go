package param

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
)

// Dump writes the parameters of a node as "ros2 param dump" does: a parameter file, sorted by name, dots in names made nesting. It is read
// back by ParseFile with the same values, but for parameters that are not set (null) and the types of empty lists. Texts that only rcl's
// reader would take for something else (y, 1e3, inf) are quoted too, where ros2 does not.
func Dump(node string, parameters []Parameter) []byte {
	root := &branch{}
	for _, p := range parameters {
		root.add(p)
	}
	var e emitter
	e.key(node, 0)
	e.endLine()
	e.key(parametersKey, 1)
	if len(root.children) == 0 {
		e.put(" {}")
	}
	e.endLine()
	e.branches(root, 2)
	return []byte(e.b.String())
}

// branch is a level of the nesting.
type branch struct {
	name     string
	children []*branch
	leaf     bool
	value    Value
}

// add places a parameter. A name that has empty parts, or lies below the name of another parameter, stays in one piece.
func (b *branch) add(p Parameter) {
	parts := strings.Split(p.Name, Separator)
	if slices.Contains(parts, "") {
		parts = []string{p.Name}
	}
	for len(parts) > 1 {
		next := b.child(parts[0])
		if next != nil && next.leaf {
			break
		}
		if next == nil {
			next = &branch{name: parts[0]}
			b.children = append(b.children, next)
		}
		b, parts = next, parts[1:]
	}
	name := strings.Join(parts, Separator)
	if below := b.child(name); below != nil { // others lie below it: they come up to its side
		b.children = slices.DeleteFunc(b.children, func(c *branch) bool { return c == below })
		b.lift(below, name+Separator)
	}
	b.children = append(b.children, &branch{name: name, leaf: true, value: p.Value})
}

// lift takes over all leaves below another branch, with their names in one piece.
func (b *branch) lift(other *branch, prefix string) {
	for _, c := range other.children {
		if c.leaf {
			c.name = prefix + c.name
			b.children = append(b.children, c)
			continue
		}
		b.lift(c, prefix+c.name+Separator)
	}
}

func (b *branch) child(name string) *branch {
	for _, c := range b.children {
		if c.name == name {
			return c
		}
	}
	return nil
}

func (e *emitter) branches(b *branch, level int) {
	slices.SortStableFunc(b.children, func(x, y *branch) int { return strings.Compare(x.name, y.name) })
	for _, c := range b.children {
		e.key(c.name, level)
		if c.leaf {
			e.value(c.value)
			continue
		}
		e.endLine()
		e.branches(c, level+1)
	}
}

// key begins a line with a name and a colon.
func (e *emitter) key(name string, level int) {
	e.indent = 2 * level
	e.pad()
	e.scalar(name, e.indent, false)
	e.put(":")
}

// value writes what follows a key.
func (e *emitter) value(v Value) {
	if !v.typ.Array() || v.Len() == 0 {
		e.single(v)
		return
	}
	e.endLine()
	for _, item := range v.items() {
		e.pad()
		e.put("-")
		e.single(item)
	}
}

// single writes a space, a value that is no list with elements (but a single byte), and the line end.
func (e *emitter) single(v Value) {
	e.put(" ")
	switch {
	case v.typ == NotSet:
		e.put("null")
	case v.typ == Bool:
		e.put(strconv.FormatBool(v.bool()))
	case v.typ == Integer:
		e.put(strconv.FormatInt(v.int(), 10))
	case v.typ == Double:
		e.put(yamlDouble(v.double()))
	case v.typ == String:
		e.scalar(v.text, e.indent+2, true)
	case v.typ == ByteArray && v.Len() > 0:
		e.put("!!binary |")
		e.fold(e.indent + 2)
		e.put(base64.StdEncoding.EncodeToString(v.list.([]byte)))
	default:
		e.put("[]")
	}
	e.endLine()
}

// items gives the elements of a list; bytes one by one.
func (v Value) items() []Value {
	switch list := v.list.(type) {
	case []byte:
		return eachOf(list, func(b byte) Value { return Value{typ: ByteArray, list: []byte{b}} })
	case []bool:
		return eachOf(list, boolValue)
	case []int64:
		return eachOf(list, intValue)
	case []float64:
		return eachOf(list, doubleValue)
	case []string:
		return eachOf(list, textValue)
	}
	return nil
}

func eachOf[E any](list []E, of func(E) Value) []Value {
	out := make([]Value, len(list))
	for i, e := range list {
		out[i] = of(e)
	}
	return out
}

// yamlDouble is Python's form with a dot, without which YAML 1.1 sees no number.
func yamlDouble(f float64) string {
	s := pythonDouble(f)
	switch s {
	case "inf", "nan":
		return "." + s
	case "-inf":
		return "-.inf"
	}
	if !strings.Contains(s, ".") {
		s = strings.Replace(s, "e", ".0e", 1)
	}
	return s
}
