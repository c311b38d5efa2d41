package exec

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// threadID identifies the calling thread within the process, never 0.
func threadID() int64 { return int64(unix.Gettid()) }

// tuned is what has to be undone when a thread stops spinning; nil or 0: nothing was done.
type tuned struct {
	cpus  *unix.CPUSet
	sched *unix.SchedAttr
	slack int
}

// tune prepares the calling thread, which must be locked. What it returns is to be restored also after an error.
func tune(o *Options) (th tuned, err error) {
	if o.CPU >= 0 {
		var all, one unix.CPUSet
		if err := unix.SchedGetaffinity(0, &all); err != nil {
			return th, fmt.Errorf("exec: read processors of the thread: %w", err)
		}
		one.Set(o.CPU)
		if err := unix.SchedSetaffinity(0, &one); err != nil {
			return th, fmt.Errorf("exec: pin thread to processor %d: %w", o.CPU, err)
		}
		th.cpus = &all
	}
	if o.Nice != 0 || o.RealTime != 0 {
		if th.sched, err = schedule(o); err != nil {
			return th, err
		}
	}
	// The default lets the kernel add 50 µs to each sleep. Where the call is forbidden it may go on doing so.
	if slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); err == nil && slack > 0 {
		if unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) == nil {
			th.slack = slack
		}
	}
	return th, nil
}

// schedule sets niceness and real-time priority and returns what was before.
func schedule(o *Options) (before *unix.SchedAttr, err error) {
	before, err = unix.SchedGetAttr(0, 0)
	if err != nil {
		return nil, fmt.Errorf("exec: read scheduling of the thread: %w", err)
	}
	attr := *before
	attr.Nice = int32(o.Nice)
	if o.RealTime != 0 {
		attr.Policy = unix.SCHED_FIFO
		attr.Priority = uint32(o.RealTime)
		attr.Nice = 0
		attr.Flags |= unix.SCHED_FLAG_RESET_ON_FORK
	}
	if err := unix.SchedSetAttr(0, &attr, 0); err != nil {
		return nil, fmt.Errorf("exec: give thread niceness %d, real-time priority %d: %w", o.Nice, o.RealTime, err)
	}
	return before, nil
}

func (th *tuned) restore() {
	if th.cpus != nil {
		_ = unix.SchedSetaffinity(0, th.cpus)
	}
	if th.sched != nil && unix.SchedSetAttr(0, th.sched, 0) != nil {
		// Becoming less nice again takes a privilege. One lock too many keeps other goroutines off this thread; it ends with
		// this goroutine.
		runtime.LockOSThread()
	}
	if th.slack > 0 {
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(th.slack), 0, 0, 0)
	}
}
