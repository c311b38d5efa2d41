// Package record keeps what the benchmark measures, message by message, and condenses it.
//
// All latencies are kept, not a histogram of them, so that every figure is exact: mean, deviation, quantiles and the median
// absolute deviation. Memory is taken and touched before the run, so that recording allocates nothing and faults in no page
// while it is watched. The package measures nothing itself and knows neither nodes nor transports; it must import nothing of
// this module.
package record

import (
	"math"
	"slices"
)

// Summary condenses latencies. All times are in microseconds; they are 0 when N is 0.
type Summary struct {
	N                   int
	Mean, SD            float64 // SD is of the population
	Min, Max            float64
	P50, P99, P999, MAD float64
}

// Summarise condenses samples, which are nanoseconds, and leaves them in another order. Quantile q is the smallest sample that
// at least the share q of all samples does not exceed; MAD is the median of the distances to the median.
func Summarise(samples []int64) Summary {
	n := len(samples)
	if n == 0 {
		return Summary{}
	}
	slices.Sort(samples)
	var sum float64
	for _, s := range samples {
		sum += float64(s)
	}
	mean := sum / float64(n)
	var squares float64
	for _, s := range samples {
		d := float64(s) - mean
		squares += d * d
	}
	out := Summary{
		N: n, Mean: us(mean), SD: us(math.Sqrt(squares / float64(n))),
		Min: us(float64(samples[0])), Max: us(float64(samples[n-1])),
		P50: us(float64(quantile(samples, 0.5))), P99: us(float64(quantile(samples, 0.99))), P999: us(float64(quantile(samples, 0.999))),
	}
	median := quantile(samples, 0.5)
	for i, s := range samples {
		if s < median {
			samples[i] = median - s
		} else {
			samples[i] = s - median
		}
	}
	slices.Sort(samples)
	out.MAD = us(float64(quantile(samples, 0.5)))
	return out
}

func us(ns float64) float64 { return ns / 1000 }

func quantile(sorted []int64, q float64) int64 {
	i := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[max(i, 0)]
}

// Mean is the mean of nanoseconds in microseconds; 0 without samples.
func Mean(samples []int64) float64 {
	var sum float64
	for _, s := range samples {
		sum += float64(s)
	}
	if len(samples) == 0 {
		return 0
	}
	return us(sum / float64(len(samples)))
}
