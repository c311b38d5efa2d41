package tagus

import (
	"errors"
	"fmt"

	"github.com/tagus-ros/tagus/internal/transport"
)

// Errors that say a plain state. Others are types with fields.
var (
	// ErrClosed says that the domain, node or endpoint was closed.
	ErrClosed = transport.ErrClosed
	// ErrLoanEnded says that a loan was published or discarded before.
	ErrLoanEnded = errors.New("the loan was published or discarded before")
	// ErrNotLoanable says that messages of the type cannot lie in the
	// transport's memory: they are of variable size and have no sequence of
	// numbers. Publish and PublishOwned carry them.
	ErrNotLoanable = errors.New("this type cannot be loaned: it has no fixed size and no sequence of numbers")
	// ErrNoShape says that a message of variable size was to be loaned without
	// its shape.
	ErrNoShape = errors.New("a message of variable size needs a shape: the message with its short fields set and its large sequence made to its length")
)

// QueueFullError says that a keep-all subscription has no room; nothing was
// published.
type QueueFullError = transport.QueueFullError

// EndpointError says what an endpoint was doing when something went wrong.
type EndpointError struct {
	Kind string // "publisher", "subscription", "node", "timer"
	Name string // topic or node
	Op   string // what was tried
	Err  error
}

func (e *EndpointError) Error() string {
	return fmt.Sprintf("tagus: %s %s: %s: %v", e.Kind, e.Name, e.Op, e.Err)
}

// Unwrap returns the cause.
func (e *EndpointError) Unwrap() error { return e.Err }
