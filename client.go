package tagus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tagus-ros/tagus/cdr"
	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/transport"
	"github.com/tagus-ros/tagus/msgs/service_msgs"
	"github.com/tagus-ros/tagus/qos"
	"github.com/tagus-ros/tagus/rosidl"
)

// Errors that a call ends with, besides those of its context.
var (
	// ErrNoServer says that no server was there when the call was made.
	ErrNoServer = errors.New("no server")
	// ErrServerDied says that every server that got the request is gone without an answer.
	ErrServerDied = errors.New("the server is gone without an answer")
	// ErrTimeout says that the deadline of the call's context passed first. It goes with
	// context.DeadlineExceeded.
	ErrTimeout = errors.New("timed out")
	// ErrRefused says that a limit was reached: a server's queue of requests was full, or
	// too many calls of the client are under way. Nothing was asked.
	ErrRefused = errors.New("refused")
)

// Client calls a service. It needs no executor: a call waits for its answer on a word of
// the client's own, also inside callbacks. It is safe for concurrent use; any number of
// calls can be under way.
type Client[Req, Resp any] struct {
	requests emitter[Req]
	replies  receiver[Resp]
	st       pullStation
	closed   atomic.Bool
	calls    introspector[Req, Resp]

	mu      sync.Mutex
	pending map[uint64]*call[Resp] // by sequence number of the request
	leader  bool                   // some caller sleeps on the area and takes answers for all
	rests   sync.Cond              // nobody leads; on mu
	change  transport.Broadcast    // servers came or went
}

// call is one call under way.
type call[Resp any] struct {
	servers []graph.GID // that got the request
	resp    *Resp
	err     error
	done    bool
	wake    chan struct{} // tells a caller that waits behind the leader: done, or lead now
}

// NewClient makes a client of a service; the name is expanded as ROS 2 does.
func NewClient[S rosidl.Service[Req, Resp], Req, Resp any](n *Node, name string, opts ...ServiceOption) (*Client[Req, Resp], error) {
	var marker S
	return NewClientOf(n, name, marker.ROSService(), opts...)
}

func (c *Client[Req, Resp]) open(n *Node, name string, sup *rosidl.ServiceSupport[Req, Resp], q qos.Profile) error {
	e, err := n.endpoint(graph.KindClient, name, sup.Name, sup.Hash, q)
	if err != nil {
		return err
	}
	defineService(n.d, sup)
	c.calls.req, c.calls.resp = sup.Request, sup.Response
	if err := c.st.open(n.d); err != nil {
		return err
	}
	if err := c.replies.openAs(n, e, sup.Response, &c.st, 1); err != nil {
		return err
	}
	c.requests.init(n, sup.Request, e)
	c.requests.out.OnChange(func() {
		c.st.area.Poke()
		c.change.Fire()
	})
	c.replies.in.OnChange(c.change.Fire)
	if err := n.addService(c, e, c.serviceEnd()); err != nil {
		c.stop()
		return err
	}
	return nil
}

func (c *Client[Req, Resp]) serviceEnd() *transport.ServiceEnd {
	return &transport.ServiceEnd{Endpoint: c.requests.out.Endpoint, In: c.replies.in, Out: c.requests.out}
}

// Name is the fully qualified name of the service.
func (c *Client[Req, Resp]) Name() string { return c.requests.out.Endpoint.Name }

// GID identifies the client in the graph and in the events of its calls.
func (c *Client[Req, Resp]) GID() graph.GID { return c.requests.out.Endpoint.GID }

func (c *Client[Req, Resp]) fail(op string, err error) error {
	return &EndpointError{"client", c.Name(), op, err}
}

// ready reports whether some server is linked both ways.
func (c *Client[Req, Resp]) ready() bool {
	for _, gid := range c.requests.out.Peers(nil) {
		if c.replies.in.Linked(gid) {
			return true
		}
	}
	return false
}

// Available reports whether a call would reach a server now.
func (c *Client[Req, Resp]) Available() bool { return c.ready() }

// WaitForService returns when a server is there: the first call after it works. It
// returns ctx's error when that ends first.
func (c *Client[Req, Resp]) WaitForService(ctx context.Context) error {
	err := c.change.Wait(ctx, func() (bool, error) {
		if c.closed.Load() {
			return false, ErrClosed
		}
		return c.ready(), nil
	})
	if err != nil {
		return c.fail("wait for service", err)
	}
	return nil
}

// Call asks and returns the answer, which is the caller's. With several servers the first
// answer counts. Errors, told apart by errors.Is and errors.As: [ErrNoServer] (at once),
// [ErrServerDied], [ErrTimeout] with context.DeadlineExceeded, context.Canceled,
// [ErrRefused], [*ServiceError], a bound that the request breaks, ErrClosed.
func (c *Client[Req, Resp]) Call(ctx context.Context, req *Req) (*Resp, error) {
	resp, err := c.call(ctx, req)
	if err != nil {
		return nil, c.fail("call", err)
	}
	return resp, nil
}

func (c *Client[Req, Resp]) call(ctx context.Context, req *Req) (*Resp, error) {
	if c.closed.Load() {
		return nil, ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, ended(err)
	}
	k := &call[Resp]{wake: make(chan struct{}, 1)}
	seq, err := c.ask(req, k)
	if err != nil {
		return nil, err
	}
	defer c.leave(seq)
	gid := c.requests.out.Endpoint.GID
	c.calls.tell(service_msgs.ServiceEventInfoRequestSent, gid, seq, req, nil)
	resp, err := c.wait(ctx, k)
	if err == nil {
		c.calls.tell(service_msgs.ServiceEventInfoResponseReceived, gid, seq, nil, resp)
	}
	return resp, err
}

