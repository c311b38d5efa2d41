package tagus

import (
	"io"
	"slices"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/qos"
	"github.com/tagus-ros/tagus/rosidl"
)

// What follows is for packages that build something larger of endpoints, as actions are.

// Adopt has the node close c when it closes, before its endpoints: c may still use those.
// It returns ErrClosed when the node is closed already; c is then the caller's to close.
func (n *Node) Adopt(c io.Closer) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return &EndpointError{"node", n.FullyQualifiedName(), "adopt", ErrClosed}
	}
	n.ends = slices.Insert(n.ends, 0, closer(c))
	return nil
}

// Disown is the reverse of Adopt, for what has closed by itself.
func (n *Node) Disown(c io.Closer) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ends = slices.DeleteFunc(n.ends, func(x closer) bool { return x == c })
}

// NewPublisherOf is [NewPublisher] for a type that is known by its support rather than by
// a method of its own, such as the messages that an action implies.
func NewPublisherOf[T any](n *Node, topic string, ts *rosidl.TypeSupport[T], q qos.Profile, opts ...PublisherOption) (*Publisher[T], error) {
	e, err := n.endpoint(graph.KindPublisher, topic, ts.Name, ts.Hash, q)
	if err != nil {
		return nil, &EndpointError{"publisher", topic, "new", err}
	}
	n.d.define(ts.Name, ts.Hash, ts.Definition)
	var c publisherConfig
	for _, o := range opts {
		o.publisher(&c)
	}
	p := &Publisher[T]{}
	p.init(n, ts, e)
	if err := p.open(p, c.events); err != nil {
		return nil, &EndpointError{"publisher", e.Name, "new", err}
	}
	return p, nil
}

// NewPullSubscriptionOf is [NewPullSubscription] for a type that is known by its support.
func NewPullSubscriptionOf[T any](n *Node, topic string, ts *rosidl.TypeSupport[T], q qos.Profile, opts ...SubscriptionOption) (*PullSubscription[T], error) {
	s := &PullSubscription[T]{turn: make(chan struct{}, 1)}
	if err := s.st.open(n.d); err != nil {
		return nil, &EndpointError{"subscription", topic, "new", err}
	}
	err := s.open(n, topic, ts, q, &s.st, opts)
	if err == nil {
		err = s.start(s)
	}
	if err != nil {
		s.st.close()
		return nil, &EndpointError{"subscription", topic, "new", err}
	}
	return s, nil
}

// NewClientOf is [NewClient] for a service that is known by its support.
func NewClientOf[Req, Resp any](n *Node, name string, sup *rosidl.ServiceSupport[Req, Resp], opts ...ServiceOption) (*Client[Req, Resp], error) {
	c := serviceOptions(opts)
	cl := &Client[Req, Resp]{pending: make(map[uint64]*call[Resp])}
	cl.rests.L = &cl.mu
	if err := cl.open(n, name, sup, c.q); err != nil {
		if cl.st.area != nil {
			cl.st.close()
		}
		return nil, &EndpointError{"client", name, "new", err}
	}
	return cl, nil
}
