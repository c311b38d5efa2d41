package conformance

import (
	"testing"
	"time"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/transport"
	"github.com/tagus-ros/tagus/qos"
)

// keep is a profile with a depth.
func keep(depth int) qos.Profile { return qos.Default().WithDepth(depth) }

// keepAll is a profile that refuses rather than loses.
var keepAll = qos.Profile{History: qos.KeepAll}

// latched is transient local with a depth.
func latched(depth int) qos.Profile {
	q := keep(depth)
	q.Durability = qos.TransientLocal
	return q
}

// hosts makes the two hosts of a case and closes them at its end.
func hosts(t *testing.T, h *Harness) (pub, sub Host) {
	t.Helper()
	pub, sub = h.Hosts(t)
	t.Cleanup(func() {
		if err := pub.Close(); err != nil {
			t.Errorf("close the publishers' host: %v", err)
		}
		if sub != pub {
			if err := sub.Close(); err != nil {
				t.Errorf("close the subscriptions' host: %v", err)
			}
		}
	})
	return pub, sub
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func advertise(t *testing.T, h Host, name string, q qos.Profile) Publisher {
	t.Helper()
	p, err := h.Publisher(name, q)
	must(t, err)
	return p
}

func subscribe(t *testing.T, h Host, name string, q qos.Profile, o Options) Subscription {
	t.Helper()
	s, err := h.Subscription(name, q, o)
	must(t, err)
	return s
}

// met makes a publisher and a subscription and waits until both know of the other.
func met(t *testing.T, h *Harness, pq, sq qos.Profile, o Options) (Publisher, Subscription) {
	t.Helper()
	ph, sh := hosts(t, h)
	s := subscribe(t, sh, topic(t), sq, o)
	p := advertise(t, ph, topic(t), pq)
	wait(t, p, 1)
	wait(t, s, 1)
	return p, s
}

// wait waits for n counterparts.
func wait(t *testing.T, end interface{ Wait(int) error }, n int) {
	t.Helper()
	if err := end.Wait(n); err != nil {
		t.Fatalf("wait for %d: %v", n, err)
	}
}

// send publishes and has all of it accepted.
func send(t *testing.T, p Publisher, b Batch) {
	t.Helper()
	if sent, err := p.Publish(b); err != nil || sent.N != b.N {
		t.Fatalf("published %d of %d: %v", sent.N, b.N, err)
	}
}

// take takes the next message, which must come and be in order.
func take(t *testing.T, s Subscription, hold bool) Got {
	t.Helper()
	g, err := s.Take(patience, hold)
	must(t, err)
	if !g.OK {
		c, _ := s.Counts()
		t.Fatalf("no message came: %+v", c)
	}
	if g.Bad != "" || g.Number != g.Sequence {
		t.Errorf("took %v", g)
	}
	return g
}

// none finds that there is nothing to take now.
func none(t *testing.T, s Subscription) {
	t.Helper()
	if g, err := s.Take(0, false); err != nil || g.OK {
		t.Errorf("took %v (%v), want nothing", g, err)
	}
}

// drain takes exactly the messages first to last of one publisher, and then nothing.
func drain(t *testing.T, s Subscription, first, last uint64) {
	t.Helper()
	for n := first; n <= last; n++ {
		if g := take(t, s, false); g.Sequence != n {
			t.Fatalf("took %v, want sequence %d of %d to %d", g, n, first, last)
		}
	}
	none(t, s)
}

// until waits for a condition that no call waits for.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !done(); {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

func counts(t *testing.T, s Subscription) transport.InletCounts {
	t.Helper()
	c, err := s.Counts()
	must(t, err)
	return c
}

func accepted(t *testing.T, p Publisher) uint64 {
	t.Helper()
	n, _, err := p.Counts()
	must(t, err)
	return n
}

// settled waits until everything that was owed to s is received or lost, and returns the
// counts.
func settled(t *testing.T, s Subscription, owed uint64) transport.InletCounts {
	t.Helper()
	var c transport.InletCounts
	until(t, "received and lost add up", func() bool {
		c = counts(t, s)
		return c.Received+c.Lost >= owed && c.Waiting == 0
	})
	if c.Received+c.Lost != owed || c.Duplicate != 0 || c.Faults != 0 {
		t.Errorf("%d owed, counted %+v", owed, c)
	}
	return c
}

// sound finds nothing wrong in a report: content, order, numbers. It returns the flow of
// a publisher.
func sound(t *testing.T, s Subscription, r Report, of graph.GID) Flow {
	t.Helper()
	if len(r.Bad) > 0 {
		t.Errorf("bad content: %v", r.Bad)
	}
	for _, f := range r.Flows {
		if f.Disorder > 0 || f.Renumbered > 0 {
			t.Errorf("%d messages out of order or twice, %d with another's content: %+v", f.Disorder, f.Renumbered, f)
		}
	}
	if c := counts(t, s); c.Duplicate != 0 || c.Faults != 0 {
		t.Errorf("counted %+v", c)
	}
	return *r.of(of)
}
