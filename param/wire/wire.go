// Package wire says how parameters look in messages: it converts between package param and the messages of rcl_interfaces. Servers and
// clients of the parameter services, and whoever reads /parameter_events, share it.
//
// What comes from others is checked: numbers that stand for no type, and ranges that no value can satisfy, are errors or left out, as each
// function says. It imports param and generated messages, nothing that speaks.
package wire

import (
	"fmt"

	"github.com/tagus-ros/tagus/msgs/rcl_interfaces"
	"github.com/tagus-ros/tagus/param"
)

// TypeNumberError says that a message names a type that parameters do not have.
type TypeNumberError struct{ Number uint8 }

func (e *TypeNumberError) Error() string {
	return fmt.Sprintf("type number %d is none that parameters have", e.Number)
}

// PutValue sets m to v. Lists are copied.
func PutValue(m *rcl_interfaces.ParameterValue, v param.Value) {
	*m = rcl_interfaces.ParameterValue{Type: uint8(v.Type())}
	switch v.Type() {
	case param.Bool:
		m.BoolValue = as[bool](v)
	case param.Integer:
		m.IntegerValue = as[int64](v)
	case param.Double:
		m.DoubleValue = as[float64](v)
	case param.String:
		m.StringValue = as[string](v)
	case param.ByteArray:
		m.ByteArrayValue = as[[]byte](v)
	case param.BoolArray:
		m.BoolArrayValue = as[[]bool](v)
	case param.IntegerArray:
		m.IntegerArrayValue = as[[]int64](v)
	case param.DoubleArray:
		m.DoubleArrayValue = as[[]float64](v)
	case param.StringArray:
		m.StringArrayValue = as[[]string](v)
	}
}

// as is for values whose type is known.
func as[T param.Kind](v param.Value) T {
	t, _ := param.As[T](v)
	return t
}

// Value is what m says; lists are copied. The error is a [*TypeNumberError].
func Value(m *rcl_interfaces.ParameterValue) (param.Value, error) {
	switch param.Type(m.Type) {
	case param.NotSet:
		return param.Value{}, nil
	case param.Bool:
		return param.Of(m.BoolValue), nil
	case param.Integer:
		return param.Of(m.IntegerValue), nil
	case param.Double:
		return param.Of(m.DoubleValue), nil
	case param.String:
		return param.Of(m.StringValue), nil
	case param.ByteArray:
		return param.Of(m.ByteArrayValue), nil
	case param.BoolArray:
		return param.Of(m.BoolArrayValue), nil
	case param.IntegerArray:
		return param.Of(m.IntegerArrayValue), nil
	case param.DoubleArray:
		return param.Of(m.DoubleArrayValue), nil
	case param.StringArray:
		return param.Of(m.StringArrayValue), nil
	}
	return param.Value{}, &TypeNumberError{m.Type}
}

// AppendParameters adds list to the messages of to.
func AppendParameters(to []rcl_interfaces.Parameter, list ...param.Parameter) []rcl_interfaces.Parameter {
	for _, p := range list {
		m := rcl_interfaces.Parameter{Name: p.Name}
		PutValue(&m.Value, p.Value)
		to = append(to, m)
	}
	return to
}

// Parameters is what list says. The error names the parameter whose value is none.
func Parameters(list []rcl_interfaces.Parameter) ([]param.Parameter, error) {
	var out []param.Parameter
	for i := range list {
		v, err := Value(&list[i].Value)
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", list[i].Name, err)
		}
		out = append(out, param.Parameter{Name: list[i].Name, Value: v})
	}
	return out, nil
}

// PutInfo sets m to what is known of a parameter.
func PutInfo(m *rcl_interfaces.ParameterDescriptor, i param.Info) {
	d := i.Descriptor
	*m = rcl_interfaces.ParameterDescriptor{
		Name: i.Name, Type: uint8(i.Type), Description: d.Description, AdditionalConstraints: d.Constraints,
		ReadOnly: d.ReadOnly, DynamicTyping: d.DynamicTyping,
	}
	if r := d.Integer; r != nil {
		m.IntegerRange = []rcl_interfaces.IntegerRange{{FromValue: r.From, ToValue: r.To, Step: r.Step}}
	}
	if r := d.FloatingPoint; r != nil {
		m.FloatingPointRange = []rcl_interfaces.FloatingPointRange{{FromValue: r.From, ToValue: r.To, Step: r.Step}}
	}
}

// Info is what m says. The error is a [*TypeNumberError].
func Info(m *rcl_interfaces.ParameterDescriptor) (param.Info, error) {
	if m.Type > uint8(param.StringArray) {
		return param.Info{}, &TypeNumberError{m.Type}
	}
	i := param.Info{Name: m.Name, Type: param.Type(m.Type), Descriptor: param.Descriptor{
		Description: m.Description, Constraints: m.AdditionalConstraints, ReadOnly: m.ReadOnly, DynamicTyping: m.DynamicTyping,
	}}
	if len(m.IntegerRange) > 0 {
		r := m.IntegerRange[0]
		i.Descriptor.Integer = &param.IntegerRange{From: r.FromValue, To: r.ToValue, Step: r.Step}
	}
	if len(m.FloatingPointRange) > 0 {
		r := m.FloatingPointRange[0]
		i.Descriptor.FloatingPoint = &param.FloatingPointRange{From: r.FromValue, To: r.ToValue, Step: r.Step}
	}
	return i, nil
}

// PutEvent sets m to e; the stamp stays.
func PutEvent(m *rcl_interfaces.ParameterEvent, e param.Event) {
	m.Node = e.Node
	m.NewParameters = AppendParameters(nil, e.New...)
	m.ChangedParameters = AppendParameters(nil, e.Changed...)
	m.DeletedParameters = AppendParameters(nil, e.Deleted...)
}

// Event is what m says. The error names the parameter whose value is none.
func Event(m *rcl_interfaces.ParameterEvent) (e param.Event, err error) {
	e.Node = m.Node
	for _, part := range []struct {
		to   *[]param.Parameter
		from []rcl_interfaces.Parameter
	}{{&e.New, m.NewParameters}, {&e.Changed, m.ChangedParameters}, {&e.Deleted, m.DeletedParameters}} {
		if *part.to, err = Parameters(part.from); err != nil {
			return e, err
		}
	}
	return e, nil
}
