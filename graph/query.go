package graph

import (
	"cmp"
	"context"
	"maps"
	"slices"
)

// Topic is a topic with what it has.
type Topic struct {
	Name          string
	Types         []string // sorted; more than one is a mistake that the domain contains
	Publishers    int
	Subscriptions int
}

// Service is a service with what it has.
type Service struct {
	Name    string
	Types   []string // sorted; more than one is a mistake that the domain contains
	Servers int
	Clients int
}

// Nodes gives every node, sorted by full name; nodes of one name are listed each.
func (g *Graph) Nodes() []Node {
	g.mu.RLock()
	out := slices.Collect(maps.Keys(g.nodes))
	g.mu.RUnlock()
	slices.SortFunc(out, compareNodes)
	return out
}

// NodesNamed gives every node with this full name ("/ns/name").
func (g *Graph) NodesNamed(fullName string) []Node {
	var out []Node
	g.mu.RLock()
	for n := range g.nodes {
		if n.FullName() == fullName {
			out = append(out, n)
		}
	}
	g.mu.RUnlock()
	slices.SortFunc(out, compareNodes)
	return out
}

// Twins gives the full names that more than one node has, sorted.
func (g *Graph) Twins() []string {
	var out []string
	for i, nodes := 1, g.Nodes(); i < len(nodes); i++ {
		name := nodes[i].FullName()
		if name == nodes[i-1].FullName() && (len(out) == 0 || out[len(out)-1] != name) {
			out = append(out, name)
		}
	}
	return out
}

// Of gives the endpoints of one node, sorted by kind, name and GID. The node need not be known itself.
func (g *Graph) Of(n Node) []Endpoint {
	g.mu.RLock()
	out := copies(g.ofNode[n])
	g.mu.RUnlock()
	slices.SortFunc(out, func(a, b Endpoint) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), slices.Compare(a.GID[:], b.GID[:]))
	})
	return out
}

// Endpoint gives the endpoint with this GID.
func (g *Graph) Endpoint(gid GID) (Endpoint, bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if e := g.endpoints[gid]; e != nil {
		return e.Endpoint, true
	}
	return Endpoint{}, false
}

// Topics gives every topic that has an endpoint, sorted by name. Hidden topics are among them.
func (g *Graph) Topics() []Topic {
	g.mu.RLock()
	out := make([]Topic, 0, len(g.topics))
	for name, n := range g.topics {
		out = append(out, Topic{Name: name, Types: n.types(), Publishers: len(n.offers), Subscriptions: len(n.requests)})
	}
	g.mu.RUnlock()
	slices.SortFunc(out, func(a, b Topic) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// Services gives every service that has a server or a client, sorted by name. Hidden services are among them.
func (g *Graph) Services() []Service {
	g.mu.RLock()
	out := make([]Service, 0, len(g.services))
	for name, n := range g.services {
		out = append(out, Service{Name: name, Types: n.types(), Servers: len(n.offers), Clients: len(n.requests)})
	}
	g.mu.RUnlock()
	slices.SortFunc(out, func(a, b Service) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// Publishers gives the publishers of a topic, sorted by node, then by participant and number.
func (g *Graph) Publishers(topic string) []Endpoint { return g.find(KindPublisher, topic) }

// Subscriptions gives the subscriptions of a topic, sorted as Publishers.
func (g *Graph) Subscriptions(topic string) []Endpoint { return g.find(KindSubscription, topic) }

// Servers gives the servers of a service, sorted as Publishers.
func (g *Graph) Servers(service string) []Endpoint { return g.find(KindService, service) }

// Clients gives the clients of a service, sorted as Publishers.
func (g *Graph) Clients(service string) []Endpoint { return g.find(KindClient, service) }

// Count says how many endpoints of a kind a topic or service has; for KindNode, whose name is not looked at, how many nodes there are.
func (g *Graph) Count(k Kind, name string) int {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if k == KindNode {
		return len(g.nodes)
	}
	if n := g.index(k)[name]; n != nil {
		return len(*n.side(k))
	}
	return 0
}

// Version counts the changes so far: equal versions mean an equal graph.
func (g *Graph) Version() uint64 {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.version
}

// Changed gives a channel that is closed by the next change. Take it first, then look, then wait: so no change is missed.
func (g *Graph) Changed() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.changed == nil {
		g.changed = make(chan struct{})
	}
	return g.changed
}

// Wait returns nil once done says so, or the cause of the context's end. It looks at once and after each change, and wakes for nothing
// else.
func (g *Graph) Wait(ctx context.Context, done func(*Graph) bool) error {
	for {
		changed := g.Changed()
		if done(g) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (g *Graph) find(k Kind, name string) []Endpoint {
	var out []Endpoint
	g.mu.RLock()
	if n := g.index(k)[name]; n != nil {
		out = copies(*n.side(k))
	}
	g.mu.RUnlock()
	slices.SortFunc(out, func(a, b Endpoint) int {
		return cmp.Or(compareNodes(a.Node, b.Node), cmp.Compare(a.ID, b.ID), slices.Compare(a.GID[:], b.GID[:]))
	})
	return out
}

func (n *named) types() []string {
	var out []string
	for _, side := range [][]*entry{n.offers, n.requests} {
		for _, e := range side {
			if !slices.Contains(out, e.Type) {
				out = append(out, e.Type)
			}
		}
	}
	slices.Sort(out)
	return out
}

func copies(list []*entry) []Endpoint {
	out := make([]Endpoint, len(list))
	for i, e := range list {
		out[i] = e.Endpoint
	}
	return out
}

func compareNodes(a, b Node) int {
	return cmp.Or(cmp.Compare(a.FullName(), b.FullName()), a.Participant.Compare(b.Participant), cmp.Compare(a.ID, b.ID),
		cmp.Compare(a.Enclave, b.Enclave), cmp.Compare(a.Domain, b.Domain))
}
