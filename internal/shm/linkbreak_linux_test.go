package shm

import (
	"testing"
	"time"

	"github.com/tagus-ros/tagus/internal/shm/control"
	"github.com/tagus-ros/tagus/internal/transport/conformance"
	"github.com/tagus-ros/tagus/qos"
)

// A control connection that breaks although both processes live is made anew: what was
// sent meanwhile is counted, nothing comes twice, and what is held stays as it is.
func TestConnectionBreaks(t *testing.T) {
	for _, side := range []string{"publisher", "subscription"} {
		t.Run(side, func(t *testing.T) {
			dir := t.TempDir()
			log := new(faults)
			pa, a := newParticipant(t, dir, log)
			pb, b := newParticipant(t, dir, log)
			q := qos.Default().WithDepth(10)
			s, err := b.Subscription("/topic", q, conformance.Options{Leases: 3})
			check(t, err)
			p, err := a.Publisher("/topic", q)
			check(t, err)
			check(t, p.Wait(1))
			check(t, s.Wait(1))
			_, err = p.Publish(conformance.Batch{N: 3})
			check(t, err)
			held, err := s.Take(10*time.Second, true)
			check(t, err)
			// One side gets what it cannot make sense of, and gives the connection up.
			confused, by := pa, pb
			nonsense := func(peer *peer) { peer.in.link.say(control.Live{Conn: 77}) }
			if side == "subscription" {
				confused, by = pb, pa
				nonsense = func(peer *peer) { peer.out.link.say(control.Closed{Conn: 77}) }
			}
			by.member.box.post(func() {
				for _, peer := range by.member.peers {
					nonsense(peer)
				}
			})
			for end := time.Now().Add(10 * time.Second); log.count("control connection") == 0; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("%v does not mind nonsense", confused.cfg.ID)
				}
			}
			_, err = p.Publish(conformance.Batch{N: 30, Sizes: []int{64, 70000}})
			check(t, err)
			if bad, err := s.Check(held.Handle); err != nil || bad != "" {
				t.Errorf("held message: %s (%v)", bad, err)
			}
			if side == "subscription" {
				check(t, s.Release(held.Handle)) // it is met again when it has let go
			}
			// Sent until it arrives: some of it while nobody is there.
			sent, last, received := 33, uint64(1), 1
			for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
				n, err := p.Publish(conformance.Batch{N: 1, Sizes: []int{64, 70000}})
				check(t, err)
				sent += n.N
				for {
					g, err := s.Take(0, false)
					check(t, err)
					if !g.OK {
						break
					}
					if g.Bad != "" || g.Sequence <= last {
						t.Fatalf("took %v after %d", g, last)
					}
					last = g.Sequence
					received++
				}
				if last > 33 && last == uint64(sent) {
					break
				}
				if time.Now().After(end) {
					t.Fatalf("nothing came after a break: sent %d, last %d; logged %v", sent, last, log.n)
				}
			}
			c, err := s.Counts()
			check(t, err)
			if c.Received != uint64(received) || c.Received+c.Lost != uint64(sent) || c.Duplicate != 0 {
				t.Errorf("sent %d, took %d, counted %+v", sent, received, c)
			}
			t.Logf("sent %d until it arrived again, %d of them lost", sent, c.Lost)
			if side == "publisher" {
				if bad, err := s.Check(held.Handle); err != nil || bad != "" {
					t.Errorf("held message: %s (%v)", bad, err)
				}
				check(t, s.Release(held.Handle))
			}
			for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
				failed := make(chan int)
				pa.member.box.post(func() {
					n := 0
					for _, peer := range pa.member.peers {
						n += len(peer.failed)
					}
					failed <- n
				})
				if <-failed == 0 {
					break
				}
				if time.Now().After(end) {
					t.Fatal("a connection that was given up is still open")
				}
			}
			check(t, a.Close())
			check(t, b.Close())
		})
	}
}
