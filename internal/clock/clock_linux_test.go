package clock

import (
	"testing"

	"golang.org/x/sys/unix"
)

// TestMonoIsTheKernelsClock brackets the kernel's clock between two readings of ours, with the fraction of a microsecond
// that the package promises on both sides.
func TestMonoIsTheKernelsClock(t *testing.T) {
	const slack = 500 // ns
	for range 1000 {
		before := Mono()
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
			t.Fatal(err)
		}
		after := Mono()
		if k := ts.Nano(); k < before-slack || k > after+slack {
			t.Fatalf("kernel %d outside [%d, %d]", k, before, after)
		}
	}
}
