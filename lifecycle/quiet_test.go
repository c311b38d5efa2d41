package lifecycle_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/lifecycle"
	ex "github.com/tagus-ros/tagus/msgs/example_interfaces"
	"github.com/tagus-ros/tagus/msgs/sensor_msgs"
	"github.com/tagus-ros/tagus/msgs/std_msgs"
	"github.com/tagus-ros/tagus/qos"
)

// TestQuiet is LC-2: a node with a publisher, a subscription, a timer and a service goes through 100 rounds of its states; what passes is
// counted, exactly.
func TestQuiet(t *testing.T) {
	for _, s := range setups {
		t.Run(s.name, func(t *testing.T) {
			nd, od := s.make(t)
			var n *lifecycle.Node
			check := func(what string) {
				switch s := n.State(); s {
				case lifecycle.Active, lifecycle.Deactivating, lifecycle.ShuttingDown: // the latter two wait for it
				default:
					t.Errorf("%s while %v", what, s)
				}
			}
			quiet := func(what string, during func()) func(context.Context, lifecycle.State) error {
				return func(context.Context, lifecycle.State) error {
					during()
					return nil
				}
			}
			var pub *lifecycle.Publisher[std_msgs.Int64]
			refuse := func() {
				if err := pub.Publish(&std_msgs.Int64{Data: -1}); !errors.Is(err, lifecycle.ErrInactive) {
					t.Errorf("published while %v: %v", n.State(), err)
				}
			}
			n = managed(t, nd, lifecycle.Callbacks{
				Configure: quiet("configure", refuse), Activate: quiet("activate", refuse), Deactivate: quiet("deactivate", refuse), Cleanup: quiet("cleanup", refuse),
			})
			o := plain(t, od)
			pub, err := lifecycle.NewPublisher[std_msgs.Int64](n, "out", qos.Default().WithDepth(1000))
			must(t, err)
			var heard, ticks atomic.Int64
			sub, err := lifecycle.NewSubscription(n, "in", qos.Default().WithDepth(1000), func(_ context.Context, s *tagus.Sample[std_msgs.Int64]) {
				check("a subscription's callback")
				if s.Msg.Data < 0 {
					t.Errorf("a message that came while inactive was heard in %v", n.State())
				}
				heard.Add(1)
			})
			must(t, err)
			_, err = n.NewTimer(100*time.Microsecond, func(context.Context, tagus.TimerInfo) {
				check("a timer's callback")
				ticks.Add(1)
			})
			must(t, err)
			_, err = tagus.NewService[ex.AddTwoInts](n.Node, "add", func(_ context.Context, r *ex.AddTwoIntsRequest) (*ex.AddTwoIntsResponse, error) {
				return &ex.AddTwoIntsResponse{Sum: r.A + r.B}, nil
			})
			must(t, err)
			var received, negative atomic.Int64
			outSub, err := tagus.NewSubscription(o, "out", qos.Default().WithDepth(1000), func(_ context.Context, s *tagus.Sample[std_msgs.Int64]) {
				if s.Msg.Data < 0 {
					negative.Add(1)
				}
				received.Add(1)
			})
			must(t, err)
			in, err := tagus.NewPublisher[std_msgs.Int64](o, "in", qos.Default().WithDepth(1000))
			must(t, err)
			add, err := tagus.NewClient[ex.AddTwoInts](o, "add")
			must(t, err)
			must(t, pub.WaitForSubscriptions(soon(t), 1))
			must(t, outSub.WaitForPublishers(soon(t), 1))
			must(t, sub.WaitForPublishers(soon(t), 1))
			must(t, in.WaitForSubscriptions(soon(t), 1))
			must(t, add.WaitForService(soon(t)))

			var wantHeard, wantReceived, wantDropped, wantRefused int64
			still := func() {
				t.Helper()
				refuse()
				for range 3 {
					must(t, in.Publish(&std_msgs.Int64{Data: -1}))
				}
				wantDropped += 3
				await(t, "dropped messages", func() bool { return sub.Stats().Inactive == uint64(wantDropped) })
				before := ticks.Load()
				if _, err := add.Call(soon(t), &ex.AddTwoIntsRequest{A: 1, B: 2}); err != nil { // takes its time, too
					t.Error(err)
				}
				if heard.Load() != wantHeard || received.Load() != wantReceived || ticks.Load() != before {
					t.Fatalf("%v: heard %d of %d, received %d of %d, %d ticks", n.State(), heard.Load(), wantHeard, received.Load(), wantReceived, ticks.Load()-before)
				}
			}
			still()
			wantRefused++
			for round := range 100 {
				must(t, n.Configure(soon(t)))
				still()
				must(t, n.Activate(soon(t)))
				before := ticks.Load()
				for k := range int64(5) {
					must(t, pub.Publish(&std_msgs.Int64{Data: k}))
					must(t, in.Publish(&std_msgs.Int64{Data: k}))
				}
				wantHeard += 5
				wantReceived += 5
				await(t, "messages", func() bool { return heard.Load() == wantHeard && received.Load() == wantReceived })
				await(t, "ticks", func() bool { return ticks.Load() >= before+2 })
				must(t, n.Deactivate(soon(t)))
				still()
				must(t, n.Cleanup(soon(t)))
				wantRefused += 4 + 2 // in callbacks, and still twice
				if round%10 == 0 {
					still()
					wantRefused++
				}
			}
			must(t, n.Shutdown(soon(t)))
			still()
			wantRefused++
			if st := pub.Stats(); st.Inactive != uint64(wantRefused) || st.Published != uint64(wantReceived) || negative.Load() != 0 {
				t.Errorf("refused %d, want %d; published %d, want %d", st.Inactive, wantRefused, st.Published, wantReceived)
			}
			if st := sub.Stats(); st.Received != uint64(wantHeard+wantDropped) || st.Lost != 0 {
				t.Errorf("%+v, want %d received", st, wantHeard+wantDropped)
			}
		})
	}
}

