package param

import "fmt"

// Type is the type of a value, numbered as in rcl_interfaces/msg/ParameterType.
type Type uint8

// The types of values.
const (
	NotSet Type = iota
	Bool
	Integer // 64 bits
	Double
	String
	ByteArray
	BoolArray
	IntegerArray
	DoubleArray
	StringArray
)

var typeNames = [...]string{"not set", "boolean", "integer", "double", "string", "byte array", "boolean array", "integer array", "double array",
	"string array"}

// String names the type as "ros2 param describe" does: "integer", "double array", "not set".
func (t Type) String() string {
	if int(t) < len(typeNames) {
		return typeNames[t]
	}
	return fmt.Sprintf("unknown type %d", uint8(t))
}

// Array says whether values of the type are lists.
func (t Type) Array() bool { return t >= ByteArray && t <= StringArray }

// valid says whether there is such a type; peers may send any number.
func (t Type) valid() bool { return int(t) < len(typeNames) }
