package zenoh

import (
	"sync/atomic"

	"github.com/tagus-ros/tagus/internal/clock"
	"github.com/tagus-ros/tagus/zenoh/internal/wire"
)

// hlc is a hybrid logical clock: wall time, but never twice the same, and never
// behind a timestamp it has seen.
type hlc struct {
	id   ID
	last atomic.Uint64
	now  func() int64 // nanoseconds since 1970
}

const (
	// logical are the bits that count within one reading of the wall clock.
	logical = 15
	// maxAhead is how far a peer's clock may run ahead of ours before it is not
	// followed any more: half a second.
	maxAhead = 1 << 31
)

func newHLC(id ID) *hlc { return &hlc{id: id, now: clock.Wall} }

func (c *hlc) physical() uint64 { return wire.NTP64(c.now()) &^ logical }

// New returns a timestamp greater than every one before.
func (c *hlc) New() Timestamp {
	now := c.physical()
	for {
		last := c.last.Load()
		next := max(now, last+1)
		if c.last.CompareAndSwap(last, next) {
			return Timestamp{Time: next, ID: c.id}
		}
	}
}

// see takes note of a peer's timestamp.
func (c *hlc) see(t uint64) {
	last := c.last.Load()
	if t <= last || t > c.physical()+maxAhead {
		return
	}
	for t > last && !c.last.CompareAndSwap(last, t) {
		last = c.last.Load()
	}
}
