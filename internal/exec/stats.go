package exec

import (
	"sync"
	"time"
)

// Stats counts what an executor did since it was made. Reading it costs the executor nothing; the figures are those of its
// last falling asleep, or at most a few milliseconds old while it is busy.
type Stats struct {
	Turns      uint64 // rounds of the loop
	Sleeps     uint64 // system calls that may have slept
	Polls      uint64 // sources polled
	Tasks      uint64 // tasks run
	Timers     uint64 // timer calls
	Overruns   uint64 // grid points of timers that got no call
	Calls      uint64 // functions run for Do
	Yields     uint64 // times the thread gave way to other goroutines
	SlowYields uint64 // of these, how many took over a millisecond

	LateTotal time.Duration // of all timer calls: how long after its grid point each began
	LateMax   time.Duration
}

func (c *Stats) timed(late int64) {
	c.Timers++
	c.LateTotal += time.Duration(late)
	c.LateMax = max(c.LateMax, time.Duration(late))
}

// published is the copy of the counts that others may read.
type published struct {
	mu sync.Mutex
	s  Stats
}

// publish makes the thread's own counts visible.
func (e *Executor) publish() {
	e.count.Sleeps = e.area.Sleeps()
	e.stats.mu.Lock()
	e.stats.s = e.count
	e.stats.mu.Unlock()
}

// Stats returns the counts.
func (e *Executor) Stats() Stats {
	e.stats.mu.Lock()
	defer e.stats.mu.Unlock()
	return e.stats.s
}
