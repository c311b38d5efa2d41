package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/lifecycle"
	msg "github.com/tagus-ros/tagus/msgs/lifecycle_msgs"
	"github.com/tagus-ros/tagus/qos"
)

var errBroken = errors.New("broken")

// The ways in which a callback can end.
var endings = map[string]func() error{
	"success": func() error { return nil },
	"failure": func() error { return fmt.Errorf("the sensor is %w", errBroken) },
	"fault":   func() error { return fmt.Errorf("port: %w", lifecycle.Fault(errBroken)) },
	"panic":   func() error { panic(errBroken) },
	"exit":    func() error { runtime.Goexit(); return nil },
}

// toReach are the transitions from unconfigured that lead to the start of a transition, and the transition.
var toReach = map[string][]lifecycle.Transition{
	"configure":             {lifecycle.Configure},
	"cleanup":               {lifecycle.Configure, lifecycle.Cleanup},
	"activate":              {lifecycle.Configure, lifecycle.Activate},
	"deactivate":            {lifecycle.Configure, lifecycle.Activate, lifecycle.Deactivate},
	"unconfigured shutdown": {lifecycle.UnconfiguredShutdown},
	"inactive shutdown":     {lifecycle.Configure, lifecycle.InactiveShutdown},
	"active shutdown":       {lifecycle.Configure, lifecycle.Activate, lifecycle.ActiveShutdown},
}

// TestEndings has each callback end in each way, and the Error callback too where it is asked. A change that is asked for in the process and
// one that is asked for by service end alike.
func TestEndings(t *testing.T) {
	d := join(t, t.TempDir())
	spin(t, d)
	i := 0
	for name, path := range toReach {
		for _, ending := range []string{"success", "failure", "fault", "panic", "exit"} {
			errorEndings := []string{"none"}
			if ending == "fault" || ending == "panic" || ending == "exit" {
				errorEndings = []string{"none", "success", "failure", "fault", "panic", "exit"}
			}
			for _, errorEnding := range errorEndings {
				for _, remotely := range []bool{false, true} {
					i++
					t.Run(fmt.Sprintf("%s/%s/%s/remotely=%v", name, ending, errorEnding, remotely), func(t *testing.T) {
						testEnding(t, d, fmt.Sprint("node", i), path, ending, errorEnding, remotely)
					})
				}
			}
		}
	}
}

func testEnding(t *testing.T, d *tagus.Domain, name string, path []lifecycle.Transition, ending, errorEnding string, remotely bool) {
	var last bool // the callback that counts is next
	var cause error
	var causeFrom lifecycle.State
	end := func(_ context.Context, _ lifecycle.State) error {
		if last {
			return endings[ending]()
		}
		return nil
	}
	cb := lifecycle.Callbacks{Configure: end, Activate: end, Deactivate: end, Cleanup: end, Shutdown: end}
	if errorEnding != "none" {
		cb.Error = func(_ context.Context, from lifecycle.State, c error) error {
			cause, causeFrom = c, from
			return endings[errorEnding]()
		}
	}
	n, err := lifecycle.NewNode(d, name, cb)
	must(t, err)
	defer n.Close()
	for _, tr := range path[:len(path)-1] {
		must(t, n.Change(soon(t), tr))
	}
	last = true
	defer func() { last = false }()
	tr := path[len(path)-1]
	from := n.State()

	first, _ := from.Edge(tr)
	label := map[string]string{"success": "transition_success", "failure": "transition_failure"}[ending]
	if label == "" {
		label = "transition_error"
	}
	e, _ := first.Goal.EdgeLabelled(label)
	want := e.Goal
	if want == lifecycle.ErrorProcessing {
		want = lifecycle.Finalized
		if errorEnding == "success" || errorEnding == "none" { // a missing callback succeeds
			want = lifecycle.Unconfigured
		}
	}

	if remotely {
		o := plain(t, d)
		defer o.Close()
		c, err := tagus.NewClient[msg.ChangeState](o, n.FullyQualifiedName()+"/change_state")
		must(t, err)
		must(t, c.WaitForService(soon(t)))
		resp, err := c.Call(soon(t), &msg.ChangeStateRequest{Transition: msg.Transition{ID: uint8(tr)}})
		must(t, err)
		if resp.Success != (ending == "success") {
			t.Errorf("success is %v", resp.Success)
		}
	} else {
		var err error
		exited := true
		var wg sync.WaitGroup
		wg.Go(func() { // since it may end
			err = n.Change(soon(t), tr)
			exited = false
		})
		wg.Wait()
		var c *lifecycle.ChangeError
		var p *lifecycle.PanicError
		switch {
		case ending == "exit" || errorEnding == "exit":
			if !exited {
				t.Error("the goroutine goes on")
			}
		case ending == "success":
			must(t, err)
		case !errors.As(err, &c) || c.State != want || c.Transition != tr || !errors.Is(err, errBroken):
			t.Errorf("error %v: %+v", err, c)
		case errors.As(err, &p) != (ending == "panic" || errorEnding == "panic"):
			t.Errorf("error %v", err)
		case p != nil && !strings.Contains(string(p.Stack), "change_test.go"):
			t.Errorf("the stack does not lead to the callback:\n%s", p.Stack)
		}
	}
	if n.State() != want {
		t.Errorf("the node is %v, want %v", n.State(), want)
	}
	if cb.Error != nil && (cause == nil || causeFrom != from || ending != "exit" && !errors.Is(cause, errBroken)) {
		t.Errorf("the Error callback got %v, from %v", cause, causeFrom)
	}
	// Whatever happened, the node can be used as its state allows.
	last = false
	if want != lifecycle.Finalized {
		must(t, n.Reach(soon(t), lifecycle.Active, lifecycle.Retry{Attempts: 1}))
	}
}

