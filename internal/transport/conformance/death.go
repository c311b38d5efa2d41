package conformance

import (
	"math/rand/v2"
	"testing"
	"time"
)

// moment is a random time from the birth of a process until well after it is in the
// middle of traffic.
func moment() time.Duration { return time.Duration(rand.IntN(30_000)) * time.Microsecond }

// Subscribers die at any moment: others miss nothing, a new one is matched soon, memory
// comes back.
func testSubscriberKilled(t *testing.T, h *Harness) {
	ph, sh := hosts(t, h)
	p := advertise(t, ph, topic(t), keep(1000))
	good := subscribe(t, sh, topic(t), keep(1000), Options{Callback: true})
	wait(t, good, 1)
	wait(t, p, 1)
	must(t, good.Stream(Stream{}))
	stop := make(chan struct{})
	sent := make(chan int)
	go func() {
		n := 0
		for {
			select {
			case <-stop:
				sent <- n
				return
			default:
			}
			b, err := p.Publish(Batch{N: 20, Every: 500 * time.Microsecond, Sizes: []int{20000, 64, 300}})
			if err != nil {
				t.Errorf("publish: %v", err)
			}
			n += b.N
		}
	}()
	var slowest time.Duration
	for range rounds(t, 5, 50, 200) {
		victim := h.Process(t)
		if rand.IntN(4) == 0 { // killed while it joins
			go func() {
				if s, err := victim.Subscription(topic(t), keep(10), Options{}); err == nil {
					s.Stream(Stream{})
				}
			}()
			time.Sleep(moment() / 10)
			victim.Kill()
			continue
		}
		begun := time.Now()
		s := subscribe(t, victim, topic(t), keep(10), Options{Leases: 5})
		wait(t, s, 1)
		slowest = max(slowest, time.Since(begun))
		must(t, s.Stream(Stream{Hold: 4}))
		until(t, "a restarted subscriber receives", func() bool {
			r, err := s.Report()
			must(t, err)
			return r.Received > 0
		})
		time.Sleep(moment())
		victim.Kill()
	}
	close(stop)
	n := <-sent
	if c := settled(t, good, uint64(n)); c.Lost != 0 {
		t.Errorf("the one that lives lost messages: %+v", c)
	}
	r, err := good.Stop()
	must(t, err)
	sound(t, good, r, p.GID())
	returned(t, p)
	unused(t, ph)
	t.Logf("the slowest match of a restarted subscriber took %v", slowest)
}

// returned waits until nothing of a publisher is queued or lent.
func returned(t *testing.T, p Publisher) {
	t.Helper()
	until(t, "nothing is queued or lent any more", func() bool {
		_, c, err := p.Counts()
		must(t, err)
		return c.Queued == 0 && c.Lent == 0
	})
}

// Publishers die at any moment: what they sent is taken, what is held stays, a new one is
// matched soon.
func testPublisherKilled(t *testing.T, h *Harness) {
	ph, sh := hosts(t, h)
	s := subscribe(t, sh, topic(t), keep(100), Options{Leases: 8})
	// One that lives sends beside them.
	p := advertise(t, ph, topic(t)+"_living", keep(1000))
	good := subscribe(t, sh, topic(t)+"_living", keep(1000), Options{Callback: true})
	wait(t, good, 1)
	wait(t, p, 1)
	must(t, good.Stream(Stream{}))
	alive, sent := uint64(0), 0
	var slowest time.Duration
	for range rounds(t, 5, 50, 200) {
		victim := h.Process(t)
		v := advertise(t, victim, topic(t), keep(10))
		begun := time.Now()
		wait(t, v, 1)
		slowest = max(slowest, time.Since(begun))
		go v.Publish(Batch{N: 1 << 30, Sizes: []int{64, 100000, 4000}})
		held := take(t, s, true)
		if held.GID != v.GID() || held.Sequence == 0 {
			t.Fatalf("took %v", held)
		}
		last := held.Sequence
		killed := time.After(moment())
		dead := make(chan struct{})
		go func() {
			<-killed
			victim.Kill()
			close(dead)
		}()
		send(t, p, Batch{N: 10})
		sent += 10
		for over := false; !over; {
			select {
			case <-dead:
				over = counts(t, s).Feeds == 0
			default:
			}
			g, err := s.Take(time.Millisecond, false)
			must(t, err)
			if !g.OK {
				continue
			}
			over = false
			if g.Bad != "" || g.GID != v.GID() || g.Sequence <= last || g.Number != g.Sequence {
				t.Errorf("took %v after %d", g, last)
			}
			last = g.Sequence
		}
		if bad, err := s.Check(held.Handle); err != nil || bad != "" {
			t.Errorf("held message of a dead publisher: %s (%v)", bad, err)
		}
		must(t, s.Release(held.Handle))
		alive++
	}
	if c := settled(t, good, uint64(sent)); c.Lost != 0 {
		t.Errorf("a pair that lives lost messages: %+v", c)
	}
	if c := counts(t, s); c.Leases != 0 || c.Feeds != 0 || c.Duplicate != 0 || c.Faults != 0 {
		t.Errorf("counted %+v", c)
	}
	t.Logf("the slowest match of a restarted publisher took %v", slowest)
}

