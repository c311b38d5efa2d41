// Package clock reads time without entering the kernel.
//
// [Mono] is the time base of everything that waits or is measured on one host: on Linux it is CLOCK_MONOTONIC itself, so
// that a stamp written by one process can be compared with the clock of another, and a deadline can be handed to the
// kernel as it is. [Wall] is for stamps that people or other hosts read.
//
// It exists because the obvious ways do not fit: a time.Time hides its monotonic reading, and unix.ClockGettime is a full
// system call (the runtime reads the same clock through the vDSO, for a tenth of the price).
//
// It must not import anything of this module.
package clock

import "time"

// epoch carries the runtime's monotonic reading that all others are measured from.
var epoch = time.Now()

// offset is Mono at epoch. It is written once, before main.
var offset = monoAtEpoch()

// Mono returns nanoseconds of the monotonic clock. It never goes back, does not follow steps of the wall clock, and is always
// positive. On Linux it is CLOCK_MONOTONIC and may be compared between processes of one host that share a time namespace;
// the two readings of one instant then differ by at most a fraction of a microsecond. On other systems its origin is the
// start of the process, and readings of two processes have nothing to do with each other.
func Mono() int64 { return offset + int64(time.Since(epoch)) }

// Now returns Mono and Wall of one moment, for little more than either.
func Now() (mono, wall int64) {
	t := time.Now()
	return offset + int64(t.Sub(epoch)), t.UnixNano()
}

// Wall returns nanoseconds since 1970-01-01 UTC, as the host's wall clock says. It may step in either direction.
func Wall() int64 { return time.Now().UnixNano() }

// MonoOf returns the Mono reading at which t is due. A t with a monotonic reading (as from time.Now) is not affected by
// steps of the wall clock. Results that would not fit are clipped, never negative.
func MonoOf(t time.Time) int64 {
	// Sub uses the monotonic readings when both have one, and clips to the range of a Duration.
	d := int64(t.Sub(epoch))
	if d > 0 && offset > maxInt64-d {
		return maxInt64
	}
	return max(offset+d, 0)
}

const maxInt64 = 1<<63 - 1
