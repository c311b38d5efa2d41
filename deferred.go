package tagus

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/transport"
	"github.com/tagus-ros/tagus/msgs/service_msgs"
	"github.com/tagus-ros/tagus/qos"
	"github.com/tagus-ros/tagus/rosidl"
)

// OpenRequests is how many requests of one [DeferredService] can be open, that is handed
// to its handler and not yet answered. One more fails at its caller with a
// [*ServiceError] that names this limit.
const OpenRequests = 4096

// Errors of [Request.Respond].
var (
	// ErrClientGone says that the client that asked is gone, so that nobody waits for
	// the answer.
	ErrClientGone = errors.New("the client is gone")
	// ErrAnswered says that a request was answered before.
	ErrAnswered = errors.New("the request was answered before")
)

// DeferredService is a service whose handler need not know the answer when it returns:
// any goroutine gives it later, through the [Request]. It is safe for concurrent use.
type DeferredService[Req, Resp any] struct {
	s  Service[Req, Resp] // its ends and counts
	fn func(context.Context, *Request[Req, Resp])

	mu      sync.Mutex
	callers map[graph.GID]*caller // clients that have asked and are there
	open    int                   // requests without an answer, of all callers
}

// caller is a client that has asked.
type caller struct {
	open int
	gone chan struct{} // closed when the client or the service is gone
}

// Request is one request under way. It belongs to the handler's side until it is
// answered, from any goroutine.
type Request[Req, Resp any] struct {
	// Msg is what was asked, a copy that belongs to the holder of the request.
	Msg *Req

	msg      Req
	d        *DeferredService[Req, Resp]
	from     *caller
	client   graph.GID
	seq      uint64
	answered atomic.Bool
}

// NewDeferredService makes a service; the name is expanded as ROS 2 does. fn gets each
// request on the node's executor, one at a time, and returns at once; what it was given is
// to be answered sooner or later by [Request.Respond] or [Request.Fail]. Requests whose
// client has gone before their turn are passed over.
func NewDeferredService[S rosidl.Service[Req, Resp], Req, Resp any](n *Node, name string, fn func(context.Context, *Request[Req, Resp]), opts ...ServiceOption) (*DeferredService[Req, Resp], error) {
	var marker S
	return NewDeferredServiceOf(n, name, marker.ROSService(), fn, opts...)
}

// NewDeferredServiceOf is [NewDeferredService] for a service that is known by its support.
func NewDeferredServiceOf[Req, Resp any](n *Node, name string, sup *rosidl.ServiceSupport[Req, Resp], fn func(context.Context, *Request[Req, Resp]), opts ...ServiceOption) (*DeferredService[Req, Resp], error) {
	c := serviceOptions(opts)
	d := &DeferredService[Req, Resp]{fn: fn, callers: make(map[graph.GID]*caller)}
	d.s.st.e = n.executor
	d.s.st.entry.Task = d
	var err error
	if d.s.st.group, err = c.group.of(n.executor); err == nil {
		err = d.start(n, name, sup, c.q)
	}
	if err != nil {
		return nil, &EndpointError{"service", name, "new", err}
	}
	return d, nil
}

func (d *DeferredService[Req, Resp]) start(n *Node, name string, sup *rosidl.ServiceSupport[Req, Resp], q qos.Profile) error {
	e, err := n.endpoint(graph.KindService, name, sup.Name, sup.Hash, q)
	if err != nil {
		return err
	}
	defineService(n.d, sup)
	d.s.calls.req, d.s.calls.resp = sup.Request, sup.Response
	if err := d.s.requests.openAs(n, e, sup.Request, &d.s.st, 1); err != nil {
		return err
	}
	d.s.replies.init(n, sup.Response, e)
	d.s.requests.in.OnChange(d.look)
	d.s.replies.out.OnChange(d.look)
	if err := n.addService(d, e, d.s.ends()); err != nil {
		d.s.stop()
		return err
	}
	return nil
}

// Run hands the oldest request to the handler. It is for the executor.
func (d *DeferredService[Req, Resp]) Run(ctx context.Context) (more bool) {
	d.s.running.Lock()
	defer d.s.running.Unlock()
	if d.s.closed.Load() {
		return false
	}
	sample, more := d.s.requests.take()
	if sample == nil {
		return false
	}
	r := &Request[Req, Resp]{d: d, client: sample.rec.GID, seq: sample.rec.Sequence}
	r.Msg = &r.msg
	d.s.requests.ts.Copy(r.Msg, sample.Msg)
	d.s.requests.finish(sample)
	switch err := d.admit(r); {
	case errors.Is(err, ErrClientGone):
		d.s.undelivered.Add(1)
	case err != nil:
		d.s.failed.Add(1)
		d.s.complain("a request was refused", err)
		_ = d.s.replies.refuse(r.client, r.seq, err.Error())
	default:
		d.s.calls.tell(service_msgs.ServiceEventInfoRequestReceived, r.client, r.seq, r.Msg, nil)
		d.fn(ctx, r)
	}
	return more
}

