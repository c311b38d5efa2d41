// Package machine measures what a run needs as a yardstick and what it costs: bare copies and wakes on this machine, and the
// counters that the kernel and the Go runtime keep for a process.
//
// It uses the same clock and the same futex calls as the middleware, and nothing else of it, so that a figure of the middleware
// and its yardstick differ only by what the middleware does. It must not import the root package, a transport or the runner.
package machine

import (
	"os/exec"
	"runtime"
)

// Facts are the yardsticks of one run. A measure that could not be taken is nil.
type Facts struct {
	CPUs        int      `json:"cpus"`
	Kernel      string   `json:"kernel"`
	HotCopy1MiB *float64 `json:"hot_copy_1mib_us"` // 1 MiB copied in a tight loop, median
	CopyLoop    *float64 `json:"copy_loop_us"`     // 1 MiB copied on the topology's timers, mean
	BareWake    *float64 `json:"bare_wake_us"`     // futex wake of another process at the topology's rate, mean
}

// Self builds a command that runs this program again with other arguments.
type Self func(args ...string) *exec.Cmd

// New returns the facts that need no measuring.
func New() Facts { return Facts{CPUs: runtime.NumCPU(), Kernel: kernel()} }