// TestRandomly makes random changes with random endings and compares each state, each error and all events with the machine.
func TestRandomly(t *testing.T) {
	d := join(t, t.TempDir())
	spin(t, d)
	o := plain(t, d)
	label := map[string]string{"success": "transition_success", "failure": "transition_failure", "fault": "transition_error", "panic": "transition_error"}
	rapid.Check(t, func(r *rapid.T) {
		var ended []string // how the callbacks of the change ended
		end := func(context.Context, lifecycle.State) error {
			e := rapid.SampledFrom([]string{"success", "success", "success", "failure", "fault", "panic"}).Draw(r, "end")
			ended = append(ended, e)
			return endings[e]()
		}
		cb := lifecycle.Callbacks{Configure: end, Activate: end, Deactivate: end, Cleanup: end, Shutdown: end,
			Error: func(ctx context.Context, from lifecycle.State, _ error) error { return end(ctx, from) }}
		n, err := lifecycle.NewNode(d, "random", cb)
		must(t, err)
		defer n.Close()
		events := make(chan lifecycle.Transition, 1000)
		sub, err := tagus.NewSubscription(o, "/random/transition_event", qos.Default().WithDepth(1000), func(_ context.Context, s *tagus.Sample[msg.TransitionEvent]) {
			events <- lifecycle.Transition(s.Msg.Transition.ID)
		})
		must(t, err)
		defer sub.Close()
		must(t, sub.WaitForPublishers(soon(t), 1))
		at := lifecycle.Unconfigured
		var made []lifecycle.Transition
		step := func(e lifecycle.Edge, ok bool) {
			if !ok {
				r.Fatalf("no such way out of %v", at)
			}
			made = append(made, e.Transition)
			at = e.Goal
		}
		for range rapid.IntRange(1, 30).Draw(r, "changes") {
			tr := lifecycle.Transition(rapid.IntRange(0, 12).Draw(r, "transition"))
			ended = nil
			err := n.Change(soon(t), tr)
			first, ok := at.Edge(tr)
			if !ok {
				var unavailable *lifecycle.UnavailableError
				if !errors.As(err, &unavailable) || unavailable.State != at || ended != nil {
					r.Fatalf("%v from %v: %v", tr, at, err)
				}
				continue
			}
			step(first, true)
			for _, e := range ended {
				step(at.EdgeLabelled(label[e]))
			}
			if !at.Primary() || n.State() != at || (err == nil) != (ended[0] == "success") {
				r.Fatalf("%v, ended by %v: %v in %v, want %v", tr, ended, err, n.State(), at)
			}
		}
		for i, want := range made {
			if e := got(t, "event", events); e != want {
				r.Fatalf("event %d is %v (%d), want %v (%d)", i, e, e, want, want)
			}
		}
		if len(events) > 0 {
			r.Fatal("more events than steps")
		}
	})
}

