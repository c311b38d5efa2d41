package tagus_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tagus-ros/tagus"
	perf "github.com/tagus-ros/tagus/msgs/irobot_interfaces_plugin"
	"github.com/tagus-ros/tagus/msgs/sensor_msgs"
	"github.com/tagus-ros/tagus/qos"
	"github.com/tagus-ros/tagus/rosidl"
)

// The sizes that the hot path is held to, in bytes.
var allocSizes = []struct {
	name string
	n    int
}{{"64B", 64}, {"1MB", 1 << 20}, {"8MB", 8 << 20}}

// In steady state neither publishing nor taking a message allocates, in whichever way it
// is published, wherever its reader is.
func TestNoAllocations(t *testing.T) {
	for _, s := range setups {
		t.Run(s.name, func(t *testing.T) {
			flat[perf.Stamped100b](t, s.make, "100B")
			flat[perf.Stamped1mb](t, s.make, "1MB")
			flat[perf.Stamped8mb](t, s.make, "8MB")
			for _, size := range allocSizes {
				vector := &perf.StampedVector{Data: make([]byte, size.n)}
				sized(t, s.make, "vector "+size.name, vector, func(m *perf.StampedVector) { m.Data = grown(m.Data, size.n) })
				image := &sensor_msgs.Image{Height: 1, Width: uint32(size.n), Encoding: "mono8", Step: uint32(size.n), Data: make([]byte, size.n)}
				image.Header.FrameID = "camera"
				sized(t, s.make, "image "+size.name, image, func(m *sensor_msgs.Image) {
					m.Header.FrameID, m.Encoding = "camera", "mono8"
					m.Data = grown(m.Data, size.n)
				})
			}
		})
	}
}

// grown is b with n bytes, in the memory that it has if that is enough.
func grown(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}

// flat holds a type of fixed size to it.
func flat[T any, P rosidl.Message[T]](t *testing.T, make func(*testing.T) (pub, sub *tagus.Domain), name string) {
	m := new(T)
	ways[T, P](t, make, name, map[string]func(*tagus.Publisher[T]) error{
		"copy":  func(p *tagus.Publisher[T]) error { return p.Publish(m) },
		"owned": func(p *tagus.Publisher[T]) error { return p.PublishOwned(p.New()) },
		"loan": func(p *tagus.Publisher[T]) error {
			l, err := p.Loan(nil)
			if err != nil {
				return err
			}
			return l.Publish()
		},
	})
}

// sized holds a type with a sequence to it; fill makes a recycled message like m.
func sized[T any, P rosidl.Message[T]](t *testing.T, make func(*testing.T) (pub, sub *tagus.Domain), name string, m *T, fill func(*T)) {
	ways[T, P](t, make, name, map[string]func(*tagus.Publisher[T]) error{
		"copy": func(p *tagus.Publisher[T]) error { return p.Publish(m) },
		"owned": func(p *tagus.Publisher[T]) error {
			o := p.New()
			fill(o)
			return p.PublishOwned(o)
		},
		"loan": func(p *tagus.Publisher[T]) error {
			l, err := p.Loan(m)
			if err != nil {
				return err
			}
			return l.Publish()
		},
	})
}

