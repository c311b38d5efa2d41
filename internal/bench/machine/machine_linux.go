package machine

import (
	"bytes"
	"os"

	"golang.org/x/sys/unix"
)

func kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return "linux"
	}
	return "Linux " + string(bytes.TrimRight(u.Release[:], "\x00"))
}

// fineTimers asks the kernel not to round this thread's deadlines. Without it they are up to 50 µs late.
func fineTimers() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // cannot fail for a positive value
}

// Pin binds the calling thread to one CPU. The caller has locked the goroutine to it.
func Pin(cpu int) error {
	var set unix.CPUSet
	set.Set(cpu)
	return unix.SchedSetaffinity(0, &set)
}

// CPUs lists the processors that this process may use, at least one.
func CPUs() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, os.NewSyscallError("sched_getaffinity", err)
	}
	var out []int
	for i := 0; len(out) < set.Count(); i++ {
		if set.IsSet(i) {
			out = append(out, i)
		}
	}
	return out, nil
}
