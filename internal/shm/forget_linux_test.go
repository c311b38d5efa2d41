package shm

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/tagus-ros/tagus/internal/transport/conformance"
	"github.com/tagus-ros/tagus/qos"
)

// things is what a process could forget to give back.
type things struct{ fds, maps, objects int }

func countThings(t *testing.T) (n things) {
	n.fds, n.maps = openThings(t)
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	n.objects = int(m.HeapObjects)
	return n
}

// grew finds that nothing grew with the number of restarts, once the timers that look
// after connections that end have run out.
func (before things) grew(t *testing.T, rounds int) {
	t.Helper()
	var n things
	for range 50 {
		n = countThings(t)
		if n.fds <= before.fds+3 && n.maps <= before.maps+30 && n.objects <= before.objects+rounds/4+200 {
			t.Logf("before %+v, after %d more rounds %+v", before, rounds, n)
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("before %+v, after %d more rounds %+v", before, rounds, n)
}

// restarts is how often something is made and closed.
func restarts(t *testing.T) int {
	switch {
	case testing.Short():
		return 100
	case os.Getenv("TAGUS_SOAK") != "":
		return 5000
	}
	return 500
}

// Nothing is kept of endpoints that came and went in a process that stays.
func TestEndpointsAreForgotten(t *testing.T) {
	dir := t.TempDir()
	log := new(faults)
	_, a := newParticipant(t, dir, log)
	_, b := newParticipant(t, dir, log)
	q := qos.Default().WithDepth(3)
	for _, which := range []string{"subscriptions", "publishers"} {
		t.Run(which, func(t *testing.T) {
			name := "/" + which
			var p conformance.Publisher
			var s conformance.Subscription
			var err error
			// A pair that stays, so that the connection does.
			stay, err := b.Subscription(name, q, conformance.Options{Callback: true})
			check(t, err)
			check(t, stay.Stream(conformance.Stream{}))
			if which == "subscriptions" {
				p, err = a.Publisher(name, q)
				check(t, err)
			}
			received := 0
			round := func() {
				if which == "subscriptions" {
					s, err = b.Subscription(name, q, conformance.Options{})
					check(t, err)
					check(t, s.Wait(1))
				} else {
					s = stay
					p, err = a.Publisher(name, q)
					check(t, err)
					check(t, p.Wait(1))
				}
				_, err = p.Publish(conformance.Batch{N: 1})
				check(t, err)
				if which == "subscriptions" {
					g, err := s.Take(10*time.Second, false)
					check(t, err)
					if !g.OK {
						t.Fatal("nothing came")
					}
					check(t, s.Close())
					return
				}
				check(t, p.Close())
				received++
				for end := time.Now().Add(10 * time.Second); ; time.Sleep(100 * time.Microsecond) {
					// All that is kept of the stream in this test is its report.
					c, err := s.Counts()
					check(t, err)
					if int(c.Received) == received && c.Feeds == 0 {
						break
					}
					if time.Now().After(end) {
						t.Fatalf("received %d: %+v", received, c)
					}
				}
			}
			for range 50 {
				round()
			}
			before := countThings(t)
			n := restarts(t)
			for range n {
				round()
			}
			before.grew(t, n)
			if c, err := stay.Counts(); err != nil || c.Known > 1 {
				t.Errorf("%d publishers are known, of which at most one is there (%v)", c.Known, err)
			}
		})
	}
	check(t, a.Close())
	check(t, b.Close())
}

// Nothing is kept of participants that came and went.
func TestParticipantsAreForgotten(t *testing.T) {
	dir := t.TempDir()
	log := new(faults)
	pa, a := newParticipant(t, dir, log)
	q := qos.Default().WithDepth(3)
	s, err := a.Subscription("/up", q, conformance.Options{Callback: true})
	check(t, err)
	check(t, s.Stream(conformance.Stream{}))
	p, err := a.Publisher("/down", q)
	check(t, err)
	round := func() {
		_, b := newParticipant(t, dir, log)
		bs, err := b.Subscription("/down", q, conformance.Options{})
		check(t, err)
		bp, err := b.Publisher("/up", q)
		check(t, err)
		check(t, bp.Wait(1))
		check(t, bs.Wait(1))
		_, err = p.Publish(conformance.Batch{N: 5})
		check(t, err)
		_, err = bp.Publish(conformance.Batch{N: 5})
		check(t, err)
		check(t, b.Close())
		for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
			peers, said := make(chan int), ""
			pa.member.box.post(func() {
				said = fmt.Sprint(pa.member.said)
				peers <- len(pa.member.peers) + len(pa.member.said)
			})
			n := <-peers
			if n == 0 {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%d participants that left are still known, or complained about: %s; logged %v", n, said, log.n)
			}
		}
	}
	for range 30 {
		round()
	}
	time.Sleep(3 * time.Second) // the timers have run out
	before := countThings(t)
	n := restarts(t) / 4
	for range n {
		round()
	}
	before.grew(t, n)
	if c, err := s.Counts(); err != nil || c.Known != 0 {
		t.Errorf("%d publishers are known that are gone (%v)", c.Known, err)
	}
	check(t, a.Close())
}
