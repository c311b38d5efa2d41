//go:build !linux

package arena

import "os"

func newBacking(size, _ int64) (backing, error) { return newHeap(size, int64(os.Getpagesize())), nil }
