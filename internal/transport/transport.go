package transport

import (
	"errors"

	"github.com/tagus-ros/tagus/graph"
)

// ErrNotYet is what a path answers for services and clients until it carries
// them.
var ErrNotYet = errors.New("services are not carried by this path yet")

// Transport is one path. It joins the ends it is told of with their
// counterparts, wherever those are, for as long as both are there. All methods
// may be called from any goroutine and none waits for another process.
type Transport interface {
	Path() Path
	// AddPublisher makes o known. Its links come and go by themselves.
	AddPublisher(o *Outlet) error
	// RemovePublisher makes o unknown. The caller has closed o and hands over
	// the links of this path that came back; they are seen through until their
	// readers have drained them.
	RemovePublisher(o *Outlet, left []Link)
	// AddSubscription makes in known. Its feeds come and go by themselves.
	AddSubscription(in *Inlet) error
	// RemoveSubscription makes in unknown and closes its pairs; leases that are
	// out stay valid until they are returned.
	RemoveSubscription(in *Inlet)
	// AddService and AddClient make the ends of a service known.
	AddService(s *ServiceEnd) error
	AddClient(c *ServiceEnd) error
	Close() error
}

// ServiceEnd is a service server or a client without its Go types. A server's In has
// the requests and its Out the answers, each sent to one client; a client has them the
// other way round, and sends a request to every server there is.
type ServiceEnd struct {
	Endpoint graph.Endpoint
	In       *Inlet
	Out      *Outlet
}

// AddTo makes both ways known to a path that joins services like topics.
func (s *ServiceEnd) AddTo(t Transport) error {
	return errors.Join(t.AddSubscription(s.In), t.AddPublisher(s.Out))
}

// RemoveFrom is the reverse of AddTo.
func (s *ServiceEnd) RemoveFrom(t Transport) {
	t.RemovePublisher(s.Out, nil)
	t.RemoveSubscription(s.In)
}
