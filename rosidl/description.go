package rosidl

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// TypeDescription is a type with all types it refers to, as ROS 2 nodes hand it
// out and as type hashes are computed from.
type TypeDescription struct {
	Type       IndividualType
	Referenced []IndividualType // sorted by name, each once, without Type itself
}

// IndividualType is the description of one type.
type IndividualType struct {
	Name   string // "std_msgs/msg/String"
	Fields []DescribedField
}

// DescribedField is a field in a description.
type DescribedField struct {
	Name    string
	Type    DescribedType
	Default string // as written in the definition, "" for none; not hashed
}

// DescribedType is a field's type in the numbers of type descriptions.
type DescribedType struct {
	TypeID         uint8 // base type, plus 48 for an array, 96 for a bounded, 144 for an unbounded sequence
	Capacity       uint64
	StringCapacity uint64
	NestedTypeName string
}

// dummyField stands in for the fields of a message that has none.
const dummyField = "structure_needs_at_least_one_member"

// Describe converts a field's type.
func (t FieldType) Describe() DescribedType {
	d := DescribedType{
		TypeID: uint8(t.ID), Capacity: uint64(t.Capacity),
		StringCapacity: uint64(t.StringCapacity), NestedTypeName: t.NestedName,
	}
	switch t.Shape {
	case Array:
		d.TypeID += idArray
	case Bounded:
		d.TypeID += idBounded
	case Unbounded:
		d.TypeID += idUnbounded
	}
	return d
}

// ParseDescribed converts a field's type back, or says why no message can have it.
func ParseDescribed(d DescribedType) (FieldType, error) {
	t := FieldType{ID: TypeID(d.TypeID), NestedName: d.NestedTypeName}
	switch {
	case d.TypeID > idUnbounded:
		t.ID, t.Shape = TypeID(d.TypeID-idUnbounded), Unbounded
	case d.TypeID > idBounded:
		t.ID, t.Shape = TypeID(d.TypeID-idBounded), Bounded
	case d.TypeID > idArray:
		t.ID, t.Shape = TypeID(d.TypeID-idArray), Array
	}
	if t.ID == idlChar {
		t.ID = Uint8
	}
	if _, ok := baseNames[t.ID]; !ok && t.ID != Nested {
		return FieldType{}, fmt.Errorf("type number %d is none that messages can have", d.TypeID)
	}
	if (t.ID == Nested) != (d.NestedTypeName != "") {
		return FieldType{}, fmt.Errorf("type number %d with nested type %q", d.TypeID, d.NestedTypeName)
	}
	if t.Shape == Array || t.Shape == Bounded {
		if d.Capacity == 0 || d.Capacity > maxCapacity {
			return FieldType{}, fmt.Errorf("a capacity of %d", d.Capacity)
		}
		t.Capacity = int(d.Capacity)
	}
	if t.ID == BoundedString || t.ID == BoundedWString {
		if d.StringCapacity == 0 || d.StringCapacity > maxCapacity {
			return FieldType{}, fmt.Errorf("a string capacity of %d", d.StringCapacity)
		}
		t.StringCapacity = int(d.StringCapacity)
	}
	return t, nil
}

// idlChar stands in descriptions made from .idl files: one byte, too.
const idlChar TypeID = 13

// describe gives the description of s alone.
func (s *Struct) describe() IndividualType {
	t := IndividualType{Name: s.Name}
	for _, f := range s.Fields {
		d := DescribedField{Name: f.Name, Type: f.Type.Describe()}
		if f.Default != nil {
			d.Default = f.Default.Text
		}
		t.Fields = append(t.Fields, d)
	}
	if len(t.Fields) == 0 {
		t.Fields = []DescribedField{{Name: dummyField, Type: DescribedType{TypeID: uint8(Uint8)}}}
	}
	return t
}

// Hash is the type hash, "RIHS01_" and 64 hexadecimal digits.
func (d *TypeDescription) Hash() string {
	sum := sha256.Sum256([]byte(d.hashed()))
	return "RIHS01_" + hex.EncodeToString(sum[:])
}

// hashed is the text that is hashed: JSON with fixed order and spacing.
func (d *TypeDescription) hashed() string {
	var b strings.Builder
	b.WriteString(`{"type_description": `)
	d.Type.hashed(&b)
	b.WriteString(`, "referenced_type_descriptions": [`)
	for i := range d.Referenced {
		if i > 0 {
			b.WriteString(", ")
		}
		d.Referenced[i].hashed(&b)
	}
	b.WriteString("]}")
	return b.String()
}

func (t *IndividualType) hashed(b *strings.Builder) {
	b.WriteString(`{"type_name": `)
	jsonString(b, t.Name)
	b.WriteString(`, "fields": [`)
	for i, f := range t.Fields {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(`{"name": `)
		jsonString(b, f.Name)
		b.WriteString(`, "type": {"type_id": ` + strconv.Itoa(int(f.Type.TypeID)))
		b.WriteString(`, "capacity": ` + strconv.FormatUint(f.Type.Capacity, 10))
		b.WriteString(`, "string_capacity": ` + strconv.FormatUint(f.Type.StringCapacity, 10))
		b.WriteString(`, "nested_type_name": `)
		jsonString(b, f.Type.NestedTypeName)
		b.WriteString("}}")
	}
	b.WriteString("]}")
}

// jsonString writes s in JSON with everything outside ASCII escaped.
func jsonString(b *strings.Builder, s string) {
	const digits = "0123456789abcdef"
	unit := func(u rune) {
		b.WriteString(`\u`)
		for shift := 12; shift >= 0; shift -= 4 {
			b.WriteByte(digits[u>>shift&15])
		}
	}
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteByte(byte(r))
		case r >= 0x20 && r < utf8.RuneSelf && r != 0x7f:
			b.WriteByte(byte(r))
		case r > 0xFFFF:
			r -= 0x10000
			unit(0xD800 + r>>10)
			unit(0xDC00 + r&0x3FF)
		default:
			unit(r)
		}
	}
	b.WriteByte('"')
}
