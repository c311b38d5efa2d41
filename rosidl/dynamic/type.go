package dynamic

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tagus-ros/tagus/rosidl"
)

// Type is a message type made from its description.
type Type struct {
	Name   string // "std_msgs/msg/String"
	Fields []Field

	desc  *rosidl.TypeDescription
	index map[string]int
	min   uint64 // least bytes of an encoding, without padding
	empty bool   // a message without fields is encoded as one byte
}

// Field of a type.
type Field struct {
	Name    string
	Type    rosidl.FieldType
	Nested  *Type          // of a nested message
	Default []rosidl.Value // nil if there is none
}

const (
	// maxDepth is how deep messages may be nested.
	maxDepth = 32
	// maxFixed is how many bytes the arrays of a message may take at least.
	maxFixed = 1 << 30
	// dummyField stands for the fields of a message that has none.
	dummyField = "structure_needs_at_least_one_member"
)

// NewType checks a description and makes a type of it. Descriptions may come
// from anywhere: what cannot be handled is an error.
func NewType(d *rosidl.TypeDescription) (*Type, error) {
	b := &builder{desc: d, made: map[string]*Type{}, sources: map[string]*rosidl.IndividualType{}}
	for i := range d.Referenced {
		b.sources[d.Referenced[i].Name] = &d.Referenced[i]
	}
	t, err := b.build(&d.Type, 1)
	if err != nil {
		return nil, fmt.Errorf("dynamic: type %q: %w", d.Type.Name, err)
	}
	if t.min > maxFixed {
		return nil, fmt.Errorf("dynamic: type %q: a message has at least %d bytes, the limit is %d", t.Name, t.min, maxFixed)
	}
	return t, nil
}

// ParseType makes a type of a definition with dependencies, as recordings hold
// it (see [rosidl.ParseDefinition]).
func ParseType(name, definition string) (*Type, error) {
	set, err := rosidl.ParseDefinition(name, definition)
	if err != nil {
		return nil, err
	}
	d, err := set.Describe(name)
	if err != nil {
		return nil, err
	}
	return NewType(d)
}

// Description is what the type was made from.
func (t *Type) Description() *rosidl.TypeDescription { return t.desc }

// FieldIndex is the index of the field of that name, or -1.
func (t *Type) FieldIndex(name string) int {
	if i, ok := t.index[name]; ok {
		return i
	}
	return -1
}

// builder makes types, each once.
type builder struct {
	desc    *rosidl.TypeDescription
	sources map[string]*rosidl.IndividualType
	made    map[string]*Type // nil while it is being made
}

func (b *builder) build(src *rosidl.IndividualType, depth int) (*Type, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("messages are nested more than %d deep", maxDepth)
	}
	if _, _, _, err := rosidl.SplitName(src.Name); err != nil {
		return nil, err
	}
	t := &Type{Name: src.Name, desc: b.desc, index: map[string]int{}}
	b.made[src.Name] = nil
	if len(src.Fields) == 1 && src.Fields[0].Name == dummyField || len(src.Fields) == 0 {
		t.empty, t.min = true, 1
		b.made[src.Name] = t
		return t, nil
	}
	for i, f := range src.Fields {
		field, min, err := b.field(f, depth)
		if err != nil {
			return nil, fmt.Errorf("field %q of %s: %w", f.Name, src.Name, err)
		}
		if _, twice := t.index[f.Name]; twice || f.Name == "" {
			return nil, fmt.Errorf("%s has two fields %q", src.Name, f.Name)
		}
		t.index[f.Name] = i
		t.Fields = append(t.Fields, field)
		t.min = saturate(t.min, min)
	}
	b.made[src.Name] = t
	return t, nil
}

func (b *builder) field(f rosidl.DescribedField, depth int) (Field, uint64, error) {
	typ, err := rosidl.ParseDescribed(f.Type)
	if err != nil {
		return Field{}, 0, err
	}
	out := Field{Name: f.Name, Type: typ}
	var min uint64
	switch {
	case typ.ID == rosidl.Nested:
		made, known := b.made[typ.NestedName]
		if !known {
			src := b.sources[typ.NestedName]
			if src == nil {
				return Field{}, 0, fmt.Errorf("%q is not described", typ.NestedName)
			}
			if made, err = b.build(src, depth+1); err != nil {
				return Field{}, 0, err
			}
		}
		if made == nil {
			return Field{}, 0, fmt.Errorf("%s holds itself", typ.NestedName)
		}
		out.Nested, min = made, made.min
	case typ.ID.IsString():
		min = 4
	default:
		min = uint64(typ.ID.Size())
	}
	switch typ.Shape {
	case rosidl.Array:
		if hi := uint64(typ.Capacity); min > 0 && hi > math.MaxUint64/min {
			min = math.MaxUint64
		} else {
			min *= hi
		}
	case rosidl.Bounded, rosidl.Unbounded:
		min = 4
	}
	if f.Default != "" && typ.ID != rosidl.Nested {
		// A default that cannot be read is left out: it matters to nobody but the
		// one who makes a new message.
		if d, err := rosidl.ParseDefault(typ, f.Default); err == nil {
			out.Default = d.Values
		}
	}
	return out, min, nil
}

func saturate(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}

// String is the type's name.
func (t *Type) String() string { return t.Name }

// Lookup finds the field that a path such as "header.stamp.sec" names, without
// indices.
func (t *Type) Lookup(path string) (*Field, error) {
	cur := t
	var f *Field
	for _, name := range strings.Split(path, ".") {
		if cur == nil {
			return nil, fmt.Errorf("dynamic: %s: %q is below a field that is no message", t.Name, name)
		}
		i := cur.FieldIndex(name)
		if i < 0 {
			return nil, fmt.Errorf("dynamic: %s has no field %q (it has %s)", cur.Name, name, strings.Join(cur.names(), ", "))
		}
		f = &cur.Fields[i]
		cur = f.Nested
	}
	return f, nil
}

func (t *Type) names() []string {
	names := make([]string, len(t.Fields))
	for i := range t.Fields {
		names[i] = t.Fields[i].Name
	}
	slices.Sort(names)
	return names
}
