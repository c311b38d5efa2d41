package gen

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tagus-ros/tagus/rosidl"
)

// write makes files below a new folder.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// reserved are names that mean something in Go or in generated code.
var reserved = strings.Fields(`type func range map select interface package var chan defer go default string len
	error nil init message data buf err msg struct switch case for if else import return const true false bool byte
	int append clear copy make new e d m n s i a b off src dst own body cdr rosidl unsafe ros_type size encode decode`)

func awkward() map[string]string {
	var fields strings.Builder
	for i, name := range reserved {
		typ := []string{"int32", "string", "uint8[]", "geometry_msgs/Pose[<=2]", "bool[3]", "string<=4[]", "Leaf"}[i%7]
		fields.WriteString(typ + " " + name + "\n")
		fields.WriteString("int32 " + strings.ToUpper(strings.TrimSuffix(name, "_")) + "=" + string(rune('0'+i%10)) + "\n")
	}
	return map[string]string{
		"awkward_msgs/msg/Reserved.msg":      fields.String(),
		"awkward_msgs/msg/Leaf.msg":          "float64[36] covariance",
		"awkward_msgs/msg/Test.msg":          "bool[] flags\nwstring<=3 text\nEmpty nothing\nEmpty[2] two\nEmpty[] many",
		"awkward_msgs/msg/Linux.msg":         "int8 a\nint64 b",
		"awkward_msgs/msg/Empty.msg":         "",
		"awkward_msgs/msg/deep/er/Sub.msg":   "Deep1 d\nawkward_msgs/msg/Deep1[2] e",
		"awkward_msgs/msg/Deep1.msg":         "other_msgs/Deep2 d",
		"awkward_msgs/srv/Reserved.srv":      "Leaf leaf\n---\nstring err",
		"awkward_msgs/action/Do.action":      "string goal\n---\nLeaf[] result\n---\nfloat32 feedback",
		"other_msgs/msg/Deep2.msg":           "Deep3[] d",
		"other_msgs/msg/Deep3.msg":           "Header header\nstd_msgs/Header h2\nstd_msgs/msg/Header h3\ntime t\nduration[] d",
		"cdr/msg/Cdr.msg":                    "int8 x # a ROS package of the name of one of ours",
		"uses_cdr/msg/UsesCdr.msg":           "cdr/Cdr x\nrosidl/Unsafe y",
		"rosidl/msg/Unsafe.msg":              "cdr/Cdr[] cdr",
		"defaults_msgs/msg/WithDefaults.msg": "bool a true\nstring b 'x\"y'\nfloat32[2] c [1.5, -2]\nint8[<=3] d [1]\nstring[] e ['p', \"q\"]\nuint64 f 18446744073709551615\nInner g\nInner[2] h\nInner[] i",
		"defaults_msgs/msg/Inner.msg":        "int32 x -7\nstring y 'why'\nstring<=3 z",
		"defaults_msgs/msg/FlatWithGaps.msg": "uint8 a\nuint64 b\nuint8 c\nuint16 d\nGap[3] e",
		"defaults_msgs/msg/Gap.msg":          "uint32 a\nuint8 b\nuint8 c\nuint16 d",
	}
}

// A package of a user generates with one call and compiles, vets and works in a
// module of its own.
func TestUserModule(t *testing.T) {
	files := awkward()
	files["go.mod"] = "module example.org/robot\n\ngo 1.26.0\n\nrequire github.com/tagus-ros/tagus v0.0.0\n\nreplace github.com/tagus-ros/tagus => " + repository(t) + "\n"
	program, err := os.ReadFile("testdata/user_test.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	files["user/user_test.go"] = string(program)
	dir := write(t, files)
	sum, err := os.ReadFile(filepath.Join(repository(t), "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o666); err != nil {
		t.Fatal(err)
	}
	o := Options{Dirs: []string{dir}, Out: filepath.Join(dir, "gen"), Suffixes: map[string]string{"srv": "Srv"}}
	if err := Run(o); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"build", "./..."}, {"vet", "./..."}, {"test", "./..."}} {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "CGO_ENABLED=0", "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %v: %v\n%s", args, err, out)
		}
	}
	out, err := exec.Command("gofmt", "-l", dir).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("gofmt: %v\n%s", err, out)
	}
}

