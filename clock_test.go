package tagus_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/msgs/builtin_interfaces"
	"github.com/tagus-ros/tagus/msgs/rosgraph_msgs"
	"github.com/tagus-ros/tagus/msgs/std_msgs"
	"github.com/tagus-ros/tagus/param"
	"github.com/tagus-ros/tagus/qos"
)

// simulation publishes /clock for one node.
type simulation struct {
	t     *testing.T
	n     *tagus.Node
	pub   *tagus.Publisher[rosgraph_msgs.Clock]
	jumps chan tagus.Jump
}

func simulate(t *testing.T, clockDomain, nodeDomain *tagus.Domain) *simulation {
	t.Helper()
	n, err := nodeDomain.NewNode("timed", tagus.WithParameterOverrides(map[string]param.Value{"use_sim_time": param.Of(true)}))
	if err != nil {
		t.Fatal(err)
	}
	s := &simulation{t: t, n: n, jumps: make(chan tagus.Jump, 100)}
	n.Clock().OnJump(tagus.JumpHandler{Forward: 1, Backward: 1, ClockChange: true, After: func(j tagus.Jump) { s.jumps <- j }})
	s.pub, err = tagus.NewPublisher[rosgraph_msgs.Clock](node(t, clockDomain, "simulator"), "/clock", qos.Default())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.pub.WaitForSubscriptions(within(t, 5*time.Second), 1); err != nil {
		t.Fatal(err)
	}
	return s
}

// set publishes a time and returns when the node's clock shows it.
func (s *simulation) set(at time.Duration) tagus.Jump {
	s.t.Helper()
	m := &rosgraph_msgs.Clock{Clock: builtin_interfaces.Time{Sec: int32(at / time.Second), Nanosec: uint32(at % time.Second)}}
	if err := s.pub.Publish(m); err != nil {
		s.t.Fatal(err)
	}
	return s.jump()
}

func (s *simulation) jump() tagus.Jump {
	s.t.Helper()
	select {
	case j := <-s.jumps:
		return j
	case <-time.After(5 * time.Second):
		s.t.Fatal("the time does not come")
	}
	return tagus.Jump{}
}

func still[T any](t *testing.T, ch <-chan T, what string) {
	t.Helper()
	select {
	case v := <-ch:
		t.Errorf("%s: %v came too early", what, v)
	case <-time.After(20 * time.Millisecond):
	}
}

func comes[T any](t *testing.T, ch <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v = <-ch:
	case <-time.After(5 * time.Second):
		t.Fatalf("%s does not come", what)
	}
	return v
}

