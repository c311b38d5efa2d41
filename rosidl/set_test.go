package rosidl

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// load makes a set of files given by path and text.
func load(t *testing.T, files map[string]string) (*Set, error) {
	t.Helper()
	fs := fstest.MapFS{}
	for name, text := range files {
		fs[name] = &fstest.MapFile{Data: []byte(text)}
	}
	set := NewSet()
	if _, err := set.Load(Source{FS: fs, Root: "root"}, false); err != nil {
		return nil, err
	}
	return set, set.Resolve()
}

// The text that is hashed, and the hash of a well-known type.
func TestHashedText(t *testing.T) {
	set, err := load(t, map[string]string{"std_msgs/msg/String.msg": "string data"})
	if err != nil {
		t.Fatal(err)
	}
	d, err := set.Describe("std_msgs/msg/String")
	if err != nil {
		t.Fatal(err)
	}
	const text = `{"type_description": {"type_name": "std_msgs/msg/String", "fields": [{"name": "data", "type": {"type_id": 17, "capacity": 0, "string_capacity": 0, "nested_type_name": ""}}]}, "referenced_type_descriptions": []}`
	if diff := cmp.Diff(text, d.hashed()); diff != "" {
		t.Error(diff)
	}
	const hash = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"
	if d.Hash() != hash {
		t.Error(d.Hash())
	}
}

