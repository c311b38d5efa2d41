package param

import (
	"errors"
	"math"
	"reflect"
	"testing"
)

func TestKinds(t *testing.T) {
	kind(t, true, Bool, "True", "Boolean value is: True")
	kind(t, false, Bool, "False", "Boolean value is: False")
	kind(t, 5, Integer, "5", "Integer value is: 5")
	kind(t, int64(math.MinInt64), Integer, "-9223372036854775808", "Integer value is: -9223372036854775808")
	kind(t, 1.5, Double, "1.5", "Double value is: 1.5")
	kind(t, 2.0, Double, "2.0", "Double value is: 2.0")
	kind(t, 1e16, Double, "1e+16", "Double value is: 1e+16")
	kind(t, 0.00001, Double, "1e-05", "Double value is: 1e-05")
	kind(t, math.Inf(-1), Double, "-inf", "Double value is: -inf")
	kind(t, "it's", String, "it's", "String value is: it's")
	kind(t, "", String, "", "String value is: ")
	kind(t, []byte{0, 'A', '\'', '\\', '\n', 255}, ByteArray, `[b'\x00', b'A', b"'", b'\\', b'\n', b'\xff']`,
		`Byte values are: [b'\x00', b'A', b"'", b'\\', b'\n', b'\xff']`)
	kind(t, []bool{true, false}, BoolArray, "[True, False]", "Boolean values are: [True, False]")
	kind(t, []int{1, -2}, IntegerArray, "[1, -2]", "Integer values are: [1, -2]")
	kind(t, []int64{}, IntegerArray, "[]", "Integer values are: []")
	kind(t, []float64{1, 2.5}, DoubleArray, "[1.0, 2.5]", "Double values are: [1.0, 2.5]")
	kind(t, []string{"a", "it's", "\n\x01é\u200b\U000e0001"}, StringArray, `['a', "it's", '\n\x01é\u200b\U000e0001']`,
		`String values are: ['a', "it's", '\n\x01é\u200b\U000e0001']`)
	if v := (Value{}); v.Type() != NotSet || v.String() != "None" || v.Sentence() != "Parameter not set." || v.IsSet() {
		t.Errorf("the zero Value: %v %s %s", v.Type(), v, v.Sentence())
	}
}

func kind[T Kind](t *testing.T, x T, typ Type, text, sentence string) {
	t.Helper()
	v := Of(x)
	if v.Type() != typ || v.String() != text || v.Sentence() != sentence {
		t.Errorf("%v: %s %q %q, want %s %q %q", x, v.Type(), v, v.Sentence(), typ, text, sentence)
	}
	back, err := As[T](v)
	if err != nil || !reflect.DeepEqual(back, x) {
		t.Errorf("%v came back as %v, %v", x, back, err)
	}
	if !v.Equal(Of(x)) || v.Equal(Value{}) {
		t.Errorf("%v: not equal to itself, or to nothing", x)
	}
}

