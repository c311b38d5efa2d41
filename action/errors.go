package action

import (
	"errors"
	"fmt"
)

// Errors that a client gets, besides those of [tagus.Client.Call].
var (
	// ErrRejected says that the server did not take the goal.
	ErrRejected = errors.New("the goal was rejected")
	// ErrCancelRejected says that the server went on with the goals that were to be canceled.
	ErrCancelRejected = errors.New("the cancel request was rejected")
	// ErrUnknownGoal says that the server does not know the goal: it keeps the result no
	// longer, or it is not the server that took the goal.
	ErrUnknownGoal = errors.New("the server does not know the goal")
	// ErrGoalEnded says that the goal has ended, or is being canceled, already.
	ErrGoalEnded = errors.New("the goal has ended or is being canceled already")
)

// Causes why the context of an executing goal ended; see [context.Cause]. A further one is
// tagus.ErrClientGone; see [WithCancelOrphans].
var (
	// ErrCanceled says that a cancel request was granted.
	ErrCanceled = errors.New("canceled by a client")
	// ErrPreempted says that a newer goal takes over.
	ErrPreempted = errors.New("preempted by a newer goal")
	// ErrServerClosed says that the server closes.
	ErrServerClosed = errors.New("the action server closes")
)

// Error says what a server or a client of an action was doing when something went wrong.
type Error struct {
	Kind   string // "action server" or "action client"
	Action string // fully qualified name
	Op     string // what was tried
	Goal   GoalID // which goal it was about; zero if none
	Err    error
}

func (e *Error) Error() string {
	if e.Goal.IsZero() {
		return fmt.Sprintf("tagus: %s %s: %s: %v", e.Kind, e.Action, e.Op, e.Err)
	}
	return fmt.Sprintf("tagus: %s %s: %s %s: %v", e.Kind, e.Action, e.Op, e.Goal, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// LimitError says that a limit was reached.
type LimitError struct {
	Limit string // its name
	Value int
}

func (e *LimitError) Error() string { return fmt.Sprintf("limit %s = %d", e.Limit, e.Value) }
