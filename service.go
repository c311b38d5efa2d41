package tagus

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/clock"
	"github.com/tagus-ros/tagus/internal/transport"
	"github.com/tagus-ros/tagus/msgs/service_msgs"
	"github.com/tagus-ros/tagus/qos"
	"github.com/tagus-ros/tagus/rosidl"
)

// Service answers the requests of clients, one at a time, on the node's executor. It is
// safe for concurrent use.
type Service[Req, Resp any] struct {
	requests receiver[Req]
	replies  emitter[Resp]
	st       station
	fn       func(context.Context, *Req) (*Resp, error)
	calls    introspector[Req, Resp]

	running sync.Mutex // held while the handler runs
	closed  atomic.Bool
	said    atomic.Int64 // when a failure was last logged, ns of clock.Mono

	failed      atomic.Uint64
	undelivered atomic.Uint64
}

// ServiceOption sets something about a [Service] or a [Client].
type ServiceOption interface{ service(*serviceConfig) }

// serviceOption makes a function an option.
type serviceOption func(*serviceConfig)

func (f serviceOption) service(c *serviceConfig) { f(c) }

type serviceConfig struct {
	q     qos.Profile
	group *CallbackGroup // of a service; a client has no callback
}

func serviceOptions(opts []ServiceOption) serviceConfig {
	c := serviceConfig{q: qos.ServicesDefault()}
	for _, o := range opts {
		o.service(&c)
	}
	return c
}

// WithServiceQoS sets the profile; its depth bounds the requests, or answers, that wait.
// Without it qos.ServicesDefault applies: 10 wait at most, and one more is refused.
func WithServiceQoS(q qos.Profile) ServiceOption {
	return serviceOption(func(c *serviceConfig) { c.q = q })
}

// ServiceError is what a handler's error becomes for callers that use tagus.
type ServiceError struct{ Text string }

func (e *ServiceError) Error() string { return "the service failed: " + e.Text }

// NewService makes a service; the name is expanded as ROS 2 does. fn gets each request,
// which is lent to it, and returns the answer, which it may use again after the next
// call began. An error of fn reaches callers that use tagus as a [*ServiceError]; ROS 2
// has no error answers, so other callers get none and wait until their own deadline.
func NewService[S rosidl.Service[Req, Resp], Req, Resp any](n *Node, name string, fn func(context.Context, *Req) (*Resp, error), opts ...ServiceOption) (*Service[Req, Resp], error) {
	var marker S
	sup := marker.ROSService()
	c := serviceOptions(opts)
	s := &Service[Req, Resp]{fn: fn}
	s.st.e = n.executor
	s.st.entry.Task = s
	var err error
	if s.st.group, err = c.group.of(n.executor); err == nil {
		err = s.open(n, name, sup, c.q)
	}
	if err != nil {
		return nil, &EndpointError{"service", name, "new", err}
	}
	return s, nil
}

func (s *Service[Req, Resp]) open(n *Node, name string, sup *rosidl.ServiceSupport[Req, Resp], q qos.Profile) error {
	e, err := n.endpoint(graph.KindService, name, sup.Name, sup.Hash, q)
	if err != nil {
		return err
	}
	defineService(n.d, sup)
	s.calls.req, s.calls.resp = sup.Request, sup.Response
	if err := s.requests.openAs(n, e, sup.Request, &s.st, 1); err != nil {
		return err
	}
	s.replies.init(n, sup.Response, e)
	if err := n.addService(s, e, s.ends()); err != nil {
		s.stop()
		return err
	}
	return nil
}

func (s *Service[Req, Resp]) ends() *transport.ServiceEnd {
	return &transport.ServiceEnd{Endpoint: s.replies.out.Endpoint, In: s.requests.in, Out: s.replies.out}
}

// Run answers the oldest request. It is for the executor.
func (s *Service[Req, Resp]) Run(ctx context.Context) (more bool) {
	s.running.Lock()
	defer s.running.Unlock()
	if s.closed.Load() {
		return false
	}
	req, more := s.requests.take()
	if req == nil {
		return false
	}
	client, seq := req.rec.GID, req.rec.Sequence
	s.calls.tell(service_msgs.ServiceEventInfoRequestReceived, client, seq, req.Msg, nil)
	resp, err := s.fn(ctx, req.Msg)
	s.requests.finish(req)
	if err == nil && resp == nil {
		err = errors.New("the handler returned neither an answer nor an error")
	}
	if err != nil {
		s.failed.Add(1)
		s.complain("a handler failed", err)
		err = s.replies.refuse(client, seq, err.Error())
	} else if err = s.replies.answer(resp, client, seq); err == nil {
		s.calls.tell(service_msgs.ServiceEventInfoResponseSent, client, seq, nil, resp)
	}
	if err != nil {
		// The client has gone, or does not take its answers.
		s.undelivered.Add(1)
		if !errors.Is(err, transport.ErrNoPeer) {
			s.complain("an answer was not delivered", err)
		}
	}
	return more
}

// complain logs at most once in ten seconds.
func (s *Service[Req, Resp]) complain(what string, err error) {
	now := clock.Mono()
	if last := s.said.Load(); (last == 0 || now-last > int64(10*time.Second)) && s.said.CompareAndSwap(last, now) {
		s.replies.n.d.log.Error(what, "service", s.Name(), "err", err)
	}
}

// Name is the fully qualified name of the service.
func (s *Service[Req, Resp]) Name() string { return s.replies.out.Endpoint.Name }

// ServiceStats is what a service counted.
type ServiceStats struct {
	Requests    uint64 // requests taken
	Failed      uint64 // requests whose handler failed
	Undelivered uint64 // answers whose client was gone or did not take them
	Waiting     int    // requests in the queue
	Clients     int    // matched clients
}

// Stats returns the counts so far.
func (s *Service[Req, Resp]) Stats() ServiceStats {
	c := s.requests.in.Counts()
	return ServiceStats{Requests: c.Received, Failed: s.failed.Load(), Undelivered: s.undelivered.Load(), Waiting: c.Waiting, Clients: c.Feeds}
}

// Close ends the service; requests that wait get no answer, and their callers learn that
// the server is gone. It waits for a handler that runs, unless it is called from a
// callback of the same executor. It is idempotent.
func (s *Service[Req, Resp]) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	if !s.st.inside() {
		s.running.Lock() // waits for the end of a running handler
		defer s.running.Unlock()
	}
	s.stop()
	s.replies.n.disown(s, s.replies.out.Endpoint)
	return s.calls.close()
}

func (s *Service[Req, Resp]) stop() { s.replies.n.removeService(s.ends()) }

// addService makes an end of a service known on all paths, and owns it.
func (n *Node) addService(c closer, e graph.Endpoint, s *transport.ServiceEnd) error {
	if err := errors.Join(n.d.intra.AddService(s), n.d.shm.AddService(s)); err != nil {
		return err
	}
	if err := n.own(c, e); err != nil {
		return err
	}
	n.d.keepInlet(s.In)
	return nil
}

// removeService closes both ways of an end of a service and makes it unknown.
func (n *Node) removeService(s *transport.ServiceEnd) {
	s.In.Close()
	s.Out.Close()
	n.d.intra.RemoveService(s)
	n.d.shm.RemoveService(s)
}
