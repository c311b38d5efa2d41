package exec

import (
	"context"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tagus-ros/tagus/internal/clock"
	"github.com/tagus-ros/tagus/internal/futex"
)

// BenchmarkTurn is what an executor that is awake spends on a message besides the callback: signal, poll, task.
func BenchmarkTurn(b *testing.B) {
	e := newExecutor(b, Options{CPU: -1})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var entry Entry
	var leaf int
	n := 0
	entry.Task = taskFunc(func(context.Context) bool {
		if n++; n == b.N {
			cancel()
		} else {
			e.area.Signal(leaf)
		}
		return false
	})
	leaf, _ = e.Attach(pollFunc(func() { e.Ready(&entry) }))
	b.ReportAllocs()
	e.area.Signal(leaf)
	e.Spin(ctx)
}

// BenchmarkWake is the way from before Signal to the callback of an executor that sleeps, and beside it that through a bare futex
// between two locked threads. They take turns, on the same processors, since where a thread is woken matters most; an
// operation is one wake of the executor, by the median.
func BenchmarkWake(b *testing.B) {
	b.Run("same-core", func(b *testing.B) { onThread(b, 0, func() { wakes(b, 0) }) })
	if runtime.NumCPU() > 1 {
		b.Run("two-cores", func(b *testing.B) { onThread(b, 0, func() { wakes(b, 1) }) })
	}
}

// onThread runs f on a thread of its own that is pinned to a processor and ends with it.
func onThread(b *testing.B, cpu int, f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if _, err := tune(&Options{CPU: cpu}); err != nil {
			b.Error(err)
			return
		}
		f()
	}()
	<-done
}

func wakes(b *testing.B, cpu int) {
	var sent atomic.Int64
	e := newExecutor(b, Options{CPU: cpu})
	byExecutor := make(chan int64, 1)
	var entry Entry
	entry.Task = taskFunc(func(context.Context) bool {
		byExecutor <- clock.Mono() - sent.Load()
		return false
	})
	leaf, _ := e.Attach(pollFunc(func() { e.Ready(&entry) }))
	stop := spin(b, e)
	defer stop()

	var word, asleep atomic.Uint32
	byFutex := make(chan int64, 1)
	go onThread(b, cpu, func() {
		for v := uint32(0); ; v++ {
			asleep.Store(1)
			for word.Load() == v {
				futex.Wait(&word, v, -1)
			}
			asleep.Store(0)
			t := sent.Load()
			if t < 0 {
				close(byFutex)
				return
			}
			byFutex <- clock.Mono() - t
		}
	})
	wakeFutex := func() {
		word.Add(1)
		futex.Wake(&word, 1)
	}

	var executor, bare []int64
	for range b.N {
		for !e.area.Asleep() {
			runtime.Gosched()
		}
		pause() // from about to sleep to asleep
		sent.Store(clock.Mono())
		e.area.Signal(leaf)
		executor = append(executor, <-byExecutor)

		for asleep.Load() == 0 {
			runtime.Gosched()
		}
		pause()
		sent.Store(clock.Mono())
		wakeFutex()
		bare = append(bare, <-byFutex)
	}
	for asleep.Load() == 0 {
		runtime.Gosched()
	}
	sent.Store(-1)
	wakeFutex()
	<-byFutex
	x, y := median(executor), median(bare)
	b.ReportMetric(x, "ns/op")
	b.ReportMetric(y, "futex-ns")
	b.ReportMetric(x/y, "executor/futex")
}

// BenchmarkBusyPoll is the same way with an executor that looks for work without sleeping. It needs two cores for itself.
func BenchmarkBusyPoll(b *testing.B) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	e := newExecutor(b, Options{CPU: -1, Spin: time.Hour})
	var sent, took atomic.Int64
	var entry Entry
	entry.Task = taskFunc(func(context.Context) bool {
		took.Store(clock.Mono() - sent.Load())
		return false
	})
	leaf, _ := e.Attach(pollFunc(func() { e.Ready(&entry) }))
	spin(b, e)
	var times []int64
	for range b.N {
		pause()
		took.Store(0)
		sent.Store(clock.Mono())
		e.area.Signal(leaf)
		for took.Load() == 0 {
		}
		times = append(times, took.Load())
	}
	b.ReportMetric(median(times), "ns/op")
}

// pause lets 20 µs pass.
func pause() {
	for until := clock.Mono() + 20_000; clock.Mono() < until; {
	}
}

func median(x []int64) float64 {
	slices.Sort(x)
	return float64(x[len(x)/2])
}
