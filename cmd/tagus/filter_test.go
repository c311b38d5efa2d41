package main

import (
	"strings"
	"testing"

	"github.com/tagus-ros/tagus/rosidl/dynamic"
)

const filterDefinition = `string text
bool flag
int64 big
uint64 huge
float64 x
int8 small
uint8[] bytes
string[] words
Point[] points
Point at
================================================================================
MSG: p/Point
float64 x
float64 y
string name
`

func filterMessage(t testing.TB) *dynamic.Message {
	t.Helper()
	typ, err := dynamic.ParseType("p/msg/M", filterDefinition)
	if err != nil {
		t.Fatal(err)
	}
	m := typ.New()
	err = m.AssignYAML(`{text: "it's ä", flag: true, big: 9007199254740993, huge: 18446744073709551615, x: -1.5, small: -3, bytes: [1, 2, 3],
words: [a, b c], points: [{x: 1, y: 2, name: one}, {name: two}], at: {x: 5, name: here}}`, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestFilter(t *testing.T) {
	m := filterMessage(t)
	for expr, want := range map[string]bool{
		`m.text == "it's ä"`:                          true,
		`m.text == 'it\'s \xe4'`:                      true,
		`m.text=='it'`:                                false,
		`m.text != "x"`:                               true,
		`m.text < 'j'`:                                true,
		`m.text >= 'j'`:                               false,
		`'s ' in m.text`:                              true,
		`'q' not in m.text`:                           true,
		`m.flag`:                                      true,
		`not m.flag`:                                  false,
		`not not m.flag`:                              true,
		`m.flag == True`:                              true,
		`m.flag == 1`:                                 true,
		`m.flag != False`:                             true,
		`m.big == 9007199254740993`:                   true, // not as a float
		`m.big == 9007199254740992`:                   false,
		`m.big > 9007199254740992`:                    true,
		`m.huge > 1`:                                  true,
		`m.x == -1.5`:                                 true,
		`m.x < -1 and m.small == -3`:                  true,
		`-2 < m.x < -1`:                               true,
		`-1 < m.x < 3`:                                false,
		`abs(m.x) > 1.4e0`:                            true,
		`abs(m.small) == 3`:                           true,
		`m.small`:                                     true,
		`len(m.bytes) == 3`:                           true,
		`len(m.text) == 6`:                            true, // characters
		`2 in m.bytes`:                                true,
		`4 in m.bytes`:                                false,
		`m.small in [1, -3]`:                          true,
		`m.small not in []`:                           true,
		`m.bytes == [1, 2, 3]`:                        true,
		`m.bytes == [1, 2]`:                           false,
		`m.bytes[1] == 0x2`:                           true,
		`'b c' in m.words`:                            true,
		`m.words[0] == 'a'`:                           true,
		`m.points[1].name == "two"`:                   true,
		`m.points[0].x < m.points[0].y`:               true,
		`m.points[0] == m.points[1]`:                  false,
		`m.at.x == 5 and (m.flag or m.points[9].x)`:   true, // what does not decide is not looked at
		`len(m.points) > 5 and m.points[5].x > 0`:     false,
		`m.x > 100 or m.at.name in ["here", "there"]`: true,
		`m.x > 100 or m.at.name == 'x' or m.flag`:     true,
		`m`: true,
	} {
		f, err := newFilter(expr, m.Type(), nil)
		if err != nil {
			t.Errorf("%s: %v", expr, err)
			continue
		}
		got, err := f.holds(m)
		if err != nil || got != want {
			t.Errorf("%s: got %v, %v, want %v", expr, got, err, want)
		}
	}
}

func TestFilterBelowField(t *testing.T) {
	m := filterMessage(t)
	for _, c := range []struct {
		field, expr string
		want        bool
	}{
		{"text", `m == "it's ä"`, true},
		{"at", `m.name == 'here'`, true},
		{"at.x", `m > 5`, false},
		{"points", `len(m) == 2 and m[1].name == 'two'`, true},
		{"points[0]", `m.y == 2`, true},
	} {
		field, err := parsePath(m.Type(), c.field)
		if err != nil {
			t.Fatal(err)
		}
		f, err := newFilter(c.expr, m.Type(), field)
		if err != nil {
			t.Errorf("%s of %s: %v", c.expr, c.field, err)
			continue
		}
		if got, err := f.holds(m); err != nil || got != c.want {
			t.Errorf("%s of %s: got %v, %v, want %v", c.expr, c.field, got, err, c.want)
		}
	}
}

func TestFilterErrors(t *testing.T) {
	m := filterMessage(t)
	for expr, want := range map[string]string{
		``:                                 "at 1: the expression ends too early",
		`m.text = 'x'`:                     "at 8: = sets something; == compares",
		`m.tex == 'x'`:                     `at 1: tex: p/msg/M has no field "tex"; it has at, big, bytes`,
		`m.at.z == 1`:                      `at.z: p/msg/Point has no field "z"; it has name, x, y`,
		`m.text.x`:                         `string is no message and has no field "x"`,
		`m.points.x == 1`:                  "points is a list; say which element: points[0].x",
		`m.at[0].x == 1`:                   "at is no list",
		`m.points[x].x == 1`:               `"[x]" is no index`,
		`m.points[-1].x == 1`:              `"[-1]" is no index`,
		`m.points[1`:                       "] is missing",
		`m. == 1`:                          "the name of a field is missing",
		`m.text == 5`:                      "at 8: a text never equals a number",
		`m.x == 'a'`:                       "a number never equals a text",
		`m.text < 5`:                       "a text and a number have no order",
		`m.at < m.at`:                      "a message and a message have no order",
		`5 in m.text`:                      "a number is never in a text",
		`'x' in m.bytes`:                   "a text is never in a list of which each element is a number",
		`1 in 5`:                           "nothing is in a number",
		`m.x in [1, 'a']`:                  "a list of a number and a text",
		`m.x + 1 > 2`:                      "at 5: a filter does not calculate",
		`m.flag && m.flag`:                 "write and, or, not in place of &",
		`text == 'x'`:                      `"text" is not known; fields of the message begin with m.`,
		`m.text == 'x`:                     "the text 'x does not end",
		`m.text == '\q'`:                   "an escape that is not known",
		`(m.flag`:                          ") is missing",
		`m.flag)`:                          `")" is not expected`,
		`m.flag m.flag`:                    `"m.flag" is not expected`,
		`m.flag not m.flag`:                `"m.flag" is not expected`,
		`len(m.x)`:                         "a number has no length",
		`abs(m.text)`:                      "a text has no sign",
		`len m.text`:                       `"m.text" is not expected`,
		`m.x == 1x`:                        `"1x" is no number`,
		`and`:                              `"and" is not expected`,
		`m.flag or`:                        "ends too early",
		`not`:                              "ends too early",
		`- m.x`:                            `"m.x" is not expected`,
		"m.x == \x00":                      "is not expected",
		strings.Repeat("(", 9999):          "nested deeper",
		strings.Repeat("not ", 9999) + "m": "nested deeper",
	} {
		_, err := newFilter(expr, m.Type(), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: got %v, want %q", expr, err, want)
		}
	}
	f, err := newFilter("m.points[7].x == 1", m.Type(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.holds(m); err == nil || !strings.Contains(err.Error(), "index 7 of 2 elements") {
		t.Errorf("an index beyond the end: got %v", err)
	}
}

func FuzzFilter(f *testing.F) {
	for _, s := range []string{`m.text == 'x'`, `not (m.points[0].x < 5 or len(m.words) in [1, 2.5])`, `m[0]`, `"\`, `m.x==-`, `0x`, `1e`} {
		f.Add(s)
	}
	m := filterMessage(f)
	field, err := parsePath(m.Type(), "points")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, expr string) {
		for _, p := range []*fieldPath{nil, field} {
			if c, err := newFilter(expr, m.Type(), p); err == nil {
				_, _ = c.holds(m)
			}
		}
	})
}
