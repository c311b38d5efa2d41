package graph

import (
	"slices"
	"sync"
)

// Graph is the one store of what a process knows about its domain. Several sources fill it (the process itself, shared memory, the
// network), each participant by participant; an entity that several sources know is there once and goes when the last of them drops
// it. All methods may be called from any goroutine. The cost of a change depends on the change, not on the size of the graph.
type Graph struct {
	mu        sync.RWMutex
	version   uint64
	changed   chan struct{} // made by the first who waits, closed by the next change
	nodes     map[Node]int  // how many holdings have it
	endpoints map[GID]*entry
	ofNode    map[Node][]*entry
	topics    map[string]*named
	services  map[string]*named
	holdings  map[holder]*holding

	events events
}

type holder struct {
	source      string
	participant ID
}

// holding is what one source says about one participant.
type holding struct {
	nodes     map[Node]struct{}
	endpoints map[GID]struct{}
}

type entry struct {
	Endpoint
	count int // how many holdings have it
}

// named is all endpoints of one topic or service: offers are publishers or services, requests subscriptions or clients.
type named struct{ offers, requests []*entry }

// New makes an empty graph.
func New() *Graph {
	return &Graph{
		nodes:     map[Node]int{},
		endpoints: map[GID]*entry{},
		ofNode:    map[Node][]*entry{},
		topics:    map[string]*named{},
		services:  map[string]*named{},
		holdings:  map[holder]*holding{},
	}
}

// NewDetached is New for a graph that is changed under locks: what Subscribe is given runs
// on a goroutine of its own, which ends when there is nothing to tell, and so may take any
// lock.
func NewDetached() *Graph {
	g := New()
	g.events.detached = true
	return g
}

// Put says what a source knows about a participant, in full: what it said before and does not say now is dropped. It is one change:
// whoever asks sees all of it or nothing. Endpoints are told apart by their GID, nodes by their value. A node's endpoints may be there
// before the node.
func (g *Graph) Put(source string, participant ID, nodes []Node, endpoints []Endpoint) {
	g.change(func() {
		h := g.holding(source, participant)
		newNodes := make(map[Node]struct{}, len(nodes))
		for _, n := range nodes {
			newNodes[n] = struct{}{}
		}
		newEndpoints := make(map[GID]struct{}, len(endpoints))
		for i := range endpoints {
			newEndpoints[endpoints[i].GID] = struct{}{}
		}
		for gid := range h.endpoints {
			if _, ok := newEndpoints[gid]; !ok {
				g.dropEndpoint(h, gid)
			}
		}
		for n := range h.nodes {
			if _, ok := newNodes[n]; !ok {
				g.dropNode(h, n)
			}
		}
		g.add(h, nodes, endpoints)
		g.tidy(source, participant, h)
	})
}

// Add says that a source knows these nodes and endpoints too. What it knows already is not changed.
func (g *Graph) Add(source string, participant ID, nodes []Node, endpoints []Endpoint) {
	g.change(func() {
		h := g.holding(source, participant)
		g.add(h, nodes, endpoints)
		g.tidy(source, participant, h)
	})
}

// Drop says that a source no longer knows these nodes and endpoints. What it did not know is ignored.
func (g *Graph) Drop(source string, participant ID, nodes []Node, endpoints []GID) {
	g.change(func() {
		h := g.holding(source, participant)
		for _, gid := range endpoints {
			g.dropEndpoint(h, gid)
		}
		for _, n := range nodes {
			g.dropNode(h, n)
		}
		g.tidy(source, participant, h)
	})
}

// Remove says that a source no longer knows the participant.
func (g *Graph) Remove(source string, participant ID) { g.Put(source, participant, nil, nil) }

// RemoveSource says that a source knows nothing any more, for example since its link is down.
func (g *Graph) RemoveSource(source string) {
	g.change(func() {
		for k, h := range g.holdings {
			if k.source == source {
				for gid := range h.endpoints {
					g.dropEndpoint(h, gid)
				}
				for n := range h.nodes {
					g.dropNode(h, n)
				}
				delete(g.holdings, k)
			}
		}
	})
}

