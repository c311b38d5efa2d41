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

// ServiceEnd is a service server or a client without its Go types.
type ServiceEnd struct {
	Endpoint graph.Endpoint
	Requests *Inlet  // the server's: requests come in
	Replies  *Outlet // the server's: answers go out; a client has both the other way round
}
