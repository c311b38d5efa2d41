package rosargs

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tagus-ros/tagus/param"
)

// The rules that rcl takes and refuses, by its own tests.
func TestRulesTaken(t *testing.T) {
	for _, rule := range []string{
		"__node:=node_name", "old_name:__node:=node_name", "old_name:__node:=nodename123", "__node:=nodename123", "__name:=n", "__ns:=/foo/bar",
		"__ns:=/", "_:=kq", "nodename:__ns:=/foobar", "foo:=bar", "~/foo:=~/bar", "/foo/bar:=bar", "foo:=/bar", "/foo123:=/bar123",
		"node:/foo123:=/bar123", "rostopic:=/foo/bar", "rosservice:=baz", "rostopic://rostopic:=rosservice", "rostopic:///rosservice:=rostopic",
		"rostopic:///foo/bar:=baz", "rosservice://~/a:=b", "n:rosservice://a:=b", "rostopic:a:=b",
	} {
		if _, err := Parse([]string{"--ros-args", "-r", rule}); err != nil {
			t.Errorf("-r %s: %v", rule, err)
		}
	}
	for _, rule := range []string{
		"foo:=bar", "qos_overrides./foo/bar.publisher.history:=keep_last", "foo.bar:=bar", "node:foo:=bar", "fizz123:=buzz456", "a__b:=1",
		"x:=[1, 2]", "x:=[]", "x:=\"\"", "x:=''", "x:=a:=b", "x:=-1",
	} {
		if _, err := Parse([]string{"--ros-args", "--param", rule}); err != nil {
			t.Errorf("--param %s: %v", rule, err)
		}
	}
}

func TestRulesRefused(t *testing.T) {
	for rule, at := range map[string]int{
		":": 0, "1": 0, "~": 0, ":=": 0, "foo:=": 5, ":=bar": 0, "::=": 0, "1:=": 0, "~:=": 0, "__node:=": 8, "__node:=/foo/bar": 8, "__ns:=": 6,
		"__ns:=foo": 6, ":__node:=nodename": 0, "~:__node:=nodename": 0, "}foo:=/bar": 0, "f oo:=/bar": 1, "foo:=/b ar": 7, "f{oo:=/bar": 1,
		"foo:=/b}ar": 7, "rostopic://:=rosservice": 11, "rostopic::=rosservice": 9, "foo": 3, "foo:bar": 7, "foo:=bar:=baz": 8, "": 0, "foo/:=bar": 4,
		"foo//b:=bar": 4, "*:=a": 0, "a/**:=b": 2, "a:=\\1": 3, "a__b:=c": 2, "__node:=a__b": 10, "__ns:=/foo/": 6, "__ns:=/a b": 8, "a:=rostopic://b": 3,
		"é:=a": 0,
	} {
		refused(t, "-r", rule, at)
	}
	for rule, at := range map[string]int{
		":=": 0, "foo:=": 5, ":=bar": 0, ":": 0, "1": 0, "~": 0, "::=": 0, "1:=": 0, "~:=": 0, "__node:=": 0, "__node:=/foo/bar": 0, "__ns:=foo": 0,
		":__node:=nodename": 0, "~:__node:=nodename": 0, "}foo:=/bar": 0, "f oo:=/bar": 1, "foo": 3, "foo.:=1": 4, ".foo:=1": 0, "a..b:=1": 2,
		"a:=[1": 3, "a:=[1, x]": 3, "a:={b: 1}": 3, "a:=b: c": 3, "*:=1": 0, "a.**:=1": 2, "a:=*x": 3,
	} {
		refused(t, "-p", rule, at)
	}
	for rule, at := range map[string]int{
		":=debug": 0, "debug,": 0, "rcl:=debug,": 5, "rcl:=debug,,": 5, "rcl:=": 5, "rcl:=,": 5, ":": 0, ":=": 0, "rcl:": 0, "rcl=": 0, "rcl=debug": 0,
		"rcl:=:=": 5, "rcl=debug,": 0, "rcl:,": 0, "foo": 0, "": 0,
	} {
		refused(t, "--log-level", rule, at)
	}
}

