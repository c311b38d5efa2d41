package control

import (
	"fmt"

	"github.com/tagus-ros/tagus/graph"
)

// Look says that the announcement of the sender has changed in a way that
// concerns the receiver. It is the same in every version of the protocol.
type Look struct {
	noFDs
	ID graph.ID
}

// Type returns [TypeLook].
func (Look) Type() Type { return TypeLook }

func (m Look) append(b []byte) ([]byte, error) { return append(b, m.ID[:]...), nil }

func parseLook(c *cursor) Message { return Look{ID: c.bytes16()} }

// Purpose says what a connection is for.
type Purpose uint32

// Purposes. A receiver refuses one it does not know.
const (
	PurposeLink  Purpose = 1 // matches of the sender's publishers with the receiver's subscriptions
	PurposeWatch Purpose = 2 // the sender watches the graph
	PurposeStats Purpose = 3 // the sender asks for figures
	PurposeAsk   Purpose = 4 // the sender asks for definitions of types
)

func (p Purpose) String() string {
	switch p {
	case PurposeLink:
		return "link"
	case PurposeWatch:
		return "watch"
	case PurposeStats:
		return "stats"
	case PurposeAsk:
		return "ask"
	}
	return fmt.Sprintf("purpose %d", uint32(p))
}

// Hello opens a connection. Its first 24 bytes are the same in every version.
type Hello struct {
	noFDs
	Version uint32 // Append writes ProtocolVersion if it is 0
	Purpose Purpose
	ID      graph.ID
	Mono    int64 // CLOCK_MONOTONIC when it was sent, ns
	Wall    int64 // Unix time when it was sent, ns
}

// Type returns [TypeHello].
func (Hello) Type() Type { return TypeHello }

func (m Hello) append(b []byte) ([]byte, error) {
	return appendHello(b, m.Version, m.Purpose, m.ID, m.Mono, m.Wall), nil
}

// HelloAck answers a Hello. With it comes the descriptor of the sender's inbox
// if the purpose is a link.
type HelloAck struct {
	Version uint32 // Append writes ProtocolVersion if it is 0
	ID      graph.ID
	Mono    int64
	Wall    int64
}

// Type returns [TypeHelloAck].
func (HelloAck) Type() Type { return TypeHelloAck }

// FDs returns 0, 1: the inbox.
func (HelloAck) FDs() (least, most int) { return 0, 1 }

func (m HelloAck) append(b []byte) ([]byte, error) {
	return appendHello(b, m.Version, 0, m.ID, m.Mono, m.Wall), nil
}

func appendHello(b []byte, version uint32, p Purpose, id graph.ID, mono, wall int64) []byte {
	if version == 0 {
		version = ProtocolVersion
	}
	b = le.AppendUint32(b, version)
	b = le.AppendUint32(b, uint32(p))
	b = append(b, id[:]...)
	b = le.AppendUint64(b, uint64(mono))
	return le.AppendUint64(b, uint64(wall))
}

func parseHello(c *cursor, t Type) Message {
	version, purpose, id := c.u32(), Purpose(c.u32()), graph.ID(c.bytes16())
	if c.err == nil && version != ProtocolVersion {
		c.err = &VersionError{Peer: id, Ours: ProtocolVersion, Theirs: version}
	}
	mono, wall := c.i64(), c.i64()
	if t == TypeHelloAck {
		return HelloAck{Version: version, ID: id, Mono: mono, Wall: wall}
	}
	return Hello{Version: version, Purpose: purpose, ID: id, Mono: mono, Wall: wall}
}

// clockTolerance covers the error with which a process knows the offset
// between its runtime's clock and CLOCK_MONOTONIC.
const clockTolerance = int64(1e6)

// CheckClock tells whether a stamp that the other process took between two
// moments of this one's monotonic clock may come from the same clock: before
// is when this side sent what the other side answered (or 0 if it sent nothing
// yet), after is now; all in ns. The error wraps [ErrClock].
func CheckClock(before, stamp, after int64) error {
	if stamp >= before-clockTolerance && stamp <= after+clockTolerance {
		return nil
	}
	return fmt.Errorf("%w: the peer's %d ns lies outside of %d to %d ns (another time namespace or another host)", ErrClock, stamp, before, after)
}
