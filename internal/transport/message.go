package transport

import (
	"sync/atomic"
	"unsafe"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/arena"
)

// Path says how a message travels.
type Path uint8

// The paths, fastest first.
const (
	PathNone  Path = iota // no path
	PathIntra             // in process, by pointer
	PathSHM               // same host, through shared memory
	PathZenoh             // network
)

// String returns "none", "intra", "shm" or "zenoh".
func (p Path) String() string {
	switch p {
	case PathIntra:
		return "intra"
	case PathSHM:
		return "shm"
	case PathZenoh:
		return "zenoh"
	}
	return "none"
}

// Value is a Go message that several readers of one process share read-only.
// It is counted: Drop by the last of them gives it to the publisher's recycler.
type Value struct {
	Ptr  unsafe.Pointer // a *T of the publisher's type
	refs atomic.Int32
	home Recycler
}

// Recycler takes back a Value that nobody reads any more. It is called on
// whatever goroutine dropped the last reference and must not block.
type Recycler interface{ RecycleValue(*Value) }

// Init makes v stand for ptr with one reference; home gets v back after the
// last Drop.
func (v *Value) Init(ptr unsafe.Pointer, home Recycler) {
	v.Ptr, v.home = ptr, home
	v.refs.Store(1)
}

// Hold adds a reference.
func (v *Value) Hold() { v.refs.Add(1) }

// Drop gives one reference up.
func (v *Value) Drop() {
	if v.refs.Add(-1) == 0 {
		v.home.RecycleValue(v)
	}
}

// Sole reports whether the caller's reference is the only one left. Then
// nobody can gain another, and the caller may treat the message as its own.
func (v *Value) Sole() bool { return v.refs.Load() == 1 }

// Message is one publication on its way through the publisher's process: as a
// Go value, as bytes in a slot of the arena, or both. The sender owns one
// reference to each and gives it up after Send; links take their own.
type Message struct {
	Sequence uint64 // given by Outlet.Send, from 1
	Source   int64  // ns since the Unix epoch
	Stamp    int64  // start of publish, ns of CLOCK_MONOTONIC
	Value    *Value
	Slot     *arena.Slot
	Length   int   // bytes of CDR in Slot, encapsulation included
	Lifespan int64 // ns after Stamp from which on it is not delivered; 0: for ever

	// Answers is the sequence number of the request that this message answers, 0 if it
	// answers none. Failed says that the answer is an error: its CDR body is a text.
	Answers uint64
	Failed  bool

	// NoSlot says that the arena had no room: readers that need bytes go
	// without this message and count it as lost.
	NoSlot bool
}

// Received is one message as a subscription holds it: a lease on a slot or a
// reference to a Value, until it is given to Inlet.Release.
type Received struct {
	Path     Path
	GID      graph.GID
	Sequence uint64
	Source   int64  // ns since the Unix epoch
	Stamp    int64  // start of publish, ns of CLOCK_MONOTONIC
	Arrived  int64  // when it was taken, ns of CLOCK_MONOTONIC
	Taken    int64  // the same by the system clock, ns since the Unix epoch
	Answers  uint64 // sequence number of the request that this answers, or 0
	Failed   bool   // the answer is an error: Bytes hold its text
	Lifespan int64  // ns after Stamp from which on it is not delivered; 0: for ever
	Lost     uint64 // messages of its publisher that were lost before it
	Value    *Value // shared Go message, or nil
	Bytes    []byte // CDR with encapsulation in read-only memory, or nil; body aligned to 64

	feed  *Feed
	index uint64
}
