//go:build !linux

package machine

import (
	"errors"
	"runtime"
)

func kernel() string { return runtime.GOOS }

func fineTimers() {}

// Pin binds the calling thread to one CPU.
func Pin(int) error { return errors.New("pinning to a CPU is only done on Linux") }

// CPUs lists the processors that this process may use, at least one.
func CPUs() ([]int, error) {
	out := make([]int, runtime.NumCPU())
	for i := range out {
		out[i] = i
	}
	return out, nil
}
