// Package shm is the path between processes of one host: the publisher encodes a
// message once into a slot of its process's arena, queues a descriptor in a ring
// for each subscription, and wakes the subscription's executor; the subscription
// decodes the message in place and returns the slot.
//
// The files: ring.go is the layout of a ring pair, sender.go and receiver.go are
// its two halves, self.go joins ends of one process by it; inbox.go is the memory
// in which a process is woken. Processes meet through package folder and talk
// through package control: member_linux.go owns that state on its one
// goroutine, mailbox_linux.go brings work there, greet_linux.go takes and announces
// connections; peer_linux.go is one other process, out_linux.go the connection to its
// subscriptions, in_linux.go the one from its publishers, ask_linux.go what tools ask;
// link_linux.go is one control connection, rings_linux.go the memory of the ring pairs
// to one process. member_other.go stands for all this on other systems.
// docs/shm-protocol.md has all layouts.
//
// It knows no Go message types and imports no other path.
package shm

import (
	"context"
	"log/slog"
	"sync"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/arena"
	"github.com/tagus-ros/tagus/internal/transport"
)

// Config is what the path is made of. All fields but Dir are required.
type Config struct {
	Domain int
	Dir    string // where processes meet, without the domain number; "" for the default
	ID     graph.ID
	Arena  *arena.Arena // payloads that this process publishes
	Inbox  *Inbox       // where this process is woken
	Graph  *graph.Graph // gets what the other processes announce
	Log    *slog.Logger

	// Joins decides which pairs within this process take this path.
	Joins func(o *transport.Outlet, in *transport.Inlet) bool
	// Match decides which pairs of different processes belong together.
	Match func(pub, sub *graph.Endpoint) bool
	// Define returns the text of the definition of a type that this process uses.
	Define func(name, hash string) (string, bool)
}

// leaseBytes is how much of the arena one subscription may hold.
func (c *Config) leaseBytes() int64 { return c.Arena.Stats().Limit / 16 }

// Source names this path in the graph.
const Source = "shm"

// Path is the shared-memory path of one domain participant.
type Path struct {
	cfg    Config
	self   *transport.Local
	member *member

	mu     sync.Mutex
	closed bool
}

var _ transport.Transport = (*Path)(nil)

// Join makes the path and announces the process in the domain's folder. When it
// returns, everything announced there is in the graph.
func Join(cfg Config) (*Path, error) {
	p := &Path{cfg: cfg}
	p.self = newSelf(&p.cfg)
	var err error
	if p.member, err = joinFolder(&p.cfg); err != nil {
		return nil, err
	}
	return p, nil
}

// Path returns transport.PathSHM.
func (p *Path) Path() transport.Path { return transport.PathSHM }

// AddPublisher joins o with the subscriptions of this process that take this path,
// and has it joined with those of others.
func (p *Path) AddPublisher(o *transport.Outlet) error {
	if err := p.self.AddPublisher(o); err != nil {
		return err
	}
	p.member.addOutlet(o)
	return nil
}

// RemovePublisher ends the pairs of o, which the caller has closed; what is queued
// is still delivered.
func (p *Path) RemovePublisher(o *transport.Outlet) {
	p.self.RemovePublisher(o)
	p.member.removeOutlet(o)
}

// AddSubscription joins in with the publishers of this process that take this path,
// and has it joined with those of others.
func (p *Path) AddSubscription(in *transport.Inlet) error {
	if err := p.self.AddSubscription(in); err != nil {
		return err
	}
	p.member.addInlet(in)
	return nil
}

// RemoveSubscription ends the pairs of in, which the caller has closed.
func (p *Path) RemoveSubscription(in *transport.Inlet) {
	p.self.RemoveSubscription(in)
	p.member.removeInlet(in)
}

// AddService joins a server or a client with its counterparts.
func (p *Path) AddService(s *transport.ServiceEnd) error { return s.AddAsTopics(p) }

// RemoveService ends the pairs of a server or a client, which the caller has closed.
func (p *Path) RemoveService(s *transport.ServiceEnd) { s.RemoveAsTopics(p) }

// counterpart is the kind of endpoint that one of kind k talks with.
func counterpart(k graph.Kind) graph.Kind {
	switch k {
	case graph.KindPublisher:
		return graph.KindSubscription
	case graph.KindSubscription:
		return graph.KindPublisher
	case graph.KindService:
		return graph.KindClient
	case graph.KindClient:
		return graph.KindService
	}
	return 0
}

// Announce tells the other processes what nodes and endpoints this one has now.
// Changes that follow each other within a millisecond go together.
func (p *Path) Announce(nodes []graph.Node, endpoints []graph.Endpoint) {
	p.member.announce(nodes, endpoints)
}

// Watch makes the graph follow every change in the domain.
func (p *Path) Watch() error { return p.member.watch() }

// Ask gets the definition of a type from the process id, which uses it, as text in the
// form called ros2msg.
func (p *Path) Ask(ctx context.Context, id graph.ID, name, hash string) (string, error) {
	return p.member.ask(ctx, id, name, hash)
}

// Lent reports whether address lies in payload memory that is mapped for reading.
func (p *Path) Lent(address uintptr) bool {
	return p.cfg.Arena.Holds(address) || p.member.holds(address)
}

// Close leaves the folder. Pairs end; samples that are out must have been returned.
// It is idempotent.
func (p *Path) Close() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	p.mu.Unlock()
	p.self.Close()
	return p.member.close()
}
