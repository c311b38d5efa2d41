package lifecycle_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/lifecycle"
	msg "github.com/tagus-ros/tagus/msgs/lifecycle_msgs"
)

// TestServices drives a node through all its states from outside, as "ros2 lifecycle" does.
func TestServices(t *testing.T) {
	for _, s := range setups {
		t.Run(s.name, func(t *testing.T) {
			nd, od := s.make(t)
			var calls []string
			note := func(name string) func(context.Context, lifecycle.State) error {
				return func(_ context.Context, from lifecycle.State) error {
					calls = append(calls, fmt.Sprintf("%s from %v", name, from))
					return nil
				}
			}
			n := managed(t, nd, lifecycle.Callbacks{
				Configure: note("configure"), Activate: note("activate"), Deactivate: note("deactivate"), Cleanup: note("cleanup"), Shutdown: note("shutdown"),
			})
			o := plain(t, od)
			r := dealWith(t, o, n.FullyQualifiedName())

			var want []string
			edge := func(s lifecycle.State, label string) lifecycle.State {
				e, ok := s.EdgeLabelled(label)
				if !ok {
					t.Fatalf("no %s from %v", label, s)
				}
				want = append(want, fmt.Sprintf("%s[%d] %v[%d] %v[%d]", label, e.Transition, e.Start, e.Start, e.Goal, e.Goal))
				return e.Goal
			}
			at := lifecycle.Unconfigured
			for _, label := range []string{"configure", "activate", "deactivate", "cleanup", "configure", "activate", "shutdown"} {
				if s := r.get(); s != at.String() {
					t.Errorf("%s before %s, want %v", s, label, at)
				}
				if !r.do(label) {
					t.Errorf("%s was not made", label)
				}
				at = edge(edge(at, label), "transition_success")
				if n.State() != at {
					t.Errorf("%v after %s, want %v", n.State(), label, at)
				}
			}
			if s := r.get(); s != "finalized" {
				t.Error(s)
			}
			for _, label := range []string{"configure", "shutdown", "nonsense"} {
				if r.do(label) {
					t.Errorf("%s of a finalized node", label)
				}
			}

			var events []string
			for range want {
				e := got(t, "event", r.events)
				events = append(events, fmt.Sprintf("%s[%d] %s[%d] %s[%d]", e.Transition.Label, e.Transition.ID, e.StartState.Label, e.StartState.ID, e.GoalState.Label, e.GoalState.ID))
				if at := time.Unix(0, int64(e.Timestamp)); time.Since(at) > time.Minute || time.Until(at) > 0 {
					t.Errorf("an event of %v", at)
				}
			}
			if diff := cmp.Diff(want, events); diff != "" {
				t.Error("events", diff)
			}
			if len(r.events) > 0 {
				t.Errorf("one more event: %v", <-r.events)
			}
			wantCalls := "configure from unconfigured, activate from inactive, deactivate from active, cleanup from inactive, " +
				"configure from unconfigured, activate from inactive, shutdown from active"
			if got := strings.Join(calls, ", "); got != wantCalls {
				t.Errorf("called: %s", got)
			}
		})
	}
}

