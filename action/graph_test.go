package action_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/action"
	"github.com/tagus-ros/tagus/graph"
	ex "github.com/tagus-ros/tagus/msgs/example_interfaces"
	"github.com/tagus-ros/tagus/qos"
)

// Names, types and profiles are those that rcl_action makes.
func TestEndpoints(t *testing.T) {
	d := join(t, t.TempDir())
	spin(t, d)
	n := node(t, d, "worker", tagus.WithNamespace("/a"))
	s, err := action.NewServer[ex.Fibonacci](n, "~/count", handlers{Execute: fibonacci})
	if err != nil {
		t.Fatal(err)
	}
	c, err := action.NewClient[ex.Fibonacci](node(t, d, "user"), "/a/worker/count")
	if err != nil {
		t.Fatal(err)
	}
	if s.Name() != "/a/worker/count" || c.Name() != s.Name() {
		t.Errorf("names %s and %s", s.Name(), c.Name())
	}
	var got []string
	for _, node := range d.Graph().Nodes() {
		for _, e := range d.Graph().Of(node) {
			if strings.Contains(e.Name, "/_action/") {
				got = append(got, fmt.Sprintf("%s %v %s %s", node.Name, e.Kind, e.Name, e.Type))
			}
			if e.Kind == graph.KindPublisher && e.Name == s.Name()+"/_action/status" && e.QoS != qos.ActionStatus().Resolved() {
				t.Errorf("status: %v", e.QoS)
			}
		}
	}
	slices.Sort(got)
	const a, typ = "/a/worker/count/_action/", "example_interfaces/action/Fibonacci_"
	want := []string{
		"user subscription " + a + "feedback " + typ + "FeedbackMessage",
		"user subscription " + a + "status action_msgs/msg/GoalStatusArray",
		"user client " + a + "cancel_goal action_msgs/srv/CancelGoal",
		"user client " + a + "get_result " + typ + "GetResult",
		"user client " + a + "send_goal " + typ + "SendGoal",
		"worker publisher " + a + "feedback " + typ + "FeedbackMessage",
		"worker publisher " + a + "status action_msgs/msg/GoalStatusArray",
		"worker service " + a + "cancel_goal action_msgs/srv/CancelGoal",
		"worker service " + a + "get_result " + typ + "GetResult",
		"worker service " + a + "send_goal " + typ + "SendGoal",
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	all := action.List(d.Graph())
	if len(all) != 1 || all[0].Name != s.Name() || !slices.Equal(all[0].Types, []string{"example_interfaces/action/Fibonacci"}) ||
		len(all[0].Servers) != 1 || all[0].Servers[0].FullName() != "/a/worker" || len(all[0].Clients) != 1 || all[0].Clients[0].FullName() != "/user" {
		t.Errorf("%+v", all)
	}
	if i, ok := action.Find(d.Graph(), s.Name()); !ok || i.Name != s.Name() {
		t.Errorf("%+v %v", i, ok)
	}
	if _, ok := action.Find(d.Graph(), "/count"); ok {
		t.Error("found what is not there")
	}
	for _, x := range []interface{ Close() error }{s, c, s, c} {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
	noneLeft(t, d)
}

// noneLeft checks that no part of an action is in the graph.
func noneLeft(t *testing.T, d *tagus.Domain) {
	t.Helper()
	for _, n := range d.Graph().Nodes() {
		for _, e := range d.Graph().Of(n) {
			if strings.Contains(e.Name, "/_action/") {
				t.Errorf("left behind: %s %v", e.Name, e.Kind)
			}
		}
	}
}
