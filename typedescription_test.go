package tagus_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tagus-ros/tagus"
	ex "github.com/tagus-ros/tagus/msgs/example_interfaces"
	rcl "github.com/tagus-ros/tagus/msgs/rcl_interfaces"
	"github.com/tagus-ros/tagus/msgs/sensor_msgs"
	tdi "github.com/tagus-ros/tagus/msgs/type_description_interfaces"
	"github.com/tagus-ros/tagus/qos"
	"github.com/tagus-ros/tagus/rosidl"
)

// back converts a description that came from a node.
func back(m *tdi.TypeDescription) *rosidl.TypeDescription {
	one := func(t tdi.IndividualTypeDescription) rosidl.IndividualType {
		out := rosidl.IndividualType{Name: t.TypeName}
		for _, f := range t.Fields {
			out.Fields = append(out.Fields, rosidl.DescribedField{Name: f.Name, Default: f.DefaultValue, Type: rosidl.DescribedType{
				TypeID: f.Type.TypeID, Capacity: f.Type.Capacity, StringCapacity: f.Type.StringCapacity, NestedTypeName: f.Type.NestedTypeName}})
		}
		return out
	}
	d := &rosidl.TypeDescription{Type: one(m.TypeDescription)}
	for _, t := range m.ReferencedTypeDescriptions {
		d.Referenced = append(d.Referenced, one(t))
	}
	return d
}

func TestTypeDescription(t *testing.T) {
	for _, s := range setups {
		t.Run(s.name, func(t *testing.T) {
			nd, cd := s.make(t)
			n := node(t, nd, "camera")
			if _, err := tagus.NewPublisher[sensor_msgs.Image](n, "image", qos.Default()); err != nil {
				t.Fatal(err)
			}
			if _, err := tagus.NewService[ex.AddTwoInts](n, "add", add); err != nil {
				t.Fatal(err)
			}
			c, err := tagus.NewClient[tdi.GetTypeDescription](node(t, cd, "client"), "camera/get_type_description")
			if err != nil {
				t.Fatal(err)
			}
			ctx := within(t, 10*time.Second)
			if err := c.WaitForService(ctx); err != nil {
				t.Fatal(err)
			}
			image, service := rosidl.Of[sensor_msgs.Image](), ex.AddTwoInts{}.ROSService()
			events := rcl.ParameterEvent{}
			for _, want := range []struct {
				name, hash string
				sources    []string // name, encoding, what the text has
			}{
				{image.Name, image.Hash, []string{"sensor_msgs/msg/Image", "msg", "uint8[] data", "builtin_interfaces/msg/Time", "msg", "int32 sec", "std_msgs/msg/Header", "msg", "frame_id"}},
				{service.Name, service.Hash, []string{"example_interfaces/srv/AddTwoInts", "srv", "int64 sum", "builtin_interfaces/msg/Time", "msg", "int32 sec",
					"example_interfaces/srv/AddTwoInts_Event", "implicit", "", "example_interfaces/srv/AddTwoInts_Request", "implicit", "", "example_interfaces/srv/AddTwoInts_Response", "implicit", "",
					"service_msgs/msg/ServiceEventInfo", "msg", "event_type"}},
				{rcl.SetParameters{}.ROSService().Name, rcl.SetParameters{}.ROSService().Hash, nil},
				{events.ROSType().Name, events.ROSType().Hash, nil},
			} {
				resp, err := c.Call(ctx, &tdi.GetTypeDescriptionRequest{TypeName: want.name, TypeHash: want.hash, IncludeTypeSources: want.sources != nil})
				if err != nil || !resp.Successful {
					t.Errorf("%s: %+v, %v", want.name, resp, err)
					continue
				}
				d := back(&resp.TypeDescription)
				if d.Hash() != want.hash || d.Type.Name != want.name {
					t.Errorf("%s: the description of %s has the hash %s, want %s", want.name, d.Type.Name, d.Hash(), want.hash)
				}
				if 3*len(resp.TypeSources) != len(want.sources) {
					t.Errorf("%s: sources %+v", want.name, resp.TypeSources)
					continue
				}
				for i, src := range resp.TypeSources {
					w := want.sources[3*i:]
					if src.TypeName != w[0] || src.Encoding != w[1] || !strings.Contains(src.RawFileContents, w[2]) || (w[2] == "") != (src.RawFileContents == "") {
						t.Errorf("%s: source %+v, want %q", want.name, src, w[:3])
					}
				}
			}
			resp, err := c.Call(ctx, &tdi.GetTypeDescriptionRequest{TypeName: image.Name})
			if err != nil || !resp.Successful {
				t.Errorf("without a hash: %+v, %v", resp, err)
			}
			for _, req := range []tdi.GetTypeDescriptionRequest{{TypeName: image.Name, TypeHash: "RIHS01_none"}, {TypeName: "no_msgs/msg/No"}} {
				resp, err := c.Call(ctx, &req)
				if err != nil || resp.Successful || !strings.Contains(resp.FailureReason, req.TypeName) {
					t.Errorf("%s: %+v, %v", req.TypeName, resp, err)
				}
			}
		})
	}
}

// The definition of a service is told between processes too.
func TestDefinitionOfService(t *testing.T) {
	dir := t.TempDir()
	sd, od := join(t, dir), join(t, dir)
	spin(t, sd)
	spin(t, od)
	if _, err := tagus.NewService[ex.AddTwoInts](node(t, sd, "server"), "add", add); err != nil {
		t.Fatal(err)
	}
	ctx := within(t, 5*time.Second)
	c, err := tagus.NewClient[rcl.ListParameters](node(t, od, "tool"), "server/list_parameters") // so that the server is seen
	if err != nil {
		t.Fatal(err)
	}
	if err := c.WaitForService(ctx); err != nil {
		t.Fatal(err)
	}
	sup := ex.AddTwoInts{}.ROSService()
	text, err := od.Definition(ctx, sup.Name, sup.Hash)
	if err != nil {
		t.Fatal(err)
	}
	set, err := rosidl.ParseDefinition(sup.Name, text)
	if err != nil {
		t.Fatal(err)
	}
	if d, err := set.Describe(sup.Name); err != nil || d.Hash() != sup.Hash {
		t.Errorf("%v, %v", d, err)
	}
}
