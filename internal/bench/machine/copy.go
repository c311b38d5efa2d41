package machine

import (
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tagus-ros/tagus/internal/clock"
	"github.com/tagus-ros/tagus/internal/futex"
)

const mib = 1 << 20

// HotCopy copies 1 MiB between two buffers in a tight loop for d and returns the median time of a copy in microseconds.
func HotCopy(d time.Duration) float64 {
	src, dst := touched(), touched()
	var times []int64
	for end := clock.Mono() + int64(d); ; {
		start := clock.Mono()
		copy(dst, src)
		done := clock.Mono()
		times = append(times, done-start)
		if done >= end {
			break
		}
	}
	slices.Sort(times)
	return float64(times[len(times)/2]) / 1000
}

// CopyLoop copies 1 MiB whenever one of the timers is due, for d, and returns how long each copy took in nanoseconds. It does
// on one thread what an executor with these publishers does, and nothing but the copy: timers are deadlines of a futex wait, and
// all copies use the same two buffers.
func CopyLoop(periods []time.Duration, d time.Duration) []int64 {
	if len(periods) == 0 {
		return nil
	}
	src, dst := touched(), touched()
	var times []int64
	Ticks(periods, d, func(int) {
		start := clock.Mono()
		copy(dst, src)
		times = append(times, clock.Mono()-start)
	})
	return times
}

// Ticks calls tick with the index of each timer that is due, on a locked thread with the finest timer slack, for d. A timer that
// is overrun keeps its grid and skips what it missed.
func Ticks(periods []time.Duration, d time.Duration, tick func(timer int)) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and end with it: the thread's timer slack is not the runtime's
		fineTimers()
		start := clock.Mono()
		next := make([]int64, len(periods))
		for i, p := range periods {
			next[i] = start + int64(p)
		}
		var word atomic.Uint32
		for {
			due := slices.Min(next)
			if due > start+int64(d) {
				return
			}
			for clock.Mono() < due {
				futex.Wait(&word, 0, due)
			}
			now := clock.Mono()
			for i, p := range periods {
				if next[i] > now {
					continue
				}
				tick(i)
				missed := (clock.Mono() - next[i]) / int64(p)
				next[i] += max(1, missed) * int64(p)
			}
		}
	}()
	<-done
}

func touched() []byte {
	b := make([]byte, mib)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}
