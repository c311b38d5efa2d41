package notify

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The benchmarks put what there is beside the events: bare atomics, a channel of capacity one, a condition variable and, on
// Linux, a bare futex.

// signal is what is compared: a sticky notification, and a wait for it.
type signal interface {
	Notify() error
	Wait(ctx context.Context) error
}

// chanSignal is chan struct{} as everybody writes it.
type chanSignal chan struct{}

func (c chanSignal) Notify() error {
	select {
	case c <- struct{}{}:
	default:
	}
	return nil
}

func (c chanSignal) Wait(context.Context) error {
	<-c
	return nil
}

// condSignal is sync.Cond around a flag.
type condSignal struct {
	mu   sync.Mutex
	cond sync.Cond
	set  bool
}

func newCondSignal() *condSignal {
	c := &condSignal{}
	c.cond.L = &c.mu
	return c
}

func (c *condSignal) Notify() error {
	c.mu.Lock()
	c.set = true
	c.mu.Unlock()
	c.cond.Signal()
	return nil
}

func (c *condSignal) Wait(context.Context) error {
	c.mu.Lock()
	for !c.set {
		c.cond.Wait()
	}
	c.set = false
	c.mu.Unlock()
	return nil
}

type contestant struct {
	name string
	make func() signal
}

func signals() []contestant {
	return append([]contestant{
		{"Event", func() signal { return new(Event) }},
		{"chan", func() signal { return make(chanSignal, 1) }},
		{"Cond", func() signal { return newCondSignal() }},
	}, systemSignals...)
}

// systemSignals are those that only some systems have.
var systemSignals []contestant

// BenchmarkSticky notifies and waits in one goroutine, so that nobody sleeps.
func BenchmarkSticky(b *testing.B) {
	b.Run("two-atomic-swaps", func(b *testing.B) {
		var w atomic.Uint32
		for b.Loop() {
			w.Swap(1)
			w.Swap(0)
		}
	})
	ctx := context.Background()
	b.Run("Event", func(b *testing.B) { // not through the interface: this is about nanoseconds
		var e Event
		for b.Loop() {
			e.Notify()
			e.Wait(ctx)
		}
	})
	b.Run("chan", func(b *testing.B) {
		c := make(chanSignal, 1)
		for b.Loop() {
			c.Notify()
			c.Wait(ctx)
		}
	})
	b.Run("Cond", func(b *testing.B) {
		c := newCondSignal()
		for b.Loop() {
			c.Notify()
			c.Wait(ctx)
		}
	})
	b.Run("Word", func(b *testing.B) {
		w := newWord(b)
		for b.Loop() {
			w.Notify()
			w.Wait(ctx)
		}
	})
	b.Run("in-turns", func(b *testing.B) {
		const batch = 1000
		var e Event
		var bare atomic.Uint32
		word := newWord(b)
		var event, words, swaps []float64
		for n := 0; n < b.N; n += batch {
			t0 := time.Now()
			for range batch {
				bare.Swap(1)
				bare.Swap(0)
			}
			t1 := time.Now()
			for range batch {
				e.Notify()
				e.Wait(ctx)
			}
			t2 := time.Now()
			for range batch {
				word.Notify()
				word.Wait(ctx)
			}
			t3 := time.Now()
			swaps = append(swaps, float64(t1.Sub(t0))/batch)
			event = append(event, float64(t2.Sub(t1))/batch)
			words = append(words, float64(t3.Sub(t2))/batch)
		}
		b.ReportMetric(median(event)/median(swaps), "Event/swaps")
		b.ReportMetric(median(words)/median(swaps), "Word/swaps")
	})
}

// BenchmarkHandoff sends a turn back and forth between two goroutines; an operation is one wake-up, half a round.
func BenchmarkHandoff(b *testing.B) {
	for _, s := range signals() {
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			handoff(s.make(), s.make(), b.N/2+1)
		})
	}
	// In turns and by medians, which is what to read on a machine with other things to do.
	b.Run("in-turns", func(b *testing.B) {
		const batch = 500
		var event, channel []float64
		for n := 0; n < b.N; n += 2 * batch {
			event = append(event, handoff(new(Event), new(Event), batch))
			channel = append(channel, handoff(make(chanSignal, 1), make(chanSignal, 1), batch))
		}
		e, c := median(event), median(channel)
		b.ReportMetric(e, "Event-ns")
		b.ReportMetric(c, "chan-ns")
		b.ReportMetric(e/c, "Event/chan")
	})
}

// handoff returns the nanoseconds of one wake-up.
func handoff(there, back signal, rounds int) float64 {
	ctx := context.Background()
	var wg sync.WaitGroup
	wg.Go(func() {
		for range rounds {
			there.Wait(ctx)
			back.Notify()
		}
	})
	start := time.Now()
	for range rounds {
		there.Notify()
		back.Wait(ctx)
	}
	took := time.Since(start)
	wg.Wait()
	return float64(took) / float64(2*rounds)
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}
