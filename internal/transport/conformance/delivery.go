package conformance

import (
	"sync"
	"testing"
	"time"

	"github.com/tagus-ros/tagus/internal/transport"
)

// styles are the two ways to take: looking for oneself and on an executor.
var styles = []struct {
	name string
	o    Options
}{{"pull", Options{}}, {"callback", Options{Callback: true}}}

// Everything arrives once, in order, if the queue is never full.
func testOrder(t *testing.T, h *Harness) {
	for _, style := range styles {
		t.Run(style.name, func(t *testing.T) {
			p, s := met(t, h, keepAll, keepAll, style.o)
			const n = 20000
			must(t, s.Stream(Stream{}))
			send(t, p, Batch{N: n, Retry: true})
			c := settled(t, s, n)
			r, err := s.Stop()
			must(t, err)
			if f := sound(t, s, r, p.GID()); f.N != n || f.First != 1 || f.Last != n || c.Lost != 0 {
				t.Errorf("received %+v, counted %+v", f, c)
			}
		})
	}
}

// Goroutines that share a publisher stamp in another order than they are numbered.
func testConcurrentPublish(t *testing.T, h *Harness) {
	p, s := met(t, h, keepAll, keepAll, Options{Callback: true})
	const n = 20000
	must(t, s.Stream(Stream{}))
	send(t, p, Batch{N: n, Retry: true, Lanes: 4})
	c := settled(t, s, n)
	r, err := s.Stop()
	must(t, err)
	if len(r.Bad) > 0 {
		t.Errorf("bad content: %v", r.Bad)
	}
	if f := r.of(p.GID()); f.N != n || f.Disorder != 0 || f.Missing != 0 || c.Lost != 0 {
		t.Errorf("received %+v, counted %+v", f, c)
	}
}

// Exactly the newest messages are kept.
func testDepth(t *testing.T, h *Harness) {
	for _, depth := range []int{1, 2, 3, 10, 1000} {
		t.Run("", func(t *testing.T) {
			p, s := met(t, h, keep(depth), keep(depth), Options{})
			last, lost := uint64(0), uint64(0)
			for _, n := range []int{depth, 1, depth + 1, 3*depth + 2, depth - 1, depth} {
				send(t, p, Batch{N: n})
				kept := uint64(min(n, depth))
				last += uint64(n)
				lost += uint64(n) - kept
				drain(t, s, last-kept+1, last)
				if c := counts(t, s); c.Lost != lost || c.Received != last-lost {
					t.Fatalf("after %d messages, %d at a time: counted %+v, want %d lost", last, n, c, lost)
				}
			}
		})
	}
}

// The newest messages over all publishers are kept, in the order in which they were sent.
func testDepthOverPublishers(t *testing.T, h *Harness) {
	for _, depth := range []int{1, 4, 10} {
		t.Run("", func(t *testing.T) {
			ph, sh := hosts(t, h)
			s := subscribe(t, sh, topic(t), keep(depth), Options{})
			var ps []Publisher
			for range 3 {
				ps = append(ps, advertise(t, ph, topic(t), keep(depth)))
			}
			wait(t, s, len(ps))
			for _, p := range ps {
				wait(t, p, 1)
			}
			type sent struct {
				p int
				n uint64
			}
			var all []sent
			numbers := make([]uint64, len(ps))
			received := uint64(0)
			for round, order := range [][]int{{0, 1, 2, 0, 1, 2}, {0, 0, 0, 1, 2}, {2, 1, 0}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 2, 0}, {0}} {
				all = nil
				for _, p := range order {
					send(t, ps[p], Batch{N: 1})
					numbers[p]++
					all = append(all, sent{p, numbers[p]})
				}
				if n := len(all) - depth; n > 0 {
					all = all[n:]
				}
				for _, want := range all {
					if g := take(t, s, false); g.GID != ps[want.p].GID() || g.Sequence != want.n {
						t.Fatalf("round %d: took %v, want %d of publisher %d", round, g, want.n, want.p)
					}
					received++
				}
				none(t, s)
			}
			for _, p := range ps {
				must(t, p.Close())
			}
			until(t, "closed publishers are gone", func() bool {
				none(t, s)
				return counts(t, s).Feeds == 0
			})
			settled(t, s, numbers[0]+numbers[1]+numbers[2])
			if c := counts(t, s); c.Received != received {
				t.Errorf("counted %+v, took %d", c, received)
			}
		})
	}
}

