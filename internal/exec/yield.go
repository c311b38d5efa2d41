package exec

import (
	"runtime"
	"time"

	"github.com/tagus-ros/tagus/internal/clock"
)

const (
	yieldEvery  = int64(5 * time.Millisecond)
	yieldSlow   = int64(time.Millisecond)
	yieldStrike = 3
	yieldPause  = int64(2 * time.Second)
	yieldVain   = int64(8 * time.Millisecond)
)

// yielder decides when the thread calls runtime.Gosched. The runtime's monitor looks at how long a processor has been on one
// scheduling tick; beyond 10 ms it takes the processor away at every wait that it sees, and the thread then needs several
// system calls to get one back. A yield every 5 ms starts a new tick and avoids that. It is no use when no processor is to
// spare: a yield then takes as long as the others' time slices, so after three slow ones in a row there is a pause.
type yielder struct {
	last  int64 // end of the last yield
	until int64 // no yields before
	slow  int   // slow yields in a row
}

// next returns when the next yield is due.
func (y *yielder) next() int64 { return max(y.last+yieldEvery, y.until) }

// slept tells of a sleep from one time to another. The monitor takes the processor during a sleep of about 10 ms in any case, and
// the next one is likely to be as long: a yield between the two would cost as much again for nothing.
func (y *yielder) slept(from, to int64) {
	if to-from >= yieldVain {
		y.last = to
	}
}

// yield gives way to other goroutines.
func (y *yielder) yield(c *Stats) {
	start := clock.Mono()
	runtime.Gosched()
	c.Yields++
	if y.yielded(start, clock.Mono()) {
		c.SlowYields++
	}
}

// yielded tells of a yield, and reports whether it was slow.
func (y *yielder) yielded(from, to int64) (slow bool) {
	y.last = to
	if to-from <= yieldSlow {
		y.slow = 0
		return false
	}
	if y.slow++; y.slow >= yieldStrike {
		y.slow = 0
		y.until = to + yieldPause
	}
	return true
}
