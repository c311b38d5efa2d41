package lifecycle

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrInactive says that a managed publisher was used while its node is not active. Nothing was sent.
var ErrInactive = errors.New("the node is not active")

// ErrFinalized says that a node cannot be brought to a state since it is finalized for good.
var ErrFinalized = errors.New("the node is finalized")

// ChangeError says that a change of state was refused, or was made and did not end where it should.
type ChangeError struct {
	Node       string     // full name
	Transition Transition // that was asked for
	State      State      // that the change led to, or that the node is in if it was refused
	// Err is the cause: a [*BusyError], an [*UnavailableError], tagus.ErrClosed, or what the callback returned (for a panic a
	// [*PanicError]).
	Err error
}

func (e *ChangeError) Error() string {
	return fmt.Sprintf("tagus: node %s: %v: %v (the node is %v)", e.Node, e.Transition, e.Err, e.State)
}

// Unwrap returns the cause.
func (e *ChangeError) Unwrap() error { return e.Err }

// BusyError says that a change was refused since another one is under way.
type BusyError struct {
	Transition Transition // that is under way
	State      State
	Since      time.Time
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("%v is under way since %v", e.Transition, time.Since(e.Since).Round(time.Millisecond))
}

// UnavailableError says that no such transition starts from the state of the node.
type UnavailableError struct {
	State  State
	Wanted string // the transition's label, or its number where it has none
}

func (e *UnavailableError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "there is no %s from %v; there is", e.Wanted, e.State)
	for i, x := range e.State.Edges() {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, " %s [%d]", x.Label, x.Transition)
	}
	if len(e.State.Edges()) == 0 {
		b.WriteString(" none")
	}
	return b.String()
}

// PanicError is what a panic of a callback becomes.
type PanicError struct {
	Value any    // what was given to panic
	Stack []byte // trace of the goroutine
}

func (e *PanicError) Error() string { return fmt.Sprintf("the callback panicked: %v", e.Value) }

// Unwrap returns the value where it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// errExited is what the end of the callback's goroutine becomes.
var errExited = errors.New("the callback ended its goroutine")

type faultError struct{ err error }

func (e *faultError) Error() string { return e.err.Error() }
func (e *faultError) Unwrap() error { return e.err }

// Fault marks an error that a callback returns: the node is in an unknown condition and goes to errorprocessing. Errors without the mark
// are failures, after which the node is where it was before. A nil error stays nil.
func Fault(err error) error {
	if err == nil {
		return nil
	}
	return &faultError{err}
}
