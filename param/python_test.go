package param

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// The golden texts were made by Python 3.11 with PyYAML 6.0.3; testdata/python.py makes them again.
func TestAsPython(t *testing.T) {
	data, err := os.ReadFile("testdata/python.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Dumps []struct {
			Parameters []pythonParameter
			Want       string
		}
		Guesses []struct{ Text, Type, Want string }
	}
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	for _, c := range golden.Dumps {
		var given []Parameter
		for _, p := range c.Parameters {
			given = append(given, Parameter{p.Name, p.value(t)})
		}
		got := Dump("/ns/node", given)
		if string(got) != c.Want {
			t.Errorf("%v:\n%s\nwant\n%s", given, got, c.Want)
		}
		readBack(t, given, got)
	}
	for _, c := range golden.Guesses {
		v := Guess(c.Text)
		if v.Type().String() != c.Type || v.String() != c.Want {
			t.Errorf("Guess(%q) is the %s %s, want the %s %s", c.Text, v.Type(), v, c.Type, c.Want)
		}
	}
	if len(golden.Dumps) < 300 || len(golden.Guesses) < 300 {
		t.Errorf("%d dumps, %d guesses", len(golden.Dumps), len(golden.Guesses))
	}
}

type pythonParameter struct {
	Name  string
	Value any
	Float bool
	Bytes []int64
}

func (p *pythonParameter) value(t *testing.T) Value {
	number := func(f float64) Value {
		if p.Float {
			return doubleValue(f)
		}
		return intValue(int64(f))
	}
	if p.Bytes != nil {
		v, ok := convert(Of(p.Bytes), ByteArray)
		if !ok {
			t.Fatal(p.Bytes)
		}
		return v
	}
	single := func(x any) Value {
		switch x := x.(type) {
		case bool:
			return boolValue(x)
		case float64:
			return number(x)
		case string:
			return textValue(x)
		}
		return Value{}
	}
	items, many := p.Value.([]any)
	switch {
	case !many:
		return single(p.Value)
	case len(items) == 0:
		return empty(IntegerArray)
	}
	values := make([]Value, len(items))
	for i, x := range items {
		values[i] = single(x)
	}
	return list(values)
}

// readBack checks that a dump is a parameter file with the same values.
func readBack(t *testing.T, given []Parameter, dump []byte) {
	t.Helper()
	overrides, err := ParseFile("dump", dump)
	if err != nil {
		t.Errorf("%v\n%s", err, dump)
		return
	}
	if len(overrides) != len(given) {
		t.Errorf("%d parameters came back of %d:\n%s", len(overrides), len(given), dump)
		return
	}
	got := Select(overrides, overridesNode(overrides))
	for _, p := range given {
		v, ok := convert(got[p.Name].Value, p.Value.Type())
		if !ok || !v.Equal(p.Value) {
			t.Errorf("%s came back as %q, was %q:\n%s", p.Name, got[p.Name].Value, p.Value, strings.ReplaceAll(string(dump), " ", "·"))
		}
	}
}

func overridesNode(overrides []Override) string {
	if len(overrides) == 0 {
		return ""
	}
	return overrides[0].Node
}
