package tagus_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/msgs/std_msgs"
	"github.com/tagus-ros/tagus/param"
	"github.com/tagus-ros/tagus/qos"
)

func TestQoSOverrides(t *testing.T) {
	file := filepath.Join(t.TempDir(), "qos.yaml")
	if err := os.WriteFile(file, []byte(`/**:
  ros__parameters:
    qos_overrides:
      /chatter:
        publisher:
          depth: 3
          reliability: best_effort
          durability: transient_local
          lifespan: 2000000000
          deadline: 9223372036854775807
        subscription:
          history: keep_all
`), 0o600); err != nil {
		t.Fatal(err)
	}
	d := join(t, t.TempDir(), tagus.WithArgs([]string{"p", "--ros-args", "--params-file", file, "-p", "qos_overrides./chatter.publisher.depth:=4"}))
	defer d.Close()
	n := node(t, d, "n")
	want := qos.Profile{Depth: 4, Reliability: qos.BestEffort, Durability: qos.TransientLocal, Lifespan: 2 * time.Second}
	for range 2 { // the second finds the parameters declared
		pub, err := tagus.NewPublisher[std_msgs.String](n, "chatter", qos.Default())
		if err != nil {
			t.Fatal(err)
		}
		if pub.QoS() != want {
			t.Errorf("publisher: %v, want %v", pub.QoS(), want)
		}
	}
	sub, err := tagus.NewSubscription(n, "chatter", qos.SensorData(), func(context.Context, *tagus.Sample[std_msgs.String]) {})
	if err != nil {
		t.Fatal(err)
	}
	if want := (qos.Profile{History: qos.KeepAll, Reliability: qos.BestEffort}); sub.QoS() != want {
		t.Errorf("subscription: %v, want %v", sub.QoS(), want)
	}
	other, err := tagus.NewPublisher[std_msgs.String](n, "other", qos.Default())
	if err != nil {
		t.Fatal(err)
	}
	if other.QoS() != qos.Default() {
		t.Errorf("another topic: %v", other.QoS())
	}
	// What is in force can be seen and not changed.
	const depth = "qos_overrides./chatter.publisher.depth"
	if v, err := n.Parameters().Get(depth); err != nil || !v[0].Equal(param.Of(4)) {
		t.Errorf("the parameter: %v, %v", v, err)
	}
	if err := n.Parameters().Set(context.Background(), depth, param.Of(5)); !errors.Is(err, param.ErrReadOnly) {
		t.Errorf("set: %v", err)
	}
}

func TestBadQoSOverrides(t *testing.T) {
	for given, want := range map[string]string{
		"reliability:=perhaps":                  "perhaps",
		"depth:=-1":                             "depth",
		"depth:=many":                           "want integer, given string 'many'",
		"relability:=reliable":                  `no policy "relability"`,
		"avoid_ros_namespace_conventions:=true": "names of ROS",
	} {
		d := join(t, t.TempDir(), tagus.WithArgs([]string{"p", "--ros-args", "-p", "qos_overrides./chatter.publisher." + given}))
		n := node(t, d, "n")
		if _, err := tagus.NewPublisher[std_msgs.String](n, "chatter", qos.Default()); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "chatter") {
			t.Errorf("%s: %v", given, err)
		}
		if _, err := tagus.NewPublisher[std_msgs.String](n, "other", qos.Default()); err != nil {
			t.Errorf("%s: another topic: %v", given, err)
		}
		d.Close()
	}
}
