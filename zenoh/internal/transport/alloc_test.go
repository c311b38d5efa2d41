package transport

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tagus-ros/tagus/internal/pool"
	"github.com/tagus-ros/tagus/zenoh/internal/wire"
)

// Sending and receiving allocate nothing once the buffers are there, whatever the size.
func TestNoAllocations(t *testing.T) {
	for _, tc := range []struct {
		name  string
		size  int
		limit float64
	}{{"8 B", 8, 0}, {"1 KB", 1000, 0}, {"60 KB", 60_000, 0}, {"1 MB", 1 << 20, 0.1}} {
		t.Run(tc.name, func(t *testing.T) {
			arrived := make(chan struct{}, 1)
			b := &side{local: Local{Patch: 1}, sink: newSink(func(*wire.Push, Lane, *Owned) { arrived <- struct{}{} })}
			ta, _ := connect(t, &side{local: Local{Patch: 1}}, b)
			payload := make([]byte, tc.size)
			send := func() {
				if err := put(context.Background(), ta, block, 1, payload); err != nil {
					t.Fatal(err)
				}
				<-arrived
			}
			for range 20 {
				send()
			}
			if raceEnabled {
				tc.limit = 2 // sync.Pool forgets at random under the race detector
			}
			if n := testing.AllocsPerRun(200, send); n > tc.limit {
				t.Errorf("%v allocations a message", n)
			}
		})
	}
}

// The test of lost wake-ups: waits that are cancelled and waits that
// time out, while messages in fragments flow; none may hang.
func TestCancelledWaitsWhileFragmentsFlow(t *testing.T) {
	waits := int64(100_000)
	if testing.Short() || raceEnabled {
		waits = 10_000
	}
	var received atomic.Int64
	b := &side{local: Local{Patch: 1}, sink: newSink(func(m *wire.Push, _ Lane, _ *Owned) {
		if len(m.Body.Payload) > 4 {
			if n := int(binary.LittleEndian.Uint32(m.Body.Payload)); n != len(m.Body.Payload) {
				t.Errorf("message of %d bytes says %d", len(m.Body.Payload), n)
			}
			received.Add(1)
		}
	})}
	a := &side{local: Local{Patch: 1}, limits: Limits{WaitBeforeDrop: 50 * time.Microsecond, WaitBetweenDrop: 200 * time.Microsecond}}
	ta, _ := connect(t, a, b)
	stop := make(chan struct{})
	var flow, wg sync.WaitGroup
	var sent atomic.Int64
	for g := range 2 {
		flow.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 1))
			buf := make([]byte, 10<<20)
			for {
				select {
				case <-stop:
					return
				default:
				}
				n := 64<<10 + rng.IntN(1<<20)
				if rng.IntN(20) == 0 {
					n = len(buf)
				}
				binary.LittleEndian.PutUint32(buf, uint32(n))
				if err := put(context.Background(), ta, block, 1, buf[:n]); err != nil {
					t.Error(err)
					return
				}
				sent.Add(1)
			}
		})
	}
	var left, timedOut, cancelled atomic.Int64
	left.Store(waits)
	for g := range 4 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 2))
			small, large := make([]byte, 4), make([]byte, 70_000)
			binary.LittleEndian.PutUint32(large, uint32(len(large)))
			done, cancel := context.WithCancel(context.Background())
			cancel()
			for left.Add(-1) >= 0 {
				payload := small
				if rng.IntN(3) == 0 {
					payload = large
				}
				o, ctx := data, context.Background()
				if rng.IntN(2) == 0 {
					o, ctx = block, done
				}
				switch err := put(ctx, ta, o, 1, payload); {
				case err == nil:
					if len(payload) > 4 {
						sent.Add(1)
					}
				case errors.Is(err, ErrCongested):
					timedOut.Add(1)
				case errors.Is(err, context.Canceled):
					cancelled.Add(1)
				default:
					t.Error(err)
					return
				}
			}
		})
	}
	finished := make(chan struct{})
	go func() { wg.Wait(); close(stop); flow.Wait(); close(finished) }()
	select {
	case <-finished:
	case <-time.After(2 * time.Minute):
		buf := make([]byte, 1<<20)
		t.Fatalf("hangs\n%s", buf[:runtime.Stack(buf, true)])
	}
	deadline := time.Now().Add(20 * time.Second)
	for received.Load() < sent.Load() && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	if received.Load() != sent.Load() {
		t.Errorf("%d sent, %d received", sent.Load(), received.Load())
	}
	t.Logf("%d dropped, %d cancelled, %d large messages through", timedOut.Load(), cancelled.Load(), received.Load())
}

