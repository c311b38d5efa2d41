package shm

import (
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/tagus-ros/tagus/internal/transport"
	"github.com/tagus-ros/tagus/qos"
)

// soakTime is how long a test that could go on for ever goes on: TAGUS_SOAK, or briefly.
func soakTime(t *testing.T) time.Duration {
	if s := os.Getenv("TAGUS_SOAK"); s != "" {
		d, err := time.ParseDuration(s)
		if err != nil {
			t.Fatalf("TAGUS_SOAK: %v", err)
		}
		return d
	}
	if testing.Short() {
		return 200 * time.Millisecond
	}
	return time.Second
}

// A publisher and a reader at full speed on one ring pair, of each of some shapes: what
// the reader gets is intact and rises, and everything is received or evicted once.
func TestSoakRing(t *testing.T) {
	shapes := []struct {
		capacity, leases uint32
		sizes            []int
	}{
		{1, 1, []int{8}},
		{1, 4, []int{8, 100000}},
		{2, 1, []int{2000}},
		{10, 9, []int{8, 64, 4096, 300}},
		{100, 3, []int{16}},
	}
	each := soakTime(t) / time.Duration(len(shapes))
	for _, s := range shapes {
		g := newRig(t, s.capacity, uint32(returnsFor(int(s.capacity), int(s.leases))), qos.Default(), false, 1<<30)
		stop := make(chan struct{})
		done := make(chan struct{})
		go func() {
			defer close(done)
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				if err := g.send(s.sizes[n%len(s.sizes)]); err != nil {
					t.Error(err)
					return
				}
				for range rand.IntN(200) * (n & 1) {
				}
			}
		}()
		r := ringReader{t: t, g: g, leases: int(s.leases)}
		for end := time.Now().Add(each); time.Now().Before(end) && !t.Failed(); {
			for range 100 {
				r.step()
			}
		}
		close(stop)
		<-done
		for r.step() {
		}
		_, c := g.out.Counts()
		if uint64(r.received)+c.Evicted != g.sent || r.last != g.sent || g.fault != nil {
			t.Errorf("ring of %d: sent %d, received %d up to %d, counted %+v, fault %v", s.capacity, g.sent, r.received, r.last, c, g.fault)
		}
		if r.received == 0 {
			t.Errorf("ring of %d: nothing received", s.capacity)
		}
		t.Logf("ring of %d, %d leases: sent %d, received %d", s.capacity, s.leases, g.sent, r.received)
		r.finish()
		g.end(t)
	}
}

// ringReader takes from a ring as an Inlet does, and holds on to some.
type ringReader struct {
	t        *testing.T
	g        *rig
	leases   int
	received int
	last     uint64
	noted    []uint64
	held     []heldEntry
}

type heldEntry struct {
	index uint64
	rec   transport.Received
}

// step takes what is there and reports whether there was something.
func (r *ringReader) step() bool {
	r.noted = r.noted[:0]
	head, err := r.g.rx.Scan(func(i uint64, _ int64) { r.noted = append(r.noted, i) })
	if err != nil {
		r.t.Error(err)
		return false
	}
	_ = head
	for _, i := range r.noted {
		if len(r.held) == r.leases {
			r.release(rand.IntN(len(r.held)))
		}
		h := heldEntry{index: i}
		ok, err := r.g.rx.Claim(i, &h.rec)
		switch {
		case err != nil:
			r.t.Error(err)
			return false
		case !ok:
			continue
		case h.rec.Sequence <= r.last:
			r.t.Errorf("received %d after %d", h.rec.Sequence, r.last)
			return false
		}
		r.last = h.rec.Sequence
		r.received++
		r.held = append(r.held, h)
		if rand.IntN(3) > 0 {
			r.release(rand.IntN(len(r.held)))
		}
	}
	return len(r.noted) > 0
}

// release looks at a held message once more and returns it.
func (r *ringReader) release(i int) {
	if err := intact(&r.held[i].rec); err != nil {
		r.t.Error(err)
	}
	r.g.rx.Return(r.held[i].index)
	r.held[i] = r.held[len(r.held)-1]
	r.held = r.held[:len(r.held)-1]
}

func (r *ringReader) finish() {
	for len(r.held) > 0 {
		r.release(0)
	}
}
