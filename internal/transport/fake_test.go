package transport

import (
	"fmt"
	"sync"
	"testing"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/wake"
	"github.com/tagus-ros/tagus/qos"
)

// station is where the inlets of these tests are woken: nothing runs before turn.
type station struct {
	area  *wake.Area
	ready int // calls of Ready

	mu      sync.Mutex
	sources []Poller
}

func newStation(t testing.TB) *station {
	a, err := wake.NewHeapArea(1)
	if err != nil {
		t.Fatal(err)
	}
	return &station{area: a}
}

func (s *station) Attach(src Poller) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sources = append(s.sources, src)
	return len(s.sources) - 1, nil
}

func (s *station) Detach(leaf int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sources[leaf] = nil
}

func (s *station) Area() *wake.Area  { return s.area }
func (s *station) Offset() uint64    { return 0 }
func (s *station) SummaryWords() int { return 1 }
func (s *station) Ready()            { s.ready++ }

// turn polls what was signalled.
func (s *station) turn() {
	s.area.Take(func(leaf int) {
		s.mu.Lock()
		src := s.sources[leaf]
		s.mu.Unlock()
		if src != nil {
			src.Poll()
		}
	})
}

// attached is how many sources a leaf is reserved for.
func (s *station) attached() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, src := range s.sources {
		if src != nil {
			n++
		}
	}
	return n
}

// source is a queue under the test's control.
type source struct {
	first, last uint64
	entries     []entry // all that were ever pushed
	head        uint64
	scanned     uint64
	out         map[uint64]bool // claimed and not returned
	over        bool            // must not be looked at any more: its memory would be unmapped
	fault       error
	t           testing.TB
}

type entry struct {
	seq   uint64
	stamp int64
}

func (s *source) look(what string) {
	if s.over {
		s.t.Errorf("%s of a source that was reported idle", what)
	}
}

func (s *source) push(seq uint64, stamp int64) {
	s.entries = append(s.entries, entry{seq, stamp})
	s.last = max(s.last, seq)
}

func (s *source) First() uint64 { return s.first }
func (s *source) Last() uint64  { s.look("Last"); return s.last }

func (s *source) Scan(note func(uint64, int64)) (uint64, error) {
	s.look("Scan")
	if s.fault != nil {
		return 0, s.fault
	}
	for s.scanned = max(s.scanned, s.head); s.scanned < uint64(len(s.entries)); {
		i := s.scanned
		s.scanned++
		note(i, s.entries[i].stamp)
	}
	return s.head, nil
}

func (s *source) Claim(index uint64, r *Received) (bool, error) {
	s.look("Claim")
	if index != s.head {
		return false, nil
	}
	s.head++
	s.out[index] = true
	if r != nil {
		r.Sequence, r.Stamp = s.entries[index].seq, s.entries[index].stamp
	}
	return true, s.fault
}

func (s *source) Return(index uint64) {
	s.look("Return")
	if !s.out[index] {
		s.t.Errorf("entry %d returned, which is not out", index)
	}
	delete(s.out, index)
}

// inlet makes an inlet of a depth with room for leases.
func inlet(t testing.TB, st *station, depth, leases int) *Inlet {
	t.Helper()
	in, err := NewInlet(endpoint(graph.KindSubscription, qos.Profile{Depth: depth}), st, leases)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// feed adds a live feed, whose publisher owes everything from 1 on.
func feed(t testing.TB, in *Inlet, name string) (*Feed, *source) {
	t.Helper()
	src := &source{first: 1, out: make(map[uint64]bool), t: t}
	f, err := in.AddFeed(src, gid(name), PathSHM, func() { src.over = true }, nil)
	if err != nil {
		t.Fatal(err)
	}
	in.Start(f)
	return f, src
}

func gid(name string) (g graph.GID) {
	copy(g[:], name)
	return g
}

var participant = graph.NewID()

func endpoint(k graph.Kind, q qos.Profile) graph.Endpoint {
	n := graph.Node{Participant: participant, Enclave: "/", Namespace: "/", Name: "test"}
	return graph.NewEndpoint(k, n, uint32(k)+1, "/topic", "test_msgs/msg/Test", "RIHS01_0", q)
}

// drain takes and releases everything that can be taken; it returns "publisher:sequence" of each.
func drain(st *station, in *Inlet) (got []string) {
	st.turn()
	var r Received
	for {
		ok, _ := in.Take(&r)
		if !ok {
			return got
		}
		got = append(got, fmt.Sprint(r.feed.name(), r.Sequence))
		in.Release(&r)
	}
}

func (f *Feed) name() string { return string(f.gid[:1]) }
