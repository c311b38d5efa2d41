package shm

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tagus-ros/tagus/internal/transport"
	"github.com/tagus-ros/tagus/qos"
)

// What a reader must not write is found, and ends the pair.
func TestSenderFaults(t *testing.T) {
	take := func(g *rig, i uint64) {
		g.rx.Scan(func(uint64, int64) {})
		g.rx.Claim(i, nil)
	}
	cases := []struct {
		name string
		do   func(g *rig)
		want string
	}{
		{"head beyond tail", func(g *rig) { g.tx.ring.head.Store(4) }, "ring head 4"},
		{"head far beyond tail", func(g *rig) { g.tx.ring.head.Store(1 << 63) }, "ring head"},
		{"head backwards", func(g *rig) {
			take(g, 0)
			take(g, 1)
			g.out.With(g.tx.Collect)
			g.tx.ring.head.Store(1)
		}, "ring head 1"},
		{"return of what is queued", func(g *rig) { g.rx.Return(1) }, "entry 1 returned"},
		{"return of what never was", func(g *rig) { g.rx.Return(1 << 40) }, "returned"},
		{"return twice", func(g *rig) { take(g, 0); g.rx.Return(0); g.rx.Return(0) }, "entry 0 returned"},
		{"return of an old one", func(g *rig) {
			take(g, 0)
			g.rx.Return(0)
			g.out.With(g.tx.Collect)
			g.rx.Return(0)
		}, "entry 0 returned"},
		{"return count forwards", func(g *rig) { g.tx.ring.retTail.Store(1000) }, "return count 1000"},
		{"return count backwards", func(g *rig) {
			take(g, 0)
			g.rx.Return(0)
			g.out.With(g.tx.Collect)
			g.tx.ring.retTail.Store(0)
		}, "return count"},
		{"takes all and returns nothing", func(g *rig) {
			for i := range uint64(20) {
				take(g, i)
				g.send(8)
			}
		}, "taken and not returned"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g := newRig(t, 3, 6, qos.Default(), false, 1<<30)
			for range 3 {
				if err := g.send(8); err != nil {
					t.Fatal(err)
				}
			}
			c.do(g)
			for range 3 { // also a second time around
				if err := g.send(8); err != nil {
					t.Fatal(err)
				}
				g.out.Counts()
			}
			var e *ProtocolError
			if !errors.As(g.fault, &e) || !strings.Contains(e.What, c.want) {
				t.Errorf("fault: %v, want %q", g.fault, c.want)
			}
			if !g.out.Detach(g.tx) {
				t.Error("not attached any more")
			}
			g.out.With(g.tx.Reclaim)
			g.over(t)
		})
	}
}

// What a publisher must not write is found, and nothing is read outside its arena.
func TestReceiverFaults(t *testing.T) {
	header := func(g *rig, i uint64) []byte {
		return g.tx.shadow[i%g.tx.ring.cap].Mem()[:transport.SlotHeader]
	}
	entry := func(g *rig, i uint64, v uint64) { offset, _ := g.tx.ring.entry(i); offset.Store(v) }
	cases := []struct {
		name string
		do   func(g *rig)
		scan string // what is wrong with the ring, or
		slot string // with the first slot
	}{
		{"tail backwards", func(g *rig) { g.rx.Scan(func(uint64, int64) {}); g.rx.ring.tail.Store(1) }, "tail 1", ""},
		{"tail too far", func(g *rig) { g.rx.ring.tail.Store(100) }, "tail 100", ""},
		{"head backwards", func(g *rig) { g.rx.Scan(func(uint64, int64) {}); g.rx.Claim(0, nil); g.rx.ring.head.Store(0) }, "head 0", ""},
		{"head beyond tail", func(g *rig) { g.rx.ring.head.Store(9) }, "head 9", ""},
		{"offset not aligned", func(g *rig) { entry(g, 0, 8) }, "", "outside the arena"},
		{"offset outside", func(g *rig) { entry(g, 0, uint64(len(g.view))) }, "", "outside the arena"},
		{"offset far outside", func(g *rig) { entry(g, 0, ^uint64(63)) }, "", "outside the arena"},
		{"offset of nothing", func(g *rig) { entry(g, 0, uint64(len(g.view)-64)) }, "", "length"},
		{"length short", func(g *rig) { binary.LittleEndian.PutUint32(header(g, 0)[40:], 3) }, "", "length"},
		{"length long", func(g *rig) { binary.LittleEndian.PutUint32(header(g, 0)[40:], 1<<32-1) }, "", "length"},
		{"another publisher", func(g *rig) { header(g, 0)[0] ^= 1 }, "", "another publisher"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g := newRig(t, 3, 6, qos.Default(), false, 1<<30)
			for range 3 {
				if err := g.send(8); err != nil {
					t.Fatal(err)
				}
			}
			c.do(g)
			_, err := g.rx.Scan(func(uint64, int64) {})
			want := c.scan
			if want == "" {
				if err != nil {
					t.Fatalf("scan: %v", err)
				}
				var r transport.Received
				var claimed bool
				claimed, err = g.rx.Claim(0, &r)
				want = c.slot
				if !claimed || r.Bytes != nil {
					t.Errorf("claimed %v, bytes %v", claimed, r.Bytes)
				}
			}
			var e *ProtocolError
			if !errors.As(err, &e) || !strings.Contains(e.What, want) {
				t.Errorf("fault: %v, want %q", err, want)
			}
			// From then on nothing is believed.
			if ok, err := g.rx.Claim(1, &transport.Received{}); ok || err != nil {
				t.Errorf("claimed after a fault: %v", err)
			}
			if _, err := g.rx.Scan(func(uint64, int64) { t.Error("noted after a fault") }); err != nil {
				t.Errorf("the fault is reported twice: %v", err)
			}
			g.out.Detach(g.tx)
			g.out.With(g.tx.Reclaim)
			g.over(t)
		})
	}
}

