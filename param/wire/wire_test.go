package wire

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/tagus-ros/tagus/msgs/rcl_interfaces"
	"github.com/tagus-ros/tagus/param"
)

var values = []param.Value{
	{}, param.Of(true), param.Of(-5), param.Of(1.5), param.Of(math.NaN()), param.Of("text"), param.Of(""),
	param.Of([]byte{0, 255}), param.Of([]byte{}), param.Of([]bool{true, false}), param.Of([]int64{1, math.MinInt64}),
	param.Of([]float64{0.5, math.Inf(1)}), param.Of([]string{"", "a"}), param.Of([]string{}),
}

// Values come back the same, and the field that holds them is the one that the type names.
func TestValues(t *testing.T) {
	for _, v := range values {
		var m rcl_interfaces.ParameterValue
		PutValue(&m, v)
		got, err := Value(&m)
		if err != nil || !got.Equal(v) {
			t.Errorf("%s %s came back as %s %s, %v", v.Type(), v, got.Type(), got, err)
		}
		set := 0
		for _, f := range reflect.VisibleFields(reflect.TypeOf(m))[1:] {
			if !reflect.ValueOf(m).FieldByIndex(f.Index).IsZero() {
				set++
			}
		}
		if set > 1 {
			t.Errorf("%s %s sets %d fields", v.Type(), v, set)
		}
	}
	var unknown *TypeNumberError
	if _, err := Value(&rcl_interfaces.ParameterValue{Type: 10}); !errors.As(err, &unknown) || unknown.Number != 10 {
		t.Errorf("type 10: %v", err)
	}
	if _, err := Info(&rcl_interfaces.ParameterDescriptor{Type: 255}); !errors.As(err, &unknown) {
		t.Errorf("type 255: %v", err)
	}
}

// What was converted does not change with what it was made of.
func TestNothingShared(t *testing.T) {
	v := param.Of([]int64{1})
	var m rcl_interfaces.ParameterValue
	PutValue(&m, v)
	m.IntegerArrayValue[0] = 2
	if !v.Equal(param.Of([]int64{1})) {
		t.Error("a write to the message changed the value")
	}
	v, _ = Value(&m)
	m.IntegerArrayValue[0] = 3
	if !v.Equal(param.Of([]int64{2})) {
		t.Error("a write to the message changed the value made of it")
	}
}

func TestInfo(t *testing.T) {
	for _, i := range []param.Info{
		{Name: "plain", Type: param.Bool},
		{Name: "int", Type: param.Integer, Descriptor: param.Descriptor{Description: "d", Constraints: "c", Integer: &param.IntegerRange{From: -1, To: 5, Step: 2}}},
		{Name: "double", Type: param.Double, Descriptor: param.Descriptor{ReadOnly: true, FloatingPoint: &param.FloatingPointRange{From: 1, To: 2}}},
		{Name: "free", Descriptor: param.Descriptor{DynamicTyping: true}},
	} {
		var m rcl_interfaces.ParameterDescriptor
		PutInfo(&m, i)
		if got, err := Info(&m); err != nil || !reflect.DeepEqual(got, i) {
			t.Errorf("%+v came back as %+v, %v", i, got, err)
		}
	}
}

func TestEvent(t *testing.T) {
	e := param.Event{Node: "/n", New: []param.Parameter{{Name: "a", Value: param.Of(1)}}, Deleted: []param.Parameter{{Name: "b", Value: param.Of("x")}}}
	var m rcl_interfaces.ParameterEvent
	PutEvent(&m, e)
	if got, err := Event(&m); err != nil || !reflect.DeepEqual(got, e) {
		t.Errorf("%+v came back as %+v, %v", e, got, err)
	}
	m.NewParameters[0].Value.Type = 77
	if _, err := Event(&m); err == nil || err.Error() != "parameter a: type number 77 is none that parameters have" {
		t.Errorf("a bad type: %v", err)
	}
}
