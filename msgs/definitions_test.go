package msgs_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tagus-ros/tagus/internal/peers"
	"github.com/tagus-ros/tagus/msgs"
	"github.com/tagus-ros/tagus/msgs/example_interfaces"
	"github.com/tagus-ros/tagus/msgs/rcl_interfaces"
	"github.com/tagus-ros/tagus/rosidl"
)

// definitions loads what this repository defines.
func definitions(t *testing.T) *rosidl.Set {
	t.Helper()
	set := rosidl.NewSet()
	if _, err := set.Load(rosidl.Source{FS: msgs.Definitions, Root: "msgs"}, false); err != nil {
		t.Fatal(err)
	}
	if err := set.Resolve(); err != nil {
		t.Fatal(err)
	}
	return set
}

// foxgloveField is a field or constant as the npm package has it.
type foxgloveField struct {
	Name            string
	Type            string
	IsComplex       bool
	IsArray         bool
	ArrayLength     int
	ArrayUpperBound int
	UpperBound      int
	IsConstant      bool
	Value           any
	ValueText       string
	DefaultValue    any
}

// Names, types, bounds, constants and defaults equal those of an independent set.
func TestDefinitionsAgainstFoxglove(t *testing.T) {
	node := peers.Node(t, "@foxglove/rosmsg-msgs-common@3.2.3")
	var distros map[string]map[string]struct{ Definitions []foxgloveField }
	if err := json.Unmarshal(node.Run(t, "testdata/peer_definitions.js", nil), &distros); err != nil {
		t.Fatal(err)
	}
	theirs := distros["jazzy"]
	if len(theirs) < 100 {
		t.Fatalf("the peer has only %d definitions", len(theirs))
	}
	set := definitions(t)
	ours := map[string]bool{}
	compared := 0
	for _, i := range set.Interfaces() {
		ours[i.Package] = true
		if i.Kind != rosidl.KindMessage {
			continue
		}
		their, ok := theirs[i.Package+"/"+i.Name]
		if !ok {
			continue
		}
		compared++
		got, want := fieldLines(i.Parts[0]), foxgloveLines(their.Definitions)
		if !slices.Equal(got, want) {
			t.Errorf("%s:\nours\n\t%s\npeer's\n\t%s", i.FullName(), strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
		}
	}
	for name := range theirs {
		pkg, _, _ := strings.Cut(name, "/")
		if ours[pkg] && set.Interface(strings.Replace(name, "/", "/msg/", 1)) == nil {
			t.Errorf("%s is missing", name)
		}
	}
	t.Logf("%d definitions compared", compared)
}

// fieldLines writes a definition in the terms of the npm package: it has no
// byte and char, and calls the two builtin types by their old names.
func fieldLines(st *rosidl.Struct) []string {
	var lines, constants []string
	for _, f := range st.Fields {
		typ := strings.Replace(f.Type.String(), "byte", "uint8", 1)
		typ = strings.Replace(typ, "builtin_interfaces/Time", "time", 1)
		typ = strings.Replace(typ, "builtin_interfaces/Duration", "duration", 1)
		line := typ + " " + f.Name
		if f.Default != nil {
			for _, v := range f.Default.Values {
				line += " " + valueText(v)
			}
		}
		lines = append(lines, line)
	}
	for _, c := range st.Constants {
		typ := strings.Replace(rosidl.FieldType{ID: c.Type}.String(), "byte", "uint8", 1)
		constants = append(constants, typ+" "+c.Name+"="+valueText(c.Value))
	}
	return append(lines, constants...)
}

func foxgloveLines(fields []foxgloveField) []string {
	var lines, constants []string
	for _, f := range fields {
		line := f.Type
		if f.UpperBound > 0 {
			line += fmt.Sprintf("<=%d", f.UpperBound)
		}
		switch {
		case f.ArrayLength > 0:
			line += fmt.Sprintf("[%d]", f.ArrayLength)
		case f.ArrayUpperBound > 0:
			line += fmt.Sprintf("[<=%d]", f.ArrayUpperBound)
		case f.IsArray:
			line += "[]"
		}
		line += " " + f.Name
		if f.IsConstant {
			constants = append(constants, line+"="+valueText(f.Value))
			continue
		}
		switch v := f.DefaultValue.(type) {
		case nil:
		case []any:
			for _, e := range v {
				line += " " + valueText(e)
			}
		default:
			line += " " + valueText(v)
		}
		lines = append(lines, line)
	}
	return append(lines, constants...)
}

// valueText writes a number the same way whether it was an integer or not.
func valueText(v any) string {
	switch v := v.(type) {
	case int64:
		return valueText(float64(v))
	case uint64:
		return valueText(float64(v))
	}
	return fmt.Sprint(v)
}

// hasChar tells whether a definition has a char, for which the Python package
// takes a number of its own in type hashes; in .msg files it is uint8.
func hasChar(typ message) bool {
	for _, line := range strings.Split(typ.definition(), "\n") {
		if strings.HasPrefix(line, "char") {
			return true
		}
	}
	return false
}

// Hashes equal those that an independent implementation computes from its own
// definitions. What differs between distributions is known.
func TestHashesAgainstRosbags(t *testing.T) {
	python := peers.Python(t, "rosbags==0.11.9")
	var distros map[string]map[string]string
	if err := json.Unmarshal(python.Run(t, "testdata/peer_hashes.py", nil), &distros); err != nil {
		t.Fatal(err)
	}
	for _, distro := range slices.Sorted(maps.Keys(distros)) {
		compared := 0
		for _, typ := range allTypes {
			their := distros[distro][typ.name()]
			if their == "" || hasChar(typ) {
				continue
			}
			compared++
			if their != typ.hash() && !slices.Contains(changed[distro], typ.name()) {
				t.Errorf("%s in %s: ours %s, the peer's %s", typ.name(), distro, typ.hash(), their)
			}
			if their == typ.hash() && slices.Contains(changed[distro], typ.name()) {
				t.Errorf("%s in %s is listed as different but is not", typ.name(), distro)
			}
		}
		if compared < 60 {
			t.Errorf("only %d hashes of %s were compared", compared, distro)
		}
		t.Logf("%s: %d hashes compared", distro, compared)
	}
}

// changed lists the types that differ from ours (Jazzy's) in other distributions.
// docs/distros.md says what differs.
var changed = map[string][]string{
	"lyrical": {"lifecycle_msgs/msg/TransitionEvent"},
}

// Values that were published elsewhere, and the hash of what generated code says
// of itself.
func TestHashes(t *testing.T) {
	known := map[string]string{
		"std_msgs/msg/String":         "df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18",
		"builtin_interfaces/msg/Time": "b106235e25a4c5ed35098aa0a61a3ee9c9b18d197f398b0e4206cea9acf9c197",
		"std_msgs/msg/Header":         "f49fb3ae2cf070f793645ff749683ac6b06203e41c891e17701b1cb597ce6a01",
		"std_msgs/msg/Char":           "3ad2d04dd29ba19d04b16659afa3ccaedd691914b02a64e82e252f2fa6a586a9",
	}
	// Services and actions: from nodes of ROS 2 and from other implementations.
	fibonacci := example_interfaces.Fibonacci{}.ROSAction()
	for name, got := range map[string]string{
		"9508051da1ea4658de144b09bd0690ff3de52104683d847aed764d2915906f51": fibonacci.Hash,
		"1b0de0d5d29dc955d92f546706568428632771db13ec84c15ec1c1a59f424a57": fibonacci.GetResult.Hash,
		"226cb437e4355dcd3e914f930382a3b0cc1da81545bd319ed554e95a03255f51": fibonacci.Goal.Hash,
		"e118de6bf5eeb66a2491b5bda11202e7b68f198d6f67922cf30364858239c81a": example_interfaces.AddTwoInts{}.ROSService().Hash,
		"bf9803d5c74cf989a5de3e0c2e99444599a627c7ff75f97b8c05b01003675cbc": rcl_interfaces.GetParameters{}.ROSService().Hash,
	} {
		if got != "RIHS01_"+name {
			t.Errorf("%s, want RIHS01_%s", got, name)
		}
	}
	set := definitions(t)
	for _, typ := range allTypes {
		if want := known[typ.name()]; want != "" && typ.hash() != "RIHS01_"+want {
			t.Errorf("%s: %s, want RIHS01_%s", typ.name(), typ.hash(), want)
		}
		delete(known, typ.name())
		if got := typ.description().Hash(); got != typ.hash() {
			t.Errorf("%s: the description hashes to %s, the type says %s", typ.name(), got, typ.hash())
		}
		d, err := set.Describe(typ.name())
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Hash(); got != typ.hash() {
			t.Errorf("%s: the definition file hashes to %s, the type says %s", typ.name(), got, typ.hash())
		}
	}
	if len(known) > 0 {
		t.Errorf("no such types: %v", known)
	}
}
