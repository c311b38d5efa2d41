package param

import (
	"math"
	"slices"
)

// Kind is what a parameter can be in Go. An int is stored in 64 bits. Value stands for a parameter whose type is that of its default, or
// with dynamic typing for one of any type.
type Kind interface {
	bool | int | int64 | float64 | string | []byte | []bool | []int | []int64 | []float64 | []string | Value
}

// Of makes a Value. Lists are copied.
func Of[T Kind](v T) Value {
	switch v := any(v).(type) {
	case bool:
		return boolValue(v)
	case int:
		return intValue(int64(v))
	case int64:
		return intValue(v)
	case float64:
		return doubleValue(v)
	case string:
		return textValue(v)
	case []byte:
		return Value{typ: ByteArray, list: clone(v)}
	case []bool:
		return Value{typ: BoolArray, list: clone(v)}
	case []int:
		ints := make([]int64, len(v))
		for i, n := range v {
			ints[i] = int64(n)
		}
		return Value{typ: IntegerArray, list: ints}
	case []int64:
		return Value{typ: IntegerArray, list: clone(v)}
	case []float64:
		return Value{typ: DoubleArray, list: clone(v)}
	case []string:
		return Value{typ: StringArray, list: clone(v)}
	case Value:
		return v
	}
	return Value{}
}

// As gives the content of v as a T, taking an integer for a double, an empty list for an empty list of another type, and integers from 0 to
// 255 for bytes. Lists are copied. The error is a *TypeError.
func As[T Kind](v Value) (T, error) {
	var out T
	want := typeOf[T]()
	if p, ok := any(&out).(*Value); ok {
		*p = v
		return out, nil
	}
	c, ok := convert(v, want)
	if !ok || !fits[T](c) {
		return out, &TypeError{Want: want, Given: v}
	}
	switch p := any(&out).(type) {
	case *bool:
		*p = c.bool()
	case *int:
		*p = int(c.int())
	case *int64:
		*p = c.int()
	case *float64:
		*p = c.double()
	case *string:
		*p = c.text
	case *[]byte:
		*p = clone(c.list.([]byte))
	case *[]bool:
		*p = clone(c.list.([]bool))
	case *[]int:
		ints := c.list.([]int64)
		*p = make([]int, len(ints))
		for i, n := range ints {
			(*p)[i] = int(n)
		}
	case *[]int64:
		*p = clone(c.list.([]int64))
	case *[]float64:
		*p = clone(c.list.([]float64))
	case *[]string:
		*p = clone(c.list.([]string))
	}
	return out, nil
}

// clone never gives nil, so that a value says how it was set and not how its slice was made.
func clone[E any](list []E) []E { return append(make([]E, 0, len(list)), list...) }

// typeOf is the type that a T is stored as; NotSet for Value.
func typeOf[T Kind]() Type {
	var zero T
	return Of(zero).typ
}

// fits says whether the integers in v fit in a T where that is an int; on systems of 64 bits they do.
func fits[T Kind](v Value) bool {
	if math.MaxInt == math.MaxInt64 {
		return true
	}
	small := func(n int64) bool { return n == int64(int(n)) }
	var zero T
	switch any(zero).(type) {
	case int:
		return small(v.int())
	case []int:
		return !slices.ContainsFunc(v.list.([]int64), func(n int64) bool { return !small(n) })
	}
	return true
}
