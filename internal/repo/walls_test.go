package repo

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// levels says how high each package stands. A package may import its own level and those below, as far as rules allow. A path that ends
// with "/" stands for everything below it; the longest that fits counts; "." is the root package.
var levels = map[string]int{
	"qos": 0, "cdr": 0, "mcap": 0, "notify": 0,
	"internal/futex": 0, "internal/wake": 0, "internal/clock": 0, "internal/memfd": 0, "internal/arena": 0, "internal/pool": 0,
	"internal/names": 0, "internal/stats": 0, "internal/queue": 0, "internal/invariants": 0,

	"rosidl": 1, "rosidl/gen": 1, "rosidl/dynamic": 1, "msgs": 1, "msgs/": 1, "graph": 1, "param": 1,

	"internal/transport": 2, "internal/transport/": 2, "internal/intra": 2, "internal/shm": 2, "internal/shm/": 2, "internal/match": 2,
	"internal/rosargs": 2, "zenoh": 2, "zenoh/": 2, "bag": 2, "foxglove": 2,

	"param/wire": 2,

	"internal/rmwzenoh": 3, "internal/exec": 3, "internal/roslog": 3, "internal/transport/conformance": 3, // only tests import the suite

	".": 4,

	"action": 5, "lifecycle": 5, "component": 5, "param/remote": 5, "bag/record": 5, "foxglove/bridge": 5, "dashboard": 5,

	"cmd/": 6, "rosidl/gen/cmd/": 6, "internal/bench": 6, "internal/bench/": 6, "internal/repo": 6, "internal/peers": 6, "examples": 6, "examples/": 6, "tagustest": 6, "tagustest/": 6,
	"interop": 6, "interop/": 6,
}

// rules narrow what the levels allow. The first of each is a package or, with "/" at the end, also all below it.
var rules = []struct {
	who  string
	only []string // nothing else of this module, if not empty
	not  []string // never these
	why  string
}{
	{who: "msgs/", only: []string{"cdr", "rosidl", "msgs/"}, not: []string{"msgs"}, why: "generated code is data"},
	{who: "internal/intra/", not: []string{"internal/shm/", "zenoh/"}, why: "transports never know each other"},
	{who: "internal/shm/", not: []string{"internal/intra/", "zenoh/"}, why: "transports never know each other"},
	{who: "zenoh/", only: []string{"zenoh/", "notify", "internal/clock", "internal/futex", "internal/pool", "internal/queue", "internal/stats", "internal/invariants"},
		why: "zenoh is a session of its own that knows no ROS"},
	{who: "msgs", only: []string{"-"}, why: "it holds the definitions and nothing else"},
	{who: "cdr", only: []string{"-"}, why: "the encoding stands alone"},
	{who: "qos", only: []string{"-"}, why: "everything stands on it"},
	{who: "notify", only: []string{"internal/clock", "internal/futex"}, why: "an event is no part of a middleware"},
	{who: "rosidl/", only: []string{"cdr", "rosidl/", "msgs"}, why: "definitions know no transport"},
	{who: "graph", only: []string{"qos"}, why: "the graph is data and nothing that speaks"},
	{who: "param", only: []string{"internal/names"}, why: "parameters are values and rules; whoever has a node makes services of them"},
	{who: "param/wire", only: []string{"param", "msgs/"}, not: []string{"msgs"}, why: "it turns parameters into messages and back"},
	{who: "internal/rosargs", only: []string{"internal/names", "param"}, why: "a command line is read without anything that speaks"},
}

// coreModules are the only foreign modules below level 5, apart from exceptions; cpuid is a part of xxh3.
var coreModules = []string{"golang.org/x/sys", "github.com/zeebo/xxh3", "github.com/klauspost/cpuid/v2", "github.com/HdrHistogram/hdrhistogram-go"}

var compression = []string{"github.com/klauspost/compress", "github.com/pierrec/lz4/v4"}

