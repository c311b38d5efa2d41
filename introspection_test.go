package tagus_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/graph"
	ex "github.com/tagus-ros/tagus/msgs/example_interfaces"
	rcl "github.com/tagus-ros/tagus/msgs/rcl_interfaces"
	"github.com/tagus-ros/tagus/qos"
	"github.com/tagus-ros/tagus/rosidl/dynamic"
)

// events collects what is told on a service's event topic, decoded by what the publishers
// say of the type.
func events(t *testing.T, n *tagus.Node, topic string, publishers int) <-chan *dynamic.Message {
	t.Helper()
	ctx := within(t, 10*time.Second)
	d := n.Domain()
	if err := d.WatchGraph(); err != nil {
		t.Fatal(err)
	}
	for len(d.Graph().Publishers(topic)) < publishers {
		select {
		case <-d.Graph().Changed():
		case <-ctx.Done():
			t.Fatal("the publishers of events do not come")
		}
	}
	e := d.Graph().Publishers(topic)[0]
	text, err := d.Definition(ctx, e.Type, e.Hash)
	if err != nil {
		t.Fatal(err)
	}
	typ, err := dynamic.ParseType(e.Type, text)
	if err != nil {
		t.Fatal(err)
	}
	if got := typ.Description().Hash(); got != e.Hash {
		t.Errorf("the definition of %s has the hash %s, want %s", e.Type, got, e.Hash)
	}
	out := make(chan *dynamic.Message, 20)
	sub, err := tagus.NewSerializedSubscription(n, topic, e.Type, e.Hash, qos.Default(), func(_ context.Context, s *tagus.Sample[tagus.SerializedMessage]) {
		m, err := typ.Decode(s.Msg.Data)
		if err != nil {
			t.Error(err)
			return
		}
		out <- m
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := sub.WaitForPublishers(ctx, publishers); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestServiceEvents(t *testing.T) {
	for _, s := range setups {
		for _, deferred := range []bool{false, true} {
			t.Run(fmt.Sprint(s.name, " deferred ", deferred), func(t *testing.T) {
				sd, cd := s.make(t)
				sn, cn := node(t, sd, "server"), node(t, cd, "client")
				var srv interface {
					Introspect(tagus.Introspection, qos.Profile) error
					Close() error
				}
				var err error
				if deferred {
					srv, err = tagus.NewDeferredService[ex.AddTwoInts](sn, "add", func(_ context.Context, r *tagus.Request[ex.AddTwoIntsRequest, ex.AddTwoIntsResponse]) {
						if err := r.Respond(&ex.AddTwoIntsResponse{Sum: r.Msg.A + r.Msg.B}); err != nil {
							t.Error(err)
						}
					})
				} else {
					srv, err = tagus.NewService[ex.AddTwoInts](sn, "add", add)
				}
				if err != nil {
					t.Fatal(err)
				}
				c, err := tagus.NewClient[ex.AddTwoInts](cn, "add")
				if err != nil {
					t.Fatal(err)
				}
				ctx := within(t, 10*time.Second)
				if err := c.WaitForService(ctx); err != nil {
					t.Fatal(err)
				}
				ask := func() {
					t.Helper()
					if _, err := c.Call(ctx, &ex.AddTwoIntsRequest{A: 1, B: 2}); err != nil {
						t.Fatal(err)
					}
				}
				ask() // nobody tells yet
				if err := srv.Introspect(tagus.IntrospectContents, qos.Default()); err != nil {
					t.Fatal(err)
				}
				if err := c.Introspect(tagus.IntrospectMetadata, qos.Default()); err != nil {
					t.Fatal(err)
				}
				got := events(t, node(t, cd, "tool"), "/add/_service_event", 2)
				ask()
				var all []string
				for len(all) < 4 {
					m := comes(t, got, "an event")
					if seq, _ := m.GetPath("info.sequence_number"); seq == int64(1) {
						continue // the server tells of its first answer only after it has sent it: it may do so by now
					}
					sec, _ := m.GetPath("info.stamp.sec")
					gid, _ := m.GetPath("info.client_gid")
					if at, ok := sec.(int32); !ok || time.Since(time.Unix(int64(at), 0)).Abs() > time.Minute || fmt.Sprint(gid) != fmt.Sprint([16]uint8(c.GID())) {
						t.Errorf("stamp %v, client %v", sec, gid)
					}
					kind, _ := m.GetPath("info.event_type")
					seq, _ := m.GetPath("info.sequence_number")
					all = append(all, fmt.Sprint(kind, " ", seq, " ", m.Map()["request"], " ", m.Map()["response"]))
				}
				slices.Sort(all)
				want := []string{"0 2 [] []", "1 2 [map[a:1 b:2]] []", "2 2 [] [map[sum:3]]", "3 2 [] []"}
				if !slices.Equal(all, want) {
					t.Errorf("%q, want %q", all, want)
				}
				if err := srv.Introspect(tagus.IntrospectOff, qos.Default()); err != nil {
					t.Fatal(err)
				}
				if err := c.Close(); err != nil {
					t.Fatal(err)
				}
				if err := cd.Graph().Wait(ctx, func(g *graph.Graph) bool { return len(g.Publishers("/add/_service_event")) == 0 }); err != nil {
					t.Errorf("the publishers of events stay: %v", err)
				}
			})
		}
	}
}

// What is asked may have any alignment and length.
func TestServiceEventLayout(t *testing.T) {
	d := join(t, t.TempDir())
	spin(t, d)
	n := node(t, d, "n")
	c, err := tagus.NewClient[rcl.SetParameters](n, "n/set_parameters")
	if err != nil {
		t.Fatal(err)
	}
	ctx := within(t, 10*time.Second)
	if err := c.WaitForService(ctx); err != nil {
		t.Fatal(err)
	}
	if err := c.Introspect(tagus.IntrospectContents, qos.Default()); err != nil {
		t.Fatal(err)
	}
	got := events(t, n, "/n/set_parameters/_service_event", 1)
	for length := range 9 {
		name := strings.Repeat("x", length)
		req := &rcl.SetParametersRequest{Parameters: []rcl.Parameter{{Name: name, Value: rcl.ParameterValue{Type: 3, DoubleValue: 1.5, StringValue: name, DoubleArrayValue: []float64{2.5}}}, {Name: name}}}
		if _, err := c.Call(ctx, req); err != nil {
			t.Fatal(err)
		}
		m := comes(t, got, "the request")
		want := fmt.Sprint(req.Parameters[0].Name, 1.5, name, []float64{2.5}, name)
		var parts []any
		for _, path := range []string{"request[0].parameters[0].name", "request[0].parameters[0].value.double_value", "request[0].parameters[0].value.string_value",
			"request[0].parameters[0].value.double_array_value", "request[0].parameters[1].name"} {
			v, err := m.GetPath(path)
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, v)
		}
		if got := fmt.Sprint(parts...); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if m = comes(t, got, "the answer"); !strings.Contains(fmt.Sprint(m.Map()["response"]), "successful:false") {
			t.Errorf("answer %v", m.Map())
		}
	}
}
