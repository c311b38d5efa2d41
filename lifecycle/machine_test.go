package lifecycle

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	msg "github.com/tagus-ros/tagus/msgs/lifecycle_msgs"
)

// The machine as rcl's default one is published, in the order in which it registers states and transitions.
const published = `
unconfigured[1] configure[1] configuring[10]
configuring[10] transition_success[10] inactive[2]
configuring[10] transition_failure[11] unconfigured[1]
configuring[10] transition_error[12] errorprocessing[15]
inactive[2] cleanup[2] cleaningup[11]
cleaningup[11] transition_success[20] unconfigured[1]
cleaningup[11] transition_failure[21] inactive[2]
cleaningup[11] transition_error[22] errorprocessing[15]
inactive[2] activate[3] activating[13]
activating[13] transition_success[30] active[3]
activating[13] transition_failure[31] inactive[2]
activating[13] transition_error[32] errorprocessing[15]
active[3] deactivate[4] deactivating[14]
deactivating[14] transition_success[40] inactive[2]
deactivating[14] transition_failure[41] active[3]
deactivating[14] transition_error[42] errorprocessing[15]
unconfigured[1] shutdown[5] shuttingdown[12]
inactive[2] shutdown[6] shuttingdown[12]
active[3] shutdown[7] shuttingdown[12]
shuttingdown[12] transition_success[50] finalized[4]
shuttingdown[12] transition_failure[51] finalized[4]
shuttingdown[12] transition_error[52] errorprocessing[15]
errorprocessing[15] transition_success[60] unconfigured[1]
errorprocessing[15] transition_failure[61] finalized[4]
errorprocessing[15] transition_error[62] finalized[4]
`

func TestMachine(t *testing.T) {
	var got strings.Builder
	for _, e := range Edges() {
		fmt.Fprintf(&got, "%v[%d] %v[%d] %v[%d]\n", e.Start, e.Start, e.Transition, e.Transition, e.Goal, e.Goal)
		if e.Label != e.Transition.String() {
			t.Errorf("edge %v has the label %q", e.Transition, e.Label)
		}
	}
	if diff := cmp.Diff(strings.TrimPrefix(published, "\n"), got.String()); diff != "" {
		t.Error(diff)
	}
}

func TestNumbers(t *testing.T) {
	for s, want := range map[State]uint8{
		Unknown: msg.StatePrimaryStateUnknown, Unconfigured: msg.StatePrimaryStateUnconfigured, Inactive: msg.StatePrimaryStateInactive,
		Active: msg.StatePrimaryStateActive, Finalized: msg.StatePrimaryStateFinalized, Configuring: msg.StateTransitionStateConfiguring,
		CleaningUp: msg.StateTransitionStateCleaningup, ShuttingDown: msg.StateTransitionStateShuttingdown,
		Activating: msg.StateTransitionStateActivating, Deactivating: msg.StateTransitionStateDeactivating,
		ErrorProcessing: msg.StateTransitionStateErrorprocessing,
	} {
		if uint8(s) != want {
			t.Errorf("%v is %d, want %d", s, s, want)
		}
		if s.Primary() != (want >= 1 && want <= 4) {
			t.Errorf("%v: Primary is %v", s, s.Primary())
		}
	}
	for tr, want := range map[Transition]uint8{
		Configure: msg.TransitionConfigure, Cleanup: msg.TransitionCleanup, Activate: msg.TransitionActivate, Deactivate: msg.TransitionDeactivate,
		UnconfiguredShutdown: msg.TransitionUnconfiguredShutdown, InactiveShutdown: msg.TransitionInactiveShutdown, ActiveShutdown: msg.TransitionActiveShutdown,
		ConfigureSuccess: msg.TransitionOnConfigureSuccess, ConfigureFailure: msg.TransitionOnConfigureFailure, ConfigureError: msg.TransitionOnConfigureError,
		CleanupSuccess: msg.TransitionOnCleanupSuccess, CleanupFailure: msg.TransitionOnCleanupFailure, CleanupError: msg.TransitionOnCleanupError,
		ActivateSuccess: msg.TransitionOnActivateSuccess, ActivateFailure: msg.TransitionOnActivateFailure, ActivateError: msg.TransitionOnActivateError,
		DeactivateSuccess: msg.TransitionOnDeactivateSuccess, DeactivateFailure: msg.TransitionOnDeactivateFailure, DeactivateError: msg.TransitionOnDeactivateError,
		ShutdownSuccess: msg.TransitionOnShutdownSuccess, ShutdownFailure: msg.TransitionOnShutdownFailure, ShutdownError: msg.TransitionOnShutdownError,
		ErrorSuccess: msg.TransitionOnErrorSuccess, ErrorFailure: msg.TransitionOnErrorFailure, ErrorError: msg.TransitionOnErrorError,
	} {
		if uint8(tr) != want {
			t.Errorf("%v is %d, want %d", tr, tr, want)
		}
	}
}