func repository(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// The output is the same each time, and files are left alone that did not change.
func TestStable(t *testing.T) {
	dir := write(t, awkward())
	o := Options{Dirs: []string{dir}, Out: filepath.Join(dir, "gen"), ImportBase: "x.org/y", Suffixes: map[string]string{"srv": "Srv"}}
	first, err := Generate(o)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Generate(o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Error(diff)
	}
	if err := Run(o); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "gen", "awkward_msgs", "linux.go")
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	// A definition that is gone takes its file with it; a file of the user stays.
	mine := filepath.Join(dir, "gen", "awkward_msgs", "mine.go")
	if err := os.WriteFile(mine, []byte("package awkward_msgs\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "awkward_msgs", "msg", "Test.msg")); err != nil {
		t.Fatal(err)
	}
	if err := Run(o); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(file)
	if err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("%v: the file was written again", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "gen", "awkward_msgs", "test.go")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file of a definition that is gone: %v", err)
	}
	if _, err := os.Stat(mine); err != nil {
		t.Error(err)
	}
}

// Every error tells file, line and text, and nothing is written.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"malformed line", map[string]string{"a/msg/A.msg": "int32 fine\n\nint32 4tune\n"}, []string{"A.msg:3", "4tune"}},
		{"two fields of one Go name", map[string]string{"a/msg/A.msg": "int32 foo_bar\nint32 x\nint32 foo__bar"}, []string{"A.msg:3", "foo__bar"}},
		{"two fields of one Go name, both fine in ROS", map[string]string{"a/msg/A.msg": "int32 foo1\nint32 foo_1"}, []string{"A.msg:2", "foo_1", "foo1"}},
		{"constants of one Go name", map[string]string{"a/msg/A.msg": "int32 FOO1=1\nint32 FOO_1=2"}, []string{"A.msg:2", "FOO_1"}},
		{"a constant of the name of a type", map[string]string{"a/msg/A.msg": "int32 B=1", "a/msg/AB.msg": ""}, []string{"A.msg:1", "AB"}},
		{"a message and a service of one name", map[string]string{"a/msg/A.msg": "", "a/srv/A.srv": "---"}, []string{"A.srv", "A.msg", "suffix"}},
		{"a message of the name of a request", map[string]string{"a/msg/DoRequest.msg": "", "a/srv/Do.srv": "---"}, []string{"Do.srv", "DoRequest"}},
		{"names that differ in case", map[string]string{"a/msg/Ab.msg": "", "a/msg/AB.msg": ""}, []string{"differs in case"}},
		{"a default over its bound", map[string]string{"a/msg/A.msg": "int32 x\nstring<=3 s \"äöü\""}, []string{"A.msg:2", "6 bytes"}},
		{"an unknown type", map[string]string{"a/msg/A.msg": "b/B b"}, []string{"A.msg:1", "no definition of b/msg/B"}},
		{"a type that holds itself", map[string]string{"a/msg/A.msg": "A[] a"}, []string{"A.msg:1", "holds itself"}},
		{"idl", map[string]string{"a/msg/A.idl": "module a {};"}, []string{"A.idl", "not supported yet"}},
		{"nothing", map[string]string{"a/readme": ""}, []string{"no .msg, .srv or .action file"}},
	} {
		dir := write(t, c.files)
		out := filepath.Join(t.TempDir(), "out")
		err := Run(Options{Dirs: []string{dir}, Out: out, ImportBase: "x.org/y"})
		if err == nil {
			t.Errorf("%s was accepted", c.name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not tell %q", c.name, err, want)
			}
		}
		if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: something was written: %v", c.name, err)
		}
	}
	if err := Run(Options{}); err == nil {
		t.Error("no folder was accepted")
	}
	if err := Run(Options{Dirs: []string{"no/such/folder"}}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	dir := write(t, map[string]string{"a/msg/A.msg": ""})
	if err := Run(Options{Dirs: []string{dir}, Out: dir}); err == nil || !strings.Contains(err.Error(), "go.mod") {
		t.Errorf("outside of any module: %v", err)
	}
}

// Types of packages that are not generated here are imported from where they
// are; without word of it that is an error.
func TestImports(t *testing.T) {
	dir := write(t, map[string]string{"mine/msg/A.msg": "theirs/B b\nstd_msgs/Header h"})
	search := write(t, map[string]string{"theirs/msg/B.msg": "int8 x"})
	o := Options{Dirs: []string{dir}, Search: []string{search}, ImportBase: "x.org/y"}
	if _, err := Generate(o); err == nil || !strings.Contains(err.Error(), "theirs") {
		t.Errorf("an unknown import path: %v", err)
	}
	o.Imports = map[string]string{"theirs": "z.org/theirs"}
	files, err := Generate(o)
	if err != nil {
		t.Fatal(err)
	}
	text := files["mine/a.go"]
	for _, want := range []string{`"z.org/theirs"`, `"github.com/tagus-ros/tagus/msgs/std_msgs"`} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s is not imported", want)
		}
	}
	if bytes.Contains(text, []byte("x.org/y/mine")) {
		t.Error("the package imports itself")
	}
}

