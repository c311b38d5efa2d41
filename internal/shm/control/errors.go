package control

import (
	"errors"
	"fmt"

	"github.com/tagus-ros/tagus/graph"
)

// ParseError says what is wrong with bytes that came in, and where.
type ParseError struct {
	What string // "announcement", or the type of the message
	At   int    // offset of the field, in bytes
	Why  string
}

func (e *ParseError) Error() string {
	return fmt.Sprintf("malformed %s: at byte %d: %s", e.What, e.At, e.Why)
}

// VersionError says that the other side speaks another version of the
// protocol.
type VersionError struct {
	Peer         graph.ID
	Ours, Theirs uint32
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("process %s speaks shared-memory protocol version %d, this one version %d", e.Peer, e.Theirs, e.Ours)
}

// LimitError says that something is too large for the protocol.
type LimitError struct {
	What  string // what is too large
	Limit string // name of the limit
	Value int    // its value
	Have  int
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s: %d is above the limit %s = %d", e.What, e.Have, e.Limit, e.Value)
}

// ErrClock says that two processes do not read the same monotonic clock.
var ErrClock = errors.New("monotonic clocks differ")
