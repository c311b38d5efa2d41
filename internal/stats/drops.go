package stats

import (
	"sync/atomic"
	"time"
)

// Reason says why a message was not delivered.
type Reason uint8

// Reasons. Their words appear in Stats, in the log and in reports; a word is never given a new meaning.
const (
	History     Reason = iota // a full queue made room for a newer message
	Gap                       // sequence numbers that never came
	LeaseLimit                // the subscription holds more of the publisher's memory than it may
	RetainLimit               // the subscription retains as many samples as it may
	Expired                   // older than its lifespan
	Filtered                  // not asked for
	AfterClose                // came after the subscription was closed
	Duplicate                 // a sequence number already seen from this publisher
	Malformed                 // cannot be decoded
	NoMemory                  // no memory of the transport was left
	Congestion                // the link could not take it
	reasons
)

var reasonWords = [reasons]string{"history", "gap", "lease-limit", "retain-limit", "expired", "filtered", "after-close", "duplicate", "malformed",
	"no-memory", "congestion"}

// String gives the reason's word, lower-case with hyphens.
func (r Reason) String() string {
	if r < reasons {
		return reasonWords[r]
	}
	return "unknown"
}

// Drops counts messages that were not delivered, by reason. The zero value is ready; it must not be copied.
type Drops struct {
	count    [reasons]atomic.Uint64
	reported [reasons]atomic.Uint64
	last     [reasons]atomic.Int64
}

// Add counts n messages. An unknown reason counts as Malformed.
func (d *Drops) Add(r Reason, n uint64) {
	if r >= reasons {
		r = Malformed
	}
	d.count[r].Add(n)
}

// Count says how many messages were dropped for one reason.
func (d *Drops) Count(r Reason) uint64 {
	if r >= reasons {
		return 0
	}
	return d.count[r].Load()
}

// Total says how many messages were dropped for any reason.
func (d *Drops) Total() uint64 {
	var n uint64
	for i := range d.count {
		n += d.count[i].Load()
	}
	return n
}

// ByReason gives the counts that are not zero under their words; nil when there are none.
func (d *Drops) ByReason() map[string]uint64 {
	var out map[string]uint64
	for r := range reasons {
		if n := d.count[r].Load(); n > 0 {
			if out == nil {
				out = map[string]uint64{}
			}
			out[r.String()] = n
		}
	}
	return out
}

// Due says whether a line about r should be logged now, and about how many messages: those since the last line. It says so at once for
// the first and then at most once per interval. now is a monotonic time in nanoseconds, above zero.
func (d *Drops) Due(r Reason, now int64, interval time.Duration) (n uint64, due bool) {
	if r >= reasons {
		return 0, false
	}
	last := d.last[r].Load()
	if last != 0 && now-last < int64(interval) || d.count[r].Load() == d.reported[r].Load() || !d.last[r].CompareAndSwap(last, now) {
		return 0, false
	}
	count := d.count[r].Load()
	return count - d.reported[r].Swap(count), true
}
