package tagus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tagus-ros/tagus/msgs/service_msgs"
	tdi "github.com/tagus-ros/tagus/msgs/type_description_interfaces"
	"github.com/tagus-ros/tagus/rosidl"
)

// definitionDivider stands between the parts of a definition in the form called ros2msg.
var definitionDivider = strings.Repeat("=", 80) + "\n"

// defineService remembers the definition of a service with all that it implies.
func defineService[Req, Resp any](d *Domain, s *rosidl.ServiceSupport[Req, Resp]) {
	if _, ok := d.definition(s.Name, s.Hash); ok {
		return
	}
	d.define(s.Name, s.Hash, func() string {
		var b strings.Builder
		fmt.Fprintf(&b, "%[1]s_Request request_message\n%[1]s_Response response_message\n%[1]s_Event event_message\n", s.Name)
		part := func(name, text string) {
			fmt.Fprintf(&b, "%sMSG: %s\n%s\n", definitionDivider, name, strings.TrimRight(text, "\n"))
		}
		part(s.Name+"_Request", s.Request.Definition())
		part(s.Name+"_Response", s.Response.Definition())
		part(s.Name+"_Event", fmt.Sprintf("service_msgs/ServiceEventInfo info\n%[1]s_Request[<=1] request\n%[1]s_Response[<=1] response", s.Name))
		part("service_msgs/msg/ServiceEventInfo", rosidl.Of[service_msgs.ServiceEventInfo]().Definition())
		return b.String()
	})
}

// serveTypes answers what the types are that this process uses.
func (n *Node) serveTypes() error {
	return serve[tdi.GetTypeDescription](n, "get_type_description", n.getTypeDescription)
}

func (n *Node) getTypeDescription(_ context.Context, req *tdi.GetTypeDescriptionRequest) (*tdi.GetTypeDescriptionResponse, error) {
	resp, err := n.d.describe(req)
	if err != nil {
		return &tdi.GetTypeDescriptionResponse{FailureReason: err.Error()}, nil
	}
	return resp, nil
}

func (d *Domain) describe(req *tdi.GetTypeDescriptionRequest) (*tdi.GetTypeDescriptionResponse, error) {
	text, ok := d.definition(req.TypeName, req.TypeHash)
	if req.TypeHash == "" {
		text, ok = d.anyDefinition(req.TypeName)
	}
	switch {
	case !ok:
		return nil, fmt.Errorf("nothing in the process of this node uses the type %s %s", req.TypeName, req.TypeHash)
	case text == "":
		return nil, errors.New("the definition of " + req.TypeName + " is not known here")
	}
	set, err := rosidl.ParseDefinition(req.TypeName, text)
	if err != nil {
		return nil, err
	}
	desc, err := set.Describe(req.TypeName)
	if err != nil {
		return nil, err
	}
	resp := &tdi.GetTypeDescriptionResponse{Successful: true}
	resp.TypeDescription.TypeDescription = described(&desc.Type)
	for i := range desc.Referenced {
		resp.TypeDescription.ReferencedTypeDescriptions = append(resp.TypeDescription.ReferencedTypeDescriptions, described(&desc.Referenced[i]))
	}
	if req.IncludeTypeSources {
		resp.TypeSources = typeSources(req.TypeName, text)
	}
	return resp, nil
}

// anyDefinition finds a definition by the name alone.
func (d *Domain) anyDefinition(name string) (text string, ok bool) {
	d.defined.Range(func(id, f any) bool {
		if id.(typeID).name == name {
			text, ok = f.(func() string)(), true
		}
		return !ok
	})
	return text, ok
}

func described(t *rosidl.IndividualType) tdi.IndividualTypeDescription {
	out := tdi.IndividualTypeDescription{TypeName: t.Name, Fields: make([]tdi.Field, len(t.Fields))}
	for i, f := range t.Fields {
		out.Fields[i] = tdi.Field{Name: f.Name, DefaultValue: f.Default, Type: tdi.FieldType{
			TypeID: f.Type.TypeID, Capacity: f.Type.Capacity, StringCapacity: f.Type.StringCapacity, NestedTypeName: f.Type.NestedTypeName,
		}}
	}
	return out
}

// typeSources takes a definition to pieces. What a service implies has no text of its own:
// it stands in that of the service.
func typeSources(name, text string) []tdi.TypeSource {
	parts := strings.Split(text, definitionDivider)
	out := []tdi.TypeSource{{TypeName: name, Encoding: "msg", RawFileContents: parts[0]}}
	texts := make(map[string]string)
	for _, part := range parts[1:] {
		head, body, _ := strings.Cut(part, "\n")
		of := fullTypeName(strings.TrimSpace(strings.TrimPrefix(head, "MSG: ")))
		if _, twice := texts[of]; twice {
			continue
		}
		texts[of] = body
		s := tdi.TypeSource{TypeName: of, Encoding: "msg", RawFileContents: body}
		if strings.HasPrefix(of, name+"_") {
			s.Encoding, s.RawFileContents = "implicit", ""
		}
		out = append(out, s)
	}
	if request, ok := texts[name+"_Request"]; ok {
		out[0].Encoding, out[0].RawFileContents = "srv", request+"---\n"+texts[name+"_Response"]
	}
	slices.SortFunc(out[1:], func(a, b tdi.TypeSource) int { return strings.Compare(a.TypeName, b.TypeName) })
	return out
}

// fullTypeName makes pkg/msg/Type of pkg/Type.
func fullTypeName(name string) string {
	if pkg, short, ok := strings.Cut(name, "/"); ok && !strings.Contains(short, "/") {
		return pkg + "/msg/" + short
	}
	return name
}
