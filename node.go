package tagus

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/roslog"
	"github.com/tagus-ros/tagus/internal/transport"
	"github.com/tagus-ros/tagus/msgs/rosgraph_msgs"
	"github.com/tagus-ros/tagus/param"
	"github.com/tagus-ros/tagus/qos"
)

// Node is a ROS 2 node: it owns endpoints and timers and has a name in the graph.
// It is safe for concurrent use.
type Node struct {
	d        *Domain
	node     graph.Node
	executor *Executor
	params   *param.Store
	qosGiven []string // parameters that set policies of endpoints from outside
	logger   *slog.Logger
	clock    *Clock
	clockSub *Subscription[rosgraph_msgs.Clock] // of followClock

	mu        sync.Mutex
	ends      []closer
	timers    []*Timer
	simTimers bool // timers follow simulated time
	quiet     bool // being made: its endpoints are announced together
	closed    bool

	childLoggers map[string]*slog.Logger
}

type closer interface{ Close() error }

// NodeOption sets something about a [Node].
type NodeOption func(*nodeConfig)

type nodeConfig struct {
	namespace string
	executor  *Executor
	overrides map[string]param.Value
	bare      bool
	loggers   bool
	anyParam  bool
}

// WithNamespace puts the node into a namespace, "/" or "/a/b".
func WithNamespace(ns string) NodeOption { return func(c *nodeConfig) { c.namespace = ns } }

// WithExecutor makes e run the node's callbacks in place of the domain's default
// executor.
func WithExecutor(e *Executor) NodeOption { return func(c *nodeConfig) { c.executor = e } }

// NewNode makes a node. The name is one ROS 2 name token: letters, digits and
// underscores, not beginning with a digit. Without [WithoutROSServices] the node has
// what tools expect of every ROS 2 node.
func (d *Domain) NewNode(name string, opts ...NodeOption) (*Node, error) {
	c := nodeConfig{namespace: "/", executor: d.deflt}
	for _, o := range opts {
		o(&c)
	}
	given := name
	name, ns, err := d.remapped(name, c.namespace)
	if err != nil {
		return nil, fmt.Errorf("tagus: new node %s: %w", given, err)
	}
	n := &Node{
		d:        d,
		executor: c.executor,
		quiet:    true,
		node: graph.Node{
			Participant: d.id, Domain: d.number, ID: d.nextEntity(),
			Enclave: cmp.Or(d.args.Enclave, "/"), Namespace: ns, Name: name,
		},
	}
	n.clock = &Clock{typ: ROSTime, sim: &simTime{}}
	n.logger = d.logs.logger(roslog.LoggerName(n.node.FullName()), nil)
	overrides := d.overrides(n.node.FullName(), c.overrides)
	n.params, n.qosGiven = param.NewStore(n.node.FullName(), param.Options{Overrides: overrides, AllowUndeclared: c.anyParam}), givenQoS(overrides)
	if err = d.addNode(n); err == nil {
		err = n.begin(&c)
	}
	if err != nil {
		n.Close()
		return nil, fmt.Errorf("tagus: new node %s: %w", n.FullyQualifiedName(), err)
	}
	d.reportTwins(n.FullyQualifiedName())
	return n, nil
}

func (d *Domain) addNode(n *Node) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return ErrClosed
	}
	d.nodes = append(d.nodes, n)
	d.twins.joined(n.FullyQualifiedName())
	return nil
}

// begin makes what a node has by itself, and announces that with the node.
func (n *Node) begin(c *nodeConfig) error {
	if err := n.builtIn(c); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.quiet = false
	n.d.mu.Lock()
	defer n.d.mu.Unlock()
	n.d.announce()
	return nil
}

// announce brings the graph and the announcement up to date with the nodes and
// endpoints of this process. Called under d.mu.
func (d *Domain) announce() {
	nodes := make([]graph.Node, len(d.nodes))
	for i, n := range d.nodes {
		nodes[i] = n.node
	}
	d.graph.Put(localSource, d.id, nodes, d.local)
	d.shm.Announce(nodes, slices.Clone(d.local))
}

// localSource names this process's own entities in the graph.
const localSource = "local"

// Name is the node's name without its namespace.
func (n *Node) Name() string { return n.node.Name }

// Namespace is "/" or "/a/b".
func (n *Node) Namespace() string { return n.node.Namespace }

// FullyQualifiedName is the namespace and the name, "/a/b/name".
func (n *Node) FullyQualifiedName() string { return n.node.FullName() }

// Executor is the one that runs the node's callbacks.
func (n *Node) Executor() *Executor { return n.executor }

// Domain is the domain that the node was made in.
func (n *Node) Domain() *Domain { return n.d }

