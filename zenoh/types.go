package zenoh

import (
	"time"

	"github.com/tagus-ros/tagus/zenoh/internal/wire"
)

// ID names a session: a random number of up to 128 bits, never zero.
type ID = wire.ID

// ParseID reads the hexadecimal form that ID.String gives.
func ParseID(s string) (ID, error) { return wire.ParseID(s) }

// NewID returns a random ID.
func NewID() ID { return wire.NewID() }

// Timestamp is a moment by a session's hybrid logical clock; the zero value means none.
type Timestamp = wire.Timestamp

// SourceInfo names the entity that made a sample and the sample's place in its
// sequence; the zero value means unknown.
type SourceInfo = wire.SourceInfo

// WhatAmI is the role of a session in the network.
type WhatAmI = wire.WhatAmI

// The roles.
const (
	Router = wire.Router
	Peer   = wire.Peer
	Client = wire.Client
)

// Priority is the order in which queued messages are sent. The zero value
// stands for PriorityData.
type Priority uint8

// The priorities, most urgent first.
const (
	priorityUnset Priority = iota
	PriorityRealTime
	PriorityInteractiveHigh
	PriorityInteractiveLow
	PriorityDataHigh
	PriorityData
	PriorityDataLow
	PriorityBackground
)

func (p Priority) wire() wire.Priority {
	if p == priorityUnset || p > PriorityBackground {
		return wire.PriorityData
	}
	return wire.Priority(p)
}

// Congestion says what becomes of a message when the link does not take it.
type Congestion uint8

// Drop waits for a moment (Config.WaitBeforeDrop), then gives the message up.
// Block waits, and after Config.WaitBeforeClose gives the peer up.
const (
	Drop Congestion = iota
	Block
)

// Reliability is the lane a message takes. Over a stream link nothing is lost
// on either; but a best-effort message is never blocked for.
type Reliability uint8

// The lanes.
const (
	Reliable Reliability = iota
	BestEffort
)

// Locality says which sessions take part.
type Locality uint8

// Anywhere is this session and all others.
const (
	Anywhere Locality = iota
	SessionLocal
	Remote
)

func (l Locality) local() bool  { return l != Remote }
func (l Locality) remote() bool { return l != SessionLocal }

// Target says which of the matching queryables a query goes to.
type Target = wire.Target

// BestMatching asks the nearest complete queryable or, if there is none, all.
const (
	BestMatching = wire.TargetBestMatching
	All          = wire.TargetAll
	AllComplete  = wire.TargetAllComplete
)

// Consolidation says which of several replies with the same key are handed on.
type Consolidation = wire.Consolidation

// Auto is Latest, or None if the parameters name a range of time. None hands
// on all; Monotonic those that are not older than one handed on before; Latest
// the newest of each key, when all have come.
const (
	Auto      = wire.ConsolidationAuto
	None      = wire.ConsolidationNone
	Monotonic = wire.ConsolidationMonotonic
	Latest    = wire.ConsolidationLatest
)

// CloseReason is why a peer closed a link.
type CloseReason = wire.Reason

// Forever is a query timeout that never ends by itself.
const Forever = time.Duration(1<<63 - 1)
