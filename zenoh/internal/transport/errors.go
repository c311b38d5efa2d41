package transport

import (
	"errors"
	"fmt"

	"github.com/tagus-ros/tagus/zenoh/internal/wire"
)

// ErrCongested says that a message was dropped because the link did not take it in time.
var ErrCongested = errors.New("zenoh: message dropped: link congested")

// ErrClosed says that this side closed the transport.
var ErrClosed = errors.New("zenoh: closed")

// CloseError says why a link ended, other than by our own wish.
type CloseError struct {
	Remote bool        // the peer closed it
	Reason wire.Reason // what the side that closed it gave as reason
	Err    error       // what happened, if there is more to say
}

// Error implements error.
func (e *CloseError) Error() string {
	who := "closed"
	if e.Remote {
		who = "closed by peer"
	}
	if e.Err == nil {
		return fmt.Sprintf("zenoh link: %s: %s", who, e.Reason)
	}
	return fmt.Sprintf("zenoh link: %s: %s: %v", who, e.Reason, e.Err)
}

// Unwrap returns the cause.
func (e *CloseError) Unwrap() error { return e.Err }

// TooLargeError says that a message exceeds what may be sent or received.
type TooLargeError struct {
	Size, Limit int // bytes of the encoded message
}

// Error implements error.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("zenoh: message of %d bytes exceeds the limit of %d", e.Size, e.Limit)
}