// exceptions are the packages below level 5 whose task is a foreign format (docs/design/0005-yaml.md). Packages that import these may not
// import the modules themselves.
var exceptions = map[string][]string{
	"mcap": compression, "bag": compression,
	"param":          {"github.com/goccy/go-yaml"},
	"rosidl/dynamic": {"github.com/goccy/go-yaml"},
}

// highModules may be imported from level 5 on, beside those of the core.
var highModules = []string{"github.com/spf13/cobra", "github.com/coder/websocket", "github.com/charmbracelet/bubbletea",
	"gonum.org/v1/plot", "github.com/prometheus/client_golang", "github.com/goccy/go-yaml"}

// testModules may be imported by tests, beside all others.
var testModules = []string{"github.com/google/go-cmp", "pgregory.net/rapid", "go.uber.org/goleak", "github.com/rogpeppe/go-internal"}

func level(path string) (int, bool) {
	if path == "" {
		path = "."
	}
	best, found := "", false
	for name := range levels {
		if name == path || strings.HasSuffix(name, "/") && strings.HasPrefix(path, name) {
			if len(name) > len(best) {
				best, found = name, true
			}
		}
	}
	return levels[best], found
}

func covers(pattern, path string) bool {
	if p, ok := strings.CutSuffix(pattern, "/"); ok {
		return path == p || strings.HasPrefix(path, pattern)
	}
	return path == pattern
}

func coversAny(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return covers(p, path) })
}

// faults says what is wrong with path importing the package imported of this module.
func faults(path, imported string) (out []string) {
	from, _ := level(path)
	to, ok := level(imported)
	switch {
	case !ok:
		return nil // reported for the package itself
	case to > from:
		out = append(out, "imports go down only")
	case from == 5 && (strings.HasPrefix(imported, "internal/") || strings.Contains(imported, "/internal/")):
		out = append(out, "from level 5 on the public packages must do")
	}
	for _, r := range rules {
		if covers(r.who, path) && (len(r.only) > 0 && !coversAny(r.only, imported) || coversAny(r.not, imported)) {
			out = append(out, r.why)
		}
	}
	return out
}

func TestWalls(t *testing.T) {
	for _, p := range platforms {
		for _, pkg := range list(t, listKey{os: p.os, arch: p.arch, cgo: "0"}) {
			path, own := pkg.own()
			if !own {
				continue
			}
			if _, ok := level(path); !ok {
				t.Errorf("%s: has no level; say in the table of this test where it stands", pkg.ImportPath)
			}
			for _, imported := range pkg.Imports {
				if i, own := ownPath(imported); own {
					for _, why := range faults(path, i) {
						t.Errorf("%s/%s: %s imports %s: %s", p.os, p.arch, pkg.ImportPath, imported, why)
					}
				}
			}
		}
	}
}

// The rules catch what they are for.
func TestWallsCatch(t *testing.T) {
	for _, c := range []struct {
		path, imported string
		bad            bool
	}{
		{"graph", "qos", false},
		{"qos", "graph", true},
		{"cdr", "qos", true},
		{"internal/arena", "internal/pool", false},
		{"internal/arena", "graph", true},
		{"msgs/std_msgs", "msgs/builtin_interfaces", false},
		{"msgs/std_msgs", "rosidl", false},
		{"msgs/std_msgs", "rosidl/gen", true},
		{"msgs/std_msgs", "msgs", true},
		{"msgs", "rosidl", true},
		{"msgs/std_msgs", "qos", true},
		{"internal/shm", "internal/shm/folder", false},
		{"internal/shm/folder", "internal/intra", true},
		{"internal/shm", "internal/transport", false},
		{"internal/intra", "internal/shm", true},
		{"internal/intra", "zenoh", true},
		{"zenoh", "zenoh/internal/wire", false},
		{"zenoh/internal/wire", "notify", false},
		{"zenoh", "qos", true},
		{"zenoh/internal/wire", "graph", true},
		{"zenoh", "internal/transport", true},
		{"internal/shm", "internal/exec", true},
		{"", "internal/shm", false},
		{"", "zenoh", false},
		{"internal/exec", "", true},
		{"action", "", false},
		{"action", "qos", false},
		{"action", "internal/stats", true},
		{"lifecycle", "cmd/tagus", true},
		{"cmd/tagus", "internal/bench", false},
		{"internal/bench", "internal/shm/folder", false},
		{"internal/rosargs", "param", false},
		{"internal/rosargs", "graph", true},
		{"param", "rosidl", true},
		{"rosidl/dynamic", "rosidl", false},
		{"rosidl/dynamic", "param", true},
	} {
		if got := faults(c.path, c.imported); (len(got) > 0) != c.bad {
			t.Errorf("%s imports %s: %v", c.path, c.imported, got)
		}
	}
	if _, ok := level("internal/surprise"); ok {
		t.Error("an unknown package has a level")
	}
}

