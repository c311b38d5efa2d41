package transport

import (
	"errors"

	"github.com/tagus-ros/tagus/graph"
)

// Transport is one path. It joins the ends it is told of with their
// counterparts, wherever those are, for as long as both are there. All methods
// may be called from any goroutine and none waits for another process.
type Transport interface {
	Path() Path
	// AddPublisher makes o known. Its links come and go by themselves.
	AddPublisher(o *Outlet) error
	// RemovePublisher makes o unknown, which the caller has closed; its links are seen
	// through until their readers have drained them.
	RemovePublisher(o *Outlet)
	// AddSubscription makes in known. Its feeds come and go by themselves.
	AddSubscription(in *Inlet) error
	// RemoveSubscription makes in unknown and closes its pairs; leases that are
	// out stay valid until they are returned.
	RemoveSubscription(in *Inlet)
	// AddService makes a server or a client known, RemoveService unknown: its owner has
	// closed both its ways.
	AddService(s *ServiceEnd) error
	RemoveService(s *ServiceEnd)
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

// AddAsTopics is AddService for a path that joins services like topics.
func (s *ServiceEnd) AddAsTopics(t Transport) error {
	return errors.Join(t.AddSubscription(s.In), t.AddPublisher(s.Out))
}

// RemoveAsTopics is the reverse of AddAsTopics.
func (s *ServiceEnd) RemoveAsTopics(t Transport) {
	t.RemovePublisher(s.Out)
	t.RemoveSubscription(s.In)
}