// AMENT_PREFIX_PATH is searched for what is referred to.
func TestAmentPrefixPath(t *testing.T) {
	dir := write(t, map[string]string{"mine/msg/A.msg": "installed/B b"})
	prefix := write(t, map[string]string{
		"share/installed/msg/B.msg": "int8 x", "share/installed/package.xml": "<package><name>installed</name></package>",
	})
	t.Setenv("AMENT_PREFIX_PATH", "/no/such/prefix"+string(filepath.ListSeparator)+prefix)
	_, err := Generate(Options{Dirs: []string{dir}, ImportBase: "x.org/y", Imports: map[string]string{"installed": "z.org/installed"}})
	if err != nil {
		t.Error(err)
	}
}

func TestNames(t *testing.T) {
	for ros, want := range map[string]string{
		"frame_id": "FrameID", "is_bigendian": "IsBigendian", "x": "X", "ids": "Ids", "base_url": "BaseURL", "uuid": "UUID", "qos_depth": "QoSDepth", "a1_b2": "A1B2",
	} {
		if got := fieldGoName(ros); got != want {
			t.Errorf("%s: %s, want %s", ros, got, want)
		}
	}
	for _, c := range [][3]string{
		{"NavSatStatus", "STATUS_NO_FIX", "NavSatStatusNoFix"},
		{"NavSatStatus", "SERVICE_GPS", "NavSatStatusServiceGps"},
		{"PointField", "FLOAT32", "PointFieldFloat32"},
		{"GoalStatus", "STATUS_UNKNOWN", "GoalStatusUnknown"},
		{"JoyFeedback", "TYPE_LED", "JoyFeedbackTypeLed"},
		{"GoalStatus", "STATUS", "GoalStatusStatus"},
		{"Mode", "MODE_3D", "ModeMode3d"},
		{"TF2Error", "NO_ERROR", "TF2ErrorNoError"},
		{"Version", "V1_2", "VersionV1_2"},
		{"Transition", "TRANSITION_ON_ERROR_ERROR", "TransitionOnErrorError"},
	} {
		if got, _ := constantGoName(c[0], c[1]); got != c[2] {
			t.Errorf("%s of %s: %s, want %s", c[1], c[0], got, c[2])
		}
	}
}

// Layouts for which memory and encoding agree, and some for which they do not.
func TestLayout(t *testing.T) {
	set := rosidl.NewSet()
	for name, text := range map[string]string{
		"Numbers": "uint8 a\nuint64 b\nuint8 c",
		"Bool":    "bool a", "Text": "string a", "Seq": "int8[] a", "None": "",
		"Pair":       "uint32 a\nuint8 b",
		"Pairs":      "Pair[2] a",
		"OnePair":    "Pair[1] a\nuint8 b",
		"LastPair":   "uint16 x\nPair p",
		"ByteFirst":  "uint8 a\nuint32 b",
		"Holds":      "uint8 x\nByteFirst b",
		"HoldsAlign": "uint32 x\nByteFirst b",
		"Stack":      "float32 x\nfloat32 y",
		"Big":        "uint8[8000000] a",
	} {
		i, err := rosidl.Parse(name, "pkg", rosidl.KindMessage, name, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := set.Add(i); err != nil {
			t.Fatal(err)
		}
	}
	g := &generator{set: set, layouts: map[string]*layout{}}
	for _, c := range []struct {
		name      string
		size      int // 0: not flat
		stackable bool
		pads      [][2]int
	}{
		{"Numbers", 17, false, [][2]int{{1, 8}}},
		{"Bool", 0, false, nil}, {"Text", 0, false, nil}, {"Seq", 0, false, nil}, {"None", 0, false, nil},
		{"Pair", 5, false, nil},
		{"Pairs", 0, false, nil},   // in memory the second begins at 8, encoded too, but the array of one size is 13
		{"OnePair", 0, false, nil}, // b is at 8 in memory, at 5 encoded
		{"LastPair", 9, false, [][2]int{{2, 4}}},
		{"ByteFirst", 8, false, [][2]int{{1, 4}}},
		{"Holds", 0, false, nil}, // begins at 4 in memory, at 1 encoded
		{"HoldsAlign", 12, false, [][2]int{{5, 8}}},
		{"Stack", 8, true, nil},
		{"Big", 8000000, true, nil},
	} {
		l := g.layoutOf(set.Struct("pkg/msg/" + c.name))
		size := 0
		if l.flat {
			size = l.size
		}
		if size != c.size || l.stackable() != c.stackable || c.size > 0 && cmp.Diff(c.pads, l.pads) != "" {
			t.Errorf("%s: flat size %d, stackable %v, gaps %v", c.name, size, l.stackable(), l.pads)
		}
	}
}
