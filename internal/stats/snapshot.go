package stats

import (
	"math"
	"sort"
	"time"
)

// Snapshot is a Histogram at one moment. Within a bucket values are taken to be spread evenly, so quantiles are off by at most a bucket:
// 1/64 of their value.
type Snapshot struct {
	Count    uint64
	Min, Max time.Duration // exact; zero when empty
	sum      uint64
	upTo     [bucketCount]uint64 // values in this bucket and all before
}

// Summary is the figures that reports show. All are zero when nothing was recorded.
type Summary struct {
	Count               uint64
	Mean, SD            time.Duration // arithmetic mean (exact), standard deviation of the population
	Min, Max            time.Duration // exact
	P50, P90, P99, P999 time.Duration // quantiles, off by at most 1/64
	MAD                 time.Duration // median of the absolute deviations from the median
}

// Summary gives the figures that reports show.
func (s *Snapshot) Summary() Summary {
	return Summary{
		Count: s.Count, Mean: s.Mean(), SD: s.SD(), Min: s.Min, Max: s.Max,
		P50: s.Quantile(0.5), P90: s.Quantile(0.9), P99: s.Quantile(0.99), P999: s.Quantile(0.999), MAD: s.MAD(),
	}
}

// Mean gives the arithmetic mean; zero when empty.
func (s *Snapshot) Mean() time.Duration {
	if s.Count == 0 {
		return 0
	}
	return time.Duration(s.sum / s.Count)
}

// Quantile gives the value that the share q (0 to 1) of all values does not exceed; zero when empty.
func (s *Snapshot) Quantile(q float64) time.Duration {
	if s.Count == 0 {
		return 0
	}
	return s.duration(s.at(min(max(q, 0), 1) * float64(s.Count)))
}

// MAD gives the median absolute deviation: half of all values lie within this distance of the median. Zero when empty.
func (s *Snapshot) MAD() time.Duration {
	if s.Count == 0 {
		return 0
	}
	half := float64(s.Count) / 2
	median := s.at(half)
	low, high := 0.0, math.Max(median-float64(s.Min), float64(s.Max)+1-median)
	for high-low > 0.25 {
		if mid := (low + high) / 2; s.below(median+mid)-s.below(median-mid) < half {
			low = mid
		} else {
			high = mid
		}
	}
	return s.within(low)
}

// SD gives the standard deviation of the population; zero when empty. Deviations below 1/64 of the values are not told apart.
func (s *Snapshot) SD() time.Duration {
	if s.Count == 0 {
		return 0
	}
	var mean, square float64
	s.each(func(from, to float64, n uint64) { mean += float64(n) * (from + to) / 2 })
	mean /= float64(s.Count)
	s.each(func(from, to float64, n uint64) {
		d, w := (from+to)/2-mean, to-from
		square += float64(n) * (d*d + w*w/12)
	})
	return s.within(math.Sqrt(square / float64(s.Count)))
}

func (s *Snapshot) each(fn func(from, to float64, n uint64)) {
	var before uint64
	for i, upTo := range s.upTo {
		if n := upTo - before; n > 0 {
			from, to := s.bounds(i)
			fn(from, to, n)
		}
		before = upTo
	}
}

// at gives the value that n values do not exceed.
func (s *Snapshot) at(n float64) float64 {
	i := sort.Search(bucketCount-1, func(i int) bool { return float64(s.upTo[i]) >= n && s.upTo[i] > 0 })
	from, to := s.bounds(i)
	before := uint64(0)
	if i > 0 {
		before = s.upTo[i-1]
	}
	in := s.upTo[i] - before
	if in == 0 {
		return from
	}
	return from + (to-from)*(n-float64(before))/float64(in)
}

// below says how many values lie below v; the reverse of at.
func (s *Snapshot) below(v float64) float64 {
	if v <= float64(s.Min) {
		return 0
	}
	if v > float64(s.Max) {
		return float64(s.Count)
	}
	i := bucketOf(uint64(v))
	from, to := s.bounds(i)
	before := uint64(0)
	if i > 0 {
		before = s.upTo[i-1]
	}
	share := 1.0
	if to > from {
		share = min(max((v-from)/(to-from), 0), 1)
	}
	return float64(before) + float64(s.upTo[i]-before)*share
}

// bounds gives where bucket i begins and ends, cut to what was recorded.
func (s *Snapshot) bounds(i int) (from, to float64) {
	from, to = float64(bucketStart(i)), float64(bucketStart(i+1))
	if i == bucketCount-1 {
		to = math.Inf(1)
	}
	return max(from, float64(s.Min)), min(to, float64(s.Max)+1)
}

func (s *Snapshot) duration(v float64) time.Duration {
	if v >= float64(s.Max) {
		return s.Max
	}
	return max(time.Duration(v), s.Min)
}

// within cuts a deviation to what is possible.
func (s *Snapshot) within(d float64) time.Duration {
	if d >= float64(s.Max-s.Min) {
		return s.Max - s.Min
	}
	return time.Duration(d)
}
