package lifecycle

import "strconv"

// Transition is a way from one state to another. The numbers are those of lifecycle_msgs/msg/Transition.
type Transition uint8

// The transitions that can be asked for. Shutdown has one for each state that it starts from.
const (
	Configure            Transition = 1
	Cleanup              Transition = 2
	Activate             Transition = 3
	Deactivate           Transition = 4
	UnconfiguredShutdown Transition = 5
	InactiveShutdown     Transition = 6
	ActiveShutdown       Transition = 7
)

// The transitions that the end of a callback makes.
const (
	ConfigureSuccess  Transition = 10
	ConfigureFailure  Transition = 11
	ConfigureError    Transition = 12
	CleanupSuccess    Transition = 20
	CleanupFailure    Transition = 21
	CleanupError      Transition = 22
	ActivateSuccess   Transition = 30
	ActivateFailure   Transition = 31
	ActivateError     Transition = 32
	DeactivateSuccess Transition = 40
	DeactivateFailure Transition = 41
	DeactivateError   Transition = 42
	ShutdownSuccess   Transition = 50
	ShutdownFailure   Transition = 51
	ShutdownError     Transition = 52
	ErrorSuccess      Transition = 60
	ErrorFailure      Transition = 61
	ErrorError        Transition = 62
)

// Edge is a transition with the states that it joins and its label, which is unique among the edges from one state only: "shutdown" is
// the label of three transitions, "transition_success" of the end of every callback.
type Edge struct {
	Transition  Transition
	Label       string
	Start, Goal State
}

const (
	success = "transition_success"
	failure = "transition_failure"
	fault   = "transition_error"
)

// edges is the state machine, in the order in which get_transition_graph gives it.
var edges = []Edge{
	{Configure, "configure", Unconfigured, Configuring},
	{ConfigureSuccess, success, Configuring, Inactive},
	{ConfigureFailure, failure, Configuring, Unconfigured},
	{ConfigureError, fault, Configuring, ErrorProcessing},

	{Cleanup, "cleanup", Inactive, CleaningUp},
	{CleanupSuccess, success, CleaningUp, Unconfigured},
	{CleanupFailure, failure, CleaningUp, Inactive},
	{CleanupError, fault, CleaningUp, ErrorProcessing},

	{Activate, "activate", Inactive, Activating},
	{ActivateSuccess, success, Activating, Active},
	{ActivateFailure, failure, Activating, Inactive},
	{ActivateError, fault, Activating, ErrorProcessing},

	{Deactivate, "deactivate", Active, Deactivating},
	{DeactivateSuccess, success, Deactivating, Inactive},
	{DeactivateFailure, failure, Deactivating, Active},
	{DeactivateError, fault, Deactivating, ErrorProcessing},

	{UnconfiguredShutdown, "shutdown", Unconfigured, ShuttingDown},
	{InactiveShutdown, "shutdown", Inactive, ShuttingDown},
	{ActiveShutdown, "shutdown", Active, ShuttingDown},
	{ShutdownSuccess, success, ShuttingDown, Finalized},
	{ShutdownFailure, failure, ShuttingDown, Finalized},
	{ShutdownError, fault, ShuttingDown, ErrorProcessing},

	{ErrorSuccess, success, ErrorProcessing, Unconfigured},
	{ErrorFailure, failure, ErrorProcessing, Finalized},
	{ErrorError, fault, ErrorProcessing, Finalized},
}

// Edges gives the whole state machine.
func Edges() []Edge { return append([]Edge(nil), edges...) }

// Edges gives the transitions that start from s.
func (s State) Edges() []Edge {
	var out []Edge
	for _, e := range edges {
		if e.Start == s {
			out = append(out, e)
		}
	}
	return out
}

// Edge finds the transition t from s.
func (s State) Edge(t Transition) (Edge, bool) {
	for _, e := range edges {
		if e.Start == s && e.Transition == t {
			return e, true
		}
	}
	return Edge{}, false
}

// EdgeLabelled finds the transition from s that has a label.
func (s State) EdgeLabelled(label string) (Edge, bool) {
	for _, e := range edges {
		if e.Start == s && e.Label == label {
			return e, true
		}
	}
	return Edge{}, false
}

// String gives the label that ROS 2 has for the transition.
func (t Transition) String() string {
	for _, e := range edges {
		if e.Transition == t {
			return e.Label
		}
	}
	return "transition(" + strconv.Itoa(int(t)) + ")"
}

// toward gives the next transition from s on the shortest way to goal, both primary. There is none at the goal, and none away from
// finalized.
func toward(s, goal State) (Edge, bool) {
	if s == goal || s == Finalized {
		return Edge{}, false
	}
	var label string
	switch {
	case goal == Finalized:
		label = "shutdown"
	case s == Unconfigured:
		label = "configure"
	case s == Active:
		label = "deactivate"
	case goal == Active:
		label = "activate"
	default:
		label = "cleanup"
	}
	return s.EdgeLabelled(label)
}
