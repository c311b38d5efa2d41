//go:build !linux

package arena

func newBacking(size, _ int64) (backing, error) { return newHeap(size), nil }
