package tagus_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tagus-ros/tagus"
	ex "github.com/tagus-ros/tagus/msgs/example_interfaces"
	"github.com/tagus-ros/tagus/msgs/std_msgs"
	"github.com/tagus-ros/tagus/qos"
)

// grouped makes a node on an executor with workers.
func grouped(t *testing.T, d *tagus.Domain, name string, workers int) *tagus.Node {
	t.Helper()
	e, err := tagus.NewExecutor(d, tagus.WithWorkers(workers))
	if err != nil {
		t.Fatal(err)
	}
	n, err := d.NewNode(name, tagus.WithExecutor(e))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A callback in a group may wait for others: on an executor with workers these run
// meanwhile, if the group is reentrant or they are in another one.
func TestGroupsRunBeside(t *testing.T) {
	for _, s := range []struct {
		name   string
		inproc bool
		two    bool
	}{{"in process", true, false}, {"one process without in-process delivery", false, false}, {"two participants", true, true}} {
		for _, kind := range []tagus.CallbackGroupKind{tagus.MutuallyExclusive, tagus.Reentrant} {
			t.Run(s.name, func(t *testing.T) {
				leaves(t)
				dir := t.TempDir()
				d := join(t, dir, tagus.WithInProcess(s.inproc))
				n := grouped(t, d, "server", 3)
				od := d
				if s.two {
					od = join(t, dir)
					spin(t, od)
				}
				spin(t, d)
				g, other := n.NewCallbackGroup(kind), n.NewCallbackGroup(tagus.MutuallyExclusive)
				started, hold := make(chan struct{}, 100), make(chan struct{})
				srv, err := tagus.NewService[ex.AddTwoInts](n, "slow", func(_ context.Context, r *ex.AddTwoIntsRequest) (*ex.AddTwoIntsResponse, error) {
					started <- struct{}{}
					<-hold
					return &ex.AddTwoIntsResponse{Sum: r.A}, nil
				}, tagus.WithGroup(g))
				if err != nil {
					t.Fatal(err)
				}
				var beside, same atomic.Int64
				for _, c := range []struct {
					count *atomic.Int64
					in    *tagus.CallbackGroup
				}{{&beside, other}, {&same, g}} {
					if _, err := n.NewTimer(time.Millisecond, func(context.Context, tagus.TimerInfo) { c.count.Add(1) }, tagus.WithGroup(c.in)); err != nil {
						t.Fatal(err)
					}
				}
				got := make(chan string, 10)
				if _, err := tagus.NewSubscription(n, "chatter", qos.Default(), func(_ context.Context, s *tagus.Sample[std_msgs.String]) {
					got <- s.Msg.Data
				}, tagus.WithGroup(other)); err != nil {
					t.Fatal(err)
				}
				on := node(t, od, "other")
				c, err := tagus.NewClient[ex.AddTwoInts](on, "slow")
				if err != nil {
					t.Fatal(err)
				}
				pub, err := tagus.NewPublisher[std_msgs.String](on, "chatter", qos.Default())
				if err != nil {
					t.Fatal(err)
				}
				wait := within(t, 10*time.Second)
				if err := errors.Join(c.WaitForService(wait), pub.WaitForSubscriptions(wait, 1)); err != nil {
					t.Fatal(err)
				}
				answer := make(chan error, 1)
				go func() {
					resp, err := c.Call(wait, &ex.AddTwoIntsRequest{A: 7})
					if err == nil && resp.Sum != 7 {
						err = errors.New("a wrong sum")
					}
					answer <- err
				}()
				comes(t, started, "the service's callback")
				if err := pub.Publish(&std_msgs.String{Data: "hello"}); err != nil {
					t.Fatal(err)
				}
				comes(t, got, "the message, while the service's callback runs")
				until := func(c *atomic.Int64) bool {
					from := c.Load()
					for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
						if c.Load() > from+2 {
							return true
						}
						if kind == tagus.MutuallyExclusive && c == &same && time.Until(end) < 1950*time.Millisecond {
							return false
						}
					}
					return false
				}
				if !until(&beside) {
					t.Error("a timer of another group stands still")
				}
				if runs := until(&same); runs != (kind == tagus.Reentrant) {
					t.Errorf("a timer of the same group runs: %v", runs)
				}
				// Close waits for the callback on the worker.
				closed := make(chan struct{})
				go func() {
					srv.Close()
					close(closed)
				}()
				still(t, closed, "the end of Close while the callback runs")
				close(hold)
				comes(t, closed, "the end of Close")
				if err := comes(t, answer, "the answer"); err != nil && !errors.Is(err, tagus.ErrServerDied) {
					t.Error(err)
				}
			})
		}
	}
}

// spinOf spins the executor of a node made by grouped.
func spinOf(t *testing.T, n *tagus.Node) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Executor().Spin(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// Entities of a group can be closed from their own callbacks, and so can the node and the
// domain.
func TestCloseInsideGroup(t *testing.T) {
	for _, what := range []string{"entity", "node", "domain"} {
		t.Run(what, func(t *testing.T) {
			leaves(t)
			d := join(t, t.TempDir())
			n := grouped(t, d, "n", 2)
			g := n.NewCallbackGroup(tagus.MutuallyExclusive)
			done := make(chan struct{})
			var cond *tagus.GuardCondition
			var timer *tagus.Timer
			ready := make(chan struct{})
			var err error
			cond, err = n.NewGuardCondition(func(context.Context) {
				<-ready
				switch what {
				case "entity":
					cond.Close()
					timer.Stop()
				case "node":
					n.Close()
				case "domain":
					d.Close()
				}
				close(done)
			}, tagus.WithGroup(g))
			if err != nil {
				t.Fatal(err)
			}
			timer, err = n.NewTimer(time.Millisecond, func(context.Context, tagus.TimerInfo) {}, tagus.WithGroup(g))
			if err != nil {
				t.Fatal(err)
			}
			stop := spinOf(t, n)
			cond.Trigger()
			close(ready)
			comes(t, done, "the end of Close inside a callback")
			stop()
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestGroupMisuse(t *testing.T) {
	d := join(t, t.TempDir())
	defer d.Close()
	n, other := grouped(t, d, "n", 1), grouped(t, d, "other", 1)
	g := other.NewCallbackGroup(tagus.Reentrant)
	_, err := n.NewTimer(time.Second, func(context.Context, tagus.TimerInfo) {}, tagus.WithGroup(g))
	_, err2 := tagus.NewSubscription(n, "t", qos.Default(), func(context.Context, *tagus.Sample[std_msgs.String]) {}, tagus.WithGroup(g))
	_, err3 := tagus.NewService[ex.AddTwoInts](n, "s", add, tagus.WithGroup(g))
	_, err4 := n.NewGuardCondition(func(context.Context) {}, tagus.WithGroup(g))
	_, err5 := tagus.NewPullSubscription[std_msgs.String](n, "t", qos.Default(), tagus.WithGroup(n.NewCallbackGroup(tagus.Reentrant)))
	for i, err := range []error{err, err2, err3, err4, err5} {
		if err == nil {
			t.Errorf("%d was accepted", i)
		}
	}
	if _, err := tagus.NewExecutor(d, tagus.WithWorkers(-1)); err == nil {
		t.Error("took -1 workers")
	}
}
