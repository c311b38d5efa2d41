package component_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/component"
	"github.com/tagus-ros/tagus/lifecycle"
	compose "github.com/tagus-ros/tagus/msgs/composition_interfaces"
	msg "github.com/tagus-ros/tagus/msgs/lifecycle_msgs"
	rcl "github.com/tagus-ros/tagus/msgs/rcl_interfaces"
	"github.com/tagus-ros/tagus/msgs/sensor_msgs"
	"github.com/tagus-ros/tagus/msgs/std_msgs"
	"github.com/tagus-ros/tagus/param"
	"github.com/tagus-ros/tagus/qos"
	"github.com/tagus-ros/tagus/rosidl"
)

var latched = qos.Profile{Depth: 1, Durability: qos.TransientLocal}

// lidar is a driver as that of seed 003: a managed node with a latched topic and large messages that it gives away.
type lidar struct {
	*lifecycle.Node
	metadata *lifecycle.Publisher[std_msgs.String]
	cloud    *lifecycle.Publisher[sensor_msgs.PointCloud2]
}

func newLidar(_ context.Context, o component.Options) (component.Node, error) {
	l := &lidar{}
	var err error
	l.Node, err = lifecycle.NewNode(o.Domain, o.NodeName("lidar"), lifecycle.Callbacks{
		Configure: func(context.Context, lifecycle.State) error {
			_, err := param.Declare(l, "address", "192.0.2.1", param.Descriptor{})
			return err
		},
		Activate: func(context.Context, lifecycle.State) error {
			go func() {
				if _, err := l.WaitFor(context.Background(), lifecycle.Active); err == nil {
					l.metadata.Publish(&std_msgs.String{Data: "OS-1"})
				}
			}()
			return nil
		},
		Cleanup: func(context.Context, lifecycle.State) error { return l.Parameters().Undeclare("address") },
	}, o.NodeOptions()...)
	if err != nil {
		return nil, err
	}
	l.metadata, err = lifecycle.NewPublisher[std_msgs.String](l.Node, "metadata", latched)
	if err == nil {
		l.cloud, err = lifecycle.NewPublisher[sensor_msgs.PointCloud2](l.Node, "points", qos.SensorData())
	}
	if err == nil {
		_, err = l.NewTimer(5e6, func(context.Context, tagus.TimerInfo) {
			m := l.cloud.New()
			m.Data = append(m.Data, make([]byte, 64<<10)...)
			l.cloud.PublishOwned(m)
		})
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// TestManagedDriver drives the lidar through its state machine from another participant, alone and in a container. Every transition succeeds,
// and its latched, parameter and transition topics run in process, as the clouds do; the one pair that needs bytes takes another path.
func TestManagedDriver(t *testing.T) {
	for _, where := range []string{"alone", "in a container"} {
		t.Run(where, func(t *testing.T) {
			dir := t.TempDir()
			d, other := join(t, dir), join(t, dir)
			spin(t, d)
			spin(t, other)
			o := plain(t, other)
			switch where {
			case "alone":
				_, err := newLidar(context.Background(), component.Options{Domain: d})
				must(t, err)
			default:
				reg := &component.Registry{}
				must(t, reg.Register("lidar_driver", "lidar::Driver", newLidar))
				container(t, d, reg)
				resp, err := dealWith(t, o).load.Call(soon(t), &compose.LoadNodeRequest{PackageName: "lidar_driver", PluginName: "lidar::Driver"})
				must(t, err)
				if !resp.Success || resp.FullNodeName != "/lidar" {
					t.Fatalf("%+v", resp)
				}
			}

			change, err := tagus.NewClient[msg.ChangeState](o, "/lidar/change_state")
			must(t, err)
			must(t, change.WaitForService(soon(t)))
			do := func(label string) {
				t.Helper()
				resp, err := change.Call(soon(t), &msg.ChangeStateRequest{Transition: msg.Transition{Label: label}})
				must(t, err)
				if !resp.Success {
					t.Errorf("%s was not made", label)
				}
			}

			beside, err := d.NewNode("beside")
			must(t, err)
			events, changes, here, there := make(chan heard, 100), make(chan heard, 100), make(chan heard, 100), make(chan heard, 100)
			hear(t, beside, "/lidar/transition_event", qos.Default(), events, func(m *msg.TransitionEvent) string { return m.GoalState.Label })
			hear(t, beside, "/parameter_events", qos.ParameterEvents(), changes, func(m *rcl.ParameterEvent) string {
				return fmt.Sprintf("%s: %d %d %d", m.Node, len(m.NewParameters), len(m.ChangedParameters), len(m.DeletedParameters))
			})
			hear(t, beside, "/metadata", latched, here, func(m *std_msgs.String) string { return m.Data })
			hear(t, o, "/metadata", latched, there, func(m *std_msgs.String) string { return m.Data })
			clouds, raw := make(chan tagus.Path, 1000), make(chan tagus.Path, 1000)
			cloudSub, err := tagus.NewSubscription(beside, "/points", qos.SensorData(), func(_ context.Context, s *tagus.Sample[sensor_msgs.PointCloud2]) {
				clouds <- s.Info.Path
			})
			must(t, err)
			hash := (*sensor_msgs.PointCloud2)(nil).ROSType().Hash
			rawSub, err := tagus.NewSerializedSubscription(beside, "/points", "sensor_msgs/msg/PointCloud2", hash, qos.SensorData(), func(_ context.Context, s *tagus.Sample[tagus.SerializedMessage]) {
				raw <- s.Info.Path
			})
			must(t, err)
			must(t, cloudSub.WaitForPublishers(soon(t), 1))
			must(t, rawSub.WaitForPublishers(soon(t), 1))

			expect := func(ch chan heard, path tagus.Path, want ...string) {
				t.Helper()
				for _, w := range want {
					if h := got(t, w, ch); h.what != w || h.path != path {
						t.Errorf("heard %v, want %s by %v", h, w, path)
					}
				}
			}
			for range 3 {
				do("configure")
				expect(events, tagus.PathIntra, "configuring", "inactive")
				expect(changes, tagus.PathIntra, "/lidar: 1 0 0")
				do("activate")
				expect(events, tagus.PathIntra, "activating", "active")
				expect(here, tagus.PathIntra, "OS-1")
				expect(there, tagus.PathSHM, "OS-1")
				if p := got(t, "cloud", clouds); p != tagus.PathIntra {
					t.Errorf("a cloud by %v", p)
				}
				if p := got(t, "cloud as bytes", raw); p != tagus.PathSHM {
					t.Errorf("a cloud as bytes by %v", p)
				}
				late := make(chan heard, 10)
				sub := hear(t, beside, "/metadata", latched, late, func(m *std_msgs.String) string { return m.Data })
				expect(late, tagus.PathIntra, "OS-1")
				must(t, sub.Close())
				do("deactivate")
				do("cleanup")
				expect(events, tagus.PathIntra, "deactivating", "inactive", "cleaningup", "unconfigured")
				expect(changes, tagus.PathIntra, "/lidar: 0 0 1")
			}
			do("shutdown")
		})
	}
}

// heard is a message that was heard.
type heard struct {
	what string
	path tagus.Path
}

// hear has the messages of a topic told to a channel.
func hear[T any, P rosidl.Message[T]](t *testing.T, n *tagus.Node, topic string, q qos.Profile, to chan heard, what func(*T) string) *tagus.Subscription[T] {
	t.Helper()
	sub, err := tagus.NewSubscription[T, P](n, topic, q, func(_ context.Context, s *tagus.Sample[T]) { to <- heard{what(s.Msg), s.Info.Path} })
	must(t, err)
	must(t, sub.WaitForPublishers(soon(t), 1))
	return sub
}