// TestDeactivateIsExact: under fire from several goroutines, what was accepted when Deactivate returns is all that arrives, and no callback
// of the node runs beside one of the machine.
func TestDeactivateIsExact(t *testing.T) {
	nd, od := setups[1].make(t)
	var inCallback, inTransition atomic.Int64
	alone := func(context.Context, lifecycle.State) error {
		inTransition.Add(1)
		if c := inCallback.Load(); c != 0 {
			t.Error("a transition beside a callback")
		}
		inTransition.Add(-1)
		return nil
	}
	n := managed(t, nd, lifecycle.Callbacks{Activate: alone, Deactivate: alone})
	enter := func() {
		inCallback.Add(1)
		if inTransition.Load() != 0 {
			t.Error("a callback beside a transition")
		}
		for range 100 {
		}
		inCallback.Add(-1)
	}
	pub, err := lifecycle.NewPublisher[std_msgs.Int64](n, "out", qos.Default().WithDepth(1000))
	must(t, err)
	_, err = lifecycle.NewSubscription(n, "in", qos.Default(), func(context.Context, *tagus.Sample[std_msgs.Int64]) { enter() })
	must(t, err)
	_, err = n.NewTimer(50*time.Microsecond, func(context.Context, tagus.TimerInfo) { enter() })
	must(t, err)
	o := plain(t, od)
	var received atomic.Uint64
	_, err = tagus.NewSubscription(o, "out", qos.Default().WithDepth(1000), func(context.Context, *tagus.Sample[std_msgs.Int64]) { received.Add(1) })
	must(t, err)
	in, err := tagus.NewPublisher[std_msgs.Int64](o, "in", qos.Default())
	must(t, err)
	must(t, pub.WaitForSubscriptions(soon(t), 1))
	must(t, in.WaitForSubscriptions(soon(t), 1))
	must(t, n.Configure(soon(t)))
	end := make(chan struct{})
	var wg sync.WaitGroup
	var accepted atomic.Uint64
	for range 2 {
		wg.Go(func() {
			for i := int64(0); ; i++ {
				select {
				case <-end:
					return
				default:
				}
				if accepted.Load() > received.Load()+500 {
					time.Sleep(50 * time.Microsecond) // so that nothing is pushed out of the queue
				}
				switch err := pub.Publish(&std_msgs.Int64{Data: i}); {
				case err == nil:
					accepted.Add(1)
				case !errors.Is(err, lifecycle.ErrInactive):
					t.Error(err)
				default:
					time.Sleep(50 * time.Microsecond)
				}
				_ = in.Publish(&std_msgs.Int64{})
			}
		})
	}
	for range 100 {
		must(t, n.Activate(soon(t)))
		before := pub.Stats().Published
		await(t, "publications", func() bool { return pub.Stats().Published > before })
		must(t, n.Deactivate(soon(t)))
		after := pub.Stats().Published
		refused := pub.Stats().Inactive
		await(t, "refusals", func() bool { return pub.Stats().Inactive > refused+2 })
		if now := pub.Stats().Published; now != after {
			t.Fatalf("%d messages left after Deactivate had returned", now-after)
		}
	}
	close(end)
	wg.Wait()
	await(t, "messages", func() bool { return received.Load() == accepted.Load() })
	if p := pub.Stats().Published; p != accepted.Load() {
		t.Errorf("%d published, %d accepted", p, accepted.Load())
	}
}

