package names

import (
	"errors"
	"strings"
	"testing"
)

func at(t *testing.T, name string, err error) (pos int, text string) {
	t.Helper()
	if err == nil {
		return -1, ""
	}
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%q: %T is not an *Error", name, err)
	}
	if !strings.Contains(err.Error(), e.What) || !strings.Contains(err.Error(), e.Text) {
		t.Errorf("%q: the text lacks what is wrong: %v", name, err)
	}
	return e.Pos, e.Text
}

func TestCheckNode(t *testing.T) {
	for name, pos := range map[string]int{
		"talker": -1, "_a": -1, "A9_": -1, "a": -1, strings.Repeat("a", 255): -1,
		"": 0, "9a": 0, "a b": 1, "a/b": 1, "ab~": 2, "é": 0, strings.Repeat("a", 256): 255,
	} {
		if got, text := at(t, name, CheckNode(name)); got != pos {
			t.Errorf("%q: at %d (%s), want %d", name, got, text, pos)
		}
	}
	if err := CheckNode("9a"); err.Error() != `node name "9a": must not begin with a digit (at 0)` {
		t.Error(err)
	}
}

func TestCheckNamespace(t *testing.T) {
	long := "/" + strings.Repeat("a", MaxNamespace-1)
	for ns, pos := range map[string]int{
		"/": -1, "/a": -1, "/a/b_1": -1, "/_x": -1, long: -1,
		"": 0, "a": 0, "/a/": 2, "//": 1, "/a//b": 3, "/1a": 1, "/a/1b": 3, "/a b": 2, "/a~": 2, "/{a}": 1, long + "a": MaxNamespace,
	} {
		if got, text := at(t, ns, CheckNamespace(ns)); got != pos {
			t.Errorf("%q: at %d (%s), want %d", ns, got, text, pos)
		}
	}
	for in, want := range map[string]string{"": "/", "/": "/", "a": "/a", "/a/b": "/a/b", "a/b": "/a/b"} {
		if got := Namespace(in); got != want {
			t.Errorf("Namespace(%q) = %q, want %q", in, got, want)
		}
	}
}

// The valid and the invalid names are those that rcl's own tests use for the rules, with the positions that rcl reports.
func TestCheckRelative(t *testing.T) {
	for name, pos := range map[string]int{
		"foo": -1, "abc123": -1, "_foo": -1, "Foo": -1, "BAR": -1, "~": -1, "foo/bar": -1, "~/foo": -1, "{foo}_bar": -1, "foo/{ping}/bar": -1,
		"foo/_bar": -1, "foo_/bar": -1, "foo_": -1, "/foo": -1, "/bar/baz": -1, "/_private/thing": -1, "/public_namespace/_private/thing": -1,
		"{foo1}": -1, "{foo_bar}": -1, "{_bar}": -1,
		"123abc": 0, "123": 0, " ": 0, "foo bar": 3, "/~": 1, "~foo": 1, "foo~": 3, "foo~/bar": 3, "foo/~bar": 4, "foo/~/bar": 4, "foo/": 3,
		"": 0, "foo/123bar": 4, "foo/bar}/baz": 7, "foo/{bar": 4, "{$}": 1, "{{bar}_baz}": 1, "foo/{bar/baz}": 8, "{1foo}": 1, "/": 0, "a\x00": 1,
	} {
		if got, text := at(t, name, CheckRelative("topic name", name)); got != pos {
			t.Errorf("%q: at %d (%s), want %d", name, got, text, pos)
		}
	}
}

func TestExpand(t *testing.T) {
	for _, c := range []struct{ name, node, ns, want string }{
		{"/chatter", "my_node", "/my_ns", "/chatter"},
		{"chatter", "my_node", "/my_ns", "/my_ns/chatter"},
		{"{node}/chatter", "my_node", "/my_ns", "/my_ns/my_node/chatter"},
		{"/{node}", "my_node", "/my_ns", "/my_node"},
		{"{node}", "my_node", "/my_ns", "/my_ns/my_node"},
		{"{ns}", "my_node", "/my_ns", "/my_ns"},
		{"{namespace}", "my_node", "/my_ns", "/my_ns"},
		{"{namespace}/{node}/chatter", "my_node", "/my_ns", "/my_ns/my_node/chatter"},
		{"ping", "my_node", "/", "/ping"},
		{"/ping", "my_node", "/", "/ping"},
		{"~", "my_node", "/", "/my_node"},
		{"~", "my_node", "/my_ns", "/my_ns/my_node"},
		{"~/ping", "my_node", "/", "/my_node/ping"},
		{"~/ping", "my_node", "/a/b", "/a/b/my_node/ping"},
		{"~/{node}", "n", "/", "/n/n"},
		{"/foo{ns}", "n", "/a", "/foo/a"},
	} {
		got, err := Expand("topic name", c.name, c.node, c.ns)
		if err != nil || got != c.want {
			t.Errorf("%q in %q %q: %q, %v, want %q", c.name, c.ns, c.node, got, err, c.want)
		}
	}
	for _, c := range []struct{ name, ns, want string }{
		{"/foo/{namespace}", "/my_ns", `topic name "/foo/{namespace}", expanded to "/foo//my_ns": must not have two slashes in a row (at 5)`},
		{"{ns}/x", "/", `topic name "{ns}/x", expanded to "//x": must not have two slashes in a row (at 1)`},
		{"a/{nope}", "/", `topic name "a/{nope}": knows the substitutions {node}, {ns} and {namespace}, not {nope} (at 2)`},
		{"a//b", "/", `topic name "a//b", expanded to "/a//b": must not have two slashes in a row (at 3)`},
		{"/a//b", "/", `topic name "/a//b": must not have two slashes in a row (at 3)`},
		{"9a", "/", `topic name "9a": must not begin with a digit (at 0)`},
		{"{}", "/", `topic name "{}": knows the substitutions {node}, {ns} and {namespace}, not {} (at 0)`},
	} {
		if got, err := Expand("topic name", c.name, "n", c.ns); err == nil || err.Error() != c.want {
			t.Errorf("%q: %q, %v\nwant %s", c.name, got, err, c.want)
		}
	}
	long := strings.Repeat("a", MaxTopic-1)
	if _, err := Expand("service name", long, "n", "/"); err != nil {
		t.Error(err)
	}
	if _, err := Expand("service name", long+"a", "n", "/"); err == nil || !strings.Contains(err.Error(), "248 bytes long, at most 247") {
		t.Error(err)
	}
}

func TestHidden(t *testing.T) {
	for name, want := range map[string]bool{"/a": false, "/_a": true, "/a/_action/status": true, "/a_": false, "/a_/b_c": false} {
		if Hidden(name) != want {
			t.Errorf("Hidden(%q) = %v", name, !want)
		}
	}
}

func FuzzExpand(f *testing.F) {
	f.Add("~/{node}/x")
	f.Add("/a//b")
	f.Add("{ns}/x")
	f.Fuzz(func(t *testing.T, name string) {
		for _, ns := range []string{"/", "/a/b"} {
			full, err := Expand("topic name", name, "n", ns)
			if err != nil {
				if full != "" {
					t.Fatalf("an error and a name %q", full)
				}
				continue
			}
			if err := CheckFull("topic name", full); err != nil {
				t.Fatalf("%q expanded to an invalid name: %v", name, err)
			}
			if again, err := Expand("topic name", full, "n", ns); again != full || err != nil {
				t.Fatalf("%q is not stable: %q, %v", full, again, err)
			}
		}
	})
}