func refused(t *testing.T, flag, rule string, at int) {
	t.Helper()
	_, err := Parse([]string{"program", "--ros-args", flag, rule})
	var e *Error
	if !errors.As(err, &e) {
		t.Errorf("%s %s: %v, want an *Error", flag, rule, err)
		return
	}
	if e.Pos != 3 || e.At != at || e.Arg != rule || e.Flag != flag || e.Text == "" {
		t.Errorf("%s %s: %+v, want a fault at %d of argument 3", flag, rule, e, at)
	}
}

func TestFlagsWithoutValue(t *testing.T) {
	for flag := range valued {
		_, err := Parse([]string{"program", "--ros-args", flag})
		var e *Error
		if !errors.As(err, &e) || e.Pos != 2 || !strings.Contains(err.Error(), "must be followed by") {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

func TestUnknown(t *testing.T) {
	for _, arg := range []string{"--custom-ros-arg", "__node:=node_name", "/foo/bar:=bar", "file_name.yaml", "--log", "--loglevel", "--logfile-name",
		"stdout-logs", "external-lib-logs", "--enable-logs", "--disable-", "-"} {
		_, err := Parse([]string{"a", "--ros-args", "-r", "x:=y", arg, "foo"})
		var e *Error
		if !errors.As(err, &e) || e.Pos != 4 || e.Arg != arg || e.Flag != "" {
			t.Errorf("%s: %v", arg, err)
		}
	}
}

// What is outside comes back as it was.
func TestRest(t *testing.T) {
	for _, c := range []struct{ args, rest string }{
		{"", ""},
		{"p", "p"},
		{"p --ros-args", "p"},
		{"p --ros-args --", "p"},
		{"p --ros-args -r /foo/bar:=/fiz/buz --remap foo:=/baz", "p"},
		{"p --ros-args --ros-args -r /foo/bar:=/fiz/buz", "p"},
		{"p --ros-args -r /foo/bar:=/fiz/buz -- --", "p --"},
		{"p --ros-args -- arg --ros-args", "p arg"},
		{"p -d --ros-args -r __ns:=/foo/bar -r __ns:=/fiz/buz -- --foo=bar --baz --ros-args --ros-args -p bar:=baz -- -- arg", "p -d --foo=bar --baz -- arg"},
		{"p -- __node:=x foo:=bar -r a:=b", "p -- __node:=x foo:=bar -r a:=b"},
		{"--ros-args --disable-rosout-logs", ""},
	} {
		a, err := Parse(strings.Fields(c.args))
		if err != nil || strings.Join(a.Rest, " ") != c.rest {
			t.Errorf("%s: %v, %v, want %s", c.args, a, err, c.rest)
		}
	}
}

func TestEverything(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.yaml")
	if err := os.WriteFile(file, []byte("some_node:\n  ros__parameters:\n    int_param: 1\n    group.s: foo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := Parse([]string{"prog", "--ros-args", "--params-file", file, "-r", "that_node:foo:=baz", "--remap", "rosservice://foo:=bar", "-r", "__name:=my_node",
		"-r", "n:__ns:=/my_ns", "-p", "testing:=true", "--param", "this_node:constant:=42", "-e", "fizz", "--enclave", "/buzz", "--log-level", "rcl:=debug",
		"--log-level", "warn", "--log-level", "Info", "--log-level", "rcl:=FATAL", "--log-level", "test.a-b:=error", "--log-config-file", "flip.txt",
		"--log-file-name", "name", "--enable-rosout-logs", "--disable-rosout-logs", "--disable-stdout-logs", "--disable-external-lib-logs",
		"--enable-external-lib-logs", "--", "rest"})
	if err != nil {
		t.Fatal(err)
	}
	want := &Args{
		Remaps: Remaps{
			{Kind: Topic | Service, Node: "that_node", From: "foo", To: "baz"},
			{Kind: Service, From: "foo", To: "bar"},
			{Kind: NodeName, To: "my_node"},
			{Kind: Namespace, Node: "n", To: "/my_ns"},
		},
		Overrides: []param.Override{
			{Node: "some_node", Name: "int_param", Value: param.Of(1), Source: file + ":3"},
			{Node: "some_node", Name: "group.s", Value: param.Of("foo"), Source: file + ":4"},
			{Node: "/**", Name: "testing", Value: param.Of(true), Source: `argument 13, "-p testing:=true"`},
			{Node: "/this_node", Name: "constant", Value: param.Of(42), Source: `argument 15, "--param this_node:constant:=42"`},
		},
		ParamFiles:   []string{file},
		LogLevel:     LevelInfo,
		LoggerLevels: []LoggerLevel{{"rcl", LevelFatal}, {"test.a-b", LevelError}},
		Enclave:      "/buzz", LogConfigFile: "flip.txt", LogFileName: "name", NoStdoutLogs: true, NoRosoutLogs: true,
		Rest: []string{"prog", "rest"},
	}
	if d := cmp.Diff(want, a); d != "" {
		t.Error(d)
	}
}

func TestErrorTexts(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.yaml")
	_, failure := os.Open(missing)
	why := strings.TrimPrefix(failure.Error(), "open "+missing+": ") // as the system says it
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"p", "--ros-args", "-r", "foo:="}, `tagus: argument 3, "-r foo:=": want a name, found the end (at 5 of "foo:=")`},
		{[]string{"p", "--ros-args", "-r", "f oo:=bar"}, `tagus: argument 3, "-r f oo:=bar": want "/", found " " (at 1 of "f oo:=bar")`},
		{[]string{"p", "--ros-args", "-r", "a/*:=bar"}, `tagus: argument 3, "-r a/*:=bar": "*" is not supported, as in ROS 2 (at 2 of "a/*:=bar")`},
		{[]string{"p", "--ros-args", "-r"}, `tagus: argument 2, "-r": must be followed by a rule like from:=to, node:from:=to, __node:=name or __ns:=/namespace`},
		{[]string{"--ros-args", "x"}, `tagus: argument 1, "x": not a ROS argument; those of the program stand before --ros-args or after --`},
		{[]string{"--ros-args", "--log-level", "a:=loud"}, `tagus: argument 2, "--log-level a:=loud": "loud" is no level; there are debug, info, warn, error, fatal and unset (at 3 of "a:=loud")`},
		{[]string{"--ros-args", "--params-file", missing}, `tagus: argument 2, "--params-file ` + missing + `": parameter file ` + missing + `: open: ` + why},
	} {
		_, err := Parse(c.args)
		if err == nil || err.Error() != c.want {
			t.Errorf("%q:\n%v\nwant\n%s", c.args, err, c.want)
		}
	}
	_, err := Parse([]string{"--ros-args", "--params-file", missing})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v does not say what the system said", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"p --ros-args -r foo:=bar -- x", "--ros-args\n-p\nn:a.b:=[1, 2]\n--log-level\nx:=debug", "--ros-args\n--params-file\nf\n-e\n--"} {
		f.Add(strings.ReplaceAll(s, " ", "\n"))
	}
	f.Fuzz(func(t *testing.T, text string) {
		args := strings.Split(text, "\n")
		a, err := parse(args, func(path string) ([]param.Override, error) { return param.ParseFile(path, []byte(path)) })
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Pos < 0 || e.Pos >= len(args) || e.Arg != "" && e.Arg != args[e.Pos] || e.At > len(e.Arg) || e.Error() == "" {
				t.Fatalf("%q: %#v", args, err)
			}
			return
		}
		rest := args
		for _, r := range a.Rest { // each in its order
			i := slices.Index(rest, r)
			if i < 0 {
				t.Fatalf("%q: %q", args, a.Rest)
			}
			rest = rest[i+1:]
		}
		for _, r := range a.Remaps {
			if again, wrong := parseRemap(written(r)); wrong != nil || again != r {
				t.Fatalf("%+v, read again from %q: %+v, %v", r, written(r), again, wrong)
			}
		}
	})
}

// written is a rule as it is given.
func written(r Remap) string {
	s := ""
	if r.Node != "" {
		s = r.Node + ":"
	}
	switch r.Kind {
	case NodeName:
		return s + "__node:=" + r.To
	case Namespace:
		return s + "__ns:=" + r.To
	case Topic:
		s += "rostopic://"
	case Service:
		s += "rosservice://"
	}
	return s + r.From + ":=" + r.To
}