func TestSimTime(t *testing.T) {
	for _, setup := range setups {
		t.Run(setup.name, func(t *testing.T) {
			cd, nd := setup.make(t)
			s := simulate(t, cd, nd)
			c := s.n.Clock()
			if !c.Simulated() || !c.Now().Equal(time.Unix(0, 0)) || c.Type() != tagus.ROSTime {
				t.Errorf("before the first message: simulated %v, %v", c.Simulated(), c.Now())
			}
			ctx := within(t, 20*time.Second)
			slept := make(chan error, 2)
			go func() { slept <- c.Sleep(ctx, time.Second) }() // begins with the first message
			still(t, slept, "sleep before time began")
			if j := s.set(1000 * time.Second); j.Delta != 1000*time.Second || j.Change != tagus.NoClockChange {
				t.Errorf("first message: %+v", j)
			}
			if got := c.Now(); !got.Equal(time.Unix(1000, 0)) {
				t.Errorf("now %v", got)
			}
			still(t, slept, "sleep")
			s.set(1000500 * time.Millisecond)
			still(t, slept, "sleep")
			s.set(1001 * time.Second)
			if err := comes(t, slept, "sleep"); err != nil {
				t.Error(err)
			}
			go func() { slept <- c.SleepUntil(ctx, time.Unix(1002, 0)) }()
			still(t, slept, "sleep until")
			if j := s.set(1003 * time.Second); j.Delta != 2*time.Second {
				t.Errorf("%+v", j)
			}
			if err := comes(t, slept, "sleep until"); err != nil {
				t.Error(err)
			}
			if err := c.SleepUntil(ctx, time.Unix(1003, 0)); err != nil {
				t.Error(err)
			}
			short, cancel := context.WithTimeout(ctx, time.Millisecond)
			defer cancel()
			if err := c.Sleep(short, time.Second); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("sleep with an end: %v", err)
			}
			if j := s.set(10 * time.Second); j.Delta != -993*time.Second {
				t.Errorf("back: %+v", j)
			}

			// To system time and back.
			go func() { slept <- c.Sleep(ctx, time.Hour) }()
			still(t, slept, "sleep")
			sim := func(on bool) {
				t.Helper()
				if err := s.n.Parameters().Set(ctx, "use_sim_time", param.Of(on)); err != nil {
					t.Fatal(err)
				}
			}
			sim(false)
			if err := comes(t, slept, "sleep"); !errors.Is(err, tagus.ErrClockChanged) {
				t.Errorf("sleep while the clock changed: %v", err)
			}
			if j := s.jump(); j.Change != tagus.SimTimeEnded || c.Simulated() || time.Since(c.Now()).Abs() > time.Minute {
				t.Errorf("%+v, %v", j, c.Now())
			}
			go func() { slept <- c.Sleep(ctx, time.Hour) }()
			still(t, slept, "sleep")
			sim(true)
			if err := comes(t, slept, "sleep"); !errors.Is(err, tagus.ErrClockChanged) {
				t.Errorf("sleep while the clock changed: %v", err)
			}
			if j := s.jump(); j.Change != tagus.SimTimeBegun || !c.Simulated() {
				t.Errorf("%+v", j)
			}
			if err := s.pub.WaitForSubscriptions(ctx, 1); err != nil {
				t.Fatal(err)
			}
			go func() { slept <- c.Sleep(ctx, time.Hour) }()
			still(t, slept, "sleep")
			if err := s.n.Close(); err != nil {
				t.Error(err)
			}
			if err := comes(t, slept, "sleep"); !errors.Is(err, tagus.ErrClosed) {
				t.Errorf("sleep while the node closed: %v", err)
			}
			if err := c.Sleep(ctx, time.Hour); !errors.Is(err, tagus.ErrClosed) {
				t.Errorf("sleep after the node closed: %v", err)
			}
		})
	}
}

// A callback can wait for simulated time to pass: /clock comes on another thread.
func TestSleepInCallback(t *testing.T) {
	d := join(t, t.TempDir())
	spin(t, d)
	s := simulate(t, d, d)
	s.set(time.Second)
	began, done := make(chan struct{}), make(chan error, 1)
	if _, err := tagus.NewSubscription(s.n, "go", qos.Default(), func(ctx context.Context, _ *tagus.Sample[std_msgs.Empty]) {
		close(began)
		done <- s.n.Clock().Sleep(ctx, time.Second)
	}); err != nil {
		t.Fatal(err)
	}
	pub, err := tagus.NewPublisher[std_msgs.Empty](s.n, "go", qos.Default())
	if err != nil {
		t.Fatal(err)
	}
	if err := pub.Publish(&std_msgs.Empty{}); err != nil {
		t.Fatal(err)
	}
	comes(t, began, "the callback")
	still(t, done, "the end of the sleep")
	s.set(2 * time.Second)
	if err := comes(t, done, "the end of the sleep"); err != nil {
		t.Error(err)
	}
}

