package tagus

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tagus-ros/tagus/cdr"
	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/msgs/service_msgs"
	"github.com/tagus-ros/tagus/qos"
	"github.com/tagus-ros/tagus/rosidl"
)

// Introspection says how much a service or a client tells of its calls, on the topic
// <service>/_service_event.
type Introspection uint8

// The ways to tell.
const (
	IntrospectOff      Introspection = iota // nothing
	IntrospectMetadata                      // that there was a call, when, and whose
	IntrospectContents                      // also what was asked and answered
)

// introspector tells of the calls of one end of a service.
type introspector[Req, Resp any] struct {
	req  *rosidl.TypeSupport[Req]
	resp *rosidl.TypeSupport[Resp]
	now  atomic.Pointer[telling] // nil: it tells nothing
}

// telling is the publisher of events, as long as there are to be any.
type telling struct {
	n        *Node
	pub      *SerializedPublisher
	contents bool

	mu  sync.Mutex
	buf []byte
	enc cdr.Encoder
}

// set makes the end tell from now on what is wanted.
func (i *introspector[Req, Resp]) set(n *Node, service string, sup typeID, what Introspection, q qos.Profile) error {
	if what > IntrospectContents {
		return fmt.Errorf("introspection %d: want off, metadata or contents", what)
	}
	var t *telling
	if what != IntrospectOff {
		text, _ := n.d.definition(sup.name, sup.hash)
		event, hash, err := eventDefinition(sup.name, text)
		if err != nil {
			return err
		}
		t = &telling{n: n, contents: what == IntrospectContents}
		if t.pub, err = NewSerializedPublisher(n, service+"/_service_event", sup.name+"_Event", hash, event, q); err != nil {
			return err
		}
	}
	if old := i.now.Swap(t); old != nil {
		return old.pub.Close()
	}
	return nil
}

// close ends the telling.
func (i *introspector[Req, Resp]) close() error {
	if t := i.now.Swap(nil); t != nil {
		return t.pub.Close()
	}
	return nil
}

// eventDefinition gives the definition of a service's events, of that of the service, and
// its hash.
func eventDefinition(service, text string) (event, hash string, err error) {
	set, err := rosidl.ParseDefinition(service, text)
	if err != nil {
		return "", "", err
	}
	desc, err := set.Describe(service + "_Event")
	if err != nil {
		return "", "", err
	}
	head := "MSG: " + service + "_Event\n"
	var rest strings.Builder
	for _, part := range strings.Split(text, definitionDivider)[1:] {
		if body, ok := strings.CutPrefix(part, head); ok {
			event = body
			continue
		}
		rest.WriteString(definitionDivider + part)
	}
	return event + rest.String(), desc.Hash(), nil
}

// tell publishes an event: one of the constants of service_msgs/msg/ServiceEventInfo, and
// what was asked or answered; the other of the two is nil. What cannot be published is in
// the counts of the publisher.
func (i *introspector[Req, Resp]) tell(kind uint8, client graph.GID, seq uint64, req *Req, resp *Resp) {
	t := i.now.Load()
	if t == nil {
		return
	}
	if !t.contents {
		req, resp = nil, nil
	}
	info := service_msgs.ServiceEventInfo{EventType: kind, Stamp: stamp(t.n.clock.now()), ClientGID: client, SequenceNumber: int64(seq)}
	// What a message takes at another place in a buffer than its beginning differs by less
	// than one alignment.
	const align, count = 8, 4
	infoType := rosidl.Of[service_msgs.ServiceEventInfo]()
	size := infoType.Size(&info) + 2*count
	if req != nil {
		size += i.req.Size(req) + align
	}
	if resp != nil {
		size += i.resp.Size(resp) + align
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if size += cdr.EncapsulationSize; cap(t.buf) < size {
		t.buf = make([]byte, size)
	}
	b := t.buf[:size]
	cdr.PutEncapsulation(b)
	t.enc.Reset(b[cdr.EncapsulationSize:])
	infoType.Encode(&t.enc, &info)
	optional(&t.enc, i.req, req)
	optional(&t.enc, i.resp, resp)
	if t.enc.Err() == nil {
		_ = t.pub.Publish(b[:cdr.EncapsulationSize+t.enc.Len()])
	}
}

// optional encodes m as a sequence of at most one.
func optional[T any](e *cdr.Encoder, ts *rosidl.TypeSupport[T], m *T) {
	if m == nil {
		e.Count(0)
		return
	}
	e.Count(1)
	ts.Encode(e, m)
}

// Introspect makes the service publish from now on that requests came and were answered,
// with profile q. Without [Service.Introspect] it publishes nothing. Errors as
// [NewPublisher].
func (s *Service[Req, Resp]) Introspect(what Introspection, q qos.Profile) error {
	e := &s.replies.out.Endpoint
	if err := s.calls.set(s.replies.n, e.Name, typeID{e.Type, e.Hash}, what, q); err != nil {
		return &EndpointError{"service", e.Name, "introspect", err}
	}
	return nil
}

// Introspect is [Service.Introspect].
func (d *DeferredService[Req, Resp]) Introspect(what Introspection, q qos.Profile) error {
	return d.s.Introspect(what, q)
}

// Introspect makes the client publish from now on that it asked and got answers, with
// profile q. See [Service.Introspect].
func (c *Client[Req, Resp]) Introspect(what Introspection, q qos.Profile) error {
	e := &c.requests.out.Endpoint
	if err := c.calls.set(c.requests.n, e.Name, typeID{e.Type, e.Hash}, what, q); err != nil {
		return &EndpointError{"client", e.Name, "introspect", err}
	}
	return nil
}
