// Package stats counts what happens on the hot paths: how long messages took and why some were dropped. Recording never allocates,
// never waits and may happen on any goroutine while others read.
//
// It knows neither messages nor transports and imports only the standard library.
package stats

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// The buckets are linear below 64 ns and then 64 to each power of two, so a bucket is at most 1/64 of its values wide. Values from
// 2^37 ns (137 s) on share the last one; minimum, maximum and mean are exact for all.
const (
	subBits     = 6
	subBuckets  = 1 << subBits
	rangeBits   = 37
	bucketCount = (rangeBits - subBits + 1) * subBuckets
)

// Histogram counts durations. The zero value is empty and ready. It holds 16 KiB, whatever is recorded; it must not be copied.
type Histogram struct {
	sum    atomic.Uint64
	max    atomic.Uint64
	notMin atomic.Uint64 // complement of the minimum, so that zero means none
	counts [bucketCount]atomic.Uint64
}

// Record adds one duration in nanoseconds. A negative one, which only clocks that disagree can give, counts as zero.
func (h *Histogram) Record(ns int64) {
	v := uint64(max(ns, 0))
	h.counts[bucketOf(v)].Add(1)
	h.sum.Add(v)
	if v > h.max.Load() {
		raise(&h.max, v)
	}
	if ^v > h.notMin.Load() {
		raise(&h.notMin, ^v)
	}
}

// Merge adds what from has. Both may be in use meanwhile.
func (h *Histogram) Merge(from *Histogram) {
	for i := range from.counts {
		if n := from.counts[i].Load(); n > 0 {
			h.counts[i].Add(n)
		}
	}
	h.sum.Add(from.sum.Load())
	raise(&h.max, from.max.Load())
	raise(&h.notMin, from.notMin.Load())
}

// Summary reads the histogram and gives the figures that reports show.
func (h *Histogram) Summary() Summary { return h.Snapshot().Summary() }

// Snapshot copies the histogram. Values recorded meanwhile may be in it in part: counted, and not yet in the sum.
func (h *Histogram) Snapshot() *Snapshot {
	s := &Snapshot{}
	for i := range h.counts {
		s.Count += h.counts[i].Load()
		s.upTo[i] = s.Count
	}
	if s.Count > 0 {
		s.sum = h.sum.Load()
		s.Max = time.Duration(h.max.Load())
		s.Min = min(time.Duration(^h.notMin.Load()), s.Max)
	}
	return s
}

func raise(to *atomic.Uint64, v uint64) {
	for {
		old := to.Load()
		if v <= old || to.CompareAndSwap(old, v) {
			return
		}
	}
}

// bucketOf gives the bucket of v: exponent and leading bits.
func bucketOf(v uint64) int {
	if v >= 1<<rangeBits {
		return bucketCount - 1
	}
	if v < subBuckets {
		return int(v)
	}
	shift := bits.Len64(v) - subBits - 1
	return shift<<subBits + int(v>>shift)
}

// bucketStart gives the smallest value of bucket i; the bucket ends where the next begins.
func bucketStart(i int) uint64 {
	if i < 2*subBuckets {
		return uint64(i)
	}
	shift := i>>subBits - 1
	return uint64(i-shift<<subBits) << shift
}