func TestSimTimers(t *testing.T) {
	d := join(t, t.TempDir())
	spin(t, d)
	s := simulate(t, d, d)
	type tick struct {
		late     time.Duration
		overruns uint64
	}
	ticks := make(chan tick, 100)
	timer, err := s.n.NewTimer(time.Second, func(_ context.Context, i tagus.TimerInfo) { ticks <- tick{i.Late, i.Overruns} })
	if err != nil {
		t.Fatal(err)
	}
	var real atomic.Int64
	steady, err := s.n.NewTimer(time.Millisecond, func(context.Context, tagus.TimerInfo) { real.Add(1) }, tagus.WithSteadyTime())
	if err != nil {
		t.Fatal(err)
	}
	want := func(at time.Duration, wants ...tick) {
		t.Helper()
		s.set(at)
		for _, w := range wants {
			if got := comes(t, ticks, fmt.Sprint("the timer at ", at)); got != w {
				t.Errorf("at %v: %v, want %v", at, got, w)
			}
		}
		still(t, ticks, fmt.Sprint("the timer at ", at))
	}
	want(100 * time.Second) // the grid begins
	want(100900 * time.Millisecond)
	want(101200*time.Millisecond, tick{200 * time.Millisecond, 0})
	want(102*time.Second, tick{0, 0})
	want(105500*time.Millisecond, tick{500 * time.Millisecond, 2}) // 103 and 104 were passed over
	want(106*time.Second, tick{0, 2})
	want(105900 * time.Millisecond) // back, but not behind the last call... of 106: a new grid
	want(106800 * time.Millisecond)
	want(106900*time.Millisecond, tick{0, 2})
	want(50 * time.Second)
	want(51*time.Second, tick{0, 2})
	if real.Load() == 0 {
		t.Error("the timer by steady time stands still")
	}
	// By system time it goes on by itself.
	if err := s.n.Parameters().Set(within(t, 5*time.Second), "use_sim_time", param.Of(false)); err != nil {
		t.Fatal(err)
	}
	if got := comes(t, ticks, "the timer by system time"); got.overruns != 2 {
		t.Errorf("%v", got)
	}
	timer.Stop()
	steady.Stop()
	for len(ticks) > 0 {
		<-ticks
	}
	still(t, ticks, "a call after Stop")
	if _, err := s.n.NewTimer(0, func(context.Context, tagus.TimerInfo) {}); err == nil {
		t.Error("took a period of 0")
	}
}

// What is not taken yet when the next point passes goes together, and counts.
func TestSimTimerOverruns(t *testing.T) {
	d := join(t, t.TempDir())
	spin(t, d)
	s := simulate(t, d, d)
	s.set(time.Second)
	began, hold := make(chan tagus.TimerInfo), make(chan struct{})
	timer, err := s.n.NewTimer(time.Second, func(_ context.Context, i tagus.TimerInfo) {
		began <- i
		<-hold
	})
	if err != nil {
		t.Fatal(err)
	}
	for at := 2; at <= 6; at++ {
		s.set(time.Duration(at) * time.Second)
		if at == 2 {
			<-began
		}
	}
	hold <- struct{}{}
	if i := <-began; i.Overruns != 3 || i.Late != 0 {
		t.Errorf("%+v, want 3 overruns", i)
	}
	stopped := make(chan struct{})
	go func() {
		timer.Stop()
		close(stopped)
	}()
	still(t, stopped, "the end of Stop while the callback runs")
	hold <- struct{}{}
	comes(t, stopped, "the end of Stop")
	s.set(10 * time.Second)
	still(t, began, "a call after Stop")
}

func TestJumpHandlers(t *testing.T) {
	d := join(t, t.TempDir())
	spin(t, d)
	s := simulate(t, d, d)
	s.set(100 * time.Second)
	var told []string
	c := s.n.Clock()
	note := func(name string, h tagus.JumpHandler) func() {
		h.Before = func() { told = append(told, fmt.Sprint(name, " before ", c.Now().Unix())) }
		h.After = func(j tagus.Jump) { told = append(told, fmt.Sprint(name, " ", j.Delta, " ", c.Now().Unix())) }
		return c.OnJump(h)
	}
	note("forward", tagus.JumpHandler{Forward: 10 * time.Second})
	remove := note("backward", tagus.JumpHandler{Backward: 10 * time.Second})
	last := make(chan struct{}, 1)
	c.OnJump(tagus.JumpHandler{Forward: 1, Backward: 1, After: func(tagus.Jump) { last <- struct{}{} }})
	at := func(sec int64, want ...string) {
		t.Helper()
		told = nil
		s.set(time.Duration(sec) * time.Second)
		comes(t, last, "the jump")
		if !slices.Equal(told, want) {
			t.Errorf("at %d: %q, want %q", sec, told, want)
		}
	}
	at(109)
	at(119, "forward before 109", "forward 10s 119")
	at(110)
	at(100, "backward before 110", "backward -10s 100")
	remove()
	at(1)
	tagus.NewClock(tagus.SystemTime).OnJump(tagus.JumpHandler{})()
}

