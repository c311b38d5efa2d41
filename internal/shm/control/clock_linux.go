package control

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
)

// HostClock returns the Clock of this process.
func HostClock() (Clock, error) {
	var c Clock
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return c, fmt.Errorf("tell which clock this is: %w", err)
	}
	raw, err := hex.DecodeString(string(bytes.ReplaceAll(bytes.TrimSpace(b), []byte("-"), nil)))
	if err != nil || len(raw) != len(c.Boot) {
		return c, fmt.Errorf("tell which clock this is: boot id %q is not 32 hex digits", b)
	}
	copy(c.Boot[:], raw)
	// Kernels without time namespaces have no such file, and one clock.
	if b, err = os.ReadFile("/proc/self/timens_offsets"); err == nil {
		c.Offset = monotonicOffset(b)
	}
	return c, nil
}

// monotonicOffset reads the line "monotonic <seconds> <nanoseconds>"; older
// kernels name the clock by its number, 1.
func monotonicOffset(b []byte) int64 {
	for _, line := range bytes.Split(b, []byte("\n")) {
		f := bytes.Fields(line)
		if len(f) != 3 || (string(f[0]) != "monotonic" && string(f[0]) != "1") {
			continue
		}
		s, err1 := strconv.ParseInt(string(f[1]), 10, 64)
		ns, err2 := strconv.ParseInt(string(f[2]), 10, 64)
		if err1 == nil && err2 == nil {
			return s*1e9 + ns
		}
	}
	return 0
}