// change runs fn under the lock, wakes whoever waits if anything changed, and delivers the events after it has let the lock go.
func (g *Graph) change(fn func()) {
	g.mu.Lock()
	before := g.version
	fn()
	if g.version != before && g.changed != nil {
		close(g.changed)
		g.changed = nil
	}
	g.mu.Unlock()
	g.events.deliver()
}

// The rest runs with the lock held.

func (g *Graph) holding(source string, participant ID) *holding {
	k := holder{source, participant}
	h := g.holdings[k]
	if h == nil {
		h = &holding{nodes: map[Node]struct{}{}, endpoints: map[GID]struct{}{}}
		g.holdings[k] = h
	}
	return h
}

func (g *Graph) tidy(source string, participant ID, h *holding) {
	if len(h.nodes) == 0 && len(h.endpoints) == 0 {
		delete(g.holdings, holder{source, participant})
	}
}

func (g *Graph) add(h *holding, nodes []Node, endpoints []Endpoint) {
	for _, n := range nodes {
		if _, ok := h.nodes[n]; ok {
			continue
		}
		h.nodes[n] = struct{}{}
		if g.nodes[n]++; g.nodes[n] == 1 {
			g.tell(Event{Change: Added, Kind: KindNode, Node: n})
		}
	}
	for i := range endpoints {
		gid := endpoints[i].GID
		if _, ok := h.endpoints[gid]; ok {
			continue
		}
		h.endpoints[gid] = struct{}{}
		if e := g.endpoints[gid]; e != nil {
			e.count++
			continue
		}
		e := &entry{Endpoint: endpoints[i], count: 1}
		g.endpoints[gid] = e
		g.ofNode[e.Node] = append(g.ofNode[e.Node], e)
		if index := g.index(e.Kind); index != nil {
			n := index[e.Name]
			if n == nil {
				n = &named{}
				index[e.Name] = n
			}
			side := n.side(e.Kind)
			*side = append(*side, e)
		}
		g.tell(Event{Change: Added, Kind: e.Kind, Node: e.Node, Endpoint: e.Endpoint})
	}
}

func (g *Graph) dropNode(h *holding, n Node) {
	if _, ok := h.nodes[n]; !ok {
		return
	}
	delete(h.nodes, n)
	if g.nodes[n]--; g.nodes[n] == 0 {
		delete(g.nodes, n)
		g.tell(Event{Change: Removed, Kind: KindNode, Node: n})
	}
}

func (g *Graph) dropEndpoint(h *holding, gid GID) {
	if _, ok := h.endpoints[gid]; !ok {
		return
	}
	delete(h.endpoints, gid)
	e := g.endpoints[gid]
	if e.count--; e.count > 0 {
		return
	}
	delete(g.endpoints, gid)
	if rest := without(g.ofNode[e.Node], e); len(rest) > 0 {
		g.ofNode[e.Node] = rest
	} else {
		delete(g.ofNode, e.Node)
	}
	if index := g.index(e.Kind); index != nil {
		n := index[e.Name]
		side := n.side(e.Kind)
		if *side = without(*side, e); len(n.offers) == 0 && len(n.requests) == 0 {
			delete(index, e.Name)
		}
	}
	g.tell(Event{Change: Removed, Kind: e.Kind, Node: e.Node, Endpoint: e.Endpoint})
}

func (g *Graph) tell(e Event) {
	g.version++
	g.events.push(e)
}

func (g *Graph) index(k Kind) map[string]*named {
	switch k {
	case KindPublisher, KindSubscription:
		return g.topics
	case KindService, KindClient:
		return g.services
	}
	return nil
}

func (n *named) side(k Kind) *[]*entry {
	if k == KindPublisher || k == KindService {
		return &n.offers
	}
	return &n.requests
}

// without takes e out of list, which loses its order.
func without(list []*entry, e *entry) []*entry {
	i, last := slices.Index(list, e), len(list)-1
	list[i] = list[last]
	list[last] = nil
	return list[:last]
}
