package conformance

import (
	"errors"
	"fmt"
	"io"
	"net/rpc"
	"sync"
	"time"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/transport"
	"github.com/tagus-ros/tagus/qos"
)

// Serve lets another process use h over conn until conn ends. It closes h unless the
// other process has.
func Serve(h Host, conn io.ReadWriteCloser) error {
	s := rpc.NewServer()
	served := &server{host: h, ends: make(map[int]any)}
	if err := s.RegisterName("Host", served); err != nil {
		return err
	}
	s.ServeConn(conn)
	return served.Close(0, new(bool))
}

// server has the methods that a remote host calls. The ends that it made are known to
// its client by their numbers.
type server struct {
	host Host

	mu     sync.Mutex
	ends   map[int]any
	last   int
	closed bool
}

// New is the request for an end.
type New struct {
	Name    string
	QoS     qos.Profile
	Options Options
}

// Made is the answer.
type Made struct {
	End int
	GID graph.GID
}

func (s *server) keep(end any, gid graph.GID, m *Made) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	s.ends[s.last] = end
	m.End, m.GID = s.last, gid
}

func (s *server) pub(n int) Publisher    { p, _ := s.end(n).(Publisher); return p }
func (s *server) sub(n int) Subscription { p, _ := s.end(n).(Subscription); return p }

func (s *server) end(n int) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ends[n]
}

func (s *server) Publisher(n New, m *Made) error {
	p, err := s.host.Publisher(n.Name, n.QoS)
	if err == nil {
		s.keep(p, p.GID(), m)
	}
	return err
}

func (s *server) Subscription(n New, m *Made) error {
	p, err := s.host.Subscription(n.Name, n.QoS, n.Options)
	if err == nil {
		s.keep(p, p.GID(), m)
	}
	return err
}

func (s *server) Service(n New, m *Made) error {
	srv, err := s.host.Service(n.Name)
	if err == nil {
		s.keep(srv, graph.GID{}, m)
	}
	return err
}

func (s *server) Client(n New, m *Made) error {
	c, err := s.host.Client(n.Name)
	if err == nil {
		s.keep(c, graph.GID{}, m)
	}
	return err
}

func (s *server) srv(n int) Service   { x, _ := s.end(n).(Service); return x }
func (s *server) client(n int) Client { x, _ := s.end(n).(Client); return x }

func (s *server) SrvServe(c On, _ *bool) error { return s.srv(c.End).Serve(c.N) }
func (s *server) SrvClose(c On, _ *bool) error { return s.srv(c.End).Close() }
func (s *server) CliWait(c On, _ *bool) error  { return s.client(c.End).Wait(c.N) }
func (s *server) CliAsk(c On, _ *bool) error   { return s.client(c.End).Ask(uint64(c.N)) }
func (s *server) CliClose(c On, _ *bool) error { return s.client(c.End).Close() }

func (s *server) SrvTaken(c On, r *int) (err error) {
	*r, err = s.srv(c.End).Taken()
	return err
}

func (s *server) CliCall(c On, r *uint64) (err error) {
	*r, err = s.client(c.End).Call(uint64(c.N))
	return err
}

func (s *server) InUse(_ int, r *int64) (err error) {
	*r, err = s.host.InUse()
	return err
}

func (s *server) Close(int, *bool) error {
	s.mu.Lock()
	closed := s.closed
	s.closed = true
	s.mu.Unlock()
	if closed {
		return nil
	}
	return s.host.Close()
}

// On is a call of an end, with what it needs.
type On struct {
	End    int
	N      int // subscriptions or publishers to wait for, or a handle
	Batch  Batch
	Within time.Duration
	Hold   bool
	Stream Stream
}

// PubCounts is the answer to Counts of a publisher.
type PubCounts struct {
	Accepted uint64
	Links    transport.LinkCounts
}

func (s *server) PubWait(c On, _ *bool) error  { return s.pub(c.End).Wait(c.N) }
func (s *server) PubClose(c On, _ *bool) error { return s.pub(c.End).Close() }

func (s *server) Publish(c On, r *SentOr) error {
	sent, err := s.pub(c.End).Publish(c.Batch)
	r.Sent, r.Err = sent, text(err)
	return nil
}

