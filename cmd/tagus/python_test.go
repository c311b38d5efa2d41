package main

import (
	"math"
	"testing"

	"github.com/tagus-ros/tagus/rosidl/dynamic"
)

// The expected texts are what Python 3.12 prints for the attribute of a generated ROS 2 message.
func TestPythonText(t *testing.T) {
	typ, err := dynamic.ParseType("p/msg/M", `bool b
byte by
char c
uint8 u
float32 f
float64 d
string s
wstring w
uint8[] us
byte[] bys
bool[] bs
float32[<=3] fs
float64[2] fixed
string[] ss
P[] ps
P p
`+"================================================================================\nMSG: p/P\nint32 x\n")
	if err != nil {
		t.Fatal(err)
	}
	m := typ.New()
	if err := m.Assign(map[string]any{
		"b": true, "by": 200, "c": 65, "u": 7, "f": 0.1, "d": 1e-5, "s": "it's\n", "w": "ä", "us": []any{1, 2}, "bys": []any{39, 0},
		"bs": []any{true, false}, "fs": []any{1.5}, "fixed": []any{1, math.Inf(-1)}, "ss": []any{"a", "it's"}, "ps": []any{map[string]any{"x": 3}},
	}, nil); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][2]string{ // Python, JSON
		"b": {"True", "true"}, "by": {`b'\xc8'`, "200"}, "c": {"65", "65"}, "u": {"7", "7"}, "f": {"0.10000000149011612", "0.1"},
		"d": {"1e-05", "0.00001"}, "s": {"it's\n", `"it's\n"`}, "w": {"ä", `"ä"`}, "us": {"array('B', [1, 2])", "[1,2]"},
		"bys": {`[b"'", b'\x00']`, "[39,0]"}, "bs": {"[True, False]", "[true,false]"}, "fs": {"array('f', [1.5])", "[1.5]"},
		"fixed": {"[1.0, -inf]", `[1,"-Infinity"]`}, "ss": {`['a', "it's"]`, `["a","it's"]`}, "ps": {"[p.msg.P(x=3)]", `[{"x":3}]`},
		"ps[0]": {"", `{"x":3}`}, "us[1]": {"2", "2"}, "ss[1]": {"it's", `"it's"`},
	} {
		p, err := parsePath(typ, path)
		if err != nil {
			t.Fatal(err)
		}
		v, err := p.value(m)
		if err != nil {
			t.Fatal(err)
		}
		if got := pythonText(p.field, p.list, v); want[0] != "" && got != want[0] {
			t.Errorf("%s: got %s, want %s", path, got, want[0])
		}
		if got := string(jsonValue(v)); got != want[1] {
			t.Errorf("%s as JSON: got %s, want %s", path, got, want[1])
		}
	}
	for x, want := range map[float64]string{0: "0.0", math.Copysign(0, -1): "-0.0", 1e15: "1000000000000000.0", 1e16: "1e+16", 1e-4: "0.0001", math.Inf(1): "inf", math.Inf(-1): "-inf", 1e300: "1e+300"} {
		if got := pythonFloat(x); got != want {
			t.Errorf("%v: got %s, want %s", x, got, want)
		}
	}
	if got := pythonFloat(math.NaN()); got != "nan" {
		t.Errorf("NaN: got %s", got)
	}
	if got := pythonBytes([]byte("a'b\\\n\x7f\xff")); got != `b"a'b\\\n\x7f\xff"` {
		t.Errorf("bytes: got %s", got)
	}
	if got := pythonQuoted("a'\"\t\r\u00ad\u200b\U000e0001"); got != `'a\'"\t\r\xad\u200b\U000e0001'` {
		t.Errorf("quoted: got %s", got)
	}
}

func TestParsePathErrors(t *testing.T) {
	m := filterMessage(t)
	for path, want := range map[string]string{
		"":          `: p/msg/M has no field ""; it has at, big, bytes, flag, huge, points, small, text, words, x`,
		"at.":       `at.: p/msg/Point has no field ""; it has name, x, y`,
		"bytes[x]":  `bytes[x]: "[x]" is no index; want a number from 0 in brackets`,
		"bytes[1":   `bytes[1: "[1" is no index; want a number from 0 in brackets`,
		"text[0]":   "text[0]: text is no list",
		"points.x":  "points.x: points is a list; say which element: points[0].x",
		"words.x":   `words.x: string[] is no message and has no field "x"`,
		"at.name.x": `at.name.x: string is no message and has no field "x"`,
	} {
		if _, err := parsePath(m.Type(), path); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", path, err, want)
		}
	}
}
