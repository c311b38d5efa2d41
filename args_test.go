package tagus_test

import (
	"strings"
	"testing"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/msgs/std_msgs"
	"github.com/tagus-ros/tagus/param"
	"github.com/tagus-ros/tagus/qos"
)

func TestArgs(t *testing.T) {
	d := join(t, t.TempDir(), tagus.WithArgs([]string{"prog", "-v", "--ros-args", "-r", "__node:=ear", "-r", "__ns:=/left", "-r", "chatter:=talk", "-p", "rate:=5", "--", "file"}))
	defer d.Close()
	if got := strings.Join(d.Args(), " "); got != "prog -v file" {
		t.Errorf("rest: %q", got)
	}
	n := node(t, d, "listener")
	if n.FullyQualifiedName() != "/left/ear" {
		t.Errorf("node %s", n.FullyQualifiedName())
	}
	pub, err := tagus.NewPublisher[std_msgs.String](n, "chatter", qos.Default())
	if err != nil {
		t.Fatal(err)
	}
	if pub.Topic() != "/left/talk" {
		t.Errorf("topic %s", pub.Topic())
	}
	rate, err := param.Declare(n, "rate", 1.0, param.Descriptor{})
	if err != nil {
		t.Fatal(err)
	}
	if rate.Value() != 5 {
		t.Errorf("rate %v", rate.Value())
	}
	if _, err := tagus.Join(tagus.WithArgs([]string{"prog", "--ros-args", "-r", "nonsense"})); err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("a bad rule: %v", err)
	}
}