func TestForeignModules(t *testing.T) {
	everything := slices.Concat(coreModules, compression, highModules, testModules)
	for _, p := range platforms {
		all := list(t, listKey{os: p.os, arch: p.arch, cgo: "0"})
		byPath := make(map[string]*pkg, len(all))
		for i := range all {
			byPath[all[i].ImportPath] = &all[i]
		}
		for i := range all {
			pkg := &all[i]
			path, own := pkg.own()
			if !own {
				continue
			}
			for _, imported := range pkg.Imports {
				if d := byPath[imported]; d == nil || d.Standard || d.Module.Path == module {
					continue
				}
				if l, _ := level(path); l <= 4 {
					// What is imported, and all that it is built from in turn.
					allowed := slices.Concat(coreModules, exceptions[path])
					for m := range reach(byPath, imported) {
						if !slices.Contains(allowed, m) {
							t.Errorf("%s/%s: %s imports %s and is so built from %s; it may only use %s", p.os, p.arch, pkg.ImportPath, imported, m, strings.Join(allowed, ", "))
						}
					}
				} else if m := byPath[imported].Module.Path; !slices.Contains(everything, m) {
					t.Errorf("%s imports %s of the module %s, which is not on the list", pkg.ImportPath, imported, m)
				}
			}
		}
	}
	for _, pkg := range list(t, listKey{os: "linux", arch: "amd64", cgo: "0"}) {
		if _, own := pkg.own(); !own {
			continue
		}
		for _, imported := range slices.Concat(pkg.TestImports, pkg.XTestImports) {
			first, _, _ := strings.Cut(imported, "/")
			if _, own := ownPath(imported); own || !strings.Contains(first, ".") {
				continue
			}
			if !slices.ContainsFunc(everything, func(m string) bool { return imported == m || strings.HasPrefix(imported, m+"/") }) {
				t.Errorf("the tests of %s import %s, which is not on the list", pkg.ImportPath, imported)
			}
		}
	}
}

// reach gives the foreign modules that a package is built from.
func reach(byPath map[string]*pkg, path string) map[string]bool {
	out, seen := map[string]bool{}, map[string]bool{}
	var walk func(string)
	walk = func(path string) {
		p := byPath[path]
		if p == nil || seen[path] || p.Standard {
			return
		}
		seen[path] = true
		if p.Module != nil && p.Module.Path != module {
			out[p.Module.Path] = true
		}
		for _, i := range p.Imports {
			walk(i)
		}
	}
	walk(path)
	return out
}

// Every level that the table gives is one of the seven, and no rule speaks of a package that cannot exist.
func TestTable(t *testing.T) {
	for _, l := range slices.Sorted(maps.Values(levels)) {
		if l < 0 || l > 6 {
			t.Errorf("level %d", l)
		}
	}
	for _, r := range rules {
		for _, name := range slices.Concat([]string{r.who}, r.only, r.not) {
			if _, ok := level(strings.TrimSuffix(name, "/")); !ok && name != "-" {
				if _, ok := level(name + "x"); !ok {
					t.Errorf("a rule speaks of %q, which has no level", name)
				}
			}
		}
	}
}