// ways measures each way to send with each way to take.
func ways[T any, P rosidl.Message[T]](t *testing.T, make func(*testing.T) (pub, sub *tagus.Domain), name string, send map[string]func(*tagus.Publisher[T]) error) {
	for how, send := range send {
		t.Run(name+"/"+how, func(t *testing.T) {
			pd, sd := make(t)
			pn, sn := node(t, pd, "publisher"), node(t, sd, "subscription")
			pub, err := tagus.NewPublisher[T, P](pn, "topic", qos.Default())
			if err != nil {
				t.Fatal(err)
			}
			publish := func() {
				if err := send(pub); err != nil {
					t.Fatal(err)
				}
			}
			measure := func(what string, turn func()) {
				for range 20 { // the first ones make what is used again
					turn()
				}
				runtime.GC() // what that left behind is not swept meanwhile
				if n := testing.AllocsPerRun(100, turn); n != 0 {
					t.Errorf("%s: %v allocations a message", what, n)
				}
			}
			pull, err := tagus.NewPullSubscription[T, P](sn, "topic", qos.Default())
			if err != nil {
				t.Fatal(err)
			}
			met(t, pub, pull)
			measure("take", func() {
				publish()
				s, ok := pull.Take()
				if !ok {
					t.Fatal("nothing to take")
				}
				s.Release()
			})
			ctx := within(t, 30*time.Second)
			measure("receive", func() {
				publish()
				s, err := pull.Receive(ctx)
				if err != nil {
					t.Fatal(err)
				}
				s.Release()
			})
			if err := pull.Close(); err != nil {
				t.Fatal(err)
			}
			// A queue that is always full, and then a callback.
			var got atomic.Int64
			var keep atomic.Pointer[tagus.Sample[T]]
			sub, err := tagus.NewSubscription[T, P](sn, "topic", qos.Default(), func(_ context.Context, s *tagus.Sample[T]) {
				if old := keep.Swap(s.Retain()); old != nil {
					old.Release()
				}
				got.Add(1)
			})
			if err != nil {
				t.Fatal(err)
			}
			met(t, pub, sub)
			measure("callback that retains", func() {
				next := got.Load() + 1
				publish()
				for got.Load() < next {
					runtime.Gosched()
				}
			})
			if old := keep.Swap(nil); old != nil {
				old.Release()
			}
			if err := sub.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// met waits until all ends know of each other.
func met[T any](t *testing.T, p *tagus.Publisher[T], subs ...interface {
	WaitForPublishers(context.Context, int) error
}) {
	t.Helper()
	ctx := within(t, 10*time.Second)
	for _, s := range subs {
		if err := s.WaitForPublishers(ctx, 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.WaitForSubscriptions(ctx, len(subs)); err != nil {
		t.Fatal(err)
	}
}

// Neither do many subscriptions cost allocations, nor a history, nor readers of all
// kinds beside each other.
func TestNoAllocationsFanOut(t *testing.T) {
	latched := qos.Default().WithDurability(qos.TransientLocal)
	for _, s := range setups {
		for _, c := range []struct {
			name string
			n    int
			q    qos.Profile
			opts []tagus.SubscriptionOption
		}{
			{"50 subscriptions", 50, qos.Default(), nil},
			{"latched", 2, latched, nil},
			{"private copies", 3, qos.Default(), []tagus.SubscriptionOption{tagus.WithPrivateCopy()}},
		} {
			t.Run(s.name+"/"+c.name, func(t *testing.T) {
				pd, sd := s.make(t)
				pn, sn := node(t, pd, "publisher"), node(t, sd, "subscription")
				pub, err := tagus.NewPublisher[sensor_msgs.Image](pn, "topic", c.q)
				if err != nil {
					t.Fatal(err)
				}
				var subs []*tagus.PullSubscription[sensor_msgs.Image]
				for range c.n {
					s, err := tagus.NewPullSubscription[sensor_msgs.Image](sn, "topic", c.q, c.opts...)
					if err != nil {
						t.Fatal(err)
					}
					if err := s.WaitForPublishers(within(t, 10*time.Second), 1); err != nil {
						t.Fatal(err)
					}
					subs = append(subs, s)
				}
				if err := pub.WaitForSubscriptions(within(t, 10*time.Second), c.n); err != nil {
					t.Fatal(err)
				}
				m := &sensor_msgs.Image{Data: make([]byte, 5000)}
				m.Header.FrameID = "camera"
				turn := func() {
					if err := pub.Publish(m); err != nil {
						t.Fatal(err)
					}
					for _, s := range subs {
						got, ok := s.Take()
						if !ok || len(got.Msg.Data) != len(m.Data) {
							t.Fatal("nothing to take")
						}
						got.Release()
					}
				}
				for range 20 {
					turn()
				}
				runtime.GC()
				if n := testing.AllocsPerRun(50, turn); n != 0 {
					t.Errorf("%v allocations for a message to %d", n, c.n)
				}
			})
		}
	}
}