func TestDescriptions(t *testing.T) {
	set, err := load(t, map[string]string{
		"b/msg/Leaf.msg":  "int32 X=1",
		"a/msg/Inner.msg": "b/Leaf[<=3] leaves\nstring<=9[2] names",
		"a/msg/Outer.msg": "Inner[] inner\nb/msg/Leaf leaf\nint8 n 5",
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := set.Describe("a/msg/Outer")
	if err != nil {
		t.Fatal(err)
	}
	want := &TypeDescription{
		Type: IndividualType{Name: "a/msg/Outer", Fields: []DescribedField{
			{Name: "inner", Type: DescribedType{TypeID: 145, NestedTypeName: "a/msg/Inner"}},
			{Name: "leaf", Type: DescribedType{TypeID: 1, NestedTypeName: "b/msg/Leaf"}},
			{Name: "n", Type: DescribedType{TypeID: 2}, Default: "5"},
		}},
		Referenced: []IndividualType{
			{Name: "a/msg/Inner", Fields: []DescribedField{
				{Name: "leaves", Type: DescribedType{TypeID: 97, Capacity: 3, NestedTypeName: "b/msg/Leaf"}},
				{Name: "names", Type: DescribedType{TypeID: 69, Capacity: 2, StringCapacity: 9}},
			}},
			{Name: "b/msg/Leaf", Fields: []DescribedField{
				{Name: "structure_needs_at_least_one_member", Type: DescribedType{TypeID: 3}},
			}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// Defaults, constants and comments do not change the hash.
	other, err := load(t, map[string]string{
		"b/msg/Leaf.msg":  "# nothing",
		"a/msg/Inner.msg": "b/Leaf[<=3] leaves\nstring<=9[2] names # two",
		"a/msg/Outer.msg": "int8 C=3\nInner[] inner\nb/msg/Leaf leaf\nint8 n 6",
	})
	if err != nil {
		t.Fatal(err)
	}
	if d, err := other.Describe("a/msg/Outer"); err != nil || d.Hash() != got.Hash() {
		t.Errorf("%v, hash %s, want %s", err, d.Hash(), got.Hash())
	}
}

// Definitions are found wherever they lie, and named after their package.
func TestFind(t *testing.T) {
	files := fstest.MapFS{}
	for _, name := range []string{
		"ws/src/a/msg/A.msg", "ws/src/a/srv/B.srv", "ws/src/a/action/C.action", "ws/src/a/msg/sub/folder/D.msg",
		"ws/odd/E.msg", "ws/odd/interfaces/F.msg", "plain/G.msg", ".hidden/msg/H.msg", "ws/src/a/README.md",
	} {
		files[name] = &fstest.MapFile{}
	}
	files["ws/odd/package.xml"] = &fstest.MapFile{Data: []byte("<package format='3'><name>odd_msgs</name></package>")}
	found, err := Find(Source{FS: files, Root: "root"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found {
		got = append(got, f.Package+"/"+f.Kind.Folder()+"/"+f.Name)
	}
	want := []string{"plain/msg/G", "odd_msgs/msg/E", "odd_msgs/msg/F", "a/action/C", "a/msg/A", "a/msg/D", "a/srv/B"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	files["ws/src/a/msg/Only.idl"] = &fstest.MapFile{}
	if _, err := Find(Source{FS: files, Root: "root"}); err == nil || !strings.Contains(err.Error(), "Only.idl") || !strings.Contains(err.Error(), "not supported yet") {
		t.Errorf("an .idl file: %v", err)
	}
}

func TestResolveErrors(t *testing.T) {
	for _, c := range []struct {
		files map[string]string
		want  []string
	}{
		{map[string]string{"a/msg/A.msg": "\nB b"}, []string{"a/msg/A.msg:2", "no definition of a/msg/B"}},
		{map[string]string{"a/msg/A.msg": "other/B b"}, []string{"no definition of other/msg/B"}},
		{map[string]string{"a/msg/A.msg": "A a"}, []string{"holds itself"}},
		{map[string]string{"a/msg/A.msg": "B[] b", "a/msg/B.msg": "int8 x\nC[2] c", "a/msg/C.msg": "A a"}, []string{"holds itself"}},
		{map[string]string{"a/msg/A.msg": "int8 x", "z/a/msg/A.msg": "int16 x"}, []string{"also defined, differently"}},
		{map[string]string{"a/srv/A.srv": "---\n"}, []string{"no definition of service_msgs/msg/ServiceEventInfo"}},
	} {
		_, err := load(t, c.files)
		var e *ParseError
		if !errors.As(err, &e) {
			t.Errorf("%v: %v", c.files, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v: %q does not tell %q", c.files, err, want)
			}
		}
	}
}

// A header may be named in three ways.
func TestHeaderNames(t *testing.T) {
	files := map[string]string{"std_msgs/msg/Header.msg": "string frame_id"}
	for _, name := range []string{"Header", "std_msgs/Header", "std_msgs/msg/Header"} {
		files["a/msg/A.msg"] = name + " header"
		set, err := load(t, files)
		if err != nil {
			t.Fatal(err)
		}
		if got := set.Struct("a/msg/A").Fields[0].Type.NestedName; got != "std_msgs/msg/Header" {
			t.Errorf("%s is %s", name, got)
		}
	}
	files["a/msg/A.msg"], files["a/msg/Header.msg"] = "Header header", "int8 x"
	set, err := load(t, files)
	if err != nil {
		t.Fatal(err)
	}
	if got := set.Struct("a/msg/A").Fields[0].Type.NestedName; got != "a/msg/Header" {
		t.Errorf("beside a Header of its own package, Header is %s", got)
	}
}

func TestParseDefinition(t *testing.T) {
	for _, msg := range []string{"MSG: b/B", "MSG: b/msg/B"} {
		set, err := ParseDefinition("a/msg/A", "b/B b\n"+divider+"\n"+msg+"\nint8 x\n"+divider+"\nMSG: c/C\nint8 unused")
		if err != nil {
			t.Fatal(err)
		}
		d, err := set.Describe("a/msg/A")
		if err != nil || len(d.Referenced) != 1 || d.Referenced[0].Name != "b/msg/B" {
			t.Errorf("%v, %+v", err, d)
		}
	}
	for text, want := range map[string]string{
		"b/B b":                           "no definition of b/msg/B",
		"int8 x\n" + divider + "\nint8 y": "MSG:",
		"int8 x\n" + divider + "\nMSG: nonsense\n":  "not a type name",
		"int8 x\n" + divider + "\nMSG: b/B\nint8 Y": "not a field name",
	} {
		if _, err := ParseDefinition("a/msg/A", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestRecycleSlices(t *testing.T) {
	var own Owned
	recycle := func(s *[]int32) { own.Begin(); RecycleSlice(&own, s) }
	var s []int32
	recycle(&s)
	if cap(s) != 0 {
		t.Fatal("a slice from nowhere")
	}
	s = append(s, 1, 2, 3)
	user := &s[0]
	recycle(&s)
	if len(s) != 0 || cap(s) < 3 || &s[:1][0] == user {
		t.Fatalf("length %d, capacity %d", len(s), cap(s))
	}
	first := &s[:1][0]
	for range 3 { // filled within its capacity it stays
		s = append(s[:0], 4, 5)
		recycle(&s)
		if &s[:1][0] != first {
			t.Fatal("another slice")
		}
	}
	s = append(s, 1, 2, 3)[1:] // also with the front cut off
	recycle(&s)
	if &s[:1][0] != first {
		t.Fatal("another slice after the front was cut off")
	}
	s = make([]int32, 100)
	recycle(&s)
	if cap(s) < 100 {
		t.Fatalf("did not grow: capacity %d", cap(s))
	}
	// Who replaces a slice that was long enough brings memory of its own.
	s = make([]int32, 50)
	recycle(&s)
	if s != nil || own.slots[0].data != nil {
		t.Fatal("memory is held that is never used")
	}
}
