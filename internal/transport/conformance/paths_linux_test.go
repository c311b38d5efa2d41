package conformance_test

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/arena"
	"github.com/tagus-ros/tagus/internal/intra"
	"github.com/tagus-ros/tagus/internal/match"
	"github.com/tagus-ros/tagus/internal/shm"
	"github.com/tagus-ros/tagus/internal/transport"
	"github.com/tagus-ros/tagus/internal/transport/conformance"
	"github.com/tagus-ros/tagus/qos"
)

// participant is one with both paths, as a domain has them.
func participant(t *testing.T, dir string) conformance.Host {
	t.Helper()
	a, err := arena.New(arena.Config{Limit: 256 << 20})
	must(t, err)
	inbox, err := shm.NewInbox()
	must(t, err)
	matches := func(pub, sub *graph.Endpoint) bool { return len(match.Check(pub, sub)) == 0 }
	within := intra.New(func(o *transport.Outlet, in *transport.Inlet) bool {
		return !in.NeedsBytes && matches(&o.Endpoint, &in.Endpoint)
	})
	id := graph.NewID()
	host, err := shm.Join(shm.Config{
		Domain: 3, Dir: dir, ID: id, Arena: a, Inbox: inbox, Graph: graph.New(), Log: slog.New(slog.DiscardHandler),
		Joins: func(o *transport.Outlet, in *transport.Inlet) bool {
			return in.NeedsBytes && matches(&o.Endpoint, &in.Endpoint)
		},
		Match: matches,
	})
	must(t, err)
	return conformance.NewHost(conformance.Member{
		ID: id, Domain: 3, Arena: a, Paths: []transport.Transport{within, host}, Area: inbox.Area, Release: inbox.Release, Announce: host.Announce,
		Close: func() error { return errors.Join(within.Close(), host.Close(), inbox.Close(), a.Close()) },
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// One publisher, readers on every path: each gets every message once, and all of them
// the same of it besides its content.
func TestAllPathsTellTheSame(t *testing.T) {
	dir := t.TempDir()
	here, there := participant(t, dir), participant(t, dir)
	for _, latched := range []bool{false, true} {
		q := qos.Default().WithDepth(100)
		name := "/topic"
		if latched {
			q.Durability = qos.TransientLocal // the in-process reader then gets bytes, too
			name = "/latched"
		}
		var subs []conformance.Subscription
		for _, s := range []struct {
			h conformance.Host
			o conformance.Options
		}{{here, conformance.Options{}}, {here, conformance.Options{Bytes: true}}, {there, conformance.Options{}}} {
			sub, err := s.h.Subscription(name, q, s.o)
			must(t, err)
			subs = append(subs, sub)
		}
		p, err := here.Publisher(name, q)
		must(t, err)
		must(t, p.Wait(len(subs)))
		for _, s := range subs {
			must(t, s.Wait(1))
		}
		paths := []transport.Path{transport.PathIntra, transport.PathSHM, transport.PathSHM}
		for n := uint64(1); n <= 1000; n++ {
			if sent, err := p.Publish(conformance.Batch{N: 1, Sizes: []int{100, 5000}}); err != nil || sent.N != 1 {
				t.Fatalf("publish: %v", err)
			}
			var first conformance.Got
			for i, s := range subs {
				g, err := s.Take(20*time.Second, false)
				must(t, err)
				if !g.OK || g.Bad != "" || g.Sequence != n || g.Number != n || g.GID != p.GID() || g.Path != paths[i] {
					t.Fatalf("reader %d took %v, want %d of %s by %v", i, g, n, p.GID(), paths[i])
				}
				if i == 0 {
					first = g
				}
				if g.Source != first.Source || g.Stamp != first.Stamp || g.Size != first.Size || g.Wall < g.Source {
					t.Fatalf("reader %d: source %d, stamp %d, taken %d; the first had %d and %d", i, g.Source, g.Stamp, g.Wall, first.Source, first.Stamp)
				}
			}
		}
		for i, s := range subs {
			if g, err := s.Take(0, false); err != nil || g.OK {
				t.Errorf("reader %d took one more: %v (%v)", i, g, err)
			}
			if c, err := s.Counts(); err != nil || c.Received != 1000 || c.Lost != 0 || c.Duplicate != 0 {
				t.Errorf("reader %d counted %+v (%v)", i, c, err)
			}
		}
	}
	must(t, here.Close())
	must(t, there.Close())
}
