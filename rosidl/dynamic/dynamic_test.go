package dynamic

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tagus-ros/tagus/rosidl"
)

const divider = "\n================================================================================\nMSG: "

// everything has fields of every kind.
func everything(t testing.TB) *Type {
	t.Helper()
	typ, err := ParseType("test/msg/Everything", `bool flag
byte octet
int8 i8
uint8 u8 5
int16 i16
uint64 u64
float32 f
float64 d 1.5
string s "hi"
wstring<=3 w
string<=3 short
float64[3] array
int32[<=2] few
uint8[] bytes
string[] words
bool[] flags
std_msgs/Header header
test/Inner[] inner
test/Inner[2] two
test/Nothing nothing`+divider+"std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id"+
		divider+"builtin_interfaces/Time\nint32 sec\nuint32 nanosec"+
		divider+"test/Inner\nstring name 'x'\nint8[<=2] n [1]"+divider+"test/Nothing\nint8 A=1")
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

func TestAssignYAML(t *testing.T) {
	now := func() time.Time { return time.Unix(12, 34) }
	m := everything(t).NewDefault()
	err := m.AssignYAML(`flag: yes
octet: 255
i8: -128
u64: 18446744073709551615
f: .inf
d: -.5e3
s: 12
w: 𝄞x
array: [1, 2.5, .nan]
few: []
bytes: [0x10, 017, 1_0]
words:
- a b
- 'true'
- "q\n"
- |
  block
flags: [true, off, 1]
header: auto
inner: [{name: a}, {n: [1, 2]}, {}]
nothing: {}
`, now)
	if err != nil {
		t.Fatal(err)
	}
	const want = `flag: true
octet: ÿ
i8: -128
u8: 5
i16: 0
u64: 18446744073709551615
f: .inf
d: -500.0
s: '12'
w: 𝄞x
short: ''
array:
- 1.0
- 2.5
- .nan
few: []
bytes:
- 16
- 15
- 10
words:
- a b
- 'true'
- 'q

  '
- 'block

  '
flags:
- true
- false
- true
header:
  stamp:
    sec: 12
    nanosec: 34
  frame_id: ''
inner:
- name: a
  n:
  - 1
- name: x
  n:
  - 1
  - 2
- name: x
  n:
  - 1
two:
- name: x
  n:
  - 1
- name: x
  n:
  - 1
nothing: {}
`
	got := string(m.AppendYAML(nil, Echo))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// What is printed is read again.
	for _, p := range []Print{{}, {Flow: true}} {
		back := everything(t).New()
		text := string(m.AppendYAML(nil, p))
		if err := back.AssignYAML(text, nil); err != nil || !back.Equal(m) {
			t.Errorf("%v\n%s\n%s", err, text, back.AppendYAML(nil, p))
		}
	}
	if err := m.AssignYAML("", nil); err != nil {
		t.Error(err)
	}
	if err := m.AssignYAML("{header: {stamp: now}}", func() time.Time { return time.Unix(99, 0) }); err != nil {
		t.Error(err)
	}
	if v, err := m.GetPath("header.stamp.sec"); err != nil || v != int32(99) {
		t.Errorf("%v %v", v, err)
	}
}

// Every value that does not fit is refused with the path of its field.
func TestAssignErrors(t *testing.T) {
	for text, want := range map[string][2]string{
		"nope: 1":                    {"nope", "has no such field (it has array,"},
		"flag: 2":                    {"flag", "not true or false"},
		"i8: 128":                    {"i8", "out of range"},
		"u8: -1":                     {"u8", "out of range"},
		"u8: 1.5":                    {"u8", "not a number for uint8"},
		"u64: 18446744073709551616":  {"u64", "not a number for uint64"},
		"f: 1e39":                    {"f", "out of range"},
		"d: x":                       {"d", "not a number"},
		"s: [a]":                     {"s", "not text"},
		"array: [1, 2]":              {"array", "2 elements for float64[3]"},
		"few: [1, 2, 3]":             {"few", "3 elements for int32[<=2]"},
		"bytes: [1, 256]":            {"bytes[1]", "out of range"},
		"bytes: 5":                   {"bytes", "not a list"},
		"header: {stamp: {sec: x}}":  {"header.stamp.sec", "not a number"},
		"header: now":                {"header", "not a std_msgs/msg/Header"},
		"header: 5":                  {"header", "not a std_msgs/msg/Header"},
		"inner: [{}, {n: [1, x]}]":   {"inner[1].n[1]", "not a number"},
		"two: [{name: a}, {nam: b}]": {"two[1].nam", "has no such field"},
		"words: [a, {b: c}]":         {"words[1]", "not text"},
		"flags: [maybe]":             {"flags[0]", "not true or false"},
		"nothing: {x: 1}":            {"nothing.x", "has no such field"},
		"octet: ab":                  {"octet", "not a number for byte"},
		"[1]":                        {"", "not a test/msg/Everything"},
	} {
		err := everything(t).New().AssignYAML(text, time.Now)
		var e *FieldError
		if !errors.As(err, &e) || e.Path != want[0] || !strings.Contains(e.What, want[1]) {
			t.Errorf("%s: %v, want %q at %q", text, err, want[1], want[0])
		}
	}
	for _, text := range []string{"a: b: c", "{a", "a: *b", "<<: {a: 1}", "flag: true\nflag: false", "flag: true\n---\nflag: false",
		strings.Repeat("[", 5000), strings.Repeat("- ", 5000) + "a", "? [a]\n: b"} {
		if err := everything(t).New().AssignYAML(text, nil); err == nil {
			t.Errorf("%.40q was accepted", text)
		}
	}
	for _, text := range []string{"", "[", "{} x", `{"flag": true} {}`, `{"i8": 1e3}`, `"auto"`} {
		if err := everything(t).New().AssignJSON([]byte(text), nil); err == nil {
			t.Errorf("JSON %q was accepted", text)
		}
	}
}

func TestBounds(t *testing.T) {
	for path, v := range map[string]any{"short": "äö", "w": "𝄞𝄞", "inner[0].n": []int{1, 2}} {
		m := everything(t).New()
		if err := m.Set(m.Type().FieldIndex("inner"), []any{map[string]any{}}); err != nil {
			t.Fatal(err)
		}
		if err := m.SetPath(path, v); err != nil {
			t.Fatal(err)
		}
		_, err := m.Encode()
		var b *rosidl.BoundError
		if path == "inner[0].n" {
			if err != nil {
				t.Error(err)
			}
		} else if !errors.As(err, &b) || b.Field != path {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestPaths(t *testing.T) {
	m := everything(t).NewDefault()
	if err := m.AssignYAML("{array: [1, 2, 3], words: [a, b], inner: [{name: n, n: [7]}]}", nil); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]any{
		"d": 1.5, "s": "hi", "u8": uint8(5), "array": []float64{1, 2, 3}, "array[1]": 2.0, "words[1]": "b",
		"inner[0].name": "n", "inner[0].n[0]": int8(7), "two[1].name": "x", "header.stamp.sec": int32(0), "flags": []bool{},
	} {
		got, err := m.GetPath(path)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", path, err, diff)
		}
	}
	for _, path := range []string{"", "x", "array[3]", "array[-1]", "array[x]", "array[1", "d.x", "inner.name", "inner[1].name", "words[0].x", "header."} {
		if v, err := m.GetPath(path); err == nil {
			t.Errorf("%q gives %v", path, v)
		}
	}
	for path, v := range map[string]any{"array[1]": 20, "words[0]": "A", "two[1].name": "X", "two[0].n": []int8{1, 2}, "header.stamp.nanosec": 5, "inner[0]": map[string]any{"name": "N"}} {
		if err := m.SetPath(path, v); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if got := string(m.AppendYAML(nil, Print{Flow: true})); !strings.Contains(got, "array: [1.0, 20.0, 3.0]") ||
		!strings.Contains(got, "words: [A, b]") || !strings.Contains(got, "{name: X, n: [1]}") || !strings.Contains(got, "inner: [{name: N, n: [7]}]") {
		t.Error(got)
	}
}

func TestPrintForms(t *testing.T) {
	typ, err := ParseType("a/msg/A", "string s\nfloat32[2] f\nint8[<=4] n\nb/B[] list\nbool ok\nbyte b\nfloat64 x"+divider+"b/B\nstring t")
	if err != nil {
		t.Fatal(err)
	}
	m := typ.New()
	if err := m.AssignYAML(`{s: "it's\n", f: [0.1, 1e20], n: [1, 2, 3], list: [{t: u}], ok: true, b: 1, x: 1e-5}`, nil); err != nil {
		t.Fatal(err)
	}
	for want, got := range map[string]string{
		`a.msg.A(s="it's\n", f=[0.10000000149011612, 1.0000000200408773e+20], n=[1, 2, 3], list=[b.msg.B(t='u')], ok=True, b=b'\x01', x=1e-05)`:   string(m.AppendPython(nil)),
		"it's\n,0.10000000149011612,1.0000000200408773e+20,1,2,3,u,True,b'\\x01',1e-05":                                                           string(m.AppendCSV(nil, Print{})),
		"it...,0.10000000149011612,1.0000000200408773e+20,1,2,...,u,True,b'\\x01',1e-05":                                                          string(m.AppendCSV(nil, Print{Truncate: 2})),
		"<string length: <5>>,<array type: float[2]>,<sequence type: int8[4], length: 3>,<sequence type: b/msg/B, length: 1>,True,b'\\x01',1e-05": string(m.AppendCSV(nil, Print{NoArrays: true, NoStrings: true})),
		`{"s":"it's\n","f":[0.1,100000000000000000000],"n":[1,2,3],"list":[{"t":"u"}],"ok":true,"b":1,"x":0.00001}`:                               string(m.AppendJSON(nil)),
		"{s: '<string length: <5>>', f: '<array type: float[2]>', n: '<sequence type: int8[4], length: 3>',":                                      string(m.AppendYAML(nil, Print{Flow: true, NoArrays: true, NoStrings: true})[:98]),
	} {
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// Descriptions come from other processes: what they could break is refused.
func TestHostileDescriptions(t *testing.T) {
	field := func(name string, id uint8, capacity uint64, nested string) rosidl.DescribedField {
		return rosidl.DescribedField{Name: name, Type: rosidl.DescribedType{TypeID: id, Capacity: capacity, NestedTypeName: nested}}
	}
	typ := func(name string, fields ...rosidl.DescribedField) rosidl.IndividualType {
		return rosidl.IndividualType{Name: name, Fields: fields}
	}
	var chain []rosidl.IndividualType
	for i := range 40 {
		chain = append(chain, typ("a/msg/T"+strings.Repeat("x", i), field("f", 1, 0, "a/msg/T"+strings.Repeat("x", i+1))))
	}
	for name, d := range map[string]rosidl.TypeDescription{
		"no name":          {Type: typ("", field("f", 2, 0, ""))},
		"unknown number":   {Type: typ("a/msg/A", field("f", 12, 0, ""))},
		"number 0":         {Type: typ("a/msg/A", field("f", 0, 0, ""))},
		"number 200":       {Type: typ("a/msg/A", field("f", 200, 0, ""))},
		"array of 0":       {Type: typ("a/msg/A", field("f", 50, 0, ""))},
		"huge array":       {Type: typ("a/msg/A", field("f", 50, 1<<40, ""))},
		"two fields":       {Type: typ("a/msg/A", field("f", 2, 0, ""), field("f", 2, 0, ""))},
		"field of no name": {Type: typ("a/msg/A", field("", 2, 0, ""))},
		"not described":    {Type: typ("a/msg/A", field("f", 1, 0, "a/msg/B"))},
		"nested and not":   {Type: typ("a/msg/A", field("f", 2, 0, "a/msg/B"))},
		"no nested name":   {Type: typ("a/msg/A", field("f", 1, 0, ""))},
		"holds itself":     {Type: typ("a/msg/A", field("f", 145, 0, "a/msg/A"))},
		"circle": {Type: typ("a/msg/A", field("f", 1, 0, "a/msg/B")),
			Referenced: []rosidl.IndividualType{typ("a/msg/B", field("f", 1, 0, "a/msg/A"))}},
		"too deep": {Type: chain[0], Referenced: chain[1:]},
		"arrays of arrays": {Type: typ("a/msg/A", field("f", 49, 1<<20, "a/msg/B")),
			Referenced: []rosidl.IndividualType{
				typ("a/msg/B", field("f", 49, 1<<20, "a/msg/C")), typ("a/msg/C", field("f", 49, 1<<30, "a/msg/D")), typ("a/msg/D", field("f", 11, 0, "")),
			}},
	} {
		if _, err := NewType(&d); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	// Large arrays in a short payload cost nothing.
	big := rosidl.TypeDescription{Type: typ("a/msg/A", field("f", 51, 1<<29, ""))}
	at, err := NewType(&big)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := at.Decode([]byte{0, 1, 0, 0, 1, 2, 3, 4}); err == nil || !strings.Contains(err.Error(), "has at least 536870912 bytes") {
		t.Error(err)
	}
}

func FuzzAssignYAML(f *testing.F) {
	typ := everything(f)
	f.Add("{header: {stamp: {sec: 1}}, words: [a, 'b']}")
	f.Add("inner:\n- name: a\n  n: [1]\n- {}\n")
	f.Add("s: |\n  text\nw: \"\\u00e4\"\n")
	f.Add("a: &x 1\nb: *x\n? c\n: !!str 5")
	f.Fuzz(func(t *testing.T, text string) {
		m := typ.New()
		if m.AssignYAML(text, time.Now) != nil {
			return
		}
		p, err := m.Encode()
		if err != nil {
			return // over a bound
		}
		back, err := typ.Decode(p)
		if err != nil || !back.Equal(m) {
			t.Fatalf("%v\n%s\n%s", err, m.AppendJSON(nil), back.AppendJSON(nil))
		}
	})
}

func FuzzNewType(f *testing.F) {
	f.Add("int8[3] a\nb/B[] b"+divider+"b/B\nstring<=3 s", []byte{0, 1, 0, 0, 1, 2, 3})
	f.Fuzz(func(t *testing.T, text string, p []byte) {
		typ, err := ParseType("a/msg/A", text)
		if err != nil || typ.min > 1<<20 {
			return
		}
		m, err := typ.Decode(p)
		m.AppendYAML(nil, Echo)
		if err == nil {
			if _, err := m.Encode(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
