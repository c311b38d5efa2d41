package conformance

import (
	"errors"
	"testing"
	"time"

	"github.com/tagus-ros/tagus/internal/transport"
)

// What was accepted is delivered though the publisher closes at once.
func testCloseDelivers(t *testing.T, h *Harness) {
	for _, style := range styles {
		t.Run(style.name, func(t *testing.T) {
			ph, sh := hosts(t, h)
			s := subscribe(t, sh, topic(t), keep(10), style.o)
			must(t, s.Stream(Stream{}))
			owed := uint64(0)
			for round := range 40 {
				p := advertise(t, ph, topic(t), keep(10))
				wait(t, p, 1)
				n := 1 + round%10
				send(t, p, Batch{N: n, Sizes: []int{64, 70000}})
				must(t, p.Close())
				owed += uint64(n)
				if c := settled(t, s, owed); c.Lost != 0 {
					t.Fatalf("round %d: counted %+v", round, c)
				}
			}
			r, err := s.Stop()
			must(t, err)
			sound(t, s, r, [16]byte{})
			until(t, "closed publishers are gone", func() bool { return counts(t, s).Feeds == 0 })
			unused(t, ph)
		})
	}
}

// unused waits until nothing of a host's arena is in use.
func unused(t *testing.T, h Host) {
	t.Helper()
	var n int64
	var err error
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if n, err = h.InUse(); err == nil && n == 0 {
			return
		}
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("%d bytes are in use (%v)", n, err)
		}
	}
}

// Either side closes in the middle of traffic, and the other goes on with a new one.
func testCloseWhileBusy(t *testing.T, h *Harness) {
	ph, sh := hosts(t, h)
	p := advertise(t, ph, topic(t), keep(5))
	s := subscribe(t, sh, topic(t), keep(5), Options{Callback: true})
	sizes := []int{64, 40000, 64, 300000}
	for round := range 30 {
		wait(t, p, 1)
		wait(t, s, 1)
		must(t, s.Stream(Stream{Hold: round % 4}))
		done := make(chan error)
		go func() {
			_, err := p.Publish(Batch{N: 1 << 30, Sizes: sizes})
			done <- err
		}()
		until(t, "messages flow", func() bool {
			r, err := s.Report()
			must(t, err)
			return r.Received > 20
		})
		if round%2 == 0 {
			must(t, s.Close())
		}
		must(t, p.Close())
		if err := <-done; !errors.Is(err, transport.ErrClosed) {
			t.Fatalf("round %d: publish: %v", round, err)
		}
		if round%2 == 0 {
			r, err := s.Report()
			must(t, err)
			sound(t, s, r, p.GID())
			s = subscribe(t, sh, topic(t), keep(5), styles[round/2%2].o)
		} else {
			settled(t, s, accepted(t, p)) // publishers are closed with all of it accounted for
			r, err := s.Stop()
			must(t, err)
			sound(t, s, r, p.GID())
			must(t, s.Close())
			s = subscribe(t, sh, topic(t), keep(5), styles[round/2%2].o)
		}
		p = advertise(t, ph, topic(t), keep(5))
	}
	must(t, p.Close())
	must(t, s.Close())
	unused(t, ph)
}

// Closing ends what waits.
func testCloseWhileBlocked(t *testing.T, h *Harness) {
	ph, sh := hosts(t, h)
	p := advertise(t, ph, topic(t), keep(5))
	s := subscribe(t, sh, topic(t), keep(5), Options{})
	wait(t, p, 1)
	wait(t, s, 1)
	waits := make(chan error, 3)
	begun := time.Now()
	go func() { waits <- p.Wait(2) }()
	go func() { waits <- s.Wait(2) }()
	go func() {
		_, err := s.Take(patience, false)
		waits <- err
	}()
	time.Sleep(10 * time.Millisecond) // so that they do wait, as a rule
	must(t, s.Close())
	must(t, p.Close())
	for range 3 {
		if err := <-waits; !errors.Is(err, transport.ErrClosed) {
			t.Errorf("a wait ended with %v", err)
		}
	}
	if took := time.Since(begun); took >= patience {
		t.Errorf("the waits ended after %v", took)
	}
	must(t, s.Close())
	must(t, p.Close())
}

// What a reader holds stays as it is, whoever closes, until it is released.
func testCloseWithLeases(t *testing.T, h *Harness) {
	for _, first := range []string{"subscription", "publisher"} {
		t.Run(first, func(t *testing.T) {
			ph, sh := hosts(t, h)
			s := subscribe(t, sh, topic(t), keep(5), Options{Leases: 3})
			p := advertise(t, ph, topic(t), keep(5))
			wait(t, p, 1)
			wait(t, s, 1)
			sizes := []int{64, 70000, 5000}
			send(t, p, Batch{N: 5, Sizes: sizes})
			var held []Got
			for range 3 {
				held = append(held, take(t, s, true))
			}
			if first == "subscription" {
				must(t, s.Close())
				must(t, p.Close())
			} else {
				must(t, p.Close())
				must(t, s.Close())
			}
			// Others use what memory there is.
			s2 := subscribe(t, sh, topic(t), keep(5), Options{})
			p2 := advertise(t, ph, topic(t), keep(5))
			wait(t, p2, 1)
			wait(t, s2, 1)
			send(t, p2, Batch{N: 50, Sizes: sizes})
			drain(t, s2, 46, 50)
			must(t, p2.Close())
			must(t, s2.Close())
			for _, g := range held {
				if bad, err := s.Check(g.Handle); err != nil || bad != "" {
					t.Errorf("held message %v: %s (%v)", g, bad, err)
				}
				must(t, s.Release(g.Handle))
			}
			unused(t, ph)
		})
	}
}

// Both sides close and leave messages behind.
func testCloseBoth(t *testing.T, h *Harness) {
	ph, sh := hosts(t, h)
	for round := range 12 {
		s := subscribe(t, sh, topic(t), keep(5), styles[round%2].o)
		p := advertise(t, ph, topic(t), latched(3))
		wait(t, p, 1)
		wait(t, s, 1)
		send(t, p, Batch{N: 4, Sizes: []int{64, 100000}})
		switch round % 3 {
		case 0:
			must(t, p.Close())
			must(t, s.Close())
		case 1:
			must(t, s.Close())
			must(t, p.Close())
		case 2:
			done := make(chan error)
			go func() { done <- s.Close() }()
			must(t, p.Close())
			must(t, <-done)
		}
		unused(t, ph)
	}
}

// A new subscription is never deaf: each receives what is sent once it knows of its
// publisher.
func testChurn(t *testing.T, h *Harness) {
	ph, sh := hosts(t, h)
	p := advertise(t, ph, topic(t), keep(1))
	rounds := rounds(t, 50, 300, 5000)
	for round := range uint64(rounds) {
		s := subscribe(t, sh, topic(t), keep(1), Options{Callback: true})
		must(t, s.Stream(Stream{}))
		wait(t, s, 1)
		send(t, p, Batch{N: 1})
		until(t, "a new subscription receives", func() bool {
			r, err := s.Report()
			must(t, err)
			return r.Received == 1 && r.Flows[0].Last == round+1
		})
		must(t, s.Close())
	}
	must(t, p.Close())
	unused(t, ph)
}
