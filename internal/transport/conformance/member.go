package conformance

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/arena"
	"github.com/tagus-ros/tagus/internal/exec"
	"github.com/tagus-ros/tagus/internal/transport"
	"github.com/tagus-ros/tagus/internal/wake"
	"github.com/tagus-ros/tagus/qos"
)

// Member is what a participant is made of.
type Member struct {
	ID     graph.ID
	Domain int
	Arena  *arena.Arena
	Paths  []transport.Transport

	// Area hands out a place to sleep and where it lies for other processes.
	Area func(summaryWords int) (*wake.Area, uint64, error)
	// Release takes such a place back. Nil: there is nothing to do.
	Release func(offset uint64, summaryWords int)
	// Announce tells other participants of the endpoints. Nil: there are none.
	Announce func([]graph.Node, []graph.Endpoint)
	// Close ends the paths, and last the memory.
	Close func() error
}

// patience is how long anything may take that is awaited. It is long since the machine
// may be busy; a test that runs into it has failed.
const patience = 20 * time.Second

// NewHost makes a host of a participant of this process.
func NewHost(m Member) Host {
	return &member{Member: m, node: graph.Node{Participant: m.ID, Domain: m.Domain, Enclave: "/", Namespace: "/", Name: "conformance"}}
}

type member struct {
	Member
	node graph.Node

	mu     sync.Mutex
	ids    uint32
	known  []graph.Endpoint
	ends   map[graph.GID]func() error
	exec   *exec.Executor // nil before the first subscription with a callback
	area   *wake.Area     // of exec
	offset uint64
	spun   chan error
	unspin context.CancelFunc
}

// endpoint describes a new end.
func (m *member) endpoint(k graph.Kind, name string, q qos.Profile) graph.Endpoint {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ids++
	return graph.NewEndpoint(k, m.node, m.ids, name, "test_msgs/msg/Filler", "RIHS01_00", q.Resolved())
}

// own makes e known; end closes it with the host.
func (m *member) own(e graph.Endpoint, end func() error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ends == nil {
		m.ends = make(map[graph.GID]func() error)
	}
	m.ends[e.GID] = end
	m.known = append(m.known, e)
	m.announce()
}

// disown is the reverse, and reports whether e was there.
func (m *member) disown(e graph.Endpoint) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ends[e.GID] == nil {
		return false
	}
	delete(m.ends, e.GID)
	known := m.known[:0:0]
	for _, k := range m.known {
		if k.GID != e.GID {
			known = append(known, k)
		}
	}
	m.known = known
	m.announce()
	return true
}

func (m *member) announce() {
	if m.Announce != nil {
		m.Announce([]graph.Node{m.node}, append([]graph.Endpoint(nil), m.known...))
	}
}

// executor is the host's one executor, which spins.
func (m *member) executor() (*execStation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.exec == nil {
		area, off, err := m.Area(executorWords)
		if err != nil {
			return nil, err
		}
		if m.exec, err = exec.New(exec.Options{Area: area, CPU: -1}); err != nil {
			return nil, err
		}
		m.area, m.offset = area, off
		var ctx context.Context
		ctx, m.unspin = context.WithCancel(context.Background())
		m.spun = make(chan error, 1)
		go func() { m.spun <- m.exec.Spin(ctx) }()
	}
	return &execStation{ex: m.exec, area: m.area, offset: m.offset}, nil
}

func (m *member) InUse() (int64, error) { return m.Arena.Stats().InUse, nil }

func (m *member) Close() error {
	m.mu.Lock()
	ends := m.ends
	m.mu.Unlock()
	var errs []error
	for _, end := range ends {
		errs = append(errs, end())
	}
	if m.exec != nil {
		m.unspin()
		errs = append(errs, <-m.spun)
	}
	errs = append(errs, m.Member.Close())
	if s := m.Arena.Stats(); s.InUse != 0 || s.Misuse != 0 {
		errs = append(errs, fmt.Errorf("after closing everything: %d slots (%d bytes) in use, %d misused", s.Slots, s.InUse, s.Misuse))
	}
	return errors.Join(errs...)
}