func TestRealClocks(t *testing.T) {
	ctx := within(t, 20*time.Second)
	steady, system := tagus.NewClock(tagus.SteadyTime), tagus.NewClock(tagus.SystemTime)
	for _, c := range []*tagus.Clock{steady, system, tagus.NewClock(tagus.ROSTime)} {
		before := c.Now()
		if err := c.Sleep(ctx, 3*time.Millisecond); err != nil {
			t.Error(err)
		}
		if got := c.Now().Sub(before); got < 3*time.Millisecond {
			t.Errorf("%v: slept %v", c.Type(), got)
		}
		until := c.Now().Add(3 * time.Millisecond)
		if err := c.SleepUntil(ctx, until); err != nil || c.Now().Before(until) {
			t.Errorf("%v: %v, %v too early", c.Type(), err, until.Sub(c.Now()))
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		if err := errors.Join(c.Sleep(ended, time.Hour), c.SleepUntil(ended, c.Now())); !errors.Is(err, context.Canceled) {
			t.Errorf("%v: %v", c.Type(), err)
		}
	}
	// A rate keeps its grid, and makes up for no more than one turn.
	r := steady.NewRate(10 * time.Millisecond)
	begin := steady.Now()
	for range 3 {
		if err := r.Sleep(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if got := steady.Now().Sub(begin); got < 30*time.Millisecond {
		t.Errorf("3 turns took %v", got)
	}
	if err := steady.Sleep(ctx, 50*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	begin = steady.Now()
	for range 3 { // the first ends at once
		if err := r.Sleep(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if got := steady.Now().Sub(begin); got < 20*time.Millisecond {
		t.Errorf("after a long turn 3 turns took %v", got)
	}
}

func TestSpinSomeAndUntil(t *testing.T) {
	d := join(t, t.TempDir())
	defer d.Close()
	e, n := d.DefaultExecutor(), node(t, d, "n")
	ctx := within(t, 20*time.Second)
	count := 0
	g, err := n.NewGuardCondition(func(context.Context) { count++ })
	if err != nil {
		t.Fatal(err)
	}
	some := func(want, total int) {
		t.Helper()
		if ran, err := e.SpinSome(ctx); ran != want || err != nil || count != total {
			t.Errorf("ran %d, %v, count %d; want %d and %d", ran, err, count, want, total)
		}
	}
	some(0, 0)
	g.Trigger()
	g.Trigger()
	some(1, 1)
	some(0, 1)
	for range 3 {
		go g.Trigger()
		if before := count; e.SpinUntil(ctx, func() bool { return count > before }) != nil {
			t.Fatal("the condition does not come")
		}
	}
	short, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	if err := e.SpinUntil(short, func() bool { return false }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("spin until the context ends: %v", err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	count = 0
	g.Trigger()
	some(0, 0)
	over := make(chan error, 1)
	go func() { over <- e.SpinUntil(ctx, func() bool { return false }) }()
	time.AfterFunc(10*time.Millisecond, func() { d.Close() })
	if err := comes(t, over, "the end of SpinUntil"); !errors.Is(err, tagus.ErrClosed) {
		t.Errorf("spin until the domain ends: %v", err)
	}
	g.Trigger()
	if _, err := e.SpinSome(ctx); !errors.Is(err, tagus.ErrClosed) {
		t.Errorf("spin after the end: %v", err)
	}
}

// A guard condition is closed while it is triggered: nothing runs after Close.
func TestGuardConditionClose(t *testing.T) {
	leaves(t)
	d := join(t, t.TempDir())
	spin(t, d)
	n := node(t, d, "n")
	for range 50 {
		var closed atomic.Bool
		ran := make(chan struct{}, 1)
		g, err := n.NewGuardCondition(func(context.Context) {
			if closed.Load() {
				t.Error("a callback after Close")
			}
			select {
			case ran <- struct{}{}:
			default:
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			for {
				select {
				case <-stop:
					return
				default:
					g.Trigger()
				}
			}
		}()
		comes(t, ran, "the callback")
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		closed.Store(true)
		close(stop)
		<-stopped
	}
}

// leaves checks at the end of the test that no goroutine of it is left.
func leaves(t *testing.T) {
	now := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, now) })
}

// Nothing stays behind of a node that followed /clock.
func TestSimTimeLeavesNothing(t *testing.T) {
	leaves(t)
	d := join(t, t.TempDir())
	n, err := d.NewNode("timed", tagus.WithParameterOverrides(map[string]param.Value{"use_sim_time": param.Of(true)}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.NewTimer(time.Second, func(context.Context, tagus.TimerInfo) {}); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}
