//go:build !linux

package futex

import "sync/atomic"

var local table

// Wait sleeps while *addr holds val, until a [Wake] on addr or until the clock [clock.Mono] reaches deadline (absolute,
// nanoseconds; negative: no deadline). The comparison and the falling asleep are one atomic step.
func Wait(addr *atomic.Uint32, val uint32, deadline int64) Result {
	waits.n.Add(1)
	return local.wait(addr, val, deadline)
}

// Wake wakes up to n sleepers on addr (n < 0: all) and returns how many there were.
func Wake(addr *atomic.Uint32, n int) int {
	wakes.n.Add(1)
	return local.wakeUp(addr, n)
}
