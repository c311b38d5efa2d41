package roslog

import "testing"

func TestFormat(t *testing.T) {
	l := &Line{Level: Warn, Time: 1700000000_000000005, Logger: "a.b", Message: "low {name}", Function: "tick", File: "main.go", Line: 7}
	for template, want := range map[string]string{
		"":          "[WARN] [1700000000.000000005] [a.b]: low {name}",
		"{message}": "low {name}",
		"{file_name}:{line_number} {function_name}":  "main.go:7 tick",
		"{time_as_nanoseconds} {severity}{severity}": "1700000000000000005 WARNWARN",
		"{nothing} {{name}} {name":                   "{nothing} {a.b} {name",
		`a\tb\n{message}\\`:                          "a\tb\nlow {name}\\",
		"{":                                          "{",
		"no token":                                   "no token",
		"{no {message}":                              "{no low {name}",
	} {
		f := ParseFormat(template)
		if got := string(f.Append(nil, l)); got != want {
			t.Errorf("%q: %q, want %q", template, got, want)
		}
	}
	if f := ParseFormat(""); f.NeedsLocation() {
		t.Error("the default format names no location")
	}
	if f := ParseFormat("{line_number}"); !f.NeedsLocation() {
		t.Error("a line number is a location")
	}
	if got := string(seconds(nil, -1_500000000)); got != "-1.500000000" {
		t.Errorf("before the epoch: %s", got)
	}
}

func TestFormatAllocates(t *testing.T) {
	l, b := &Line{Level: Info, Logger: "n", Message: "m"}, make([]byte, 0, 200)
	f := ParseFormat("")
	if n := testing.AllocsPerRun(100, func() { b = f.Append(b[:0], l) }); n != 0 {
		t.Errorf("%v allocations a line", n)
	}
}
