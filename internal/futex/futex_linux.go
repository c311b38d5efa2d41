package futex

import (
	"math"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Operations of futex(2). Neither carries the private flag: words may be shared between processes.
const (
	opWake       = 1
	opWaitBitset = 9 // absolute deadline on CLOCK_MONOTONIC
	anyBit       = math.MaxUint32
)

// Wait sleeps while *addr holds val, until a [Wake] on addr or until the clock [clock.Mono] reaches deadline (absolute,
// nanoseconds; negative: no deadline). The comparison and the falling asleep are one atomic step. Signals do not end it.
func Wait(addr *atomic.Uint32, val uint32, deadline int64) Result {
	var ts unix.Timespec
	var timeout *unix.Timespec
	if deadline >= 0 {
		ts = unix.NsecToTimespec(deadline)
		timeout = &ts
	}
	for {
		waits.n.Add(1)
		_, _, errno := unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(addr)), opWaitBitset, uintptr(val),
			uintptr(unsafe.Pointer(timeout)), 0, anyBit)
		switch errno {
		case unix.EINTR:
			// The runtime preempts threads by signal. Returning Woken would be allowed, but each caller would have to loop.
		case unix.EAGAIN:
			return Changed
		case unix.ETIMEDOUT:
			return TimedOut
		default:
			// 0, or an address that the kernel refuses (unmapped by mistake): callers look at the word again either way.
			return Woken
		}
	}
}

// Wake wakes up to n sleepers on addr (n < 0: all) and returns how many there were.
func Wake(addr *atomic.Uint32, n int) int {
	if n < 0 {
		n = math.MaxInt32
	}
	wakes.n.Add(1)
	woken, _, errno := unix.Syscall(unix.SYS_FUTEX, uintptr(unsafe.Pointer(addr)), opWake, uintptr(n))
	if errno != 0 {
		return 0
	}
	return int(woken)
}
