package param

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// By the rules of rcl's reader, which uses libyaml, strtoll and strtod.
func TestParse(t *testing.T) {
	for text, want := range map[string]Value{
		"true": Of(true), "yes": Of(true), "Y": Of(true), "y": Of(true), "on": Of(true), "ON": Of(true), "TRUE": Of(true),
		"false": Of(false), "n": Of(false), "Off": Of(false), "NO": Of(false), "tRue": Of("tRue"), "yEs": Of("yEs"),
		"1": Of(1), "+1": Of(1), "-1": Of(-1), "0": Of(0), "0x1F": Of(31), "-0X1f": Of(-31), "010": Of(8), "-010": Of(-8),
		"9223372036854775807": Of(int64(math.MaxInt64)), "-9223372036854775808": Of(int64(math.MinInt64)), "9223372036854775808": Of(9223372036854775808.0),
		"992147483647": Of(int64(992147483647)),
		"08":           Of(8.0), "1.": Of(1.0), ".5": Of(0.5), "1e3": Of(1000.0), "1E-3": Of(0.001), "-2.30": Of(-2.3), "0x1.8": Of(1.5), "0x1p3": Of(8.0),
		".inf": Of(math.Inf(1)), "-.INF": Of(math.Inf(-1)), "+.Inf": Of(math.Inf(1)), ".nan": Of(math.NaN()), ".NaN": Of(math.NaN()), "inf": Of(math.Inf(1)),
		"1e400": Of("1e400"), "1_000": Of("1_000"), "0x": Of("0x"), "2:1": Of("2:1"), "--1": Of("--1"), "+-1": Of("+-1"), "0-1": Of("0-1"), "0x-1": Of("0x-1"),
		".nananan": Of(".nananan"), ".nAN": Of(".nAN"), ".INf": Of(".INf"), ".infinity": Of(".infinity"),
		"front_lidar": Of("front_lidar"), "bar baz": Of("bar baz"), "/a/b": Of("/a/b"), "a#b": Of("a#b"), "a # b": Of("a"), "  5  ": Of(5),
		`"5"`: Of("5"), "'yes'": Of("yes"), `""`: Of(""), "''": Of(""), `"a\nb"`: Of("a\nb"), "'it''s'": Of("it's"),
		"!!str yes": Of("yes"), "!!str 1234": Of("1234"), "!!str 12.34": Of("12.34"), "!!int 5": Of(5), "!!float 5": Of(5.0), "!!bool on": Of(true), `!!int "5"`: Of(5),
		"!!binary AQI=": Of([]byte{1, 2}), "[!!binary AQ==, !!binary Ag==]": Of([]byte{1, 2}),
		"[1, 2]": Of([]int{1, 2}), "[2438, 2439,]": Of([]int{2438, 2439}), "[true, no]": Of([]bool{true, false}), "[1.5, 2.0]": Of([]float64{1.5, 2}),
		"[a, 'b', \"7\"]": Of([]string{"a", "b", "7"}), "[]": Of([]bool{}), "- 1\n- 2": Of([]int{1, 2}), "[\n1,\n2]": Of([]int{1, 2}),
		"[1, 2.5]": Of([]float64{1, 2.5}), "[1.5, 2]": Of([]float64{1.5, 2}), "!!seq [1]": Of([]int{1}),
		"[string, .nananan, .nAN, .Nan, .infinf, .INf, .infinity]": Of([]string{"string", ".nananan", ".nAN", ".Nan", ".infinf", ".INf", ".infinity"}),
		"[1.1, 2.2, .nan, .NAN, .inf, +.Inf, -.INF]":               Of([]float64{1.1, 2.2, math.NaN(), math.NaN(), math.Inf(1), math.Inf(1), math.Inf(-1)}),
		"|\n  a\n  b\n": Of("a\nb\n"), ">-\n  a\n  b\n": Of("a b"), "null": {}, "~": {}, "!!null null": {},
	} {
		got, err := Parse(text)
		if err != nil || !got.Equal(want) {
			t.Errorf("%q: the %s %s, %v; want the %s %s", text, got.Type(), got, err, want.Type(), want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"": "there is no value", "# nothing": "there is no value", "[1, a]": "one type: string after integer", "[true, 1]": "one type", "[1, 2.5, x]": "one type",
		"[[1], [2]]": "single values", "[{a: 1}]": "single values", "{a: 1}": "a mapping is no value", "a: 1": "a mapping is no value", "[1, 2": "", "*x": "aliases",
		"&x 1\n---\n2": "more than one", "[~]": "cannot hold null", "- ": "there is no value", "!!int x": "no integer", "!!float x": "no double", "!!map 5": "",
		"!mine 5": "not supported", "!!binary '*'": "illegal base64", "!!omap [1]": "", "@x": "", "\"": "", "%x": "", "!!str !!int 5": "",
		strings.Repeat("[", 2000): "nested deeper", strings.Repeat("- ", 2000): "nested deeper", strings.Repeat("!!str ", 2000): "nested deeper",
		strings.Repeat("x", MaxFileSize+1): "at most",
	} {
		got, err := Parse(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: the %s %s, %v; want an error with %q", shorten(text), got.Type(), got, err, want)
		}
	}
}

// What Python's reader does not take for a value is the text, and so is what it takes for something that no parameter is.
func TestGuess(t *testing.T) {
	for text, want := range map[string]Value{
		"[1, 2.5]": Of([]float64{1, 2.5}), "y": Of("y"), "n": Of("n"), "N": Of("N"), "yes": Of(true), "1e3": Of("1e3"), "1_000": Of(1000), "[1, a]": Of("[1, a]"),
		"": Of(""), "~": Of("~"), "{a: 1}": Of("{a: 1}"), "2024-01-01": Of("2024-01-01"), "@x": Of("@x"), "a\n---\nb": Of("a\n---\nb"), "!mine 5": Of("!mine 5"),
		"[]": Of([]bool{}), "0b11": Of(3), "1:30": Of(90), "-1:30": Of(-90), "99999999999999999999": Of("99999999999999999999"), "99999999999999999999:30": Of("99999999999999999999:30"),
	} {
		if got := Guess(text); !got.Equal(want) {
			t.Errorf("%q: the %s %s, want the %s %s", text, got.Type(), got, want.Type(), want)
		}
	}
}

func FuzzValues(f *testing.F) {
	for _, s := range []string{"true", "[1, 2.5]", "'it''s'", "|\n a\n", "!!binary AQ==", "{a: [b, c]}", "- - 1", "\"\\u00e9\"", "0x1p3", "1:30.5", "? a\n: b", "&a *a", "a: &x [1]\nb: *x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if v, err := Parse(text); err == nil && v.IsSet() {
			again(t, v)
		}
		if v := Guess(text); !v.IsSet() {
			t.Fatalf("%q gives no value", text)
		}
	})
}

