package keyexpr

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCheck(t *testing.T) {
	for _, tc := range []struct {
		in  string
		pos int // -1: fine
	}{
		{"a", -1}, {"a/b/c", -1}, {"*", -1}, {"**", -1}, {"a/*/**", -1}, {"a$*/b", -1}, {"$*a$*b$*", -1},
		{"@ros2_lv/0/**", -1}, {"a b/%x:y", -1}, {"é/ü", -1}, {"a/**/b/**", -1},
		{"", 0}, {"/a", 0}, {"a/", 2}, {"a//b", 2}, {"/", 0}, {"a#b", 1}, {"a?b", 1}, {"a*", 1}, {"a/*b", 2}, {"***", 0},
		{"a$", 1}, {"a$b", 1}, {"$$*", 0}, {"a\xffb", 1},
		{"**/**", 3}, {"**/*", 3}, {"a/$*", 2}, {"a$*$*", 0}, {"$*", 0},
	} {
		err := Check(tc.in)
		var ke *Error
		switch {
		case tc.pos < 0 && err != nil:
			t.Errorf("Check(%q): %v", tc.in, err)
		case tc.pos >= 0 && !errors.As(err, &ke):
			t.Errorf("Check(%q) = %v, want an *Error", tc.in, err)
		case tc.pos >= 0 && ke.Pos != tc.pos:
			t.Errorf("Check(%q) at %d, want %d: %v", tc.in, ke.Pos, tc.pos, err)
		}
	}
	if err := Check(strings.Repeat("a", MaxLength)); err != nil {
		t.Error(err)
	}
	if err := Check(strings.Repeat("a", MaxLength+1)); err == nil {
		t.Error("too long a text accepted")
	}
}

func TestCanon(t *testing.T) {
	for in, want := range map[string]string{
		"a/b": "a/b", "**/**": "**", "**/*": "*/**", "**/*/**/*": "*/*/**", "$*": "*", "a$*$*$*b": "a$*b", "$*$*": "*",
		"a/**/**/b": "a/**/b", "**/$*/a": "*/**/a", "*/**": "*/**", "a/**/*/b/**": "a/*/**/b/**",
	} {
		got, err := Canon(in)
		if err != nil || got != want {
			t.Errorf("Canon(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"", "a//b", "a/", "*a", "a#"} {
		if got, err := Canon(in); err == nil {
			t.Errorf("Canon(%q) = %q, want an error", in, got)
		}
	}
}

func TestIntersectVectors(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"a/**", "a", true}, {"a/*", "a", false}, {"a/b$*", "a/bc", true}, {"a/b$*", "a/b", true}, {"x/$*e", "x/abce", true},
		{"a/**/c", "a/c", true}, {"**/a", "@x/a", false}, {"@x/**", "@x/a/@b", false}, {"@x/**/@b", "@x/a/@b", true},
		{"@a", "**/@a", true}, {"a/$*b$*", "a/$*c$*", true}, {"**", "a/@b", false}, {"a/@adv/**", "a/@adv/pub/x/y/_", true},
		{"a/**", "a/@adv/pub", false}, {"*", "@a", false}, {"$*a", "@a", false}, {"@a", "@a", true}, {"*/**", "**/a", true},
		{"a$*", "b$*", false}, {"$*a", "$*b", false}, {"a$*", "$*b", true}, {"ab$*", "a$*c", true}, {"a/**/b/**/c", "a/c/b/c", true},
		{"a/**/b/**/c", "a/c/c", false}, {"a", "b", false}, {"**", "**", true}, {"x/$*a$*b", "x/ba", false}, {"x/a$*a", "x/a", false},
	} {
		if got := Intersects(tc.a, tc.b); got != tc.want {
			t.Errorf("Intersects(%q, %q) = %v", tc.a, tc.b, got)
		}
		if got := Intersects(tc.b, tc.a); got != tc.want {
			t.Errorf("Intersects(%q, %q) = %v", tc.b, tc.a, got)
		}
	}
}

func TestIncludeVectors(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"a/**", "a", true}, {"a/**", "a/**", true}, {"a/**", "a/*/b", true}, {"a/*", "a/**", false}, {"*/**", "**/a", true}, {"**/a", "*/**", false},
		{"a/**", "a/@adv/pub", false}, {"a/@adv/**", "a/@adv/x/**", true}, {"**", "@a", false}, {"**", "a/**", true}, {"a$*", "ab$*", true},
		{"ab$*", "a$*", false}, {"*", "$*a", true}, {"$*a$*", "b$*a$*c", true}, {"a", "a", true}, {"a", "*", false}, {"**/a/**", "**/a/b/**", true},
		{"*/*/**", "**/a/**", false},
	} {
		if got := Includes(tc.a, tc.b); got != tc.want {
			t.Errorf("Includes(%q, %q) = %v", tc.a, tc.b, got)
		}
	}
}

// The model: a key is covered when a plain recursive reading of the rules says
// so, and sets of keys are compared over a small universe that holds for each
// pattern chunk a key chunk made with a letter that no pattern uses.
func modelCovers(expr, key []string) bool {
	if len(expr) == 0 {
		return len(key) == 0
	}
	if expr[0] == "**" {
		return modelCovers(expr[1:], key) || len(key) > 0 && key[0][0] != '@' && modelCovers(expr, key[1:])
	}
	return len(key) > 0 && modelChunk(expr[0], key[0]) && modelCovers(expr[1:], key[1:])
}

