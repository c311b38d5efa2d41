package exec

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// threadID identifies the calling thread within the process, never 0.
func threadID() int64 { return int64(unix.Gettid()) }

// tuned is what has to be undone when a thread stops spinning.
type tuned struct {
	slack  int
	pinned bool
	cpus   unix.CPUSet
}

// tune prepares the calling thread: timers without slack (the default lets the kernel add 50 µs to each sleep), and pinned if
// cpu is not negative.
func tune(cpu int) (tuned, error) {
	var th tuned
	if cpu >= 0 {
		if err := unix.SchedGetaffinity(0, &th.cpus); err != nil {
			return th, fmt.Errorf("exec: read processors of the thread: %w", err)
		}
		var one unix.CPUSet
		one.Set(cpu)
		if err := unix.SchedSetaffinity(0, &one); err != nil {
			return th, fmt.Errorf("exec: pin thread to processor %d: %w", cpu, err)
		}
		th.pinned = true
	}
	// Not fatal where forbidden: timers come up to 50 µs later then.
	if slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); err == nil {
		th.slack = slack
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	}
	return th, nil
}

func (th *tuned) restore() {
	if th.pinned {
		_ = unix.SchedSetaffinity(0, &th.cpus)
	}
	if th.slack > 0 {
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(th.slack), 0, 0, 0)
	}
}