func TestBusy(t *testing.T) {
	d := join(t, t.TempDir())
	began, hold := make(chan struct{}), make(chan error)
	n := managed(t, d, lifecycle.Callbacks{Configure: func(context.Context, lifecycle.State) error {
		close(began)
		return <-hold
	}})
	done := make(chan error, 1)
	go func() { done <- n.Configure(soon(t)) }()
	got(t, "begin of configure", began)
	for _, change := range []func(context.Context) error{n.Configure, n.Activate, n.Deactivate, n.Cleanup} {
		err := change(soon(t))
		var busy *lifecycle.BusyError
		if !errors.As(err, &busy) || busy.Transition != lifecycle.Configure || busy.State != lifecycle.Configuring {
			t.Error(err)
		}
		if !strings.Contains(err.Error(), "/driver") || !strings.Contains(err.Error(), "configure is under way since") {
			t.Error(err)
		}
	}
	// Shutdown waits for its turn.
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	if err := n.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	down := make(chan error, 1)
	go func() { down <- n.Shutdown(soon(t)) }()
	close(hold)
	must(t, got(t, "configure", done))
	must(t, got(t, "shutdown", down))
	if n.State() != lifecycle.Finalized {
		t.Error(n.State())
	}
	must(t, n.Shutdown(soon(t))) // once more
	err := n.Configure(soon(t))
	var unavailable *lifecycle.UnavailableError
	if !errors.As(err, &unavailable) || !strings.Contains(err.Error(), "there is none") {
		t.Error(err)
	}
}

func TestUnavailableSaysWhatThereIs(t *testing.T) {
	d := join(t, t.TempDir())
	n := managed(t, d, lifecycle.Callbacks{})
	err := n.Activate(soon(t))
	if want := "tagus: node /driver: activate: there is no activate from unconfigured; there is configure [1], shutdown [5] (the node is unconfigured)"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := n.Configure(ctx); !errors.Is(err, context.Canceled) || n.State() != lifecycle.Unconfigured {
		t.Error(err, n.State())
	}
}

// TestCallbackContext: the context of a callback ends with that of the caller and with the node; that of the Error callback does not end
// with the caller's.
func TestCallbackContext(t *testing.T) {
	d := join(t, t.TempDir())
	type key struct{}
	began := make(chan struct{}, 1)
	wait := func(ctx context.Context, _ lifecycle.State) error {
		if ctx.Value(key{}) == nil {
			t.Error("the callback does not get the values of the caller's context")
		}
		began <- struct{}{}
		<-ctx.Done()
		return lifecycle.Fault(ctx.Err())
	}
	n := managed(t, d, lifecycle.Callbacks{Configure: wait, Error: func(ctx context.Context, _ lifecycle.State, cause error) error {
		if !errors.Is(cause, context.Canceled) {
			t.Error(cause)
		}
		return nil
	}})
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), key{}, 1))
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- n.Configure(ctx) }()
	got(t, "begin of configure", began)
	cancel()
	if err := got(t, "end of configure", done); !errors.Is(err, context.Canceled) || n.State() != lifecycle.Unconfigured {
		t.Error(err, n.State())
	}
	go func() { done <- n.Configure(context.WithValue(context.Background(), key{}, 1)) }()
	got(t, "begin of configure", began)
	must(t, n.Close())
	if err := got(t, "end of configure", done); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := n.Configure(soon(t)); !errors.Is(err, tagus.ErrClosed) {
		t.Error(err)
	}
}

func TestFaultOfNothing(t *testing.T) {
	if err := lifecycle.Fault(nil); err != nil {
		t.Error(err)
	}
}