// Refusals cost nothing, and a driver that goes on with New and PublishOwned does not grow.
func TestRefusalsAreFree(t *testing.T) {
	d := join(t, t.TempDir())
	n := managed(t, d, lifecycle.Callbacks{})
	pub, err := lifecycle.NewPublisher[sensor_msgs.PointCloud2](n, "cloud", qos.SensorData())
	must(t, err)
	first := pub.New()
	first.Data = []byte{1, 2, 3}
	first.Header.FrameID = "lidar"
	if err := pub.PublishOwned(first); !errors.Is(err, lifecycle.ErrInactive) {
		t.Fatal(err)
	}
	if !strings.Contains(pub.Publish(first).Error(), "/cloud") {
		t.Error("the refusal does not name the topic")
	}
	m := pub.New()
	if m != first || m.Data != nil || m.Header.FrameID != "" {
		t.Errorf("%p %p %+v", m, first, m)
	}
	if err := pub.PublishOwned(&sensor_msgs.PointCloud2{}); !errors.Is(err, lifecycle.ErrInactive) { // one's own
		t.Fatal(err)
	}
	if other := pub.New(); other == m {
		t.Error("one message was given out twice")
	}
	own := &sensor_msgs.PointCloud2{}
	allocs := testing.AllocsPerRun(1000, func() {
		pub.Publish(own)
		pub.PublishOwned(pub.New())
		if _, err := pub.Loan(own); !errors.Is(err, lifecycle.ErrInactive) {
			t.Error(err)
		}
	})
	if allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
	must(t, n.Configure(soon(t)))
	must(t, n.Activate(soon(t)))
	shape := &sensor_msgs.PointCloud2{Data: make([]byte, 5000)}
	l, err := pub.Loan(shape)
	must(t, err)
	l.Msg().Data[0] = 1
	must(t, l.Publish())
	l, err = pub.Loan(shape)
	must(t, err)
	l.Discard()
	l, err = pub.Loan(shape)
	must(t, err)
	must(t, n.Deactivate(soon(t)))
	if err := l.Publish(); !errors.Is(err, lifecycle.ErrInactive) {
		t.Error(err)
	}
	if s := pub.Stats(); s.Published != 1 || s.Loaned != 1 {
		t.Errorf("%+v", s)
	}
	if use := d.Stats().Arena; use.InUse != 0 {
		t.Errorf("the loan was not given back: %+v", use)
	}
}