func TestConversions(t *testing.T) {
	if f, err := As[float64](Of(1)); f != 1 || err != nil {
		t.Error(f, err)
	}
	if f, err := As[[]float64](Of([]int{1, 2})); !reflect.DeepEqual(f, []float64{1, 2}) || err != nil {
		t.Error(f, err)
	}
	if b, err := As[[]byte](Of([]int{0, 255})); !reflect.DeepEqual(b, []byte{0, 255}) || err != nil {
		t.Error(b, err)
	}
	if s, err := As[[]string](Of([]bool{})); s == nil || len(s) != 0 || err != nil {
		t.Error(s, err)
	}
	if v, err := As[Value](Of("x")); !v.Equal(Of("x")) || err != nil {
		t.Error(v, err)
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{second(As[int](Of(1.5))), "want integer, given double 1.5"},
		{second(As[int](Of(1.0))), "want integer, given double 1.0"},
		{second(As[float64](Of("abc"))), "want double, given string 'abc'"},
		{second(As[bool](Of(1))), "want boolean, given integer 1"},
		{second(As[string](Of(1))), "want string, given integer 1"},
		{second(As[[]byte](Of([]int{256}))), "want byte array, given integer array [256]"},
		{second(As[[]int](Of([]float64{1}))), "want integer array, given double array [1.0]"},
		{second(As[[]string](Of([]bool{true}))), "want string array, given boolean array [True]"},
		{second(As[float64](Of([]int{}))), "want double, given integer array []"},
		{second(As[float64](Value{})), "want double, given no value"},
		{second(As[int](Of(string(make([]byte, 1000))))), "want integer, given string '" + `\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x0…`},
	} {
		var typed *TypeError
		if !errors.As(c.err, &typed) || c.err.Error() != c.want {
			t.Errorf("%v, want %s", c.err, c.want)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestEqual(t *testing.T) {
	different := []Value{{}, Of(true), Of(1), Of(1.0), Of("1"), Of([]byte{1}), Of([]bool{true}), Of([]int{1}), Of([]float64{1}), Of([]string{"1"}),
		Of(false), Of(2), Of(2.0), Of("2"), Of([]byte{}), Of([]bool{}), Of([]int{}), Of([]float64{}), Of([]string{})}
	for i, v := range different {
		for j, w := range different {
			if v.Equal(w) != (i == j) {
				t.Errorf("%v and %v: %v", v, w, v.Equal(w))
			}
		}
	}
	if nan := math.NaN(); !Of(nan).Equal(Of(nan)) || !Of([]float64{nan}).Equal(Of([]float64{nan})) || !Of(0.0).Equal(Of(math.Copysign(0, -1))) {
		t.Error("doubles that are not numbers, or zeros, differ")
	}
}

// What goes in and comes out is nobody else's.
func TestListsAreCopied(t *testing.T) {
	in := []int64{1, 2}
	v := Of(in)
	in[0] = 7
	out, _ := As[[]int64](v)
	out[1] = 7
	if v.String() != "[1, 2]" {
		t.Error(v)
	}
}

func TestTypeNames(t *testing.T) {
	for typ, want := range map[Type]string{NotSet: "not set", Bool: "boolean", Integer: "integer", Double: "double", String: "string", ByteArray: "byte array",
		BoolArray: "boolean array", IntegerArray: "integer array", DoubleArray: "double array", StringArray: "string array", 10: "unknown type 10"} {
		if typ.String() != want {
			t.Errorf("%d is %q", typ, typ)
		}
		if typ.Array() != (typ >= 5 && typ <= 9) {
			t.Errorf("%s.Array() = %v", typ, typ.Array())
		}
	}
}

func TestRanges(t *testing.T) {
	for _, c := range []struct {
		r      IntegerRange
		n      int64
		within bool
	}{
		{IntegerRange{From: 0, To: 10}, 0, true}, {IntegerRange{From: 0, To: 10}, 10, true}, {IntegerRange{From: 0, To: 10}, 11, false},
		{IntegerRange{From: 0, To: 10}, -1, false}, {IntegerRange{From: 0, To: 10, Step: 3}, 9, true}, {IntegerRange{From: 0, To: 10, Step: 3}, 8, false},
		{IntegerRange{From: 0, To: 10, Step: 3}, 10, true}, {IntegerRange{From: 5, To: 5}, 5, true}, {IntegerRange{From: -3, To: 4, Step: 2}, -1, true},
		{IntegerRange{From: math.MinInt64, To: math.MaxInt64, Step: 2}, math.MaxInt64 - 1, true},
		{IntegerRange{From: math.MinInt64, To: math.MaxInt64, Step: 2}, math.MaxInt64 - 2, false},
		{IntegerRange{From: math.MinInt64, To: math.MaxInt64, Step: 1 << 63}, 0, true},
	} {
		if c.r.allows(c.n) != c.within {
			t.Errorf("%d in %s: %v", c.n, c.r, !c.within)
		}
	}
	for _, c := range []struct {
		r      FloatingPointRange
		f      float64
		within bool
	}{
		{FloatingPointRange{From: 0, To: 1}, 0.5, true}, {FloatingPointRange{From: 0, To: 1}, 1, true}, {FloatingPointRange{From: 0, To: 1}, 1 + 1e-15, true},
		{FloatingPointRange{From: 0, To: 1}, 1.1, false}, {FloatingPointRange{From: 0, To: 1}, -0.1, false}, {FloatingPointRange{From: 0, To: 1}, math.NaN(), false},
		{FloatingPointRange{From: 0, To: 1, Step: 0.1}, 0.3, true}, {FloatingPointRange{From: 0, To: 1, Step: 0.1}, 0.1 + 0.2, true},
		{FloatingPointRange{From: 0, To: 1, Step: 0.1}, 0.35, false}, {FloatingPointRange{From: 0, To: 1, Step: 0.3}, 1, true},
		{FloatingPointRange{From: 0, To: math.Inf(1)}, math.Inf(1), true}, {FloatingPointRange{From: 0, To: math.Inf(1)}, 1e300, true},
		{FloatingPointRange{From: 0, To: 1}, math.Inf(1), false},
	} {
		if c.r.allows(c.f) != c.within {
			t.Errorf("%v in %s: %v", c.f, c.r, !c.within)
		}
	}
}
