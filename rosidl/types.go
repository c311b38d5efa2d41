package rosidl

import (
	"fmt"
	"strconv"
	"strings"
)

// Kind tells the three kinds of interface definition apart.
type Kind uint8

// The kinds, in the order in which tools list them.
const (
	KindMessage Kind = iota
	KindService
	KindAction
)

// Folder is the middle part of a type name and the file name extension:
// "msg", "srv" or "action".
func (k Kind) Folder() string {
	switch k {
	case KindService:
		return "srv"
	case KindAction:
		return "action"
	}
	return "msg"
}

func (k Kind) String() string { return k.Folder() }

// TypeID is the number of a base type in type descriptions.
type TypeID uint8

// The base types. Definitions in .msg files use no others.
const (
	Nested         TypeID = 1
	Int8           TypeID = 2
	Uint8          TypeID = 3 // also "char"
	Int16          TypeID = 4
	Uint16         TypeID = 5
	Int32          TypeID = 6
	Uint32         TypeID = 7
	Int64          TypeID = 8
	Uint64         TypeID = 9
	Float32        TypeID = 10
	Float64        TypeID = 11
	Bool           TypeID = 15
	Byte           TypeID = 16
	String         TypeID = 17
	WString        TypeID = 18
	BoundedString  TypeID = 21
	BoundedWString TypeID = 22
)

// What a description adds to the base type's number.
const (
	idArray     = 48
	idBounded   = 96
	idUnbounded = 144
)

var baseNames = map[TypeID]string{
	Int8: "int8", Uint8: "uint8", Int16: "int16", Uint16: "uint16", Int32: "int32", Uint32: "uint32",
	Int64: "int64", Uint64: "uint64", Float32: "float32", Float64: "float64", Bool: "bool", Byte: "byte",
	String: "string", WString: "wstring", BoundedString: "string", BoundedWString: "wstring",
}

var baseIDs = map[string]TypeID{
	"int8": Int8, "uint8": Uint8, "int16": Int16, "uint16": Uint16, "int32": Int32, "uint32": Uint32,
	"int64": Int64, "uint64": Uint64, "float32": Float32, "float64": Float64, "bool": Bool, "byte": Byte,
	"char": Uint8, "string": String, "wstring": WString,
}

// IsString tells whether id is one of the string types, bounded or not.
func (id TypeID) IsString() bool {
	return id == String || id == WString || id == BoundedString || id == BoundedWString
}

// IsWide tells whether id is a wide string.
func (id TypeID) IsWide() bool { return id == WString || id == BoundedWString }

// Size is the size in bytes of a number, byte or bool; 0 for the rest.
func (id TypeID) Size() int {
	switch id {
	case Int8, Uint8, Bool, Byte:
		return 1
	case Int16, Uint16:
		return 2
	case Int32, Uint32, Float32:
		return 4
	case Int64, Uint64, Float64:
		return 8
	}
	return 0
}

// Shape says how many values a field holds.
type Shape uint8

// The shapes.
const (
	Single    Shape = iota
	Array           // exactly Capacity
	Bounded         // at most Capacity
	Unbounded       // any number
)

// FieldType is the type of a field.
type FieldType struct {
	ID             TypeID
	Shape          Shape
	Capacity       int    // of an array or bounded sequence
	StringCapacity int    // of a bounded string, in bytes (wide: in UTF-16 units)
	NestedName     string // "geometry_msgs/msg/Pose" if ID is Nested
}

// String is the type as it stands in a definition, with full nested names:
// "geometry_msgs/Pose[<=4]".
func (t FieldType) String() string {
	var b strings.Builder
	if t.ID == Nested {
		b.WriteString(shortName(t.NestedName))
	} else {
		b.WriteString(baseNames[t.ID])
	}
	if t.StringCapacity > 0 {
		b.WriteString("<=" + strconv.Itoa(t.StringCapacity))
	}
	switch t.Shape {
	case Array:
		fmt.Fprintf(&b, "[%d]", t.Capacity)
	case Bounded:
		fmt.Fprintf(&b, "[<=%d]", t.Capacity)
	case Unbounded:
		b.WriteString("[]")
	}
	return b.String()
}

func shortName(full string) string {
	if pkg, kind, name, err := SplitName(full); err == nil && kind == KindMessage {
		return pkg + "/" + name
	}
	return full
}

// SplitName takes "std_msgs/msg/String" apart; "std_msgs/String" is a message too.
func SplitName(full string) (pkg string, kind Kind, name string, err error) {
	p := strings.Split(full, "/")
	switch {
	case len(p) == 2:
		pkg, name = p[0], p[1]
	case len(p) == 3 && p[1] == "msg":
		pkg, name = p[0], p[2]
	case len(p) == 3 && p[1] == "srv":
		pkg, kind, name = p[0], KindService, p[2]
	case len(p) == 3 && p[1] == "action":
		pkg, kind, name = p[0], KindAction, p[2]
	default:
		return "", 0, "", fmt.Errorf("%q is not a type name like std_msgs/msg/String", full)
	}
	if !isPackageName(pkg) || name == "" {
		return "", 0, "", fmt.Errorf("%q is not a type name like std_msgs/msg/String", full)
	}
	return pkg, kind, name, nil
}

// Field of a message.
type Field struct {
	Name    string
	Type    FieldType
	Default *Default // nil if the definition gives none
	Comment string   // lines without the comment sign
	Line    int      // in the file, from 1
}

// Default is the default value of a field.
type Default struct {
	Text   string  // as written
	Values []Value // one for a Single field, else as many as the sequence has
}

// Constant of a message.
type Constant struct {
	Name    string
	Type    TypeID
	Value   Value
	Text    string // as written
	Comment string
	Line    int
}

// Value is a literal: bool, int64, uint64, float64 or string. Signed types give
// int64, unsigned types and byte uint64, strings string.
type Value any

// Struct is a message, or one part of a service or action: its request,
// response, goal, result or feedback.
type Struct struct {
	Name      string // "std_msgs/msg/String", "example_interfaces/srv/AddTwoInts_Request"
	Fields    []Field
	Constants []Constant
	Comment   string // what stands above the first line of the definition
	Text      string // its part of the file
	File      string
	Line      int // where its part begins
}

// Interface is what one file defines.
type Interface struct {
	Package string
	Name    string // without package: "String"
	Kind    Kind
	File    string
	Text    string
	Parts   []*Struct // message; request, response; goal, result, feedback
}

// FullName is "std_msgs/msg/String".
func (i *Interface) FullName() string { return i.Package + "/" + i.Kind.Folder() + "/" + i.Name }