// Random words anywhere in a ring, while both sides use it: no fault of memory, no endless
// loop, and every slot comes back.
func TestRingGarbage(t *testing.T) {
	trials := 1000
	if testing.Short() {
		trials = 100
	}
	var sides [2]int
	for range trials {
		g := newRig(t, 5, 12, qos.Default(), false, 1<<30)
		stop := make(chan struct{})
		ended := make(chan struct{}, 2)
		go func() { // the publisher
			defer func() { ended <- struct{}{} }()
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := g.send(64 * rand.IntN(100)); err != nil {
					t.Error(err)
					return
				}
				g.out.Counts()
				runtime.Gosched()
			}
		}()
		var fault error
		go func() { // the reader
			defer func() { ended <- struct{}{} }()
			var noted, held []uint64
			for {
				select {
				case <-stop:
					return
				default:
				}
				runtime.Gosched()
				noted = noted[:0]
				if _, fault = g.rx.Scan(func(i uint64, _ int64) { noted = append(noted, i) }); fault != nil {
					return
				}
				for _, i := range noted {
					var r transport.Received
					var ok bool
					if ok, fault = g.rx.Claim(i, &r); fault != nil {
						return
					}
					if ok {
						held = append(held, i)
					}
					if len(held) > 5 {
						g.rx.Return(held[0])
						held = held[1:]
					}
				}
			}
		}()
		for range 1 + rand.IntN(4) {
			time.Sleep(time.Duration(rand.IntN(200)) * time.Microsecond)
			garbage(g.mem)
		}
		time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond)
		close(stop)
		<-ended
		<-ended
		if fault != nil {
			sides[1]++
		}
		if g.fault != nil {
			sides[0]++
		}
		g.out.Detach(g.tx)
		g.out.With(g.tx.Reclaim)
		g.over(t)
		if t.Failed() {
			return
		}
	}
	t.Logf("%d trials: %d faults found by the publisher, %d by the reader", trials, sides[0], sides[1])
	if sides[0] == 0 || sides[1] == 0 {
		t.Errorf("%d faults found by the publisher, %d by the reader: garbage goes unseen", sides[0], sides[1])
	}
}

// garbage overwrites a random word, half of the time one of the few that matter most.
func garbage(mem []byte) {
	at := rand.IntN(len(mem)/8) * 8
	if rand.IntN(2) == 0 {
		words := []int{ringHead, ringTail, ringFirst, ringLast, ringRetTail, ringRetHead, ringEntries, ringEntries + 16}
		at = words[rand.IntN(len(words))]
	}
	b := mem[at:]
	switch rand.IntN(4) {
	case 0:
		binary.LittleEndian.PutUint64(b, rand.Uint64())
	case 1:
		binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)+uint64(rand.IntN(9))-4)
	case 2:
		binary.LittleEndian.PutUint64(b, 0)
	case 3:
		b[rand.IntN(8)] ^= 1 << rand.IntN(8)
	}
}
