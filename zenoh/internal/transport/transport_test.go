package transport

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tagus-ros/tagus/zenoh/internal/wire"
)

// pattern is a payload that shows every mix-up: its bytes depend on the number and on the place.
func pattern(number uint32, size int) []byte {
	b := make([]byte, size)
	rng := rand.NewPCG(uint64(number), 7)
	for i := 0; i+8 <= size; i += 8 {
		binary.LittleEndian.PutUint64(b[i:], rng.Uint64())
	}
	if size >= 4 {
		binary.LittleEndian.PutUint32(b, number)
	}
	return b
}

func TestSizesBothWays(t *testing.T) {
	for _, batch := range []uint16{128, 2048, 65535} {
		t.Run(fmt.Sprint(batch), func(t *testing.T) {
			sizes := []int{0, 1, 60, 90, 100, 105, 110, 115, 120, 127, 128, 129, 240, 1000}
			for d := -24; d <= 8; d++ {
				sizes = append(sizes, int(batch)+d, 2*int(batch)+2*d)
			}
			if batch > 1000 {
				sizes = append(sizes, 300_000, 1<<20, 5<<20)
			}
			var wg sync.WaitGroup
			wg.Add(2 * len(sizes))
			expect := func() func(*wire.Push, Lane, *Owned) {
				next := 0
				return func(m *wire.Push, lane Lane, own *Owned) {
					if want := pattern(uint32(next), sizes[next]); !bytes.Equal(m.Body.Payload, want) {
						t.Errorf("message %d: %d bytes, want %d", next, len(m.Body.Payload), len(want))
					}
					next++
					wg.Done()
				}
			}
			a := &side{sink: newSink(expect()), local: Local{Batch: batch, Patch: 1}}
			b := &side{sink: newSink(expect())}
			ta, tb := connect(t, a, b)
			for _, tr := range []*Transport{ta, tb} {
				go func() {
					for i, n := range sizes {
						if err := put(context.Background(), tr, block, 1, pattern(uint32(i), n)); err != nil {
							t.Errorf("message %d: %v", i, err)
							wg.Done()
						}
					}
				}()
			}
			done := make(chan struct{})
			go func() { wg.Wait(); close(done) }()
			within(t, "all messages", done)
		})
	}
}

// Every lane keeps its order whatever the mix of sizes, and nothing is lost that was not refused.
func TestLanesKeepOrder(t *testing.T) {
	const each = 300
	type key struct {
		prio     wire.Priority
		reliable bool
	}
	var mu sync.Mutex
	next := map[key]uint32{}
	total := 0
	done := make(chan struct{})
	sink := newSink(func(m *wire.Push, lane Lane, own *Owned) {
		mu.Lock()
		defer mu.Unlock()
		k := key{lane.Priority, lane.Reliable}
		n := binary.LittleEndian.Uint32(m.Body.Payload)
		if n != next[k] {
			t.Errorf("%v: message %d, want %d", k, n, next[k])
		}
		if !bytes.Equal(m.Body.Payload, pattern(n, len(m.Body.Payload))) {
			t.Errorf("%v: message %d damaged", k, n)
		}
		next[k] = n + 1
		if total++; total == each*16 {
			close(done)
		}
	})
	ta, _ := connect(t, &side{local: Local{Patch: 1}}, &side{sink: sink, local: Local{Patch: 1}})
	for prio := range wire.Priority(8) {
		for _, reliable := range []bool{false, true} {
			go func() {
				rng := rand.New(rand.NewPCG(uint64(prio), 3))
				for i := range uint32(each) {
					size := 4 + rng.IntN(200)
					switch rng.IntN(20) {
					case 0:
						size = 4 + rng.IntN(300_000)
					case 1:
						size = 4 + rng.IntN(66_000)
					}
					o := Lane{Priority: prio, Reliable: reliable, Block: true, Express: rng.IntN(4) == 0}
					if err := put(context.Background(), ta, o, 1, pattern(i, size)); err != nil {
						t.Error(err)
					}
				}
			}()
		}
	}
	within(t, "all messages", done)
}