func TestDescriptions(t *testing.T) {
	for _, s := range setups {
		t.Run(s.name, func(t *testing.T) {
			nd, od := s.make(t)
			n := managed(t, nd, lifecycle.Callbacks{})
			o := plain(t, od)
			states, err := tagus.NewClient[msg.GetAvailableStates](o, n.FullyQualifiedName()+"/get_available_states")
			must(t, err)
			must(t, states.WaitForService(soon(t)))
			resp, err := states.Call(soon(t), &msg.GetAvailableStatesRequest{})
			must(t, err)
			got := ""
			for _, s := range resp.AvailableStates {
				got += fmt.Sprintf("%s[%d] ", s.Label, s.ID)
			}
			if want := "unknown[0] unconfigured[1] inactive[2] active[3] finalized[4] configuring[10] cleaningup[11] shuttingdown[12] activating[13] deactivating[14] errorprocessing[15] "; got != want {
				t.Error(got)
			}
			ask := func(service string) (out []string) {
				c, err := tagus.NewClient[msg.GetAvailableTransitions](o, n.FullyQualifiedName()+"/"+service)
				must(t, err)
				defer c.Close()
				must(t, c.WaitForService(soon(t)))
				resp, err := c.Call(soon(t), &msg.GetAvailableTransitionsRequest{})
				must(t, err)
				for _, d := range resp.AvailableTransitions {
					out = append(out, fmt.Sprintf("%s[%d] %s[%d] %s[%d]", d.Transition.Label, d.Transition.ID, d.StartState.Label, d.StartState.ID, d.GoalState.Label, d.GoalState.ID))
				}
				return out
			}
			want := func(edges []lifecycle.Edge) (out []string) {
				for _, e := range edges {
					out = append(out, fmt.Sprintf("%s[%d] %v[%d] %v[%d]", e.Label, e.Transition, e.Start, e.Start, e.Goal, e.Goal))
				}
				return out
			}
			for _, step := range []func(context.Context) error{nil, n.Configure, n.Activate, n.Shutdown} {
				if step != nil {
					must(t, step(soon(t)))
				}
				if diff := cmp.Diff(want(n.State().Edges()), ask("get_available_transitions")); diff != "" {
					t.Errorf("%v: %s", n.State(), diff)
				}
				if diff := cmp.Diff(want(lifecycle.Edges()), ask("get_transition_graph")); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// TestSlowConfigure is LC-3: while a callback takes its time, get_state answers, another change is refused, other nodes run on, and who asked
// for the change gets the answer.
func TestSlowConfigure(t *testing.T) {
	for _, s := range setups {
		t.Run(s.name, func(t *testing.T) {
			log := logs()
			nd, od := s.make(t)
			began, hold := make(chan struct{}), make(chan error)
			n := managed(t, nd, lifecycle.Callbacks{Configure: func(context.Context, lifecycle.State) error {
				close(began)
				return <-hold
			}})
			beats := make(chan struct{}, 1)
			beside, err := nd.NewNode("beside")
			must(t, err)
			_, err = beside.NewTimer(time.Millisecond, func(context.Context, tagus.TimerInfo) {
				select {
				case beats <- struct{}{}:
				default:
				}
			})
			must(t, err)
			r := dealWith(t, plain(t, od), n.FullyQualifiedName())

			answer := make(chan bool, 1)
			go func() { answer <- r.do("configure") }()
			got(t, "begin of configure", began)
			var answers, refusals []time.Duration
			for range 21 {
				start := time.Now()
				if s := r.get(); s != "configuring" {
					t.Fatalf("the state is %s", s)
				}
				answers = append(answers, time.Since(start))
				start = time.Now()
				if r.do("shutdown") {
					t.Error("a second change was made")
				}
				refusals = append(refusals, time.Since(start))
				got(t, "timer of the other node", beats)
			}
			// The machine may have other things to do now and then.
			slices.Sort(answers)
			slices.Sort(refusals)
			if a, r := answers[10], refusals[10]; a > 100*time.Millisecond || r > 100*time.Millisecond {
				t.Errorf("get_state took %v, the refusal %v", a, r)
			}
			if l := log(); !strings.Contains(l, "configure is under way since") {
				t.Errorf("the reason is not in the log:\n%s", l)
			}
			select {
			case <-answer:
				t.Fatal("an answer before the end")
			default:
			}
			close(hold)
			if !got(t, "answer", answer) {
				t.Error("configure was not made")
			}
			if s := r.get(); s != "inactive" {
				t.Error(s)
			}
			must(t, n.Close())
		})
	}
}

// TestCallerLeaves: a change goes on though nobody waits for its answer.
func TestCallerLeaves(t *testing.T) {
	nd, od := setups[1].make(t)
	began, hold := make(chan struct{}), make(chan error)
	n := managed(t, nd, lifecycle.Callbacks{Configure: func(context.Context, lifecycle.State) error {
		close(began)
		return <-hold
	}})
	o := plain(t, od)
	r := dealWith(t, o, n.FullyQualifiedName())
	ctx, cancel := context.WithCancel(context.Background())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		r.change.Call(ctx, &msg.ChangeStateRequest{Transition: msg.Transition{ID: msg.TransitionConfigure}})
	}()
	got(t, "begin of configure", began)
	cancel()
	got(t, "end of the call", gone)
	must(t, o.Close())
	close(hold)
	_, err := n.WaitFor(soon(t), lifecycle.Inactive)
	must(t, err)
}