// A frozen subscriber costs nobody else anything, and goes on with the newest messages.
func testSubscriberFrozen(t *testing.T, h *Harness) {
	ph, sh := hosts(t, h)
	p := advertise(t, ph, topic(t), keep(10))
	good := subscribe(t, sh, topic(t), keep(2000), Options{Callback: true})
	frozen := h.Process(t)
	fs := subscribe(t, frozen, topic(t), keep(10), Options{Leases: 3})
	wait(t, p, 2)
	wait(t, good, 1)
	wait(t, fs, 1)
	must(t, good.Stream(Stream{}))
	send(t, p, Batch{N: 2})
	held := take(t, fs, true)
	frozen.Freeze()
	const n = 2000
	send(t, p, Batch{N: n - 2, Sizes: []int{64, 50000}})
	if c := settled(t, good, n); c.Lost != 0 {
		t.Errorf("another subscriber lost messages: %+v", c)
	}
	until(t, "the publisher holds no more than a queue of 10 and a lease", func() bool {
		_, c, err := p.Counts()
		must(t, err)
		return c.Queued == 10 && c.Lent == 1
	})
	// Others come and go meanwhile.
	for range rounds(t, 10, 50, 200) {
		s := subscribe(t, sh, topic(t), keep(1), Options{})
		wait(t, s, 1)
		must(t, s.Close())
	}
	frozen.Thaw()
	drain(t, fs, n-9, n)
	if bad, err := fs.Check(held.Handle); err != nil || bad != "" {
		t.Errorf("held message: %s (%v)", bad, err)
	}
	must(t, fs.Release(held.Handle))
	if c := counts(t, fs); c.Received != 11 || c.Lost != n-11 {
		t.Errorf("counted %+v", c)
	}
	must(t, frozen.Close())
	r, err := good.Stop()
	must(t, err)
	sound(t, good, r, p.GID())
	returned(t, p)
	unused(t, ph)
}

// A process that sends one message to the subscription that it waited for, and ends at
// once, in good order or killed, is heard.
func testPublishAndExit(t *testing.T, h *Harness) {
	_, sh := hosts(t, h)
	s := subscribe(t, sh, topic(t), keep(10), Options{})
	for round := range rounds(t, 6, 40, 500) {
		brief := h.Process(t)
		p := advertise(t, brief, topic(t), keep(1))
		wait(t, p, 1)
		send(t, p, Batch{N: 1})
		if round%2 == 0 {
			must(t, brief.Close())
		} else {
			brief.Kill()
		}
		if g := take(t, s, false); g.GID != p.GID() || g.Sequence != 1 {
			t.Fatalf("round %d: took %v", round, g)
		}
		none(t, s)
	}
	// Both start at once, and the only message was sent before they met.
	for round := range rounds(t, 3, 20, 500) {
		made := make(chan Subscription)
		go func() {
			s, err := sh.Subscription(topic(t)+"_latched", latched(1), Options{})
			if err != nil {
				t.Error(err)
			}
			made <- s
		}()
		brief := h.Process(t)
		p := advertise(t, brief, topic(t)+"_latched", latched(1))
		send(t, p, Batch{N: 1})
		s := <-made
		if g := take(t, s, false); g.GID != p.GID() || g.Sequence != 1 {
			t.Fatalf("round %d: took %v", round, g)
		}
		none(t, s)
		must(t, s.Close())
		must(t, brief.Close())
	}
}
