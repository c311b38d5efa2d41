package param

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// files are parameter files: what they give, or the place and the reason of the error. What is taken and refused is what rcl's reader takes
// and refuses; the cases follow its tests.
var files = []struct {
	name, text string
	want       []string // node name type value line
	fault      string
}{
	{name: "nothing"},
	{name: "only a comment", text: "# config\n---\n"},
	{name: "plain", text: `# config/test_yaml
---

lidar_ns:
  lidar_1:
    ros__parameters:
      id: 10
      name: front_lidar
      ports: [2438, 2439, 2440]
      driver1:
        dx: 4.56
        bk: [12.1, -2.3, 5.2, 9.0]
        deep: {er: {a: 1}}
      is_front: true
  lidar_2:
    ros__parameters: {id: 992147483647, dy1: 0.003}
camera:
  ros__parameters:
    brands: ["Bosch", "Novatek"]
    7: x
`, want: []string{
		"lidar_ns/lidar_1 id integer 10 7", "lidar_ns/lidar_1 name string front_lidar 8", "lidar_ns/lidar_1 ports integer array [2438, 2439, 2440] 9",
		"lidar_ns/lidar_1 driver1.dx double 4.56 11", "lidar_ns/lidar_1 driver1.bk double array [12.1, -2.3, 5.2, 9.0] 12",
		"lidar_ns/lidar_1 driver1.deep.er.a integer 1 13", "lidar_ns/lidar_1 is_front boolean True 14", "lidar_ns/lidar_2 id integer 992147483647 16",
		"lidar_ns/lidar_2 dy1 double 0.003 16", "camera brands string array ['Bosch', 'Novatek'] 19", "camera 7 string x 20"}},
	{name: "deep namespaces", text: "a:\n  b:\n    c:\n      d:\n        ros__parameters:\n          x.y:\n            z: 2:1\n", want: []string{"a/b/c/d x.y.z string 2:1 7"}},
	{name: "root namespace", text: "/:\n  my_node:\n    ros__parameters:\n      param_name: 'value'\n", want: []string{"/my_node param_name string value 4"}},
	{name: "empty strings", text: "n:\n  ros__parameters:\n    a: \"\"\n    b: ''\n", want: []string{"n a string  3", "n b string  4"}},
	{name: "quoted numbers", text: "n:\n  ros__parameters:\n    a: [\"and\", \"7\"]\n", want: []string{"n a string array ['and', '7'] 3"}},
	{name: "string tags", text: "n:\n  ros__parameters:\n    a: !!str yes\n    b: !!str 1234\n", want: []string{"n a string yes 3", "n b string 1234 4"}},
	{name: "several documents", text: "a:\n  ros__parameters:\n    x: 1\n---\nb:\n  ros__parameters:\n    x: 2\n", want: []string{"a x integer 1 3", "b x integer 2 7"}},
	{name: "a name twice", text: "a:\n  ros__parameters:\n    x: 1\na:\n  ros__parameters:\n    x: 2\n", want: []string{"a x integer 1 3", "a x integer 2 6"}},
	{name: "no parameters", text: "a:\n  ros__parameters: {}\n"},
	{name: "anchor without alias", text: "a:\n  ros__parameters:\n    x: &A 1\n", want: []string{"a x integer 1 3"}},
	{name: "null", text: "a:\n  ros__parameters:\n    x: null\n    y: ~\n", want: []string{"a x not set None 3", "a y not set None 4"}},
	{name: "blocks", text: "a:\n  ros__parameters:\n    x: |\n      one\n      two\n    y:\n    - 1\n    - 2\n    z:\n      - a\n", want: []string{
		"a x string one\ntwo\n 3", "a y integer array [1, 2] 6", "a z string array ['a'] 9"}},
	{name: "byte order mark and CRLF", text: "\ufeffa:\r\n  ros__parameters:\r\n    x: 1\r\n    y: b\r\n", want: []string{"a x integer 1 3", "a y string b 4"}},
	{name: "wildcards come first", text: `a:
  ros__parameters: {x: 1}
/**:
  ros__parameters: {x: 2}
/*:
  ros__parameters: {x: 3}
/**/b:
  ros__parameters: {x: 4}
/**:
  c:
    ros__parameters: {x: 5}
/foo/*:
  ros__parameters: {x: 6}
/foo:
  "*":
    ros__parameters: {x: 7}
/foo/**/d:
  ros__parameters: {x: 8}
`, want: []string{"/** x integer 2 4", "/* x integer 3 6", "/**/b x integer 4 8", "/**/c x integer 5 11", "/foo/* x integer 6 13", "/foo/* x integer 7 16",
		"/foo/**/d x integer 8 18", "a x integer 1 2"}},

	{name: "value without a name", text: "a: 1\n", fault: "1:4: names of nodes are wanted"},
	{name: "a list at the top", text: "- a\n", fault: "names of nodes are wanted"},
	{name: "indented namespace", text: "  lidar_ns:\n  lidar_1:\n    ros__parameters:\n      id: 10\n", fault: "names of nodes are wanted"},
	{name: "a list of mappings", text: "n:\n  ros__parameters:\n    - driver: front\n      dx: 4.56\n", fault: "2:3: ros__parameters needs names of parameters below it"},
	{name: "parameters and a list", text: "n:\n  ros__parameters:\n    id: 10\n    - driver: front\n", fault: "4:5: "},
	{name: "no node", text: "n:\n  ros__parameters:\n    a: b\nros__parameters:\n  id: 10\n", fault: "4:1: ros__parameters has no node above it"},
	{name: "parameters missing", text: "n:\n  ros__parameters:\n", fault: "2:3: ros__parameters needs names of parameters below it"},
	{name: "parameters beside", text: "n:\n  ros__parameters:\n  rate: 1\n", fault: "2:3: ros__parameters needs"},
	{name: "alias", text: "n:\n  ros__parameters:\n    a: &FL x\n    b: *FL\n", fault: "4:8: aliases are not supported, as in ROS 2"},
	{name: "merge", text: "a: &a\n  ros__parameters: {x: 1}\nb:\n  <<: *a\n", fault: "4:3: merge keys"},
	{name: "value missing", text: "n:\n  ros__parameters:\n    id:\n    name: x\n", fault: "parameter id: there is no value"},
	{name: "two slashes", text: "lidar_ns//lidar_w:\n  ros__parameters:\n    id: 10\n", fault: "2:3: \"lidar_ns//lidar_w\" stands for no node"},
	{name: "namespace ends with a slash", text: "/foo:\n  /*:\n    ros__parameters:\n      id: 10\n", fault: "\"/foo//*\" stands for no node"},
	{name: "no node in the root", text: "/:\n  ros__parameters:\n    id: 10\n", fault: "stands for no node"},
	{name: "bad node name", text: "a-b:\n  ros__parameters:\n    id: 10\n", fault: "node name \"a-b\": must consist of letters"},
	{name: "mixed list", text: "n:\n  ros__parameters:\n    a: [1, x]\n", fault: "3:12: parameter a: a list holds values of one type: string after integer"},
	{name: "list in a list", text: "n:\n  ros__parameters:\n    g:\n      a: [[1]]\n", fault: "parameter g.a: a list holds single values only"},
	{name: "empty key", text: "n:\n  ros__parameters:\n    \"\": 1\n", fault: "3:5: a parameter's name is missing"},
	{name: "no YAML", text: "n:\n  ros__parameters:\n    a: [1\n", fault: "3:8: "},
	{name: "tab", text: "n:\n\tros__parameters:\n", fault: "2:1: "},
	{name: "partial 1", text: "/foo**:\n  ros__parameters: {a: 1}\n", fault: "stands for no node"},
	{name: "partial 2", text: "/**foo:\n  ros__parameters: {a: 1}\n", fault: "stands for no node"},
	{name: "partial 3", text: "/f*oo:\n  ros__parameters: {a: 1}\n", fault: "stands for no node"},
	{name: "partial 4", text: "/**/node**:\n  ros__parameters: {a: 1}\n", fault: "stands for no node"},
	{name: "partial 5", text: "/a*/node:\n  ros__parameters: {a: 1}\n", fault: "stands for no node"},
}

