package rosidl

import "fmt"

// BoundError tells which field of a message is over the bound that its
// definition sets.
type BoundError struct {
	Field string // path from the top of the message: "poses[3].name"
	Unit  string // "bytes", "UTF-16 units" or "elements"
	Len   int
	Bound int
}

func (e *BoundError) Error() string {
	return fmt.Sprintf("field %s has %d %s, at most %d are allowed", e.Field, e.Len, e.Unit, e.Bound)
}

// CheckLen is nil if n is at most bound.
func CheckLen(field string, n, bound int, unit string) error {
	if n <= bound {
		return nil
	}
	return &BoundError{Field: field, Unit: unit, Len: n, Bound: bound}
}

// InField puts the name of the field that holds the message in front of the
// path in err, if that is a [*BoundError].
func InField(field string, err error) error {
	if b, ok := err.(*BoundError); ok {
		b.Field = field + "." + b.Field
	}
	return err
}

// InElement is [InField] for element i of an array or sequence.
func InElement(field string, i int, err error) error {
	return InField(fmt.Sprintf("%s[%d]", field, i), err)
}

// Element is the path of element i of field.
func Element(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }
