package pool

import "math/bits"

// Size classes: powers of two from 128 bytes to 64 KiB, then four steps to each
// doubling (80, 96, 112, 128, 160 KiB …) up to MaxSize, so that a large buffer
// wastes at most a quarter of what was asked for.
const (
	// MinSize is the size of the smallest class in bytes.
	MinSize = 1 << minShift
	// MaxSize is the size of the largest class in bytes.
	MaxSize = 1 << maxShift
	// Classes is the number of size classes.
	Classes = doubles + 4*(maxShift-quarterShift)

	minShift     = 7
	quarterShift = 16 // classes above 1<<quarterShift go in quarter steps
	maxShift     = 36
	doubles      = quarterShift - minShift + 1
)

// Class returns the index of the smallest class that holds n bytes. A negative
// n counts as 0; above MaxSize the answer is Classes, which is no class.
func Class(n int) int {
	switch {
	case n <= MinSize:
		return 0
	case n <= 1<<quarterShift:
		return bits.Len(uint(n-1)) - minShift
	case n > MaxSize:
		return Classes
	}
	top := bits.Len(uint(n-1)) - 1 // 1<<top < n <= 2<<top
	quarter := (n - 1) >> (top - 2) & 3
	return doubles + 4*(top-quarterShift) + quarter
}

// ClassSize returns the size in bytes of the class with index i, which must lie
// in [0, Classes).
func ClassSize(i int) int {
	if i < doubles {
		return MinSize << i
	}
	i -= doubles
	top := quarterShift + i/4
	return 1<<top + (i%4+1)<<(top-2)
}
