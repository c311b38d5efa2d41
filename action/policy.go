package action

import "fmt"

// Policy says what a server does with a goal while another is under way.
type Policy uint8

const (
	// Parallel executes each goal at once, beside the others. It is the default.
	Parallel Policy = iota
	// Queue executes one goal at a time, in the order of acceptance. A goal that waits can be
	// canceled; it ends then without being executed.
	Queue
	// Preempt executes one goal at a time, the newest: accepting it ends the context of the
	// one under way with ErrPreempted, and the new one begins when that one has returned. A
	// goal that is replaced while it waits is aborted without being executed.
	Preempt
	// Single executes one goal at a time and rejects others meanwhile.
	Single
)

// String gives the policy's name.
func (p Policy) String() string {
	switch p {
	case Parallel:
		return "parallel"
	case Queue:
		return "queue"
	case Preempt:
		return "preempt"
	case Single:
		return "single"
	}
	return fmt.Sprintf("policy(%d)", uint8(p))
}
