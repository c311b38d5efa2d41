package tagus_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/msgs/sensor_msgs"
	"github.com/tagus-ros/tagus/msgs/std_msgs"
	"github.com/tagus-ros/tagus/qos"
)

// hello is the CDR of a std_msgs/msg/String, as zenoh-facts and Fast-CDR have it.
const hello = "\x00\x01\x00\x00\x06\x00\x00\x00hello\x00"

func TestSerialized(t *testing.T) {
	for _, s := range setups {
		t.Run(s.name, func(t *testing.T) {
			pd, sd := s.make(t)
			ts := (*std_msgs.String)(nil).ROSType()
			pub, err := tagus.NewSerializedPublisher(node(t, pd, "talker"), "chatter", ts.Name, ts.Hash, "", qos.Default())
			if err != nil {
				t.Fatal(err)
			}
			n := node(t, sd, "listener")
			got := make(chan string, 2)
			if _, err := tagus.NewSubscription(n, "chatter", qos.Default(), func(_ context.Context, s *tagus.Sample[std_msgs.String]) {
				got <- s.Msg.Data
			}); err != nil {
				t.Fatal(err)
			}
			if _, err := tagus.NewSerializedSubscription(n, "chatter", ts.Name, ts.Hash, qos.Default(), func(_ context.Context, s *tagus.Sample[tagus.SerializedMessage]) {
				got <- string(s.Msg.Data)
			}); err != nil {
				t.Fatal(err)
			}
			if err := pub.WaitForSubscriptions(within(t, 5*time.Second), 2); err != nil {
				t.Fatal(err)
			}
			if err := pub.Publish([]byte(hello)); err != nil {
				t.Fatal(err)
			}
			a, b := <-got, <-got
			if len(a) > len(b) {
				a, b = b, a
			}
			if a != "hello" || b != hello {
				t.Errorf("got %q and %q", a, b)
			}
			for _, bad := range []string{"", "\x00\x01", "\x00\x00\x00\x00\x00\x00\x00\x06hello\x00"} {
				if err := pub.Publish([]byte(bad)); !errors.Is(err, tagus.ErrNotSerialized) {
					t.Errorf("publish % x: %v", bad, err)
				}
			}
		})
	}
}

func TestDefinitionFromAnotherProcess(t *testing.T) {
	dir := t.TempDir()
	pd, sd := join(t, dir), join(t, dir)
	spin(t, pd)
	spin(t, sd)
	if _, err := tagus.NewPublisher[sensor_msgs.Image](node(t, pd, "camera"), "image", qos.Default()); err != nil {
		t.Fatal(err)
	}
	ctx := within(t, 5*time.Second)
	if err := sd.WatchGraph(); err != nil {
		t.Fatal(err)
	}
	for sd.Graph().Publishers("/image") == nil {
		select {
		case <-sd.Graph().Changed():
		case <-ctx.Done():
			t.Fatal("the publisher was not seen")
		}
	}
	e := sd.Graph().Publishers("/image")[0]
	text, err := sd.Definition(ctx, e.Type, e.Hash)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, "MSG: std_msgs/") || !strings.Contains(text, "uint8[] data") {
		t.Errorf("definition:\n%s", text)
	}
	if _, err := sd.Definition(ctx, e.Type, "RIHS01_none"); !errors.Is(err, tagus.ErrUnknownType) {
		t.Errorf("unknown hash: %v", err)
	}
}