func modelChunk(p, c string) bool {
	if p[0] == '@' || c[0] == '@' {
		return p == c
	}
	if p == "*" {
		return true
	}
	return modelGlob(p, c)
}

func modelGlob(p, c string) bool {
	switch {
	case p == "":
		return c == ""
	case strings.HasPrefix(p, "$*"):
		return modelGlob(p[2:], c) || c != "" && modelGlob(p, c[1:])
	}
	return c != "" && p[0] == c[0] && modelGlob(p[1:], c[1:])
}

var (
	patternChunks = []string{"a", "b", "@a", "*", "**", "**", "$*a", "a$*", "a$*b", "$*b$*"}
	keyChunks     = []string{"a", "b", "@a", "z", "za", "az", "azb", "zbz", "ab", "aa", "bzb", "ba"}
	universe      = makeUniverse(4)
)

func makeUniverse(depth int) [][]string {
	var all [][]string
	level := [][]string{nil}
	for range depth {
		var next [][]string
		for _, k := range level {
			for _, c := range keyChunks {
				next = append(next, append(append([]string(nil), k...), c))
			}
		}
		all = append(all, next...)
		level = next
	}
	return all
}

func drawExpr(t *rapid.T, name string) string {
	n := rapid.IntRange(1, 3).Draw(t, name+" chunks")
	chunks := make([]string, n)
	for i := range chunks {
		chunks[i] = rapid.SampledFrom(patternChunks).Draw(t, name)
	}
	s, err := Canon(strings.Join(chunks, "/"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawExpr(t, "a"), drawExpr(t, "b")
		as, bs := strings.Split(a, "/"), strings.Split(b, "/")
		intersects, includes := false, true
		for _, key := range universe {
			inA, inB := modelCovers(as, key), modelCovers(bs, key)
			intersects = intersects || inA && inB
			includes = includes && (inA || !inB)
			if lit := strings.Join(key, "/"); len(key) < 3 && inA != Intersects(a, lit) {
				t.Fatalf("Intersects(%q, key %q) = %v", a, lit, !inA)
			}
		}
		if got := Intersects(a, b); got != intersects {
			t.Fatalf("Intersects(%q, %q) = %v, model %v", a, b, got, intersects)
		}
		if got := Includes(a, b); got != includes {
			t.Fatalf("Includes(%q, %q) = %v, model %v", a, b, got, includes)
		}
	})
}

func TestCanonKeepsMeaning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "chunks")
		chunks := make([]string, n)
		for i := range chunks {
			chunks[i] = rapid.SampledFrom([]string{"a", "*", "**", "$*", "a$*$*"}).Draw(t, "chunk")
		}
		s := strings.Join(chunks, "/")
		c, err := Canon(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := Check(c); err != nil {
			t.Fatalf("Canon(%q): %v", s, err)
		}
		if (Check(s) == nil) != (s == c) {
			t.Fatalf("Check(%q) = %v but Canon gives %q", s, Check(s), c)
		}
		cs := strings.Split(c, "/")
		for _, key := range universe {
			if len(key) <= 3 && modelCovers(chunks, key) != modelCovers(cs, key) {
				t.Fatalf("%q and its canon form %q differ on %q", s, c, key)
			}
		}
	})
}

func TestNoAllocations(t *testing.T) {
	a := "0/chatter/std_msgs::msg::dds_::String_/RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"
	if n := testing.AllocsPerRun(100, func() {
		Intersects(a, "0/**")
		Intersects("**/a$*/b", "0/*/ab/b")
		Includes("0/**", a)
		_ = Check(a)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Expressions that make naive matchers explode must cost no more than the product of the lengths.
func TestHostilePatternsEnd(t *testing.T) {
	a := strings.Repeat("**/a/", 2000) + "b"
	b := strings.Repeat("a/", 4000) + "c"
	Intersects(a, b)
	Intersects(a, strings.Repeat("**/a/", 1500)+"c")
	Includes(strings.Repeat("**/a/", 30)+"b", strings.Repeat("**/c/", 2000)+"c")
	Includes(a, a+"/c")
	Intersects(strings.Repeat("a$*", 20000), strings.Repeat("a", 60000)+"b")
}

func FuzzExpressions(f *testing.F) {
	for _, s := range []string{"a/**", "a/$*b$*/c", "**/*", "@a/**/@b", "$*$*", "a//b"} {
		f.Add(s, "a/b/**")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		ca, err := Canon(a)
		if err != nil {
			if Check(a) == nil {
				t.Fatalf("Check accepts %q, Canon says %v", a, err)
			}
			return
		}
		if err := Check(ca); err != nil {
			t.Fatal(err)
		}
		cb, err := Canon(b)
		if err != nil || len(ca)*len(cb) > 1<<20 {
			return
		}
		if Intersects(ca, cb) != Intersects(cb, ca) {
			t.Fatalf("Intersects(%q, %q) is not symmetric", ca, cb)
		}
		if Includes(ca, cb) && !Intersects(ca, cb) {
			t.Fatalf("%q includes %q but does not intersect it", ca, cb)
		}
		if !Includes(ca, ca) || !Intersects(ca, ca) {
			t.Fatalf("%q does not include itself", ca)
		}
	})
}
