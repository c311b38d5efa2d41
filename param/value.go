package param

import (
	"math"
	"slices"
)

// Value is the value of a parameter: one of the types of rcl_interfaces, or not set, which is the zero Value. It does not change; lists are
// copied in and out.
type Value struct {
	typ  Type
	num  uint64 // bool, integer, or the bits of a double
	text string
	list any // []byte, []bool, []int64, []float64 or []string, never shared with callers
}

// Type gives the value's type.
func (v Value) Type() Type { return v.typ }

// IsSet says whether there is a value at all.
func (v Value) IsSet() bool { return v.typ != NotSet }

// Equal says whether two values have the same type and content. A double that is not a number equals itself.
func (v Value) Equal(w Value) bool {
	if v.typ != w.typ {
		return false
	}
	switch v.typ {
	case Double:
		return sameDouble(v.double(), w.double())
	case ByteArray:
		return slices.Equal(v.list.([]byte), w.list.([]byte))
	case BoolArray:
		return slices.Equal(v.list.([]bool), w.list.([]bool))
	case IntegerArray:
		return slices.Equal(v.list.([]int64), w.list.([]int64))
	case DoubleArray:
		return slices.EqualFunc(v.list.([]float64), w.list.([]float64), sameDouble)
	case StringArray:
		return slices.Equal(v.list.([]string), w.list.([]string))
	}
	return v.num == w.num && v.text == w.text
}

func sameDouble(a, b float64) bool { return a == b || a != a && b != b }

// Len is the number of elements of a list, 0 for others.
func (v Value) Len() int {
	switch list := v.list.(type) {
	case []byte:
		return len(list)
	case []bool:
		return len(list)
	case []int64:
		return len(list)
	case []float64:
		return len(list)
	case []string:
		return len(list)
	}
	return 0
}

func (v Value) bool() bool      { return v.num != 0 }
func (v Value) int() int64      { return int64(v.num) }
func (v Value) double() float64 { return math.Float64frombits(v.num) }

func boolValue(b bool) Value {
	v := Value{typ: Bool}
	if b {
		v.num = 1
	}
	return v
}

func intValue(i int64) Value      { return Value{typ: Integer, num: uint64(i)} }
func doubleValue(f float64) Value { return Value{typ: Double, num: math.Float64bits(f)} }
func textValue(s string) Value    { return Value{typ: String, text: s} }

// empty is the empty list of a type.
func empty(t Type) Value {
	switch t {
	case ByteArray:
		return Value{typ: t, list: []byte{}}
	case BoolArray:
		return Value{typ: t, list: []bool{}}
	case IntegerArray:
		return Value{typ: t, list: []int64{}}
	case DoubleArray:
		return Value{typ: t, list: []float64{}}
	}
	return Value{typ: StringArray, list: []string{}}
}

// convert makes a value of the wanted type of v where nothing is lost that the writer meant: an integer is a double, an empty list is an
// empty list of any type, integers from 0 to 255 are bytes (no text form has bytes).
func convert(v Value, want Type) (Value, bool) {
	switch {
	case v.typ == want:
		return v, true
	case v.typ == Integer && want == Double:
		return doubleValue(float64(v.int())), true
	case v.typ.Array() && want.Array() && v.Len() == 0:
		return empty(want), true
	case v.typ == IntegerArray && want == DoubleArray:
		ints := v.list.([]int64)
		doubles := make([]float64, len(ints))
		for i, n := range ints {
			doubles[i] = float64(n)
		}
		return Value{typ: want, list: doubles}, true
	case v.typ == IntegerArray && want == ByteArray:
		ints := v.list.([]int64)
		bytes := make([]byte, len(ints))
		for i, n := range ints {
			if n < 0 || n > math.MaxUint8 {
				return Value{}, false
			}
			bytes[i] = byte(n)
		}
		return Value{typ: want, list: bytes}, true
	}
	return Value{}, false
}
