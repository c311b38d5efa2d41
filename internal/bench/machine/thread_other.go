//go:build !linux

package machine

import "github.com/tagus-ros/tagus/internal/clock"

// ThreadWatch tells what kept one thread from running; here it knows nothing.
type ThreadWatch struct{ last int64 }

// ThreadCounts are what a thread has met up to one moment.
type ThreadCounts struct{ At, RunDelay, Steal, Switches, Faults int64 }

// NewThreadWatch makes a watch of the calling thread.
func NewThreadWatch() *ThreadWatch { return &ThreadWatch{last: clock.Mono()} }

// Since returns when it was last called.
func (w *ThreadWatch) Since() (delta ThreadCounts, from int64) {
	from, w.last = w.last, clock.Mono()
	return ThreadCounts{At: w.last}, from
}

// Close ends the watch.
func (*ThreadWatch) Close() {}