// admit counts r as open.
func (d *DeferredService[Req, Resp]) admit(r *Request[Req, Resp]) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.callers[r.client]
	if c == nil {
		// Looked at under the mutex and before it is listed: if it goes after this, look
		// finds it in the list.
		if !d.linked(r.client) {
			return ErrClientGone
		}
		c = &caller{gone: make(chan struct{})}
		d.callers[r.client] = c
	}
	if d.open >= OpenRequests {
		return fmt.Errorf("%d requests are open, limit open_requests = %d", d.open, OpenRequests)
	}
	r.from = c
	c.open++
	d.open++
	return nil
}

// linked reports whether a client is there. Its requests may come before the way for the
// answers is ready, so either way counts.
func (d *DeferredService[Req, Resp]) linked(client graph.GID) bool {
	return d.s.requests.in.Linked(client) || d.s.replies.out.Takes(client) != 0
}

// look finds out which clients are gone. The paths call it after each change.
func (d *DeferredService[Req, Resp]) look() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for gid, c := range d.callers {
		if !d.linked(gid) {
			d.forget(gid, c)
		}
	}
}

// forget ends what is open of a client. Called under mu.
func (d *DeferredService[Req, Resp]) forget(gid graph.GID, c *caller) {
	delete(d.callers, gid)
	d.open -= c.open
	c.open = 0
	close(c.gone)
}

// Client identifies the client that asked, in the graph too.
func (r *Request[Req, Resp]) Client() graph.GID { return r.client }

// Gone is closed when the client that asked is gone, also after the answer, or when the
// service is closed.
func (r *Request[Req, Resp]) Gone() <-chan struct{} { return r.from.gone }

// Respond gives the answer, which stays the caller's. Any goroutine may call it, also
// after the client has gone. Errors: [ErrAnswered], [ErrClientGone], ErrClosed; a bound
// of the type that resp breaks, or no room in shared memory: then the client is told that
// the request failed, and why.
func (r *Request[Req, Resp]) Respond(resp *Resp) error {
	if resp == nil {
		return r.Fail(errors.New("the handler gave neither an answer nor an error"))
	}
	if err := r.end(); err != nil {
		return r.fail("respond", err)
	}
	s := &r.d.s
	err := s.replies.answer(resp, r.client, r.seq)
	if err == nil {
		s.calls.tell(service_msgs.ServiceEventInfoResponseSent, r.client, r.seq, nil, resp)
		return nil
	}
	s.undelivered.Add(1)
	if s.closed.Load() {
		return r.fail("respond", ErrClosed)
	}
	if errors.Is(err, transport.ErrNoPeer) {
		return r.fail("respond", ErrClientGone)
	}
	_ = s.replies.refuse(r.client, r.seq, err.Error()) // err says it already
	return r.fail("respond", err)
}

// Fail answers that the request failed. Callers that use tagus get a [*ServiceError] with
// the text of cause; ROS 2 has no error answers, so others get none. Errors as Respond.
func (r *Request[Req, Resp]) Fail(cause error) error {
	if err := r.end(); err != nil {
		return r.fail("fail", err)
	}
	s := &r.d.s
	s.failed.Add(1)
	err := s.replies.refuse(r.client, r.seq, cause.Error())
	if err == nil {
		return nil
	}
	s.undelivered.Add(1)
	if errors.Is(err, transport.ErrNoPeer) {
		err = ErrClientGone
	}
	return r.fail("fail", err)
}

// end takes r out of the account of open requests.
func (r *Request[Req, Resp]) end() error {
	if r.answered.Swap(true) {
		return ErrAnswered
	}
	d := r.d
	d.mu.Lock()
	defer d.mu.Unlock()
	select {
	case <-r.from.gone:
		d.s.undelivered.Add(1)
		if d.s.closed.Load() {
			return ErrClosed
		}
		return ErrClientGone
	default:
	}
	r.from.open--
	d.open--
	return nil
}

func (r *Request[Req, Resp]) fail(op string, err error) error {
	return &EndpointError{"service", r.d.Name(), op, err}
}

// Name is the fully qualified name of the service.
func (d *DeferredService[Req, Resp]) Name() string { return d.s.Name() }

// DeferredStats is what a deferred service counted.
type DeferredStats struct {
	ServiceStats
	Open int // requests without an answer
}

// Stats returns the counts so far.
func (d *DeferredService[Req, Resp]) Stats() DeferredStats {
	d.mu.Lock()
	defer d.mu.Unlock()
	return DeferredStats{d.s.Stats(), d.open}
}

// Close ends the service; the callers of requests that are open or wait learn that the
// server is gone. It waits for a handler that runs, unless it is called from a callback
// of the same executor. It is idempotent.
func (d *DeferredService[Req, Resp]) Close() error {
	if d.s.closed.Swap(true) {
		return nil
	}
	if !d.s.st.inside() {
		d.s.running.Lock() // waits for the end of a running handler
		defer d.s.running.Unlock()
	}
	d.s.stop()
	d.mu.Lock()
	for gid, c := range d.callers {
		d.forget(gid, c)
	}
	d.mu.Unlock()
	d.s.replies.n.disown(d, d.s.replies.out.Endpoint)
	return d.s.calls.close()
}