// Publishers and subscriptions, all with all.
func testManyToMany(t *testing.T, h *Harness) {
	ph, sh := hosts(t, h)
	const n, each = 4, 3000
	var ss []Subscription
	var ps []Publisher
	for i := range n {
		ss = append(ss, subscribe(t, sh, topic(t), keep(10), styles[i%2].o))
		ps = append(ps, advertise(t, ph, topic(t), keep(10)))
	}
	for i := range n {
		wait(t, ss[i], n)
		wait(t, ps[i], n)
		must(t, ss[i].Stream(Stream{}))
	}
	var wg sync.WaitGroup
	for _, p := range ps {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if sent, err := p.Publish(Batch{N: each, Sizes: []int{64, 5000, 300}}); err != nil || sent.N != each {
				t.Errorf("published %d: %v", sent.N, err)
			}
		}()
	}
	wg.Wait()
	for _, p := range ps {
		must(t, p.Close())
	}
	for _, s := range ss {
		c := settled(t, s, n*each)
		r, err := s.Stop()
		must(t, err)
		received := 0
		for _, p := range ps {
			received += sound(t, s, r, p.GID()).N
		}
		if received != int(c.Received) || len(r.Flows) > n {
			t.Errorf("saw %d messages of %d publishers, counted %+v", received, len(r.Flows), c)
		}
	}
}

// A reader that takes its time costs itself messages, and nobody else anything.
func testSlowReader(t *testing.T, h *Harness) {
	for _, style := range styles {
		t.Run(style.name, func(t *testing.T) {
			p, s := met(t, h, keep(10), keep(10), style.o)
			must(t, s.Stream(Stream{Delay: 2 * time.Millisecond}))
			const n = 2000
			send(t, p, Batch{N: n, Every: 200 * time.Microsecond})
			until(t, "the newest message comes", func() bool {
				r, err := s.Report()
				must(t, err)
				return r.of(p.GID()).Last == n
			})
			c := settled(t, s, n)
			r, err := s.Stop()
			must(t, err)
			f := sound(t, s, r, p.GID())
			if uint64(f.N) != c.Received || c.Lost == 0 || f.Missing+f.First-1 != c.Lost {
				t.Errorf("received %+v, counted %+v", f, c)
			}
		})
	}
}

// A reader that does not read at all.
func testStuckReader(t *testing.T, h *Harness) {
	ph, sh := hosts(t, h)
	stuck := subscribe(t, sh, topic(t), keep(5), Options{})
	good := subscribe(t, sh, topic(t), keep(5), Options{Callback: true})
	p := advertise(t, ph, topic(t), keep(5))
	wait(t, p, 2)
	wait(t, stuck, 1)
	wait(t, good, 1)
	must(t, good.Stream(Stream{}))
	const n = 5000
	send(t, p, Batch{N: n, Sizes: []int{64, 100000}})
	settled(t, good, n)
	drain(t, stuck, n-4, n)
	if c := counts(t, stuck); c.Lost != n-5 || c.Received != 5 {
		t.Errorf("counted %+v", c)
	}
	if in, err := ph.InUse(); err != nil || in > 64<<20 {
		t.Errorf("%d bytes in use (%v)", in, err)
	}
}

// With all samples kept that can be, messages wait in the queue, and what does not fit
// there is counted. A release lets the next one through.
func testRetained(t *testing.T, h *Harness) {
	const leases, depth = 3, 4
	p, s := met(t, h, keep(depth), keep(depth), Options{Leases: leases})
	send(t, p, Batch{N: leases, Sizes: []int{5000}})
	var held []Got
	for i := range leases {
		held = append(held, take(t, s, true))
		if held[i].Sequence != uint64(i+1) {
			t.Fatalf("took %v", held[i])
		}
	}
	// Enough to use all memory again, were it given back.
	const more = 50
	send(t, p, Batch{N: more, Sizes: []int{5000}})
	none(t, s)
	if c := counts(t, s); c.Leases != leases || c.Waiting != depth || c.Received != leases {
		t.Errorf("counted %+v", c)
	}
	last := uint64(leases + more)
	must(t, s.Release(held[1].Handle))
	if g := take(t, s, true); g.Sequence != last-depth+1 {
		t.Errorf("after a release took %v", g)
	} else {
		held[1] = g
	}
	none(t, s)
	if c := counts(t, s); c.Lost != more-depth {
		t.Errorf("counted %+v, want %d lost", c, more-depth)
	}
	for _, g := range held {
		if bad, err := s.Check(g.Handle); err != nil || bad != "" {
			t.Errorf("held message %v: %s (%v)", g, bad, err)
		}
	}
	// A reader that waits is woken by a release.
	woken := make(chan Got)
	go func() {
		g, err := s.Take(patience, false)
		if err != nil {
			t.Error(err)
		}
		woken <- g
	}()
	for _, g := range held {
		must(t, s.Release(g.Handle))
	}
	if g := <-woken; g.Sequence != last-depth+2 {
		t.Errorf("woken with %v", g)
	}
	drain(t, s, last-depth+3, last)
	send(t, p, Batch{N: 2})
	drain(t, s, last+1, last+2)
}

