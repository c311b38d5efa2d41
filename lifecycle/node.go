package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/msgs/lifecycle_msgs"
	"github.com/tagus-ros/tagus/qos"
)

// Node is a managed node. It is a [tagus.Node] with a state; entities that are made on the embedded Node work in every state. It is safe for
// concurrent use.
type Node struct {
	*tagus.Node
	cb     Callbacks
	events *tagus.Publisher[lifecycle_msgs.TransitionEvent]
	gate   *gate

	refusals *slog.Logger // of changes that were asked for by service; anybody may ask as often as they like

	ctx    context.Context // ends when the node closes
	cancel context.CancelFunc
	work   sync.WaitGroup // goroutines of the node
	closed chan struct{}  // closed when everything has ended

	state atomic.Uint32

	// mu makes a step of the state machine one: the state, the gate, the entities that go on, the event. No callback runs under it.
	mu      sync.Mutex
	closing bool
	change  Transition    // that is under way, or was last
	since   time.Time     // when it began
	changed chan struct{} // closed at the next step

	entityMu sync.Mutex
	entities []entity
}

// entity is a managed entity.
type entity interface {
	// arm is called just before, resume just after the node becomes active, both under Node.mu. resume does nothing to an entity that
	// is on.
	arm()
	resume() error
	// pause is called after the node has left the state active, with no lock held. It may wait for a callback.
	pause()
	Close() error
}

// NewNode makes a managed node, which is unconfigured, with the services and the topic that ROS 2 has for one: ~/change_state,
// ~/get_state, ~/get_available_states, ~/get_available_transitions, ~/get_transition_graph and ~/transition_event. It closes with its
// domain, if not before.
func NewNode(d *tagus.Domain, name string, cb Callbacks, opts ...tagus.NodeOption) (*Node, error) {
	base, err := d.NewNode(name, opts...)
	if err != nil {
		return nil, err
	}
	n := &Node{Node: base, cb: cb, gate: newGate(), closed: make(chan struct{}), changed: make(chan struct{})}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	n.refusals = tagus.Throttled(base.Logger(), time.Second)
	n.state.Store(uint32(Unconfigured))
	n.events, err = tagus.NewPublisher[lifecycle_msgs.TransitionEvent](base, "~/transition_event", qos.Default())
	if err == nil {
		err = n.serve()
	}
	if err == nil {
		err = base.Adopt(n)
	}
	if err != nil {
		n.cancel()
		base.Close()
		return nil, fmt.Errorf("tagus: new managed node %s: %w", base.FullyQualifiedName(), err)
	}
	return n, nil
}

// State gives the state that the node is in now.
func (n *Node) State() State { return State(n.state.Load()) }

// WaitFor returns when the node is in one of the states and says in which. It returns ctx's error when that ends first, and tagus.ErrClosed
// when the node is closed.
func (n *Node) WaitFor(ctx context.Context, states ...State) (State, error) {
	for {
		s, changed := n.look()
		if slices.Contains(states, s) {
			return s, nil
		}
		select {
		case <-changed:
		case <-n.closed:
			return s, n.fail("wait for state", tagus.ErrClosed)
		case <-ctx.Done():
			return s, n.fail("wait for state", ctx.Err())
		}
	}
}

// look gives the state and what is closed when it changes.
func (n *Node) look() (State, <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.State(), n.changed
}

func (n *Node) fail(op string, err error) error {
	return &tagus.EndpointError{Kind: "node", Name: n.FullyQualifiedName(), Op: op, Err: err}
}

// add makes e managed; if the node is active it is on at once.
func (n *Node) add(e entity) error {
	n.entityMu.Lock()
	n.entities = append(n.entities, e)
	n.entityMu.Unlock()
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.closing:
		return tagus.ErrClosed
	case n.State() == Active:
		return e.resume()
	}
	return nil
}

func (n *Node) remove(e entity) {
	n.entityMu.Lock()
	defer n.entityMu.Unlock()
	n.entities = slices.DeleteFunc(n.entities, func(x entity) bool { return x == e })
}

func (n *Node) all() []entity {
	n.entityMu.Lock()
	defer n.entityMu.Unlock()
	return slices.Clone(n.entities)
}

// Close ends the node: the context of a callback that runs ends; the node is shut down from the state that it is in, by its Shutdown
// callback; everything that was made on it is closed. It waits for all of that, unless it is called from a callback of the node; then the
// node ends when that has returned. It is idempotent. The error is that of the Shutdown callback, or of something that did not close.
func (n *Node) Close() error {
	n.mu.Lock()
	first := !n.closing
	n.closing = true
	n.gate.set(false)
	n.mu.Unlock()
	n.cancel()
	var errs []error
	if first {
		for _, e := range n.all() {
			errs = append(errs, e.Close()) // waits for a callback that runs, unless this is inside
		}
	}
	inside := n.gate.calls.Load() > 0 && inEntityCallback() || !n.State().Primary() && inTransitionCallback()
	switch {
	case !first && !inside:
		<-n.closed
	case first && inside:
		go n.finish()
	case first:
		errs = append(errs, n.finish())
	}
	return errors.Join(errs...)
}

// finish shuts the node down when its last callback has ended, and closes it.
func (n *Node) finish() error {
	defer close(n.closed)
	err := n.finalize()
	n.work.Wait()
	n.Node.Disown(n)
	return errors.Join(err, n.Node.Close())
}

// finalize is Shutdown for a node that is closing.
func (n *Node) finalize() error {
	for {
		n.mu.Lock()
		s, changed := n.State(), n.changed
		e, ok := toward(s, Finalized)
		if s.Primary() && ok {
			n.change, n.since = e.Transition, time.Now()
			n.step(e)
			n.mu.Unlock()
			return n.run(context.Background(), context.Background(), e)
		}
		n.mu.Unlock()
		if s == Finalized {
			return nil
		}
		<-changed
	}
}
