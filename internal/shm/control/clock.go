package control

import "fmt"

// Clock tells monotonic clocks apart: stamps of two processes can be compared
// if their Clocks are equal, and after adding the difference of the offsets if
// only these differ.
type Clock struct {
	Boot   [16]byte // boot id of the kernel
	Offset int64    // CLOCK_MONOTONIC less that of the initial time namespace, ns
}

func (c Clock) String() string { return fmt.Sprintf("boot %x, offset %d ns", c.Boot, c.Offset) }
