package shm_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/arena"
	"github.com/tagus-ros/tagus/internal/match"
	"github.com/tagus-ros/tagus/internal/shm"
	"github.com/tagus-ros/tagus/internal/transport"
	"github.com/tagus-ros/tagus/internal/transport/conformance"
)

// TestMain serves a participant where the test binary was executed again.
func TestMain(m *testing.M) {
	if dir := os.Getenv(conformance.ChildVariable); dir != "" {
		p, err := participate(dir, slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})), nil)
		if err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		conformance.ServeChild(conformance.NewHost(p.member()))
	}
	os.Exit(m.Run())
}

// participant is one member of a domain.
type participant struct {
	id    graph.ID
	arena *arena.Arena
	inbox *shm.Inbox
	graph *graph.Graph
	path  *shm.Path
}

// participate joins the domain that meets in dir. self says which pairs within the
// participant are its own; nil: none.
func participate(dir string, log *slog.Logger, self func(*transport.Outlet, *transport.Inlet) bool) (*participant, error) {
	p := &participant{id: graph.NewID(), graph: graph.New()}
	var err error
	if p.arena, err = arena.New(arena.Config{Limit: 1 << 30}); err != nil {
		return nil, err
	}
	if p.inbox, err = shm.NewInbox(); err != nil {
		return nil, err
	}
	if self == nil {
		self = func(*transport.Outlet, *transport.Inlet) bool { return false }
	}
	p.path, err = shm.Join(shm.Config{
		Domain: 1, Dir: dir, ID: p.id, Arena: p.arena, Inbox: p.inbox, Graph: p.graph, Log: log, Joins: self,
		Match: func(pub, sub *graph.Endpoint) bool { return len(match.Check(pub, sub)) == 0 },
	})
	return p, err
}

func (p *participant) member() conformance.Member {
	return conformance.Member{
		ID:       p.id,
		Domain:   1,
		Arena:    p.arena,
		Paths:    []transport.Transport{p.path},
		Area:     p.inbox.Area,
		Release:  p.inbox.Release,
		Announce: p.path.Announce,
		Close:    p.close,
	}
}

// close ends the participant as a domain does: the arena first, so that what comes back
// from now on is not used again while others may still read it.
func (p *participant) close() error {
	p.arena.Close()
	return errors.Join(p.path.Close(), p.inbox.Close(), p.arena.Close())
}

// journal makes an error of the test of everything that is logged as one.
type journal struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.String()
}

// logger returns a log whose errors are the test's.
func logger(t *testing.T) *slog.Logger {
	j := new(journal)
	t.Cleanup(func() {
		if s := strings.TrimSpace(j.String()); s != "" {
			t.Errorf("logged:\n%s", s)
		}
	})
	return slog.New(slog.NewTextHandler(j, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

func host(t *testing.T, dir string, self func(*transport.Outlet, *transport.Inlet) bool) conformance.Host {
	t.Helper()
	p, err := participate(dir, logger(t), self)
	if err != nil {
		t.Fatal(err)
	}
	return conformance.NewHost(p.member())
}

// The same process without in-process delivery.
func TestConformanceSelf(t *testing.T) {
	conformance.Run(t, conformance.Harness{
		Path:     transport.PathSHM,
		Services: true,
		Hosts: func(t *testing.T) (pub, sub conformance.Host) {
			h := host(t, t.TempDir(), func(o *transport.Outlet, in *transport.Inlet) bool {
				return len(match.Check(&o.Endpoint, &in.Endpoint)) == 0
			})
			return h, h
		},
	})
}

// Two participants of one process.
func TestConformanceParticipants(t *testing.T) {
	conformance.Run(t, conformance.Harness{
		Path:     transport.PathSHM,
		Services: true,
		Hosts: func(t *testing.T) (pub, sub conformance.Host) {
			dir := t.TempDir()
			return host(t, dir, nil), host(t, dir, nil)
		},
	})
}

// Two processes, with the subscriptions or the publishers in the other one.
func TestConformanceProcesses(t *testing.T) {
	for _, there := range []string{"subscriptions", "publishers"} {
		t.Run(there, func(t *testing.T) {
			var dir string
			conformance.Run(t, conformance.Harness{
				Path:     transport.PathSHM,
				Services: true,
				Hosts: func(t *testing.T) (pub, sub conformance.Host) {
					dir = t.TempDir()
					if there == "publishers" {
						return conformance.StartProcess(t, dir), host(t, dir, nil)
					}
					return host(t, dir, nil), conformance.StartProcess(t, dir)
				},
				Process: func(t *testing.T) conformance.Process { return conformance.StartProcess(t, dir) },
			})
		})
	}
}
