package notify

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tagus-ros/tagus/internal/clock"
	"github.com/tagus-ros/tagus/internal/futex"
)

func init() {
	systemSignals = []contestant{
		{"Word", func() signal {
			w, err := NewWord(new(uint32))
			if err != nil {
				panic(err)
			}
			return w
		}},
		{"futex", func() signal { return new(futexSignal) }},
	}
}

// futexSignal is the least that can be done with a futex.
type futexSignal struct{ w atomic.Uint32 }

func (f *futexSignal) Notify() error {
	f.w.Store(1)
	futex.Wake(&f.w, 1)
	return nil
}

func (f *futexSignal) Wait(context.Context) error {
	for f.w.Swap(0) == 0 {
		futex.Wait(&f.w, 0, -1)
	}
	return nil
}

// thread tells whether a thread of this process sleeps.
type thread struct{ stat *os.File }

func (t thread) asleep() bool {
	var buf [128]byte
	n, _ := t.stat.ReadAt(buf[:], 0)
	for i := n - 1; i > 0; i-- {
		if buf[i] == ')' {
			return i+2 < n && buf[i+2] == 'S'
		}
	}
	return false
}

// oneWay is a pair of locked threads of which one waits for the other.
type oneWay struct {
	s       signal
	waiter  thread
	started atomic.Int64
	took    chan int64
}

// newOneWay starts the waiting thread, on the given processor if cpu is not negative.
func newOneWay(b *testing.B, s signal, cpu int) *oneWay {
	w := &oneWay{s: s, took: make(chan int64, 1)}
	tid := make(chan int)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		pin(b, cpu)
		tid <- unix.Gettid()
		for {
			s.Wait(background)
			now := clock.Mono()
			start := w.started.Load()
			if start < 0 {
				close(w.took)
				return
			}
			w.took <- now - start
		}
	}()
	f, err := os.Open(fmt.Sprintf("/proc/self/task/%d/stat", <-tid))
	if err != nil {
		b.Fatal(err)
	}
	w.waiter = thread{f}
	return w
}

// wake measures the way from before Notify to after Wait, with the waiter known to sleep.
func (w *oneWay) wake() int64 {
	for !w.waiter.asleep() {
		runtime.Gosched()
	}
	w.started.Store(clock.Mono())
	w.s.Notify()
	return <-w.took
}

func (w *oneWay) close() {
	w.started.Store(-1)
	w.s.Notify()
	<-w.took
	w.waiter.stat.Close()
}

func pin(b *testing.B, cpu int) {
	if cpu < 0 {
		return
	}
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		b.Error(err)
	}
}

// BenchmarkThreads wakes a locked thread that is known to sleep, from a locked thread. All contestants take turns, in an order
// that changes, since the times depend most on where the threads run and who ran there before; an operation is one wake of
// Event, by the median.
func BenchmarkThreads(b *testing.B) {
	b.Run("free", func(b *testing.B) { threads(b, -1, -1) })
	b.Run("same-core", func(b *testing.B) { threads(b, 0, 0) })
	if runtime.NumCPU() > 1 {
		b.Run("two-cores", func(b *testing.B) { threads(b, 0, 1) })
	}
}

func threads(b *testing.B, notifier, waiter int) {
	// In a goroutine that never unlocks its thread, so that the pinned thread ends with it.
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		pin(b, notifier)
		contest(b, waiter)
	}()
	<-done
}

func contest(b *testing.B, waiter int) {
	type result struct {
		name  string
		pair  *oneWay
		times []float64
	}
	var results []*result
	for _, c := range signals() {
		results = append(results, &result{name: c.name, pair: newOneWay(b, c.make(), waiter)})
	}
	for range b.N {
		for _, i := range rand.Perm(len(results)) {
			r := results[i]
			r.times = append(r.times, float64(r.pair.wake()))
		}
	}
	b.StopTimer()
	ns := map[string]float64{}
	for _, r := range results {
		r.pair.close()
		ns[r.name] = median(r.times)
		b.ReportMetric(ns[r.name], r.name+"-ns")
	}
	b.ReportMetric(ns["Event"], "ns/op")
	b.ReportMetric(ns["Event"]/ns["chan"], "Event/chan")
	b.ReportMetric(ns["Word"]/ns["futex"], "Word/futex")
	b.ReportMetric(ns["Word"]/ns["chan"], "Word/chan")
}