func testHuge(t *testing.T, h *Harness) {
	p, s := met(t, h, keep(2), keep(2), Options{})
	const size = 20_000_000
	for n := uint64(1); n <= 3; n++ {
		send(t, p, Batch{N: 1, Sizes: []int{size}})
		if g := take(t, s, false); g.Size != size || g.Sequence != n {
			t.Errorf("took %v", g)
		}
	}
}

// Sizes that change from message to message.
func testSizes(t *testing.T, h *Harness) {
	p, s := met(t, h, keepAll, keepAll, Options{Callback: true})
	sizes := []int{200, 8_000_000, 1024, 65536, 300_001, 4096, 1_000_000, 16, 2_700_000, 60, 61, 62, 63, 65}
	n := 10 * len(sizes)
	if testing.Short() {
		n = 2 * len(sizes)
	}
	must(t, s.Stream(Stream{Hold: 2}))
	for sent := 0; sent < n; sent += len(sizes) {
		send(t, p, Batch{N: len(sizes), Sizes: sizes, Retry: true})
		settled(t, s, uint64(sent+len(sizes))) // a bounded number of them in memory
	}
	r, err := s.Stop()
	must(t, err)
	if f := sound(t, s, r, p.GID()); f.N != n {
		t.Errorf("received %+v", f)
	}
}

// What is known of a message besides its content is the same on every path.
func testIdentity(t *testing.T, h *Harness) {
	p, s := met(t, h, keep(10), keep(10), Options{})
	before := time.Now().Add(-time.Second).UnixNano()
	for n := uint64(1); n <= 5; n++ {
		send(t, p, Batch{N: 1})
		g := take(t, s, false)
		if g.GID != p.GID() || g.Sequence != n || g.Path != h.Path {
			t.Errorf("took %v, want sequence %d of %s by %v", g, n, p.GID(), h.Path)
		}
		if g.Source < before || g.Source > g.Wall || g.Stamp <= 0 || g.Stamp > g.Arrived {
			t.Errorf("times of %v: source %d, taken %d; start of publish %d, arrived %d", g, g.Source, g.Wall, g.Stamp, g.Arrived)
		}
	}
}

// Keep-all and reliable: a full queue refuses the next message and loses nothing.
func testKeepAll(t *testing.T, h *Harness) {
	ph, sh := hosts(t, h)
	s := subscribe(t, sh, topic(t), keepAll, Options{})
	other := subscribe(t, sh, topic(t), keep(3), Options{})
	p := advertise(t, ph, topic(t), keepAll)
	wait(t, p, 2)
	wait(t, s, 1)
	wait(t, other, 1)
	const limit, over = transport.QueueLimit, 7
	sent, err := p.Publish(Batch{N: limit + over})
	must(t, err)
	if sent.N != limit || sent.Full != over || accepted(t, p) != limit {
		t.Errorf("accepted %d and refused %d of %d", sent.N, sent.Full, limit+over)
	}
	drain(t, other, limit-2, limit)
	for n := uint64(1); n <= 10; n++ {
		if g := take(t, s, false); g.Sequence != n {
			t.Fatalf("took %v, want %d", g, n)
		}
	}
	if sent, err = p.Publish(Batch{N: 12}); err != nil || sent.N != 10 || sent.Full != 2 {
		t.Errorf("with room for 10: %+v, %v", sent, err)
	}
	drain(t, s, 11, limit+10)
	if c := counts(t, s); c.Lost != 0 || c.Received != limit+10 {
		t.Errorf("counted %+v", c)
	}
	// One that leaves with a full queue holds nobody up.
	send(t, p, Batch{N: limit})
	must(t, s.Close())
	until(t, "the publisher knows that the subscription is gone", func() bool {
		sent, err := p.Publish(Batch{N: 1})
		must(t, err)
		return sent.N == 1
	})
}