// TestHotPath: a managed publisher and subscription allocate nothing.
func TestHotPath(t *testing.T) {
	d := join(t, t.TempDir())
	spin(t, d)
	n := managed(t, d, lifecycle.Callbacks{})
	pub, err := lifecycle.NewPublisher[std_msgs.Int64](n, "loop", qos.Default())
	must(t, err)
	heard := make(chan int64, 1)
	_, err = lifecycle.NewSubscription(n, "loop", qos.Default(), func(_ context.Context, s *tagus.Sample[std_msgs.Int64]) { heard <- s.Msg.Data })
	must(t, err)
	must(t, pub.WaitForSubscriptions(soon(t), 1))
	must(t, n.Configure(soon(t)))
	must(t, n.Activate(soon(t)))
	m := &std_msgs.Int64{}
	i := int64(0)
	once := func() {
		i++
		m.Data = i
		pub.Publish(m)
		if x := <-heard; x != i {
			t.Errorf("%d, want %d", x, i)
		}
		o := pub.New()
		o.Data = i
		pub.PublishOwned(o)
		<-heard
	}
	for range 100 {
		once()
	}
	if a := testing.AllocsPerRun(1000, once); a > 0 && !raceEnabled {
		t.Errorf("%v allocations", a)
	}
}

// The managed entities have what those of tagus have: a method that appears there should be looked at here.
func TestSameMethods(t *testing.T) {
	for _, c := range []struct {
		managed, plain any
		not            []string
	}{
		{&lifecycle.Publisher[std_msgs.Int64]{}, &tagus.Publisher[std_msgs.Int64]{}, nil},
		{&lifecycle.Subscription[std_msgs.Int64]{}, &tagus.Subscription[std_msgs.Int64]{}, []string{"Run"}},
		{&lifecycle.Timer{}, &tagus.Timer{}, nil},
		{lifecycle.Loan[std_msgs.Int64]{}, &tagus.Loan[std_msgs.Int64]{}, nil},
	} {
		m, p := reflect.TypeOf(c.managed), reflect.TypeOf(c.plain)
		for i := range p.NumMethod() {
			name := p.Method(i).Name
			if _, ok := m.MethodByName(name); !ok && !strings.Contains(strings.Join(c.not, " "), name) {
				t.Errorf("%v has no %s", m, name)
			}
		}
	}
}

func TestRefusedEntities(t *testing.T) {
	d := join(t, t.TempDir())
	n := managed(t, d, lifecycle.Callbacks{})
	if _, err := n.NewTimer(0, nil); err == nil || !strings.Contains(err.Error(), "period 0s") {
		t.Error(err)
	}
	if _, err := lifecycle.NewPublisher[std_msgs.Int64](n, "not a name", qos.Default()); err == nil {
		t.Error("a bad name")
	}
	if _, err := lifecycle.NewSubscription(n, "not a name", qos.Default(), func(context.Context, *tagus.Sample[std_msgs.Int64]) {}); err == nil {
		t.Error("a bad name")
	}
	must(t, n.Close())
	if _, err := n.NewTimer(time.Second, nil); !errors.Is(err, tagus.ErrClosed) {
		t.Error(err)
	}
	if _, err := lifecycle.NewPublisher[std_msgs.Int64](n, "topic", qos.Default()); !errors.Is(err, tagus.ErrClosed) {
		t.Error(err)
	}
	if _, err := lifecycle.NewSubscription(n, "topic", qos.Default(), func(context.Context, *tagus.Sample[std_msgs.Int64]) {}); !errors.Is(err, tagus.ErrClosed) {
		t.Error(err)
	}
	if _, err := lifecycle.NewNode(d, "not a name", lifecycle.Callbacks{}); err == nil {
		t.Error("a bad name")
	}
}