// What the node relies on: each transition state has the three ways out, and labels and numbers are unique among the edges from a state.
func TestMachineIsWhole(t *testing.T) {
	for _, s := range States() {
		labels, numbers := map[string]bool{}, map[Transition]bool{}
		for _, e := range s.Edges() {
			if labels[e.Label] || numbers[e.Transition] {
				t.Errorf("%v: %v twice", s, e)
			}
			labels[e.Label], numbers[e.Transition] = true, true
			if byLabel, ok := s.EdgeLabelled(e.Label); !ok || byLabel != e {
				t.Errorf("%v: %q finds %v", s, e.Label, byLabel)
			}
			if byNumber, ok := s.Edge(e.Transition); !ok || byNumber != e {
				t.Errorf("%v: %v finds %v", s, e.Transition, byNumber)
			}
			if s.Primary() == e.Goal.Primary() && e.Goal != ErrorProcessing {
				t.Errorf("%v leads from %v to %v", e.Transition, s, e.Goal)
			}
		}
		if s >= Configuring && (len(labels) != 3 || !labels[success] || !labels[failure] || !labels[fault]) {
			t.Errorf("%v ends by %v", s, labels)
		}
		if s == Finalized && len(labels) > 0 {
			t.Errorf("finalized can be left by %v", labels)
		}
		if s >= Unconfigured && s < Finalized && !labels["shutdown"] {
			t.Errorf("%v cannot be shut down", s)
		}
	}
	if _, ok := Unconfigured.EdgeLabelled("activate"); ok {
		t.Error("an unconfigured node can be activated")
	}
	if _, ok := Active.Edge(Configure); ok {
		t.Error("an active node can be configured")
	}
	if got := State(99).String() + Transition(99).String(); got != "state(99)transition(99)" {
		t.Error(got)
	}
}

// Whatever the states, following toward leads to the goal in the fewest steps, if no callback fails.
func TestToward(t *testing.T) {
	primary := []State{Unconfigured, Inactive, Active, Finalized}
	steps := map[[2]State]int{
		{Unconfigured, Inactive}: 1, {Unconfigured, Active}: 2, {Unconfigured, Finalized}: 1,
		{Inactive, Unconfigured}: 1, {Inactive, Active}: 1, {Inactive, Finalized}: 1,
		{Active, Unconfigured}: 2, {Active, Inactive}: 1, {Active, Finalized}: 1,
	}
	for _, from := range primary {
		for _, goal := range primary {
			s, n := from, 0
			for {
				e, ok := toward(s, goal)
				if !ok {
					break
				}
				done, _ := e.Goal.EdgeLabelled(success)
				if e.Start != s || n > 5 {
					t.Fatalf("from %v to %v: %v from %v", from, goal, e.Transition, s)
				}
				s, n = done.Goal, n+1
			}
			if from == Finalized && n > 0 || from != Finalized && (s != goal || n != steps[[2]State{from, goal}]) {
				t.Errorf("from %v to %v: at %v after %d transitions", from, goal, s, n)
			}
		}
	}
}

func TestRequested(t *testing.T) {
	for _, c := range []struct {
		in     State
		id     uint8
		label  string
		want   Transition
		wanted string
	}{
		{Unconfigured, 1, "", Configure, "configure"},
		{Unconfigured, 0, "configure", Configure, "configure"},
		{Unconfigured, 1, "configure", Configure, "configure"},
		{Unconfigured, 5, "configure", Configure, "configure"}, // the label counts
		{Active, 0, "shutdown", ActiveShutdown, "shutdown"},
		{Inactive, 5, "shutdown", InactiveShutdown, "shutdown"},
		{Inactive, 5, "", 0, "shutdown"}, // not from here
		{Unconfigured, 0, "", 0, "transition(0)"},
		{Unconfigured, 1, "create", 0, "create"},
		{Active, 10, "", 0, "transition_success"},
	} {
		m := &msg.Transition{ID: c.id, Label: c.label}
		e, ok := requested(c.in, m)
		if e.Transition != c.want || wanted(m) != c.wanted || ok != (c.want != 0) {
			t.Errorf("%v, %d %q: %v %q %v", c.in, c.id, c.label, e.Transition, wanted(m), ok)
		}
	}
}
