package lifecycle_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/lifecycle"
	"github.com/tagus-ros/tagus/msgs/std_msgs"
	"github.com/tagus-ros/tagus/qos"
)

// TestMadeInConfigure: a node that makes its entities in Configure and closes them in Cleanup, as many do, works in every round.
func TestMadeInConfigure(t *testing.T) {
	for _, s := range setups {
		t.Run(s.name, func(t *testing.T) {
			nd, od := s.make(t)
			var n *lifecycle.Node
			var pub *lifecycle.Publisher[std_msgs.Int64]
			var sub *lifecycle.Subscription[std_msgs.Int64]
			var timer *lifecycle.Timer
			heard, ticks := make(chan int64, 100), make(chan struct{}, 1)
			n = managed(t, nd, lifecycle.Callbacks{
				Configure: func(context.Context, lifecycle.State) (err error) {
					if pub, err = lifecycle.NewPublisher[std_msgs.Int64](n, "out", qos.Default()); err != nil {
						return err
					}
					sub, err = lifecycle.NewSubscription(n, "in", qos.Default(), func(_ context.Context, s *tagus.Sample[std_msgs.Int64]) {
						heard <- s.Msg.Data
						pub.Publish(s.Msg)
					})
					if err != nil {
						return err
					}
					timer, err = n.NewTimer(time.Millisecond, func(context.Context, tagus.TimerInfo) {
						select {
						case ticks <- struct{}{}:
						default:
						}
					})
					return err
				},
				Cleanup: func(context.Context, lifecycle.State) error {
					timer.Stop()
					return errors.Join(pub.Close(), sub.Close())
				},
			})
			o := plain(t, od)
			r := dealWith(t, o, n.FullyQualifiedName())
			in, err := tagus.NewPublisher[std_msgs.Int64](o, "in", qos.Default())
			must(t, err)
			back := make(chan int64, 100)
			out, err := tagus.NewSubscription(o, "out", qos.Default(), func(_ context.Context, s *tagus.Sample[std_msgs.Int64]) { back <- s.Msg.Data })
			must(t, err)
			for i := range int64(20) {
				for _, label := range []string{"configure", "activate"} {
					if !r.do(label) {
						t.Fatal(label)
					}
				}
				must(t, in.WaitForSubscriptions(soon(t), 1))
				must(t, out.WaitForPublishers(soon(t), 1))
				must(t, pub.WaitForSubscriptions(soon(t), 1))
				must(t, in.Publish(&std_msgs.Int64{Data: i}))
				if a, b := got(t, "message", heard), got(t, "answer", back); a != i || b != i {
					t.Errorf("round %d: %d %d", i, a, b)
				}
				select { // perhaps one from the round before
				case <-ticks:
				default:
				}
				got(t, "tick", ticks)
				for _, label := range []string{"deactivate", "cleanup"} {
					if !r.do(label) {
						t.Fatal(label)
					}
				}
				await(t, "the end of the endpoints", func() bool { return in.Matched() == 0 && out.Stats().Publishers == 0 })
			}
		})
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestFlat: many activations of a node and many nodes leave nothing behind.
func TestFlat(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector's memory is counted too")
	}
	ctx := soon(t)
	flat := func(what string, most int64, count int, once func()) {
		for range count / 2 {
			once()
		}
		before, goroutines := heap(), runtime.NumGoroutine()
		for range count {
			once()
		}
		if grown := heap() - before; grown > most {
			t.Errorf("%d %s: %d bytes are left", count, what, grown)
		}
		if g := runtime.NumGoroutine(); g > goroutines+2 {
			t.Errorf("%d %s: %d goroutines, %d before", count, what, g, goroutines)
		}
	}
	nd, od := setups[1].make(t)
	n := managed(t, nd, lifecycle.Callbacks{})
	pub, err := tagus.NewPublisher[std_msgs.Int64](plain(t, od), "map", latched)
	must(t, err)
	must(t, pub.Publish(&std_msgs.Int64{Data: 1}))
	heard := make(chan int64, 10)
	_, err = lifecycle.NewSubscription(n, "map", latched, func(_ context.Context, s *tagus.Sample[std_msgs.Int64]) { heard <- s.Msg.Data })
	must(t, err)
	_, err = n.NewTimer(time.Second, func(context.Context, tagus.TimerInfo) {})
	must(t, err)
	must(t, n.Configure(ctx))
	flat("activations", 100<<10, 400, func() {
		must(t, n.Activate(ctx))
		got(t, "kept message", heard)
		must(t, n.Deactivate(ctx))
	})
	flat("nodes", 300<<10, 300, func() {
		n, err := lifecycle.NewNode(nd, "short_lived", lifecycle.Callbacks{})
		must(t, err)
		must(t, n.Reach(ctx, lifecycle.Active, lifecycle.Retry{}))
		must(t, n.Close())
	})
}
