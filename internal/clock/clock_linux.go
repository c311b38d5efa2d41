package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// samples is how often the two clocks are compared. The comparison takes about 20 µs in all, once per process.
const samples = 64

// monoAtEpoch finds CLOCK_MONOTONIC at epoch. The runtime's monotonic readings come from the same clock with an origin that
// it keeps to itself, so one constant relates them. Each sample brackets a reading of the kernel between two of the
// runtime and so bounds that constant from both sides; the bounds of all samples together are much tighter than any one.
func monoAtEpoch() int64 {
	lo, hi := int64(-1<<63), int64(maxInt64)
	for range samples {
		before := int64(time.Since(epoch))
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
			continue // only a sandbox that forbids the call comes here
		}
		after := int64(time.Since(epoch))
		kernel := ts.Nano()
		lo = max(lo, kernel-after)
		hi = min(hi, kernel-before)
	}
	if lo > hi || lo == -1<<63 {
		return 1 // not comparable between processes, still monotonic
	}
	return lo + (hi-lo)/2
}
