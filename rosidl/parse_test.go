package rosidl

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func parse(t *testing.T, kind Kind, text string) *Interface {
	t.Helper()
	i, err := Parse("T.msg", "pkg", kind, "Test", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func TestParseFields(t *testing.T) {
	for _, c := range []struct {
		line string
		want FieldType
	}{
		{"bool a", FieldType{ID: Bool}},
		{"byte a", FieldType{ID: Byte}},
		{"char a", FieldType{ID: Uint8}},
		{"float64[36] a", FieldType{ID: Float64, Shape: Array, Capacity: 36}},
		{"int8[] a", FieldType{ID: Int8, Shape: Unbounded}},
		{"int16[<=5] a", FieldType{ID: Int16, Shape: Bounded, Capacity: 5}},
		{"string a", FieldType{ID: String}},
		{"string<=7 a", FieldType{ID: BoundedString, StringCapacity: 7}},
		{"string<=7[<=5] a", FieldType{ID: BoundedString, StringCapacity: 7, Shape: Bounded, Capacity: 5}},
		{"wstring<=7[] a", FieldType{ID: BoundedWString, StringCapacity: 7, Shape: Unbounded}},
		{"wstring[2] a", FieldType{ID: WString, Shape: Array, Capacity: 2}},
		{"Other a", FieldType{ID: Nested, NestedName: "pkg/msg/Other"}},
		{"std_msgs/Header a", FieldType{ID: Nested, NestedName: "std_msgs/msg/Header"}},
		{"std_msgs/msg/Header[] a", FieldType{ID: Nested, NestedName: "std_msgs/msg/Header", Shape: Unbounded}},
		{"time a", FieldType{ID: Nested, NestedName: "builtin_interfaces/msg/Time"}},
		{"duration a", FieldType{ID: Nested, NestedName: "builtin_interfaces/msg/Duration"}},
		{"\tuint8\t \ta\t# comment", FieldType{ID: Uint8}},
	} {
		i := parse(t, KindMessage, c.line)
		if len(i.Parts[0].Fields) != 1 {
			t.Errorf("%q has %d fields", c.line, len(i.Parts[0].Fields))
			continue
		}
		f := i.Parts[0].Fields[0]
		if f.Type != c.want || f.Name != "a" {
			t.Errorf("%q: %+v %q", c.line, f.Type, f.Name)
		}
	}
}

func TestParseValues(t *testing.T) {
	for _, c := range []struct {
		line string
		want []Value
	}{
		{"bool a true", []Value{true}},
		{"bool a 0", []Value{false}},
		{"int8 a -128", []Value{int64(-128)}},
		{"uint8 a 0xff", []Value{uint64(255)}},
		{"int32 a 007", []Value{int64(7)}},
		{"uint64 a 18446744073709551615", []Value{uint64(18446744073709551615)}},
		{"float32 a 1.125", []Value{1.125}},
		{"float64 a -1e300", []Value{-1e300}},
		{`string a "x y"`, []Value{"x y"}},
		{`string a 'x "y"'`, []Value{`x "y"`}},
		{`string a "a \"b\" \\ \n"`, []Value{"a \"b\" \\ \n"}},
		{`string a 'it\'s' # it's`, []Value{"it's"}},
		{`string a "with # sign" # and a comment`, []Value{"with # sign"}},
		{`string a unquoted text`, []Value{"unquoted text"}},
		{`string a "a=b"`, []Value{"a=b"}},
		{`int32[] a []`, nil},
		{`int32[] a [1, -2,3]`, []Value{int64(1), int64(-2), int64(3)}},
		{`string[2] a ["a, b", 'c']`, []Value{"a, b", "c"}},
		{`bool[<=3] a [true, false]`, []Value{true, false}},
		{`wstring<=2 a "𝄞"`, []Value{"𝄞"}},
		{`string<=6 a "äöü"`, []Value{"äöü"}},
	} {
		d := parse(t, KindMessage, c.line).Parts[0].Fields[0].Default
		if d == nil {
			t.Errorf("%q has no default", c.line)
		} else if diff := cmp.Diff(c.want, d.Values); diff != "" {
			t.Errorf("%q: %s", c.line, diff)
		}
	}
	for line, want := range map[string]Value{
		"int32 A=5":                    int64(5),
		"byte A = 50":                  uint64(50),
		"string A='text # no comment'": "text # no comment",
		"string A=plain text":          "plain text",
		"string A=":                    "",
		"float64 A=1":                  1.0,
		"bool A=True":                  true,
	} {
		c := parse(t, KindMessage, line).Parts[0].Constants
		if len(c) != 1 || c[0].Value != want {
			t.Errorf("%q: %+v", line, c)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		text, want string
		line       int
	}{
		{"int32", "type and a name", 1},
		{"int32 a\nint33 b", `"int33" is not a type`, 2},
		{"int32 A", "not a field name", 1},
		{"int32 a__b", "not a field name", 1},
		{"int32 a_", "not a field name", 1},
		{"int32 1a", "not a field name", 1},
		{"int32 a\nint8 a", "defined twice", 2},
		{"int32 a=5", "not a constant name", 1},
		{"int32[3] A=5", "only single primitives", 1},
		{"Other A=5", "only single primitives", 1},
		{"int8 A=128", "not a value of int8", 1},
		{"uint8 A=-1", "not a value of uint8", 1},
		{"float32 A=1e39", "not a value of float32", 1},
		{"bool A=yes", "not true or false", 1},
		{"string a \"open", "not closed", 1},
		{"string a \"x\" y", "after the closing quote", 1},
		{"int32[2] a [1]", "1 values for int32[2]", 1},
		{"int32[<=2] a [1,2,3]", "3 values for int32[<=2]", 1},
		{"int32[] a 1", "not a list", 1},
		{"Other a 1", "only primitives have defaults", 1},
		{"\n\nstring<=3 a \"äöü\"", "6 bytes, at most 3", 3},
		{"int32<=3 a", "only strings have bounds", 1},
		{"string<=0 a", "not a number from 1", 1},
		{"int32[0] a", "not a number from 1", 1},
		{"int32[99999999999] a", "not a number from 1", 1},
		{"int32[a] a", "not a number from 1", 1},
		{"int32[3 a", "not a type", 1},
		{"a/b/c/D x", "not a type", 1},
		{"a/srv/D x", "not a type", 1},
		{"int32 a\n---\nint32 b", "type and a name", 2},
	} {
		_, err := Parse("dir/T.msg", "pkg", KindMessage, "T", []byte(c.text))
		var e *ParseError
		if !errors.As(err, &e) || !strings.Contains(e.What, c.want) || e.Line != c.line {
			t.Errorf("%q: %v, want %q in line %d", c.text, err, c.want, c.line)
			continue
		}
		for _, part := range []string{"dir/T.msg", fmt.Sprint(":", c.line), e.Text} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q: error %q does not tell %q", c.text, err, part)
			}
		}
	}
	for _, name := range []string{"", "lower", "With_Underscore", "1T"} {
		if _, err := Parse("f", "pkg", KindMessage, name, nil); err == nil {
			t.Errorf("the type name %q was accepted", name)
		}
	}
	for _, pkg := range []string{"", "Upper", "a__b", "a-b", "1a"} {
		if _, err := Parse("f", pkg, KindMessage, "T", nil); err == nil {
			t.Errorf("the package name %q was accepted", pkg)
		}
	}
	if _, err := Parse("f", "pkg", KindMessage, "T", []byte("# \xff")); err == nil {
		t.Error("text that is not UTF-8 was accepted")
	}
}

func TestParseServicesAndActions(t *testing.T) {
	i := parse(t, KindService, "---\r\n")
	if len(i.Parts) != 2 || len(i.Parts[0].Fields)+len(i.Parts[1].Fields) != 0 {
		t.Errorf("%+v", i.Parts)
	}
	i = parse(t, KindAction, "int32 a\n---\nint32 A=1\nint32 a\n---\nint32 a\nint32 b # last")
	var names []string
	for _, p := range i.Parts {
		names = append(names, fmt.Sprint(p.Name, len(p.Fields), len(p.Constants)))
	}
	if diff := cmp.Diff([]string{"pkg/action/Test_Goal1 0", "pkg/action/Test_Result1 1", "pkg/action/Test_Feedback2 0"}, names); diff != "" {
		t.Error(diff)
	}
	if l := i.Parts[2].Fields[1].Line; l != 7 {
		t.Errorf("the last field is in line %d", l)
	}
	for kind, text := range map[Kind]string{KindService: "int32 a", KindAction: "---"} {
		if _, err := Parse("f", "pkg", kind, "T", []byte(text)); err == nil || !strings.Contains(err.Error(), "divided by lines of ---") {
			t.Errorf("%s with too few parts: %v", kind, err)
		}
	}
	if _, err := Parse("f", "pkg", KindService, "T", []byte("---\n---\n")); err == nil {
		t.Error("a service with three parts was accepted")
	}
}

func TestParseComments(t *testing.T) {
	st := parse(t, KindMessage, `# What it is.
# More.

# Not of a.

# Above a,
# in two lines.
int32 a  # beside a
         # and below
int32 b
# trailing
`).Parts[0]
	if want := "What it is.\nMore.\n\nNot of a."; st.Comment != want {
		t.Errorf("comment %q", st.Comment)
	}
	if want := "Above a,\nin two lines.\nbeside a\nand below"; st.Fields[0].Comment != want {
		t.Errorf("comment of a: %q", st.Fields[0].Comment)
	}
	if st.Fields[1].Comment != "" {
		t.Errorf("comment of b: %q", st.Fields[1].Comment)
	}
}

// Line ends of every kind, and text that ends without one, give the same.
func TestParseLineEnds(t *testing.T) {
	text := "# c\nint32 a\nint32 B=1\n"
	want := parse(t, KindMessage, text)
	for _, other := range []string{strings.ReplaceAll(text, "\n", "\r\n"), strings.ReplaceAll(text, "\n", "\r")} {
		if diff := cmp.Diff(want, parse(t, KindMessage, other)); diff != "" {
			t.Error(diff)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"# c\nint32[<=3] a [1,2] # d\nstring<=5 S='x'\n", "---\n", "a/B c\n---\nwstring d \"x\\\"\"\n---\n",
		"string A=it's # fine\nfloat64[36] x\n", "byte[8000000] d", "time t\nduration d\nHeader h",
	} {
		f.Add(uint8(0), s)
	}
	f.Fuzz(func(t *testing.T, kind uint8, text string) {
		i, err := Parse("f", "pkg", Kind(kind%3), "T", []byte(text))
		if err != nil {
			var e *ParseError
			if !errors.As(err, &e) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		// What was understood is understood again, the same way.
		again, err := Parse("f", "pkg", Kind(kind%3), "T", []byte(i.Text))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(i, again, cmp.Comparer(func(a, b float64) bool { return a == b || a != a && b != b })); diff != "" {
			t.Fatal(diff)
		}
		for _, p := range i.Parts {
			for _, field := range p.Fields {
				if !fieldName.MatchString(field.Name) {
					t.Fatalf("field %q", field.Name)
				}
			}
		}
	})
}

func FuzzParseDefinition(f *testing.F) {
	f.Add("std_msgs/Header h\n" + divider + "\nMSG: std_msgs/Header\nstring s")
	f.Add("A a\n" + divider + "\nMSG: pkg/msg/A\nA a")
	f.Fuzz(func(t *testing.T, text string) {
		set, err := ParseDefinition("pkg/msg/T", text)
		if err != nil {
			return
		}
		if _, err := set.Describe("pkg/msg/T"); err != nil {
			t.Fatal(err)
		}
	})
}
