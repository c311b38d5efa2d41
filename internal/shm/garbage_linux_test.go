package shm

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/arena"
	"github.com/tagus-ros/tagus/internal/match"
	"github.com/tagus-ros/tagus/internal/transport"
	"github.com/tagus-ros/tagus/internal/transport/conformance"
	"github.com/tagus-ros/tagus/internal/wake"
	"github.com/tagus-ros/tagus/qos"
)

// newParticipant joins the domain that meets in dir. Its arena is small, since a liar can
// have all of it read.
func newParticipant(t *testing.T, dir string, log slog.Handler) (*Path, conformance.Host) {
	t.Helper()
	a, err := arena.New(arena.Config{Limit: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	inbox, err := NewInbox()
	if err != nil {
		t.Fatal(err)
	}
	id := graph.NewID()
	p, err := Join(Config{
		Domain: 1, Dir: dir, ID: id, Arena: a, Inbox: inbox, Graph: graph.New(), Log: slog.New(log),
		Joins: func(*transport.Outlet, *transport.Inlet) bool { return false },
		Match: func(pub, sub *graph.Endpoint) bool { return len(match.Check(pub, sub)) == 0 },
	})
	if err != nil {
		t.Fatal(err)
	}
	return p, conformance.NewHost(conformance.Member{
		ID: id, Domain: 1, Arena: a, Paths: []transport.Transport{p}, Area: inbox.Area, Release: inbox.Release, Announce: p.Announce,
		Close: func() error {
			a.Close() // what comes back from now on is not used again
			return errors.Join(p.Close(), inbox.Close(), a.Close())
		},
	})
}

// faults counts what was logged as an error, by message.
type faults struct {
	mu sync.Mutex
	n  map[string]int
}

func (f *faults) Enabled(context.Context, slog.Level) bool { return true }
func (f *faults) WithAttrs([]slog.Attr) slog.Handler       { return f }
func (f *faults) WithGroup(string) slog.Handler            { return f }

func (f *faults) Handle(_ context.Context, r slog.Record) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n == nil {
		f.n = make(map[string]int)
	}
	f.n[r.Message]++
	return nil
}

func (f *faults) count(message string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for m, k := range f.n {
		if strings.HasPrefix(m, message) {
			n += k
		}
	}
	return n
}

// trials is how often garbage is thrown.
func trials(t *testing.T) int {
	switch {
	case testing.Short():
		return 100
	case os.Getenv("TAGUS_SOAK") != "":
		return 10000
	}
	return 1000
}

// sound is a pair that must not notice anything.
type soundPair struct {
	p    conformance.Publisher
	s    conformance.Subscription
	sent int
}

func newSoundPair(t *testing.T, ph, sh conformance.Host, name string) *soundPair {
	t.Helper()
	q := qos.Default().WithDepth(1000)
	s, err := sh.Subscription(name, q, conformance.Options{Callback: true})
	check(t, err)
	p, err := ph.Publisher(name, q)
	check(t, err)
	check(t, p.Wait(1))
	check(t, s.Wait(1))
	check(t, s.Stream(conformance.Stream{}))
	return &soundPair{p: p, s: s}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (p *soundPair) send(t *testing.T, n int) {
	t.Helper()
	sent, err := p.p.Publish(conformance.Batch{N: n, Sizes: []int{64, 3000}})
	check(t, err)
	p.sent += sent.N
}

// end finds that nothing was lost.
func (p *soundPair) end(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if r, err := p.s.Report(); err != nil || r.Received >= p.sent {
			break
		}
	}
	r, err := p.s.Stop()
	check(t, err)
	c, err := p.s.Counts()
	check(t, err)
	if r.Received != p.sent || c.Lost != 0 || c.Faults != 0 || c.Duplicate != 0 || len(r.Bad) > 0 || len(r.Flows) != 1 || r.Flows[0].Disorder != 0 {
		t.Errorf("another pair: sent %d, saw %+v, counted %+v", p.sent, r, c)
	}
}

// Random bytes in the ring of a pair in the middle of traffic, by whichever side: nobody
// crashes, the pair goes on or is closed with an error, other pairs lose nothing.
func TestGarbageInRings(t *testing.T) {
	dir := t.TempDir()
	log := new(faults)
	pa, a := newParticipant(t, dir, log)
	_, b := newParticipant(t, dir, log)
	_, c := newParticipant(t, dir, log)
	other := newSoundPair(t, a, c, "/other")     // another process pair
	beside := newSoundPair(t, a, b, "/beside")   // another ring of the same memory
	against := newSoundPair(t, b, a, "/against") // the other direction
	q := qos.Default().WithDepth(5)
	found := 0
	for trial := range trials(t) {
		s, err := b.Subscription("/victim", q, conformance.Options{Callback: trial%2 == 0, Leases: 3})
		check(t, err)
		p, err := a.Publisher("/victim", q)
		check(t, err)
		check(t, p.Wait(1))
		check(t, s.Wait(1))
		check(t, s.Stream(conformance.Stream{Hold: trial % 3}))
		done := make(chan error)
		go func() {
			_, err := p.Publish(conformance.Batch{N: 200, Sizes: []int{64, 64, 9000}})
			done <- err
		}()
		for range 1 + rand.IntN(5) {
			pa.member.box.post(func() {
				for key, pair := range peerPairs(pa) {
					if key.pub == p.GID() && pair.block.mem != nil {
						garbage(pair.block.mem)
					}
				}
			})
			time.Sleep(time.Duration(rand.IntN(50)) * time.Microsecond)
		}
		other.send(t, 3)
		beside.send(t, 3)
		against.send(t, 3)
		check(t, <-done)
		check(t, s.Close())
		n, err := s.Counts()
		check(t, err)
		found += int(n.Faults)
		check(t, p.Close())
	}
	other.end(t)
	beside.end(t)
	against.end(t)
	byPublisher, byReader := log.count("a subscription was disconnected"), log.count("a publisher was disconnected")
	t.Logf("faults found: %d by publishers, %d by subscriptions; logged %v", byPublisher, found, log.n)
	if byPublisher == 0 || found == 0 || byReader == 0 {
		t.Errorf("faults logged: %d by publishers, %d by subscriptions, which counted %d", byPublisher, byReader, found)
	}
	for _, h := range []conformance.Host{a, b, c} {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
}

// peerPairs are all pairs of publishers here. On the owner's goroutine only.
func peerPairs(p *Path) map[pairKey]*outPair {
	all := make(map[pairKey]*outPair)
	for _, peer := range p.member.peers {
		for k, c := range peer.pairs {
			all[k] = c
		}
	}
	return all
}

// Random bytes in the inbox of a process, by one of its peers: it does not crash, and
// once the garbage ends it hears everything again.
func TestGarbageInInbox(t *testing.T) {
	dir := t.TempDir()
	log := new(faults)
	pa, a := newParticipant(t, dir, log)
	pb, b := newParticipant(t, dir, log)
	_, c := newParticipant(t, dir, log)
	other := newSoundPair(t, a, c, "/other")
	q := qos.Default().WithDepth(5)
	var subs []conformance.Subscription
	p, err := a.Publisher("/victim", q)
	check(t, err)
	for i := range 4 {
		s, err := b.Subscription("/victim", q, conformance.Options{Callback: i%2 == 0})
		check(t, err)
		check(t, s.Wait(1))
		check(t, s.Stream(conformance.Stream{}))
		subs = append(subs, s)
	}
	check(t, p.Wait(len(subs)))
	used := pb.cfg.Inbox.next
	for range trials(t) {
		done := make(chan struct{})
		pa.member.box.post(func() {
			defer close(done)
			for _, peer := range pa.member.peers {
				if peer.id == pb.cfg.ID {
					garbageInArea(peer.out.inbox[:used])
				}
			}
		})
		<-done
		_, err := p.Publish(conformance.Batch{N: 2})
		check(t, err)
		other.send(t, 1)
	}
	pb.cfg.Inbox.Rouse()
	sent := uint64(2 * trials(t))
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		// What was signalled while the bits were overwritten is found with the next signal.
		n, err := p.Publish(conformance.Batch{N: 1})
		check(t, err)
		sent += uint64(n.N)
		time.Sleep(time.Millisecond)
		heard := 0
		for _, s := range subs {
			r, err := s.Report()
			check(t, err)
			if len(r.Flows) == 1 && r.Flows[0].Last == sent {
				heard++
			}
			if len(r.Bad) > 0 {
				t.Errorf("bad content: %v", r.Bad)
			}
		}
		if heard == len(subs) {
			break
		}
	}
	for i, s := range subs {
		r, err := s.Stop()
		check(t, err)
		if len(r.Flows) != 1 || r.Flows[0].Last != sent || r.Flows[0].Disorder != 0 {
			t.Errorf("subscription %d, sent %d: %+v", i, sent, r)
		}
	}
	other.end(t)
	for _, h := range []conformance.Host{a, b, c} {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
}

// garbageInArea overwrites a random byte or word of an area, half of the time in its head.
func garbageInArea(mem []byte) {
	at := rand.IntN(len(mem)/8) * 8
	if rand.IntN(2) == 0 {
		// The first area is the executor's.
		heads := []int{0, 0, 64, wake.AreaSize(8), wake.AreaSize(8) + 64}
		at = heads[rand.IntN(len(heads))] % len(mem)
	}
	for i := range 8 {
		if rand.IntN(2) == 0 {
			mem[at+i] = byte(rand.Uint32())
		}
	}
}