// again checks that a value comes back from a dump.
func again(t *testing.T, v Value) {
	t.Helper()
	dump := Dump("/n", []Parameter{{"p", v}})
	overrides, err := ParseFile("dump", dump)
	if err != nil || len(overrides) != 1 {
		t.Fatalf("the %s %q: %v\n%s", v.Type(), v, err, dump)
	}
	got, ok := convert(overrides[0].Value, v.Type())
	if want, valid := validText(v); !ok || valid && !got.Equal(want) {
		t.Fatalf("the %s %q came back as %q:\n%s", v.Type(), v, got, dump)
	}
}

// validText leaves out texts that are not UTF-8, which no YAML can say.
func validText(v Value) (Value, bool) {
	return v, !strings.Contains(strings.ToValidUTF8(v.String(), "\ufffd"), "\ufffd")
}

func FuzzParseFile(f *testing.F) {
	for _, s := range files {
		f.Add(s.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		overrides, err := ParseFile("f", []byte(text))
		if err != nil {
			var e *FileError
			if !errors.As(err, &e) || e.Path != "f" || e.Text == "" {
				t.Fatalf("%v", err)
			}
			return
		}
		for _, o := range overrides {
			if o.Name == "" || checkPattern(o.Node) != nil || !o.Value.Type().valid() {
				t.Fatalf("%+v", o)
			}
		}
	})
}
