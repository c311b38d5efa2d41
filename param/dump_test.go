package param

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDumpNames(t *testing.T) {
	for _, c := range []struct {
		names string
		want  string
	}{
		{"", " {}\n"},
		{"b a.c a.b", "\n    a:\n      b: 1\n      c: 1\n    b: 1\n"},
		{"a a.b", "\n    a: 1\n    a.b: 1\n"},
		{"a.b.c a.d a", "\n    a: 1\n    a.b.c: 1\n    a.d: 1\n"},
		{"a.b a.b.c.d a.e", "\n    a:\n      b: 1\n      b.c.d: 1\n      e: 1\n"},
		{"a..b .c d.", "\n    .c: 1\n    a..b: 1\n    d.: 1\n"},
		{"qos_overrides./topic.publisher.depth", "\n    qos_overrides:\n      /topic:\n        publisher:\n          depth: 1\n"},
		{"yes 1 'x", "\n    '''x': 1\n    '1': 1\n    'yes': 1\n"},
	} {
		var given []Parameter
		for _, name := range strings.Fields(c.names) {
			given = append(given, Parameter{name, Of(1)})
		}
		for range 2 {
			got := string(Dump("/n", given))
			if want := "/n:\n  ros__parameters:" + c.want; got != want {
				t.Errorf("%s:\n%s\nwant\n%s", c.names, got, want)
			}
			slices.Reverse(given)
		}
	}
}

// Texts that rcl would take for something else are quoted, also where Python does not.
func TestDumpForBothReaders(t *testing.T) {
	for _, text := range []string{"y", "N", "1e3", "inf", "nan", "0x1.8", "08", "infinity", "1.", "yes", "1:30", "~", "2024-01-01"} {
		if got := string(Dump("/n", []Parameter{{"p", Of(text)}})); !strings.Contains(got, "p: '"+text+"'\n") {
			t.Error(got)
		}
	}
}

// Whatever the values and names are, a dump is a parameter file that gives them back.
func TestDumpReadsBack(t *testing.T) {
	text := rapid.OneOf(
		rapid.StringOfN(rapid.RuneFrom([]rune("ab cd:#-'\"\\,[]{}!&*?|>%@`\n\té\u0085\u2028\x00\x1b\ufeff😀01.~=<")), 0, 200, -1),
		rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"word", "' x", "it's", "a:", "#b", "'", "''", "\"", "\n", "- ", "é"}), 0, 60), func(w []string) string { return strings.Join(w, " ") }),
		rapid.String(),
	)
	value := rapid.OneOf(
		rapid.Map(text, func(s string) Value { return Of(s) }),
		rapid.Map(rapid.SliceOf(text), func(s []string) Value { return Of(s) }),
		rapid.Map(rapid.Int64(), func(n int64) Value { return Of(n) }),
		rapid.Map(rapid.SliceOf(rapid.Int64()), func(n []int64) Value { return Of(n) }),
		rapid.Map(rapid.Float64(), func(f float64) Value { return Of(f) }),
		rapid.Map(rapid.SliceOf(rapid.Float64()), func(f []float64) Value { return Of(f) }),
		rapid.Map(rapid.Bool(), func(b bool) Value { return Of(b) }),
		rapid.Map(rapid.SliceOf(rapid.Bool()), func(b []bool) Value { return Of(b) }),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) Value { return Of(b) }),
	)
	name := rapid.StringMatching(`[a-c/.'é]{1,6}`)
	rapid.Check(t, func(r *rapid.T) {
		given := map[string]Value{}
		for range rapid.IntRange(0, 8).Draw(r, "parameters") {
			given[name.Draw(r, "name")] = value.Draw(r, "value")
		}
		var list []Parameter
		for n, v := range given {
			list = append(list, Parameter{n, v})
		}
		dump := Dump("/ns/node", list)
		overrides, err := ParseFile("dump", dump)
		if err != nil || len(overrides) != len(given) {
			r.Fatalf("%v, %d of %d:\n%s", err, len(overrides), len(given), dump)
		}
		for _, o := range overrides {
			was := given[o.Name]
			got, ok := convert(o.Value, was.Type())
			if !ok || !got.Equal(was) {
				r.Fatalf("%s came back as the %s %q, was the %s %q:\n%s", o.Name, o.Value.Type(), fmt.Sprint(o.Value), was.Type(), fmt.Sprint(was), dump)
			}
		}
	})
}