// SentOr is what was sent before an error.
type SentOr struct {
	Sent Sent
	Err  string
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (s *server) PubCounts(c On, r *PubCounts) (err error) {
	r.Accepted, r.Links, err = s.pub(c.End).Counts()
	return err
}

func (s *server) SubWait(c On, _ *bool) error  { return s.sub(c.End).Wait(c.N) }
func (s *server) SubClose(c On, _ *bool) error { return s.sub(c.End).Close() }
func (s *server) Release(c On, _ *bool) error  { return s.sub(c.End).Release(c.N) }
func (s *server) Stream(c On, _ *bool) error   { return s.sub(c.End).Stream(c.Stream) }

func (s *server) Take(c On, r *Got) (err error) {
	*r, err = s.sub(c.End).Take(c.Within, c.Hold)
	return err
}

func (s *server) Check(c On, r *string) (err error) {
	*r, err = s.sub(c.End).Check(c.N)
	return err
}

func (s *server) Report(c On, r *Report) (err error) {
	*r, err = s.sub(c.End).Report()
	return err
}

func (s *server) Stop(c On, r *Report) (err error) {
	*r, err = s.sub(c.End).Stop()
	return err
}

func (s *server) SubCounts(c On, r *transport.InletCounts) (err error) {
	*r, err = s.sub(c.End).Counts()
	return err
}

// Dial returns the host that is served at the other end of conn.
func Dial(conn io.ReadWriteCloser) Host { return &remote{rpc.NewClient(conn)} }

type remote struct{ c *rpc.Client }

type remoteEnd struct {
	c    *rpc.Client
	made Made
}

func (r *remote) made(what string, n New) (remoteEnd, error) {
	e := remoteEnd{c: r.c}
	err := call(r.c, what, n, &e.made)
	return e, err
}

// call turns the texts of the errors that matter back into the errors.
func call(c *rpc.Client, what string, args, reply any) error {
	err := c.Call("Host."+what, args, reply)
	if err == nil || errors.Is(err, rpc.ErrShutdown) {
		return err
	}
	return known(err.Error(), fmt.Errorf("%s in another process: %w", what, err))
}

func known(text string, err error) error {
	for _, k := range []error{transport.ErrClosed} {
		if text == k.Error() {
			return k
		}
	}
	return err
}

func (r *remote) Publisher(topic string, q qos.Profile) (Publisher, error) {
	e, err := r.made("Publisher", New{Name: topic, QoS: q})
	return remotePublisher{e}, err
}

func (r *remote) Subscription(topic string, q qos.Profile, o Options) (Subscription, error) {
	e, err := r.made("Subscription", New{Name: topic, QoS: q, Options: o})
	return remoteSubscription{e}, err
}

func (r *remote) Service(name string) (Service, error) {
	e, err := r.made("Service", New{Name: name})
	return remoteService{e}, err
}

func (r *remote) Client(name string) (Client, error) {
	e, err := r.made("Client", New{Name: name})
	return remoteClient{e}, err
}

func (r *remote) InUse() (n int64, err error) {
	err = call(r.c, "InUse", 0, &n)
	return n, err
}

func (r *remote) Close() error {
	err := call(r.c, "Close", 0, new(bool))
	return errors.Join(err, r.c.Close())
}

func (e remoteEnd) GID() graph.GID { return e.made.GID }

func (e remoteEnd) call(what string, on On, reply any) error {
	on.End = e.made.End
	return call(e.c, what, on, reply)
}

type remotePublisher struct{ remoteEnd }

func (p remotePublisher) Wait(n int) error { return p.call("PubWait", On{N: n}, new(bool)) }
func (p remotePublisher) Close() error     { return p.call("PubClose", On{}, new(bool)) }

func (p remotePublisher) Publish(b Batch) (Sent, error) {
	var r SentOr
	err := p.call("Publish", On{Batch: b}, &r)
	if err == nil && r.Err != "" {
		err = known(r.Err, errors.New(r.Err))
	}
	return r.Sent, err
}

func (p remotePublisher) Counts() (uint64, transport.LinkCounts, error) {
	var c PubCounts
	err := p.call("PubCounts", On{}, &c)
	return c.Accepted, c.Links, err
}

type remoteSubscription struct{ remoteEnd }

func (s remoteSubscription) Wait(n int) error { return s.call("SubWait", On{N: n}, new(bool)) }
func (s remoteSubscription) Close() error     { return s.call("SubClose", On{}, new(bool)) }
func (s remoteSubscription) Release(handle int) error {
	return s.call("Release", On{N: handle}, new(bool))
}
func (s remoteSubscription) Stream(how Stream) error {
	return s.call("Stream", On{Stream: how}, new(bool))
}
func (s remoteSubscription) Report() (r Report, err error) {
	err = s.call("Report", On{}, &r)
	return r, err
}
func (s remoteSubscription) Stop() (r Report, err error) {
	err = s.call("Stop", On{}, &r)
	return r, err
}

func (s remoteSubscription) Take(within time.Duration, hold bool) (g Got, err error) {
	err = s.call("Take", On{Within: within, Hold: hold}, &g)
	return g, err
}

func (s remoteSubscription) Check(handle int) (bad string, err error) {
	err = s.call("Check", On{N: handle}, &bad)
	return bad, err
}

func (s remoteSubscription) Counts() (c transport.InletCounts, err error) {
	err = s.call("SubCounts", On{}, &c)
	return c, err
}

type remoteService struct{ remoteEnd }

func (s remoteService) Serve(n int) error { return s.call("SrvServe", On{N: n}, new(bool)) }
func (s remoteService) Close() error      { return s.call("SrvClose", On{}, new(bool)) }

func (s remoteService) Taken() (n int, err error) {
	err = s.call("SrvTaken", On{}, &n)
	return n, err
}

type remoteClient struct{ remoteEnd }

func (c remoteClient) Wait(n int) error { return c.call("CliWait", On{N: n}, new(bool)) }
func (c remoteClient) Ask(number uint64) error {
	return c.call("CliAsk", On{N: int(number)}, new(bool))
}
func (c remoteClient) Close() error { return c.call("CliClose", On{}, new(bool)) }

func (c remoteClient) Call(number uint64) (answer uint64, err error) {
	err = c.call("CliCall", On{N: int(number)}, &answer)
	return answer, err
}
