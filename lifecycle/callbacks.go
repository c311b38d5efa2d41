package lifecycle

import (
	"context"
	"errors"
	"runtime/debug"
)

// Callbacks are what a managed node does at its transitions. Each is optional; one that is missing succeeds. from is the primary state
// that the node comes from.
//
// Their context ends with the node, and with the context of the caller where the change was asked for in this process. A callback that
// takes long should end with it. The node's managed entities are quiet while one runs.
type Callbacks struct {
	// Configure makes ready what the node needs. A failure leaves the node unconfigured.
	Configure func(ctx context.Context, from State) error
	// Activate starts the work. Publications are refused until it has returned; a goroutine that it starts can use [Node.WaitFor]. A
	// failure leaves the node inactive.
	Activate func(ctx context.Context, from State) error
	// Deactivate stops the work. A failure leaves the node active.
	Deactivate func(ctx context.Context, from State) error
	// Cleanup gives back what Configure made. A failure leaves the node inactive.
	Cleanup func(ctx context.Context, from State) error
	// Shutdown ends the node from whatever state. The node is finalized after it, also when it fails.
	Shutdown func(ctx context.Context, from State) error
	// Error tries to bring the node back to unconfigured after a panic or a [Fault], which is given as the cause. Unless it succeeds
	// the node is finalized.
	Error func(ctx context.Context, from State, cause error) error
}

// outcome is how a callback ended.
type outcome struct {
	label string // success, failure or fault
	err   error
}

// at gives the callback for a transition state.
func (c *Callbacks) at(s State, cause error) func(context.Context, State) error {
	switch s {
	case Configuring:
		return c.Configure
	case CleaningUp:
		return c.Cleanup
	case ShuttingDown:
		return c.Shutdown
	case Activating:
		return c.Activate
	case Deactivating:
		return c.Deactivate
	case ErrorProcessing:
		if c.Error != nil {
			return func(ctx context.Context, from State) error { return c.Error(ctx, from, cause) }
		}
	}
	return nil
}

// call runs a callback, which may be nil, to its end.
func call(ctx context.Context, fn func(context.Context, State) error, from State) (o outcome) {
	if fn == nil {
		return outcome{label: success}
	}
	defer func() {
		if p := recover(); p != nil {
			o = outcome{fault, &PanicError{p, debug.Stack()}}
		}
	}()
	err := fn(ctx, from)
	var f *faultError
	switch {
	case err == nil:
		return outcome{label: success}
	case errors.As(err, &f):
		return outcome{fault, err}
	}
	return outcome{failure, err}
}