// endpoint makes the description of a new endpoint of this node, its name
// expanded and its profile checked.
func (n *Node) endpoint(k graph.Kind, name, typ, hash string, q qos.Profile) (graph.Endpoint, error) {
	if err := q.Validate(); err != nil {
		return graph.Endpoint{}, err
	}
	for what, text := range map[string]string{"type name": typ, "type hash": hash} {
		if text == "" || len(text) > maxTypeText {
			return graph.Endpoint{}, fmt.Errorf("%s %.40q has %d bytes: want 1 to %d", what, text, len(text), maxTypeText)
		}
	}
	full, err := n.fullName(k, name)
	if err != nil {
		return graph.Endpoint{}, err
	}
	if q, err = n.overrideQoS(k, full, q); err != nil {
		return graph.Endpoint{}, err
	}
	q = n.d.available(k, full, q).Resolved()
	if err := kept(q); err != nil {
		return graph.Endpoint{}, err
	}
	if q.History == qos.KeepLast && q.Depth > transport.QueueLimit {
		return graph.Endpoint{}, &DepthError{Depth: q.Depth, Limit: transport.QueueLimit}
	}
	return graph.NewEndpoint(k, n.node, n.d.nextEntity(), full, typ, hash, q), nil
}

// kept refuses policies that no path keeps yet: what is accepted is kept.
func kept(q qos.Profile) error {
	switch {
	case q.Liveliness == qos.ManualByTopic:
		return &PolicyUnsupportedError{"liveliness manual_by_topic"}
	case finite(q.LivelinessLeaseDuration):
		return &PolicyUnsupportedError{"liveliness_lease_duration"}
	}
	return nil
}

// PolicyUnsupportedError says that a profile has a policy that is not kept yet.
type PolicyUnsupportedError struct{ Policy string }

func (e *PolicyUnsupportedError) Error() string {
	return "qos: " + e.Policy + " is not supported yet; leave it at its default"
}

// available chooses the best-available policies of q by what is on the topic now.
func (d *Domain) available(k graph.Kind, topic string, q qos.Profile) qos.Profile {
	if q.Reliability != qos.ReliabilityBestAvailable && q.Durability != qos.DurabilityBestAvailable && q.Liveliness != qos.LivelinessBestAvailable {
		return q
	}
	var others []qos.Profile
	if k == graph.KindSubscription {
		for _, e := range d.graph.Publishers(topic) {
			others = append(others, e.QoS)
		}
		return q.ForSubscription(others)
	}
	for _, e := range d.graph.Subscriptions(topic) {
		others = append(others, e.QoS)
	}
	return q.ForPublisher(others)
}

// maxTypeText is the longest type name or hash that can be announced, in bytes.
const maxTypeText = 1024

// DepthError says that a profile asks for a deeper queue than there is.
type DepthError struct{ Depth, Limit int } // messages

func (e *DepthError) Error() string {
	return fmt.Sprintf("depth %d: limit queue_depth = %d messages", e.Depth, e.Limit)
}

// own adds an endpoint to the node and makes it known.
func (n *Node) own(c closer, e graph.Endpoint) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return ErrClosed
	}
	n.ends = append(n.ends, c)
	n.d.mu.Lock()
	defer n.d.mu.Unlock()
	if n.d.closed {
		return ErrClosed
	}
	n.d.local = append(n.d.local, e)
	if !n.quiet {
		n.d.announce()
	}
	return nil
}

// disown is the reverse of own. Of a node that is being closed it is announced with the
// others.
func (n *Node) disown(c closer, e graph.Endpoint) {
	n.mu.Lock()
	n.ends = slices.DeleteFunc(n.ends, func(x closer) bool { return x == c })
	closed := n.closed
	n.mu.Unlock()
	n.d.mu.Lock()
	defer n.d.mu.Unlock()
	n.d.local = slices.DeleteFunc(n.d.local, func(x graph.Endpoint) bool { return x.GID == e.GID })
	if !closed {
		n.d.announce()
	}
}

// Close ends the node with its timers and endpoints. It waits for callbacks that
// are running, unless it is called from one of them, and is idempotent.
func (n *Node) Close() error {
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		return nil
	}
	n.closed = true
	ends, timers := slices.Clone(n.ends), slices.Clone(n.timers)
	n.mu.Unlock()
	n.clock.sim.close() // who waits for time to pass does not wait any more
	var errs []error
	for _, t := range timers {
		t.Stop()
	}
	for _, c := range ends {
		errs = append(errs, c.Close())
	}
	n.dropLoggers()
	d := n.d
	d.mu.Lock()
	defer d.mu.Unlock()
	if slices.Contains(d.nodes, n) { // not so if the domain was closed when it was made
		d.twins.left(n.FullyQualifiedName())
	}
	d.nodes = slices.DeleteFunc(d.nodes, func(x *Node) bool { return x == n })
	d.announce()
	return errors.Join(errs...)
}
