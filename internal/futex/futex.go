// Package futex lets a thread sleep on a 32-bit word until the word changes and somebody says so, also across processes.
//
// It is the bottom of all waiting in this module. On Linux the word may lie in memory shared between processes. On other
// systems sleepers are kept in a table of this process, so the word may be anywhere but wakes only its own process.
//
// A system call made here is announced to the Go runtime, which can hand the processor to another goroutine and does not
// hold up a collection for the sleeper. All calls are counted ([Calls]), so that tests and statistics can show what
// waiting costs.
//
// It must not import anything of this module but internal/clock.
package futex

import "sync/atomic"

// Result says why [Wait] returned.
type Result uint8

const (
	// Woken: a [Wake] on the word, or a wake-up without cause. Look at the word again.
	Woken Result = iota
	// Changed: the word did not hold the expected value, so the thread did not sleep.
	Changed
	// TimedOut: the deadline came first.
	TimedOut
)

func (r Result) String() string {
	switch r {
	case Woken:
		return "woken"
	case Changed:
		return "changed"
	case TimedOut:
		return "timed out"
	}
	return "unknown"
}

// Counts are the system calls made by this package, in this process since its start.
type Counts struct {
	Waits uint64 // calls that may have slept, one per entry into the kernel
	Wakes uint64 // calls that woke others
}

// Each counter has a cache line of its own, so that sleepers and wakers on different cores do not slow each other.
var waits, wakes struct {
	_ [64]byte
	n atomic.Uint64
	_ [56]byte
}

// Calls returns the counts so far.
func Calls() Counts { return Counts{Waits: waits.n.Load(), Wakes: wakes.n.Load()} }
