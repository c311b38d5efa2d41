package graph

import (
	"slices"
	"sync"
)

// Change is what happened to an entity.
type Change uint8

// Changes. The zero Change is none.
const (
	Added Change = iota + 1
	Removed
)

// String gives "added" or "removed".
func (c Change) String() string {
	if c == Added {
		return "added"
	}
	return "removed"
}

// Event is one change of a Graph.
type Event struct {
	Change   Change
	Kind     Kind
	Node     Node     // the node, or the node of the endpoint
	Endpoint Endpoint // zero for a node
}

// Subscribe calls fn for everything that is in the graph now, and then for every change, one call at a time and in the order of the
// changes, until cancel is called. The calls come from whichever goroutine changes the graph, after the change, with no lock held: fn
// may use the graph, may change it, and must return soon, since it holds up the delivery to the others. A call that runs while another
// goroutine calls cancel may end after cancel has returned; none begins.
func (g *Graph) Subscribe(fn func(Event)) (cancel func()) {
	s := &subscriber{fn: fn}
	g.mu.Lock()
	g.events.mu.Lock()
	for n := range g.nodes {
		g.events.queue = append(g.events.queue, delivery{to: s, event: Event{Change: Added, Kind: KindNode, Node: n}})
	}
	for _, e := range g.endpoints {
		g.events.queue = append(g.events.queue, delivery{to: s, event: Event{Change: Added, Kind: e.Kind, Node: e.Node, Endpoint: e.Endpoint}})
	}
	s.from = g.events.next
	g.events.subscribers = append(slices.Clone(g.events.subscribers), s)
	g.events.mu.Unlock()
	g.mu.Unlock()
	g.events.deliver()
	return func() { g.events.cancel(s) }
}

// events delivers in order without a goroutine of its own: who finds the queue unattended attends to it until it is empty. Its lock is
// taken under that of the graph.
type events struct {
	mu          sync.Mutex
	subscribers []*subscriber // replaced, never changed in place
	queue       []delivery
	head        int    // how much of the queue is delivered
	next        uint64 // number of the next event
	delivering  bool
	detached    bool // callbacks run on a goroutine of their own
}

type subscriber struct {
	fn        func(Event)
	from      uint64 // first event that it is due
	cancelled bool
}

type delivery struct {
	to     *subscriber // nil: all
	number uint64
	event  Event
}

func (ev *events) push(e Event) {
	ev.mu.Lock()
	if len(ev.subscribers) > 0 {
		ev.queue = append(ev.queue, delivery{number: ev.next, event: e})
	}
	ev.next++
	ev.mu.Unlock()
}

func (ev *events) cancel(s *subscriber) {
	ev.mu.Lock()
	s.cancelled = true
	ev.subscribers = slices.DeleteFunc(slices.Clone(ev.subscribers), func(x *subscriber) bool { return x == s })
	ev.mu.Unlock()
}

func (ev *events) deliver() {
	ev.mu.Lock()
	if ev.delivering || ev.head == len(ev.queue) {
		ev.mu.Unlock()
		return
	}
	ev.delivering = true
	ev.mu.Unlock()
	if ev.detached {
		go ev.drain()
		return
	}
	ev.drain()
}

// drain calls the subscribers until no event is left.
func (ev *events) drain() {
	ev.mu.Lock()
	defer func() { // also when a callback panics; the events behind it stay in the queue
		ev.delivering = false
		ev.mu.Unlock()
	}()
	for ev.head < len(ev.queue) {
		d := ev.queue[ev.head]
		ev.queue[ev.head] = delivery{}
		if ev.head++; ev.head == len(ev.queue) || ev.head >= 1024 && 2*ev.head > len(ev.queue) {
			n := copy(ev.queue, ev.queue[ev.head:])
			clear(ev.queue[n:])
			ev.queue, ev.head = ev.queue[:n], 0
		}
		if d.to != nil {
			ev.call(d.to, d.event)
			continue
		}
		for _, s := range ev.subscribers {
			if d.number >= s.from {
				ev.call(s, d.event)
			}
		}
	}
}

// call runs the callback with the lock let go.
func (ev *events) call(s *subscriber, e Event) {
	if s.cancelled {
		return
	}
	ev.mu.Unlock()
	defer ev.mu.Lock()
	s.fn(e)
}
