package shm

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tagus-ros/tagus/internal/transport"
	"github.com/tagus-ros/tagus/qos"
)

// entryModel is one message as the model of a ring knows it.
type entryModel struct {
	index, seq uint64
	size       int
	noted      bool
}

// The two halves of a ring pair against a model: a queue that drops its oldest, and what
// the reader holds. The reader returns in any order.
func TestRingModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		capacity := rapid.Uint32Range(1, 6).Draw(rt, "capacity")
		leases := rapid.Uint32Range(1, 4).Draw(rt, "leases")
		keepAll := rapid.Bool().Draw(rt, "keepAll")
		q := qos.Default()
		if keepAll {
			q.History = qos.KeepAll
		}
		const lentMax = 40000
		g := newRig(t, capacity, uint32(returnsFor(int(capacity), int(leases))), q, keepAll, lentMax)
		var queue, lent []entryModel
		var index, evicted, limited, accepted uint64
		lentBytes := func() (n int64) {
			for _, e := range lent {
				n += int64(g.tx.lentCap(e.index))
			}
			return n
		}
		rt.Repeat(map[string]func(*rapid.T){
			"push": func(rt *rapid.T) {
				size := rapid.SampledFrom([]int{8, 100, 5000, 20000}).Draw(rt, "size")
				// What was returned is collected first.
				g.out.With(g.tx.Collect)
				full := len(queue) == int(capacity)
				over := lentBytes() > lentMax
				err := g.send(size)
				if keepAll && (full || over) {
					if !errors.As(err, new(*transport.QueueFullError)) {
						rt.Fatalf("sent into a full queue: %v", err)
					}
					return
				}
				if err != nil {
					rt.Fatalf("send: %v", err)
				}
				accepted++
				switch {
				case over:
					limited++
					return
				case full:
					evicted++
					queue = queue[1:]
				}
				queue = append(queue, entryModel{index, accepted, size, false})
				index++
			},
			"scan": func(rt *rapid.T) {
				var got []uint64
				head, err := g.rx.Scan(func(i uint64, stamp int64) {
					if stamp <= 0 {
						rt.Fatalf("entry %d has stamp %d", i, stamp)
					}
					got = append(got, i)
				})
				var want []uint64
				for i := range queue {
					if !queue[i].noted {
						want = append(want, queue[i].index)
						queue[i].noted = true
					}
				}
				oldest := index
				if len(queue) > 0 {
					oldest = queue[0].index
				}
				if err != nil || !slices.Equal(got, want) || head != oldest {
					rt.Fatalf("scanned %v to head %d (%v), want %v, %d", got, head, err, want, oldest)
				}
			},
			"claim": func(rt *rapid.T) {
				if len(queue) == 0 || !queue[0].noted || len(lent) == int(leases) {
					rt.Skip()
				}
				var r transport.Received
				ok, err := g.rx.Claim(queue[0].index, &r)
				if !ok || err != nil || r.Sequence != queue[0].seq || len(r.Bytes) != queue[0].size+4 {
					rt.Fatalf("claimed %v: %v, sequence %d, %d bytes; want %+v", ok, err, r.Sequence, len(r.Bytes), queue[0])
				}
				if err := intact(&r); err != nil {
					rt.Fatal(err)
				}
				lent = append(lent, queue[0])
				queue = queue[1:]
			},
			"claim what is gone": func(rt *rapid.T) {
				head := index
				if len(queue) > 0 {
					head = queue[0].index
				}
				if head == 0 {
					rt.Skip()
				}
				i := rapid.Uint64Range(0, head-1).Draw(rt, "index")
				if ok, err := g.rx.Claim(i, &transport.Received{}); ok || err != nil {
					rt.Fatalf("claimed entry %d, which is gone: %v", i, err)
				}
			},
			"evict": func(rt *rapid.T) {
				// As a subscription does that has too many over all publishers.
				if len(queue) == 0 || !queue[0].noted {
					rt.Skip()
				}
				if ok, err := g.rx.Claim(queue[0].index, nil); !ok || err != nil {
					rt.Fatalf("claimed %v, %v", ok, err)
				}
				g.rx.Return(queue[0].index)
				queue = queue[1:]
			},
			"return": func(rt *rapid.T) {
				if len(lent) == 0 {
					rt.Skip()
				}
				i := rapid.IntRange(0, len(lent)-1).Draw(rt, "i")
				g.rx.Return(lent[i].index)
				lent = slices.Delete(lent, i, i+1)
			},
			"": func(rt *rapid.T) {
				n, c := g.out.Counts()
				want := transport.LinkCounts{Queued: len(queue), Lent: len(lent), Evicted: evicted, LeaseLimit: limited}
				if n != accepted || c != want || g.fault != nil {
					rt.Fatalf("%d accepted, counted %+v, want %d, %+v (%v)", n, c, accepted, want, g.fault)
				}
				if s := g.arena.Stats(); s.Slots != len(queue)+len(lent) {
					rt.Fatalf("%d slots in use for %d queued and %d lent", s.Slots, len(queue), len(lent))
				}
				if g.rx.Last() != accepted || g.rx.First() != 1 {
					rt.Fatalf("first %d and last %d of %d", g.rx.First(), g.rx.Last(), accepted)
				}
			},
		})
		for _, e := range lent {
			g.rx.Return(e.index)
		}
		if rapid.Bool().Draw(rt, "reader died") {
			g.out.Detach(g.tx)
			g.out.With(g.tx.Reclaim)
			g.over(t)
		} else {
			g.end(t)
		}
	})
}

// lentCap is how much of the arena a lent entry takes.
func (s *sender) lentCap(index uint64) int {
	for _, l := range s.lent {
		if l.index == index {
			return l.slot.Cap()
		}
	}
	return 0
}

// Pushing, scanning, claiming and returning allocate nothing.
func TestRingAllocs(t *testing.T) {
	for _, size := range []int{64, 1 << 20} {
		g := newRig(t, 10, 20, qos.Default(), false, 1<<30)
		var r transport.Received
		var indices [4]uint64
		n := 0
		note := func(i uint64, _ int64) { indices[n%4] = i; n++ }
		turn := func() {
			for range 3 {
				if err := g.send(size); err != nil {
					t.Fatal(err)
				}
			}
			n = 0
			if _, err := g.rx.Scan(note); err != nil || n != 3 {
				t.Fatalf("%d noted, %v", n, err)
			}
			for _, i := range indices[:3] {
				if ok, err := g.rx.Claim(i, &r); !ok || err != nil {
					t.Fatalf("claim: %v, %v", ok, err)
				}
			}
			for _, k := range []int{1, 0, 2} {
				g.rx.Return(indices[k])
			}
		}
		for range 20 {
			turn()
		}
		if a := testing.AllocsPerRun(200, turn); a != 0 {
			t.Errorf("%d bytes: %v allocations for three messages", size, a)
		}
		// With a full queue the publisher makes room.
		if a := testing.AllocsPerRun(200, func() { g.send(size) }); a != 0 {
			t.Errorf("%d bytes: %v allocations for a message that makes room", size, a)
		}
		g.end(t)
	}
}
