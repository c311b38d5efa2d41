package zenoh

import (
	"errors"
	"fmt"

	"github.com/tagus-ros/tagus/zenoh/internal/keyexpr"
	"github.com/tagus-ros/tagus/zenoh/internal/transport"
)

// Plain states.
var (
	// ErrClosed: the session or the entity was closed by this side.
	ErrClosed = transport.ErrClosed
	// ErrCongested: a message was dropped because the link did not take it in time.
	ErrCongested = transport.ErrCongested
	// ErrTimeout: a query's time is up. What had come by then was handed on.
	ErrTimeout error = timeoutError{}
	// ErrNoLink: there is no connection that a query could take, or it broke before the last reply.
	ErrNoLink = errors.New("zenoh: no link to a router")
	// ErrAnswered: a query was already finished.
	ErrAnswered = errors.New("zenoh: query already finished")
)

type timeoutError struct{}

func (timeoutError) Error() string { return "zenoh: query timed out" }
func (timeoutError) Timeout() bool { return true }

// KeyError says why a text is no key expression in canon form; see Canon.
type KeyError = keyexpr.Error

// CloseError says why a link ended, other than by our own wish.
type CloseError = transport.CloseError

// HandshakeError says at which step a peer and we did not agree.
type HandshakeError = transport.HandshakeError

// TooLargeError says that a message exceeds Config.MaxMessage.
type TooLargeError = transport.TooLargeError

// OpenError says what became of the attempt to reach each endpoint.
type OpenError struct {
	Attempts []EndpointError
}

// EndpointError is one failed attempt.
type EndpointError struct {
	Endpoint string
	Err      error
}

// Error implements error.
func (e *EndpointError) Error() string { return fmt.Sprintf("%s: %v", e.Endpoint, e.Err) }

// Unwrap returns the cause.
func (e *EndpointError) Unwrap() error { return e.Err }

// Error implements error.
func (e *OpenError) Error() string {
	s := "zenoh: no endpoint answers"
	for i := range e.Attempts {
		s += "; " + e.Attempts[i].Error()
	}
	return s
}

// Unwrap returns the causes.
func (e *OpenError) Unwrap() []error {
	errs := make([]error, len(e.Attempts))
	for i := range e.Attempts {
		errs[i] = &e.Attempts[i]
	}
	return errs
}

// LocatorError says what is wrong with an endpoint's text.
type LocatorError struct {
	Text, What string
}

// Error implements error.
func (e *LocatorError) Error() string { return fmt.Sprintf("zenoh: locator %q: %s", e.Text, e.What) }

// ValueError says that a value does not fit the wire.
type ValueError struct {
	What       string
	Value, Max uint64
}

// Error implements error.
func (e *ValueError) Error() string {
	return fmt.Sprintf("zenoh: %s: %d, at most %d", e.What, e.Value, e.Max)
}

// ReplyError is a queryable's answer that there is no reply.
type ReplyError struct {
	Payload  []byte
	Encoding Encoding
}

// Error implements error.
func (e *ReplyError) Error() string {
	p := e.Payload
	if len(p) > 200 {
		p = p[:200]
	}
	return fmt.Sprintf("zenoh: queryable answers with an error: %q", p)
}
