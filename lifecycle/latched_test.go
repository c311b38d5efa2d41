package lifecycle_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/lifecycle"
	msg "github.com/tagus-ros/tagus/msgs/lifecycle_msgs"
	"github.com/tagus-ros/tagus/msgs/std_msgs"
	"github.com/tagus-ros/tagus/qos"
)

// A publisher keeps three messages; queues have room for those and some live ones.
var (
	latched = qos.Profile{Depth: 3, Durability: qos.TransientLocal}
	roomy   = latched.WithDepth(20)
)

// TestLatchedPublisher is the case of seed 003: a managed node with a latched topic delivers in process, also to late joiners, and its
// transition events too.
func TestLatchedPublisher(t *testing.T) {
	for _, s := range setups {
		t.Run(s.name, func(t *testing.T) {
			nd, od := s.make(t)
			n := managed(t, nd, lifecycle.Callbacks{})
			pub, err := lifecycle.NewPublisher[std_msgs.String](n, "metadata", latched)
			must(t, err)
			o := plain(t, od)
			events := make(chan tagus.Path, 100)
			ev, err := tagus.NewSubscription(o, "/driver/transition_event", qos.Default(), func(_ context.Context, s *tagus.Sample[msg.TransitionEvent]) { events <- s.Info.Path })
			must(t, err)
			must(t, ev.WaitForPublishers(soon(t), 1))
			must(t, n.Configure(soon(t)))
			must(t, n.Activate(soon(t)))
			for range 4 {
				if p := got(t, "event", events); p != s.path {
					t.Errorf("a transition event came by %v", p)
				}
			}
			listen := func(name string) chan string {
				heard := make(chan string, 100)
				_, err := tagus.NewSubscription(o, "metadata", roomy, func(_ context.Context, m *tagus.Sample[std_msgs.String]) {
					heard <- fmt.Sprint(m.Msg.Data, " ", m.Info.Sequence, " ", m.Info.Path)
				})
				must(t, err)
				return heard
			}
			early := listen("early")
			must(t, pub.WaitForSubscriptions(soon(t), 1))
			for i := 1; i <= 5; i++ {
				m := pub.New()
				m.Data = fmt.Sprint("lidar ", i)
				must(t, pub.PublishOwned(m))
			}
			expect := func(who string, heard chan string, from int) {
				t.Helper()
				for i := from; i <= 5; i++ {
					if want, h := fmt.Sprintf("lidar %d %d %v", i, i, s.path), got(t, "metadata", heard); h != want {
						t.Errorf("%s heard %q, want %q", who, h, want)
					}
				}
				if len(heard) > 0 {
					t.Errorf("%s heard one more: %s", who, <-heard)
				}
			}
			expect("early", early, 1)
			expect("late", listen("late"), 3)
			// What is kept reaches late joiners in every state.
			must(t, n.Deactivate(soon(t)))
			expect("later", listen("later"), 3)
		})
	}
}

// TestLatchedSubscription: a managed subscription is given the kept messages at each activation, without gap or duplicate against the live
// ones, and nothing outside active.
func TestLatchedSubscription(t *testing.T) {
	for _, s := range setups {
		t.Run(s.name, func(t *testing.T) {
			nd, od := s.make(t)
			pub, err := tagus.NewPublisher[std_msgs.Int64](plain(t, od), "map", latched)
			must(t, err)
			next := int64(0)
			publish := func(count int) {
				for range count {
					next++
					must(t, pub.Publish(&std_msgs.Int64{Data: next}))
				}
			}
			publish(5)
			n := managed(t, nd, lifecycle.Callbacks{})
			heard := make(chan int64, 1000)
			sub, err := lifecycle.NewSubscription(n, "map", roomy, func(_ context.Context, m *tagus.Sample[std_msgs.Int64]) {
				if m.Info.Path != s.path {
					t.Errorf("by %v", m.Info.Path)
				}
				heard <- m.Msg.Data
			})
			must(t, err)
			must(t, sub.WaitForPublishers(soon(t), 1))
			await(t, "the kept messages to be dropped", func() bool { return sub.Stats().Inactive == 3 })
			must(t, n.Configure(soon(t)))
			for round := range 50 {
				kept := next
				must(t, n.Activate(soon(t)))
				if round%2 == 0 {
					must(t, sub.WaitForPublishers(soon(t), 1))
				}
				publish(3) // at once: kept or live
				first := got(t, "message", heard)
				if first < kept-2 || first > kept+1 || round%2 == 0 && first != kept-2 {
					t.Fatalf("round %d: first %d, kept were %d to %d", round, first, kept-2, kept)
				}
				for want := first + 1; want <= next; want++ {
					if h := got(t, "message", heard); h != want {
						t.Fatalf("round %d: heard %d, want %d", round, h, want)
					}
				}
				must(t, n.Deactivate(soon(t)))
				publish(2)
				if len(heard) > 0 {
					t.Fatalf("round %d: heard %d too", round, <-heard)
				}
			}
			if sub.QoS() != roomy.Resolved() || sub.Topic() != "/map" {
				t.Error(sub.QoS(), sub.Topic())
			}
			must(t, sub.Close())
			must(t, n.Activate(soon(t)))
			publish(1)
			if len(heard) > 0 {
				t.Error("a closed subscription heard")
			}
		})
	}
}

// TestMadeWhileActive: entities that are made while the node is active work at once.
func TestMadeWhileActive(t *testing.T) {
	nd, od := setups[1].make(t)
	n := managed(t, nd, lifecycle.Callbacks{})
	must(t, n.Configure(soon(t)))
	must(t, n.Activate(soon(t)))
	pub, err := tagus.NewPublisher[std_msgs.Int64](plain(t, od), "map", latched)
	must(t, err)
	must(t, pub.Publish(&std_msgs.Int64{Data: 1}))
	heard := make(chan int64, 1000)
	for _, q := range []qos.Profile{latched, {}} {
		sub, err := lifecycle.NewSubscription(n, "map", q, func(_ context.Context, m *tagus.Sample[std_msgs.Int64]) { heard <- m.Msg.Data })
		must(t, err)
		must(t, sub.WaitForPublishers(soon(t), 1))
		if q.Durability == qos.TransientLocal {
			if h := got(t, "kept message", heard); h != 1 {
				t.Error(h)
			}
		}
	}
	must(t, pub.WaitForSubscriptions(soon(t), 2))
	must(t, pub.Publish(&std_msgs.Int64{Data: 2}))
	for range 2 {
		if h := got(t, "message", heard); h != 2 {
			t.Error(h)
		}
	}
	ticks := make(chan struct{}, 1000)
	timer, err := n.NewTimer(1e6, func(context.Context, tagus.TimerInfo) { ticks <- struct{}{} })
	must(t, err)
	got(t, "tick", ticks)
	timer.Stop()
	for len(ticks) > 0 {
		<-ticks
	}
	must(t, n.Deactivate(soon(t)))
	must(t, n.Activate(soon(t)))
	must(t, pub.Publish(&std_msgs.Int64{Data: 3}))
	got(t, "message", heard)
	if len(ticks) > 0 {
		t.Error("a stopped timer came back")
	}
}
