package transport

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The order against a sorted slice.
func TestOrderModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 8).Draw(t, "size")
		feeds := []*Feed{{leaf: 0}, {leaf: 1}, {leaf: 2}}
		var o order
		o.grow(size)
		var model []orderEntry
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "op") {
			case 0, 1:
				e := orderEntry{int64(rapid.IntRange(0, 9).Draw(t, "stamp")), uint64(rapid.IntRange(0, 9).Draw(t, "index")), rapid.SampledFrom(feeds).Draw(t, "feed")}
				if o.n == len(o.buf) {
					o.grow(o.n + 1)
				}
				o.insert(e)
				model = append(model, e)
				slices.SortStableFunc(model, func(a, b orderEntry) int { return cmp.Compare(a.stamp, b.stamp) })
			case 2:
				if o.n == 0 {
					continue
				}
				if got := o.pop(); got != model[0] {
					t.Fatalf("popped %v, want %v", got, model[0])
				}
				model = model[1:]
			case 3:
				f, before := rapid.SampledFrom(feeds).Draw(t, "feed"), uint64(rapid.IntRange(0, 9).Draw(t, "before"))
				n := len(model)
				model = slices.DeleteFunc(model, func(e orderEntry) bool { return e.feed == f && e.index < before })
				if got := o.forget(f, before); got != n-len(model) {
					t.Fatalf("forgot %d, want %d", got, n-len(model))
				}
			}
			if o.n != len(model) {
				t.Fatalf("%d entries, want %d", o.n, len(model))
			}
			for i := range model {
				if *o.at(i) != model[i] {
					t.Fatalf("entry %d is %v, want %v", i, *o.at(i), model[i])
				}
			}
		}
	})
}

// queued is a message in the model of an inlet.
type queued struct {
	stamp int64
	feed  int
	seq   uint64
	index uint64
	noted bool
}

// An inlet against a model: whatever publishers push, evict and end, and the reader takes
// and keeps, the reader gets exactly the newest Depth of all in their order, and
// everything accepted is received or lost once.
func TestInletModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		st := newStation(t)
		depth := rapid.IntRange(1, 5).Draw(rt, "depth")
		leases := rapid.IntRange(1, 3).Draw(rt, "leases")
		in := inlet(t, st, depth, leases)
		var feeds []*Feed
		var srcs []*source
		var out []*Received
		var model []queued // all queues together, in the order of stamps
		var accepted, received, evicted uint64
		clock := int64(0)

		oldest := func(f int) int { return slices.IndexFunc(model, func(q queued) bool { return q.feed == f }) }
		count := func(f int) (n int) {
			for _, q := range model {
				if q.feed == f {
					n++
				}
			}
			return n
		}
		// note is what happens when the queue of a feed, or of all, is looked at.
		note := func(which func(queued) bool) {
			n := -depth
			for i := range model {
				model[i].noted = model[i].noted || which(model[i])
				if model[i].noted {
					n++
				}
			}
			for ; n > 0; n-- {
				i := slices.IndexFunc(model, func(q queued) bool { return q.noted })
				model = slices.Delete(model, i, i+1)
				evicted++
			}
		}
		turn := func() {
			st.turn()
			note(func(queued) bool { return true })
		}
		rt.Repeat(map[string]func(*rapid.T){
			"publisher": func(rt *rapid.T) {
				if len(feeds) == 4 {
					rt.Skip()
				}
				f, s := feed(t, in, fmt.Sprint(len(feeds)))
				feeds, srcs = append(feeds, f), append(srcs, s)
			},
			"push": func(rt *rapid.T) {
				if len(feeds) == 0 {
					rt.Skip()
				}
				f := rapid.IntRange(0, len(feeds)-1).Draw(rt, "feed")
				if feeds[f].ended {
					rt.Skip()
				}
				for range rapid.IntRange(1, 4).Draw(rt, "n") {
					if count(f) == depth {
						i := oldest(f)
						srcs[f].head = model[i].index + 1
						model = slices.Delete(model, i, i+1)
					}
					clock++
					accepted++
					index := uint64(len(srcs[f].entries))
					srcs[f].push(index+1, clock)
					model = append(model, queued{clock, f, index + 1, index, false})
					st.area.Signal(feeds[f].leaf)
				}
			},
			"end": func(rt *rapid.T) {
				if len(feeds) == 0 {
					rt.Skip()
				}
				if f := rapid.IntRange(0, len(feeds)-1).Draw(rt, "feed"); !feeds[f].ended {
					in.End(feeds[f])
					note(func(q queued) bool { return q.feed == f })
				}
			},
			"turn": func(*rapid.T) { turn() },
			"take": func(rt *rapid.T) {
				r := new(Received)
				ok, more := in.Take(r)
				// What was noted and taken back since is passed over.
				i := slices.IndexFunc(model, func(q queued) bool { return q.noted })
				if len(out) == leases {
					i = -1
				}
				if ok != (i >= 0) {
					rt.Fatalf("took %v with %d leases out of %v", ok, len(out), model)
				}
				if !ok {
					return
				}
				q := model[i]
				if r.feed != feeds[q.feed] || r.Sequence != q.seq {
					rt.Fatalf("took %s%d, want %d%d", r.feed.name(), r.Sequence, q.feed, q.seq)
				}
				model = slices.Delete(model, i, i+1)
				received++
				out = append(out, r)
				noted := slices.ContainsFunc(model, func(q queued) bool { return q.noted })
				// more may be wrong about messages taken back meanwhile, not about others.
				if noted && len(out) < leases && !more || len(out) == leases && more {
					rt.Fatalf("more is %v", more)
				}
			},
			"release": func(rt *rapid.T) {
				if len(out) == 0 {
					rt.Skip()
				}
				i := rapid.IntRange(0, len(out)-1).Draw(rt, "i")
				in.Release(out[i])
				out = slices.Delete(out, i, i+1)
			},
			"": func(rt *rapid.T) {
				c := in.Counts()
				if c.Received != received || c.Evicted != evicted || c.Leases != len(out) {
					rt.Fatalf("counted %+v; want %d received, %d evicted, %d leases", c, received, evicted, len(out))
				}
			},
		})
		turn()
		for _, f := range feeds {
			if !f.ended {
				in.End(f)
			}
		}
		for _, r := range out {
			in.Release(r)
		}
		turn()
		got := drain(st, in)
		for i, q := range model {
			if want := fmt.Sprint(q.feed, q.seq); i >= len(got) || got[i] != fmt.Sprintf("%d%d", q.feed, q.seq) {
				rt.Fatalf("at the end got %v; missing %s of %v", got, want, model)
			}
		}
		if c := in.Counts(); c.Received+c.Lost != accepted || c.Leases != 0 || c.Feeds != 0 {
			rt.Fatalf("%d accepted, counted %+v", accepted, c)
		}
		for i, s := range srcs {
			if !s.over || len(s.out) != 0 {
				rt.Fatalf("publisher %d: over %v, out %v", i, s.over, s.out)
			}
		}
	})
}