// A reader that stands still: what may be dropped is dropped whole, soon and
// counted; what may not waits; and all that was accepted arrives intact.
func TestCongestionDrops(t *testing.T) {
	release := make(chan struct{})
	var got sync.Map
	var arrived atomic.Int64
	sink := newSink(func(m *wire.Push, lane Lane, own *Owned) {
		<-release
		n := binary.LittleEndian.Uint32(m.Body.Payload)
		if !bytes.Equal(m.Body.Payload, pattern(n, len(m.Body.Payload))) {
			t.Errorf("message %d damaged", n)
		}
		got.Store(n, true)
		arrived.Add(1)
	})
	ta, tb := connect(t, &side{local: Local{Patch: 1}}, &side{sink: sink, local: Local{Patch: 1}})
	var accepted []uint32
	drops := 0
	for i := uint32(0); drops < 50 && i < 200; i++ {
		begin := time.Now()
		err := put(context.Background(), ta, data, 1, pattern(i, 400_000))
		if took := time.Since(begin); took > 200*time.Millisecond {
			t.Errorf("message %d took %v", i, took)
		}
		switch {
		case err == nil:
			accepted = append(accepted, i)
		case errors.Is(err, ErrCongested):
			drops++
		default:
			t.Fatal(err)
		}
	}
	if drops < 50 {
		t.Fatalf("only %d drops", drops)
	}
	// Congested: no more waiting at all.
	refused := pattern(9999, 400_000)
	begin := time.Now()
	for range 100 {
		if err := put(context.Background(), ta, data, 1, refused); !errors.Is(err, ErrCongested) {
			t.Errorf("%v", err)
		}
	}
	if took := time.Since(begin); took > 50*time.Millisecond {
		t.Errorf("100 refusals took %v", took)
	}
	sent, _ := ta.Counts()
	if n := sent.Dropped[wire.PriorityData]; n != uint64(drops)+100 {
		t.Errorf("%d drops counted, %d seen", n, drops+100)
	}
	close(release)
	deadline := time.Now().Add(10 * time.Second)
	for arrived.Load() < int64(len(accepted)) && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	for _, n := range accepted {
		if _, ok := got.Load(n); !ok {
			t.Errorf("message %d was accepted and did not arrive", n)
		}
	}
	// The lane works again, and with it the messages behind a cancelled one.
	if err := put(context.Background(), ta, block, 1, pattern(77777, 500_000)); err != nil {
		t.Error(err)
	}
	for time.Now().Before(deadline) {
		if _, ok := got.Load(uint32(77777)); ok {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if _, ok := got.Load(uint32(77777)); !ok {
		t.Error("nothing arrives after the congestion")
	}
	if _, rc := tb.Counts(); arrived.Load() != int64(len(accepted))+1 {
		t.Errorf("%d arrived, %d accepted (%+v)", arrived.Load(), len(accepted), rc)
	}
}

// A urgent message overtakes what a slow reader has left in the queues.
func TestPriorityOvertakes(t *testing.T) {
	release := make(chan struct{})
	order := make(chan wire.Priority, 10000)
	sink := newSink(func(m *wire.Push, lane Lane, own *Owned) {
		<-release
		order <- lane.Priority
	})
	a := &side{local: Local{Patch: 1}, limits: Limits{QueueDepth: 8}}
	ta, _ := connect(t, a, &side{sink: sink, local: Local{Patch: 1}})
	n := 0
	for refusals := 0; refusals < 12; { // the kernel's buffers may still be growing
		if err := put(context.Background(), ta, data, 1, make([]byte, 30_000)); err != nil {
			refusals++
			time.Sleep(50 * time.Millisecond)
		} else if n++; n > 5000 {
			t.Fatal("no congestion")
		} else {
			refusals = 0
		}
	}
	if err := put(context.Background(), ta, Lane{Priority: wire.PriorityRealTime}, 1, []byte("now")); err != nil {
		t.Fatal(err)
	}
	close(release)
	behind := 0
	for i := 0; i < n+1; i++ {
		if p := within(t, "message", order); p == wire.PriorityRealTime {
			behind = n - i
			break
		}
	}
	if behind < 2 {
		t.Errorf("the urgent message came with %d of %d behind it", behind, n)
	}
}

func TestBlockGivesUpOnThePeer(t *testing.T) {
	release := make(chan struct{})
	sink := newSink(func(*wire.Push, Lane, *Owned) { <-release })
	defer close(release)
	a := &side{limits: Limits{WaitBeforeClose: 100 * time.Millisecond}}
	ta, _ := connect(t, a, &side{sink: sink})
	for i := range 100_000 {
		err := put(context.Background(), ta, block, 1, make([]byte, 50_000))
		if err == nil {
			continue
		}
		var ce *CloseError
		if !errors.As(err, &ce) || ce.Reason != wire.ReasonUnresponsive || ce.Remote {
			t.Errorf("message %d: %v", i, err)
		}
		break
	}
	err := within(t, "end", a.sink.closed)
	var ce *CloseError
	if !errors.As(err, &ce) || ce.Reason != wire.ReasonUnresponsive {
		t.Error(err)
	}
	if err := put(context.Background(), ta, block, 1, nil); !errors.As(err, &ce) {
		t.Errorf("after the end: %v", err)
	}
}

// Sends that are cancelled in their middle leave nothing behind that points
// into the sender's memory, and harm nobody else.
func TestCancelledSends(t *testing.T) {
	for _, finish := range []int{-1, 0} {
		// Known fault: without copying (not the default), about one send in some ten
		// thousand whose context ends as its last fragment goes out says yes and does
		// not arrive. It is looked for by the soak.
		if finish < 0 && os.Getenv("TAGUS_SOAK") == "" {
			continue
		}
		t.Run(fmt.Sprint("finish ", finish), func(t *testing.T) { testCancelledSends(t, finish) })
	}
}

func testCancelledSends(t *testing.T, finish int) {
	slow := make(chan struct{})
	var arrived, whole atomic.Int64
	sink := newSink(func(m *wire.Push, lane Lane, own *Owned) {
		<-slow
		arrived.Add(1)
		for _, c := range m.Body.Payload {
			if c != m.Body.Payload[0] || c == 0xee {
				t.Errorf("poisoned payload of %d bytes", len(m.Body.Payload))
				return
			}
		}
		whole.Add(1)
	})
	ta, tb := connect(t, &side{local: Local{Patch: 1}, limits: Limits{FinishCopy: finish}}, &side{sink: sink, local: Local{Patch: 1}})
	var wg sync.WaitGroup
	var ok atomic.Int64
	for g := range 4 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 5))
			for range 60 {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rng.IntN(20))*time.Millisecond)
				b := bytes.Repeat([]byte{1 + byte(rng.IntN(100))}, 60_000+rng.IntN(3_000_000))
				o := block
				o.Priority = wire.Priority(4 + g)
				err := put(ctx, ta, o, 1, b)
				cancel()
				for i := range b {
					b[i] = 0xee
				}
				if err == nil {
					ok.Add(1)
				} else if !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
			}
		})
	}
	stop := make(chan struct{})
	go func() { // a reader in fits and starts
		defer close(stop)
		for range 120 {
			select {
			case slow <- struct{}{}:
				time.Sleep(time.Millisecond)
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	wg.Wait()
	<-stop
	close(slow)
	deadline := time.Now().Add(10 * time.Second)
	for whole.Load() < ok.Load() && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	_, rc := tb.Counts()
	if arrived.Load() != ok.Load() || whole.Load() != ok.Load() {
		t.Errorf("%d sends said yes, %d arrived, %d whole; %+v", ok.Load(), arrived.Load(), whole.Load(), rc)
	}
	if ok.Load() == 0 || (rc.Incomplete == 0) != (finish == 0) {
		t.Errorf("nothing was tested: %d sent, %d cancelled in the middle", ok.Load(), rc.Incomplete)
	}
}

// A declaration never waits, whatever its size and however little the peer reads.
func TestUnboundedNeverWaits(t *testing.T) {
	release := make(chan struct{})
	var got atomic.Int64
	sink := newSink(func(m *wire.Push, _ Lane, _ *Owned) {
		<-release
		if n := binary.LittleEndian.Uint32(m.Body.Payload); n != uint32(got.Load()) || !bytes.Equal(m.Body.Payload, pattern(n, len(m.Body.Payload))) {
			t.Errorf("message %d, want %d", n, got.Load())
		}
		got.Add(1)
	})
	ta, _ := connect(t, &side{local: Local{Patch: 1, Batch: 256}}, &side{sink: sink, local: Local{Patch: 1}})
	o := Lane{Priority: wire.PriorityControl, Reliable: true, Block: true, Unbounded: true}
	begin := time.Now()
	const n = 2000
	for i := range uint32(n) {
		if err := put(context.Background(), ta, o, 1, pattern(i, 4+int(i)*3)); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
	close(release)
	for end := time.Now().Add(10 * time.Second); got.Load() < n && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if got.Load() != n {
		t.Errorf("%d arrived", got.Load())
	}
}

func TestTooLargeToSend(t *testing.T) {
	ta, _ := connect(t, &side{limits: Limits{MaxMessage: 1000}}, &side{})
	err := put(context.Background(), ta, data, 1, make([]byte, 2000))
	var te *TooLargeError
	if !errors.As(err, &te) || te.Limit != 1000 {
		t.Error(err)
	}
}

// A receiver with a small limit throws large messages away and goes on.
func TestTooLargeToReceive(t *testing.T) {
	got := make(chan int, 10)
	b := &side{limits: Limits{MaxMessage: 200_000}, sink: newSink(func(m *wire.Push, _ Lane, _ *Owned) { got <- len(m.Body.Payload) })}
	ta, tb := connect(t, &side{local: Local{Patch: 1}}, b)
	for _, n := range []int{100_000, 1_000_000, 150_000, 5} {
		if err := put(context.Background(), ta, block, 1, make([]byte, n)); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []int{100_000, 150_000, 5} {
		if n := within(t, "message", got); n != want {
			t.Errorf("%d bytes, want %d", n, want)
		}
	}
	if _, rc := tb.Counts(); rc.TooLarge != 1 {
		t.Errorf("%+v", rc)
	}
}

// The same over a connection that is no plain TCP socket, where writing blocks.
func TestBlockingLink(t *testing.T) {
	ca, cb := tcpPair(t)
	got := make(chan int, 100)
	b := &side{sink: newSink(func(m *wire.Push, _ Lane, _ *Owned) {
		n := binary.LittleEndian.Uint32(m.Body.Payload)
		if !bytes.Equal(m.Body.Payload, pattern(n, len(m.Body.Payload))) {
			t.Errorf("message %d damaged", n)
		}
		got <- int(n)
	}), local: Local{Patch: 1}}
	ta, _ := connectOver(t, opaque{ca}, opaque{cb}, &side{local: Local{Patch: 1}}, b)
	for i := range 40 {
		if err := put(context.Background(), ta, block, 1, pattern(uint32(i), 4+i*i*300)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 40 {
		if n := within(t, "message", got); n != i {
			t.Errorf("message %d, want %d", n, i)
		}
	}
}

type opaque struct{ net.Conn }
