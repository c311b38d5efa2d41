package param

import (
	"fmt"
	"math"
)

// Descriptor says what a parameter is for and which values it takes. The zero Descriptor allows every value of the parameter's type.
type Descriptor struct {
	Description   string
	Constraints   string // for people to read, where a range cannot say it; not checked
	ReadOnly      bool   // the value that it was declared with stays
	DynamicTyping bool   // takes values of any type; only with [Value] as its kind
	Integer       *IntegerRange
	FloatingPoint *FloatingPointRange
}

// IntegerRange says which integers are allowed: From and To and what lies between them, with Step > 0 only From + k × Step (To is allowed
// nevertheless).
type IntegerRange struct {
	From, To int64
	Step     uint64
}

// FloatingPointRange says which doubles are allowed: From and To and what lies between them, with Step > 0 only From + k × Step (To is
// allowed nevertheless). Differences by rounding are forgiven. A number that is none is not in any range.
type FloatingPointRange struct {
	From, To, Step float64
}

func (r IntegerRange) String() string {
	if r.Step == 0 {
		return fmt.Sprintf("%d to %d", r.From, r.To)
	}
	return fmt.Sprintf("%d to %d in steps of %d", r.From, r.To, r.Step)
}

func (r FloatingPointRange) String() string {
	if r.Step == 0 {
		return fmt.Sprintf("%v to %v", r.From, r.To)
	}
	return fmt.Sprintf("%v to %v in steps of %v", r.From, r.To, r.Step)
}

func (r IntegerRange) allows(n int64) bool {
	switch {
	case n == r.From || n == r.To:
		return true
	case n < r.From || n > r.To:
		return false
	}
	return r.Step == 0 || (uint64(n)-uint64(r.From))%r.Step == 0
}

func (r FloatingPointRange) allows(f float64) bool {
	switch {
	case near(f, r.From) || near(f, r.To):
		return true
	case !(f >= r.From && f <= r.To):
		return false
	}
	return r.Step == 0 || near(f, r.From+math.Round((f-r.From)/r.Step)*r.Step)
}

// near says whether two doubles differ by no more than rounding does: about as much as ROS 2 forgives.
func near(a, b float64) bool {
	const forgiven = 200 * 0x1p-52 // of the larger one
	return a == b || !math.IsInf(a-b, 0) && math.Abs(a-b) <= forgiven*max(math.Abs(a), math.Abs(b))
}

// check says whether the descriptor allows v, which has the right type. The error is a *RangeError.
func (d *Descriptor) check(v Value) error {
	switch {
	case v.typ == Integer && d.Integer != nil && !d.Integer.allows(v.int()):
		return &RangeError{Given: v, Range: d.Integer.String()}
	case v.typ == Double && d.FloatingPoint != nil && !d.FloatingPoint.allows(v.double()):
		return &RangeError{Given: v, Range: d.FloatingPoint.String()}
	}
	return nil
}

// clone makes the descriptor independent of the ranges that its maker holds.
func (d Descriptor) clone() Descriptor {
	if d.Integer != nil {
		r := *d.Integer
		d.Integer = &r
	}
	if d.FloatingPoint != nil {
		r := *d.FloatingPoint
		d.FloatingPoint = &r
	}
	return d
}

// validate refuses a descriptor that no value can satisfy or that does not fit its type (NotSet: dynamic).
func (d *Descriptor) validate(t Type) error {
	switch {
	case d.Integer != nil && d.FloatingPoint != nil:
		return fmt.Errorf("a descriptor has at most one range")
	case d.Integer != nil && t != Integer && t != NotSet:
		return fmt.Errorf("a range of integers for a parameter of type %s", t)
	case d.FloatingPoint != nil && t != Double && t != NotSet:
		return fmt.Errorf("a range of doubles for a parameter of type %s", t)
	case d.Integer != nil && d.Integer.From > d.Integer.To:
		return fmt.Errorf("the range %v is empty", *d.Integer)
	case d.FloatingPoint != nil && !(d.FloatingPoint.From <= d.FloatingPoint.To):
		return fmt.Errorf("the range %v is empty", *d.FloatingPoint)
	case d.FloatingPoint != nil && !(d.FloatingPoint.Step >= 0):
		return fmt.Errorf("the range %v has a step below 0", *d.FloatingPoint)
	}
	return nil
}