// ask sends the request and notes the call under its number before an answer can come.
func (c *Client[Req, Resp]) ask(req *Req, k *call[Resp]) (seq uint64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	// Only a server that is linked both ways can answer.
	k.servers = slices.DeleteFunc(c.requests.out.Peers(nil), func(g graph.GID) bool { return !c.replies.in.Linked(g) })
	if len(k.servers) == 0 {
		return 0, ErrNoServer
	}
	if !c.leader {
		c.takeAnswers() // of calls that were given up: they make room
	}
	if len(c.pending) >= transport.PendingCalls {
		return 0, fmt.Errorf("%w: %d calls are under way, limit pending_calls = %d", ErrRefused, len(c.pending), transport.PendingCalls)
	}
	seq, err = c.requests.ask(req)
	var full *QueueFullError
	if errors.As(err, &full) {
		return 0, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	if err != nil {
		return 0, err
	}
	c.pending[seq] = k
	return seq, nil
}

// leave forgets a call. If nobody leads now, another caller is made to.
func (c *Client[Req, Resp]) leave(seq uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, seq)
	if c.leader {
		return
	}
	for _, k := range c.pending {
		if !k.done {
			k.nudge()
			return
		}
	}
}

// wait returns when k is done. One of the callers leads: it sleeps on the area and takes
// the answers of all; the others wait for it. Whoever leaves while nobody leads makes
// another one lead.
func (c *Client[Req, Resp]) wait(ctx context.Context, k *call[Resp]) (*Resp, error) {
	for {
		c.mu.Lock()
		if !k.done && !c.leader {
			c.leader = true
			c.lead(ctx, k)
			c.leader = false
			c.rests.Broadcast()
		}
		done, resp, err := k.done, k.resp, k.err
		c.mu.Unlock()
		switch {
		case done || err != nil:
			return resp, err
		case c.closed.Load():
			return nil, ErrClosed
		}
		select {
		case <-k.wake:
		case <-ctx.Done():
			return nil, ended(ctx.Err())
		}
	}
}

// lead takes answers until k is done, ctx ends or the client closes. Called under mu,
// which it releases while it sleeps.
func (c *Client[Req, Resp]) lead(ctx context.Context, k *call[Resp]) {
	for !k.done && ctx.Err() == nil && !c.closed.Load() {
		c.takeAnswers()
		c.buryDead()
		if k.done {
			return
		}
		c.mu.Unlock()
		err := c.st.area.WaitContext(ctx)
		c.mu.Lock()
		if err != nil {
			k.err = ended(err)
			return
		}
	}
}

// takeAnswers hands what has come to the calls. Called under mu.
func (c *Client[Req, Resp]) takeAnswers() {
	c.st.area.Take(c.st.visit)
	for c.takeAnswer() {
	}
}

// takeAnswer hands one answer to its call. Called under mu.
func (c *Client[Req, Resp]) takeAnswer() bool {
	s := c.replies.sample()
	ok, _ := c.replies.in.Take(&s.rec)
	if !ok {
		c.replies.put(s)
		return false
	}
	k := c.pending[s.rec.Answers]
	if k == nil || k.done {
		c.replies.finish(s) // its caller has given up, or another server was quicker
		return true
	}
	k.done = true
	if s.rec.Failed {
		k.err = &ServiceError{string(s.rec.Bytes[cdr.EncapsulationSize:])}
	} else {
		k.resp, k.err = c.own(s)
	}
	c.replies.finish(s)
	k.nudge()
	return true
}

// own copies the answer that s holds.
func (c *Client[Req, Resp]) own(s *Sample[Resp]) (*Resp, error) {
	resp := new(Resp)
	if v := s.rec.Value; v != nil {
		c.replies.ts.Copy(resp, (*Resp)(v.Ptr))
		return resp, nil
	}
	s.dec.Reset(s.rec.Bytes)
	if err := c.replies.ts.Decode(&s.dec, resp); err != nil {
		return nil, fmt.Errorf("malformed answer: %w", err)
	}
	return resp, nil
}

// buryDead ends the calls whose servers are all gone. Called under mu.
func (c *Client[Req, Resp]) buryDead() {
	var here []graph.GID
	asked := false
	for _, k := range c.pending {
		if k.done {
			continue
		}
		if !asked {
			here, asked = c.requests.out.Peers(nil), true
		}
		if !slices.ContainsFunc(k.servers, func(g graph.GID) bool { return slices.Contains(here, g) }) {
			k.done, k.err = true, ErrServerDied
			k.nudge()
		}
	}
}

// nudge makes the caller look again.
func (k *call[Resp]) nudge() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// ended is the error of a call whose context ended with err.
func ended(err error) error {
	if err != context.DeadlineExceeded {
		return err
	}
	return fmt.Errorf("%w: %w", ErrTimeout, context.DeadlineExceeded)
}

// Close ends the client; calls under way return ErrClosed. It is idempotent.
func (c *Client[Req, Resp]) Close() error {
	if c.closed.Swap(true) {
		return nil
	}
	c.mu.Lock()
	for _, k := range c.pending {
		k.nudge()
	}
	c.mu.Unlock()
	c.st.area.Poke()
	c.stop()
	c.mu.Lock()
	for c.leader {
		c.rests.Wait()
	}
	c.mu.Unlock()
	c.st.close()
	c.change.Fire()
	c.requests.n.disown(c, c.requests.out.Endpoint)
	return c.calls.close()
}

func (c *Client[Req, Resp]) stop() { c.requests.n.removeService(c.serviceEnd()) }
