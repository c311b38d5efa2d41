package lifecycle

import "strconv"

// State is a state of a managed node. The numbers are those of lifecycle_msgs/msg/State.
type State uint8

// The primary states, in which a node stays, and the transition states, in which one of its callbacks runs. No node is ever unknown.
const (
	Unknown         State = 0
	Unconfigured    State = 1
	Inactive        State = 2
	Active          State = 3
	Finalized       State = 4
	Configuring     State = 10
	CleaningUp      State = 11
	ShuttingDown    State = 12
	Activating      State = 13
	Deactivating    State = 14
	ErrorProcessing State = 15
)

// states is in the order in which get_available_states gives them.
var states = []struct {
	state State
	label string
}{
	{Unknown, "unknown"},
	{Unconfigured, "unconfigured"},
	{Inactive, "inactive"},
	{Active, "active"},
	{Finalized, "finalized"},
	{Configuring, "configuring"},
	{CleaningUp, "cleaningup"},
	{ShuttingDown, "shuttingdown"},
	{Activating, "activating"},
	{Deactivating, "deactivating"},
	{ErrorProcessing, "errorprocessing"},
}

// String gives the label that ROS 2 has for the state, such as "unconfigured".
func (s State) String() string {
	for _, x := range states {
		if x.state == s {
			return x.label
		}
	}
	return "state(" + strconv.Itoa(int(s)) + ")"
}

// Primary reports whether a node stays in the state until a change is asked for.
func (s State) Primary() bool { return s >= Unconfigured && s <= Finalized }

// States gives all states in the order of their numbers.
func States() []State {
	out := make([]State, len(states))
	for i, x := range states {
		out[i] = x.state
	}
	return out
}