func TestParseFile(t *testing.T) {
	for _, c := range files {
		t.Run(c.name, func(t *testing.T) {
			overrides, err := ParseFile("p.yaml", []byte(c.text))
			if c.fault != "" {
				var e *FileError
				if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), "tagus: parameter file p.yaml:") || !strings.Contains(err.Error(), c.fault) {
					t.Errorf("%v, want %s", err, c.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range overrides {
				got = append(got, fmt.Sprintf("%s %s %s %s %s", o.Node, o.Name, o.Value.Type(), o.Value, strings.TrimPrefix(o.Source, "p.yaml:")))
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.yaml")
	if _, err := ReadFile(path); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("/**:\n  ros__parameters:\n    a: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadFile(path); err != nil || len(got) != 1 || got[0].Source != path+":3" {
		t.Error(got, err)
	}
	if err := os.WriteFile(path, make([]byte, MaxFileSize+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(path); err == nil || !strings.Contains(err.Error(), "at most 1048576 are read") {
		t.Error(err)
	}
}

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern    string
		yes, other []string
	}{
		{"/**", []string{"/a", "/a/b", "/a/b/c"}, nil},
		{"/*", []string{"/a"}, []string{"/a/b"}},
		{"a", []string{"/a"}, []string{"/b", "/a/a", "/x/a"}},
		{"/a", []string{"/a"}, []string{"/ab"}},
		{"ns/a", []string{"/ns/a"}, []string{"/a", "/ns", "/ns/a/b"}},
		{"/**/a", []string{"/a", "/x/a", "/x/y/a"}, []string{"/b", "/a/b"}},
		{"/*/a", []string{"/x/a"}, []string{"/a", "/x/y/a"}},
		{"/foo/**", []string{"/foo", "/foo/a", "/foo/a/b"}, []string{"/bar", "/foobar"}},
		{"/foo/*", []string{"/foo/a"}, []string{"/foo", "/foo/a/b"}},
		{"/foo/**/a", []string{"/foo/a", "/foo/x/a", "/foo/x/y/a"}, []string{"/a", "/foo", "/foo/a/b"}},
		{"/**/x/**/a", []string{"/x/a", "/a/x/a/a", "/x/x/a"}, []string{"/a", "/x", "/a/a"}},
	} {
		for _, node := range c.yes {
			if !matches(c.pattern, node) {
				t.Errorf("%s does not stand for %s", c.pattern, node)
			}
		}
		for _, node := range c.other {
			if matches(c.pattern, node) {
				t.Errorf("%s stands for %s", c.pattern, node)
			}
		}
	}
	long := strings.Repeat("/**/a", 200) // no time to lose on patterns
	if matches(long+"/b", strings.Repeat("/a", 1000)) || !matches(long, strings.Repeat("/a", 1000)) {
		t.Error("long patterns")
	}
}

func TestSelect(t *testing.T) {
	file, err := ParseFile("f", []byte("n:\n  ros__parameters: {a: 1, b: 1}\n/**:\n  ros__parameters: {a: 2, c: 2}\nm:\n  ros__parameters: {d: 3}\n"))
	if err != nil {
		t.Fatal(err)
	}
	got := Select(file, "/n")
	if len(got) != 3 || !got["a"].Value.Equal(Of(1)) || !got["c"].Value.Equal(Of(2)) {
		t.Errorf("%v: a node's own entries do not go before wildcards", got)
	}
	// What stands later on the command line counts, wildcard or not.
	got = Select(append(file, Override{Node: "/**", Name: "a", Value: Of(3)}), "/n")
	if !got["a"].Value.Equal(Of(3)) {
		t.Errorf("%v", got["a"])
	}
}
