package msgs_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tagus-ros/tagus/msgs/type_description_interfaces"
	"github.com/tagus-ros/tagus/rosidl"
	"github.com/tagus-ros/tagus/rosidl/dynamic"
)

// Descriptions are written as the message that ROS 2 has for them, and read back.
func TestDescriptionPayload(t *testing.T) {
	for _, typ := range allTypes {
		d := typ.description()
		p := d.Payload()
		var m type_description_interfaces.TypeDescription
		if err := rosidl.Of[type_description_interfaces.TypeDescription]().Decode(decoder(p), &m); err != nil {
			t.Fatalf("%s: %v", typ.name(), err)
		}
		if again := payload(erase[type_description_interfaces.TypeDescription](), &m); !bytes.Equal(again, p) {
			t.Fatalf("%s:\n% x\n% x", typ.name(), p, again)
		}
		if m.TypeDescription.TypeName != typ.name() || len(m.ReferencedTypeDescriptions) != len(d.Referenced) {
			t.Fatalf("%s: %+v", typ.name(), m)
		}
		back, err := rosidl.DescriptionFromPayload(p)
		if err != nil || back.Hash() != typ.hash() {
			t.Fatalf("%s: %v", typ.name(), err)
		}
		if diff := cmp.Diff(d, back); diff != "" {
			t.Fatalf("%s: %s", typ.name(), diff)
		}
		for n := range p { // cut short
			if _, err := rosidl.DescriptionFromPayload(p[:n]); err == nil && n < len(p) {
				t.Fatalf("%s: %d of %d bytes were accepted", typ.name(), n, len(p))
			}
			if n > 2000 {
				break
			}
		}
	}
}

func FuzzDescription(f *testing.F) {
	f.Add(allTypes[0].description().Payload())
	f.Add(allTypes[len(allTypes)/2].description().Payload())
	f.Fuzz(func(t *testing.T, p []byte) {
		d, err := rosidl.DescriptionFromPayload(p)
		if err != nil {
			return
		}
		again, err := rosidl.DescriptionFromPayload(d.Payload())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(d, again); diff != "" {
			t.Fatal(diff)
		}
		if typ, err := dynamic.NewType(d); err == nil {
			_, _ = typ.Decode(p)
		}
	})
}