func BenchmarkSend(b *testing.B) {
	for _, tc := range []struct {
		name string
		size int
	}{{"8B", 8}, {"1KB", 1000}, {"64KB", 64 << 10}, {"1MB", 1 << 20}} {
		b.Run(tc.name, func(b *testing.B) {
			var got atomic.Int64
			done := make(chan struct{}, 1)
			s := &side{local: Local{Patch: 1}, sink: newSink(func(*wire.Push, Lane, *Owned) {
				if got.Add(-1) == 0 {
					done <- struct{}{}
				}
			})}
			ta, _ := connect(b, &side{local: Local{Patch: 1}}, s)
			payload := make([]byte, tc.size)
			got.Store(int64(b.N))
			b.SetBytes(int64(tc.size))
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				if err := put(context.Background(), ta, block, 1, payload); err != nil {
					b.Fatal(err)
				}
			}
			<-done
			b.StopTimer()
			sent, _ := ta.Counts()
			b.ReportMetric(float64(sent.Writes)/float64(b.N), "writes/op")
		})
	}
}

func BenchmarkPingPong(b *testing.B) {
	back := make(chan struct{}, 1)
	var ta, tb *Transport
	ready := make(chan struct{})
	sa := &side{sink: newSink(func(*wire.Push, Lane, *Owned) { back <- struct{}{} })}
	sb := &side{sink: newSink(func(m *wire.Push, _ Lane, _ *Owned) {
		<-ready
		_ = put(context.Background(), tb, block, 1, m.Body.Payload)
	})}
	ta, tb = connect(b, sa, sb)
	close(ready)
	payload := make([]byte, 64)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		_ = put(context.Background(), ta, block, 1, payload)
		<-back
	}
}

// FuzzReceiver feeds bytes to the reading side as batches; whatever they are,
// it must end with an error or go on, and hold no more memory than its limit.
func FuzzReceiver(f *testing.F) {
	f.Add([]byte{0x04, 0, 0x04}, true)
	f.Add([]byte{9, 0, 0x25, 5, 0x1d, 1, 1, 3, 'a', 'b', 'c'}, true)
	f.Add([]byte{4, 0, 0x66, 5, 0x02, 0x1d, 5, 0, 0x26, 6, 1, 1, 0}, true)
	f.Add([]byte{3, 0, 0x26, 5, 0x1a, 2, 0, 0x03, 0x02}, false)
	f.Fuzz(func(t *testing.T, in []byte, patch bool) {
		r := receiver{handler: newSink(func(_ *wire.Push, _ Lane, own *Owned) {
			if own != nil {
				own.Ref()
				own.Unref()
			}
		}), limits: Limits{MaxMessage: 4096, MaxReceiveMemory: 8192}, batch: 65535, qos: true, patch: patch, buffers: pool.New(1 << 16)}
		r.limits.fill()
		r.start(5)
		for len(in) >= 2 {
			n := min(int(in[0])|int(in[1])<<8, len(in)-2)
			if r.handle(in[2:2+n]) != nil {
				return
			}
			in = in[2+n:]
			if r.partial > 2*8192 {
				t.Fatalf("%d bytes held", r.partial)
			}
		}
	})
}
