package tagus

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/tagus-ros/tagus/cdr"
	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/qos"
	"github.com/tagus-ros/tagus/rosidl"
)

// SerializedMessage is a message whose Go type is not known: its CDR encoding, with
// the 4 bytes of encapsulation in front.
type SerializedMessage struct {
	Data []byte // read-only; lent as the message is
}

// NewSerializedSubscription subscribes to a topic whose type is known only by its
// name ("std_msgs/msg/String") and hash ("RIHS01_…"), as [Domain.Graph] tells them.
// Tools use it: what comes is not decoded.
func NewSerializedSubscription(n *Node, topic, typeName, typeHash string, q qos.Profile, fn func(context.Context, *Sample[SerializedMessage]), opts ...SubscriptionOption) (*Subscription[SerializedMessage], error) {
	ts := &rosidl.TypeSupport[SerializedMessage]{
		Name:    typeName,
		Hash:    typeHash,
		Size:    func(m *SerializedMessage) int { return len(m.Data) },
		Unalias: func(m *SerializedMessage) { m.Data = nil },
		Copy:    func(dst, src *SerializedMessage) { dst.Data = append(dst.Data[:0], src.Data...) },
	}
	raw := func(m *SerializedMessage, payload []byte) { m.Data = payload }
	opts = append(opts, subscriptionOption(func(c *subscriptionConfig) { c.private = false }))
	return newSubscription(n, topic, ts, q, fn, raw, opts)
}

// SerializedPublisher publishes messages that are encoded already.
type SerializedPublisher struct {
	p Publisher[SerializedMessage]

	mu   sync.Mutex
	free []*SerializedMessage // to wrap what is published, used again
}

// NewSerializedPublisher makes a publisher of a type that is known only by its name
// and hash. definition, if not empty, is the text that others can ask this process for:
// the definition with all that it refers to, in the form called ros2msg.
func NewSerializedPublisher(n *Node, topic, typeName, typeHash, definition string, q qos.Profile) (*SerializedPublisher, error) {
	e, err := n.endpoint(graph.KindPublisher, topic, typeName, typeHash, q)
	if err != nil {
		return nil, &EndpointError{"publisher", topic, "new", err}
	}
	ts := &rosidl.TypeSupport[SerializedMessage]{
		Name:    typeName,
		Hash:    typeHash,
		Size:    func(m *SerializedMessage) int { return len(m.Data) - cdr.EncapsulationSize },
		Check:   checkSerialized,
		Encode:  func(enc *cdr.Encoder, m *SerializedMessage) { cdr.EncodeArray(enc, m.Data[cdr.EncapsulationSize:]) },
		Copy:    func(dst, src *SerializedMessage) { dst.Data = append(dst.Data[:0], src.Data...) },
		Default: func(m *SerializedMessage) { m.Data = m.Data[:0] },
		Recycle: func(m *SerializedMessage, _ *rosidl.Owned) { m.Data = nil },
	}
	if definition != "" {
		n.d.define(typeName, typeHash, func() string { return definition })
	}
	s := &SerializedPublisher{}
	s.p.init(n, ts, e)
	s.p.out.BytesOnly()
	if err := s.p.open(s, nil); err != nil {
		return nil, &EndpointError{"publisher", e.Name, "new", err}
	}
	return s, nil
}

// ErrNotSerialized says that a payload is no little-endian CDR.
var ErrNotSerialized = errors.New("the payload is not CDR: want the 4 bytes 00 01 00 00, then the little-endian body")

func checkSerialized(m *SerializedMessage) error {
	if b := m.Data; len(b) < cdr.EncapsulationSize || b[0] != 0 || b[1] != 1 {
		return fmt.Errorf("%w; got %d bytes, beginning % x", ErrNotSerialized, len(b), b[:min(len(b), cdr.EncapsulationSize)])
	}
	return nil
}

// Publish sends payload, which stays the caller's: little-endian CDR with the 4 bytes of
// encapsulation in front. What follows those is not looked at. Errors as
// [Publisher.Publish], and [ErrNotSerialized].
func (s *SerializedPublisher) Publish(payload []byte) error {
	s.mu.Lock()
	var m *SerializedMessage
	if n := len(s.free); n > 0 {
		m = s.free[n-1]
		s.free = s.free[:n-1]
	} else {
		m = &SerializedMessage{}
	}
	s.mu.Unlock()
	m.Data = payload
	err := s.p.Publish(m)
	m.Data = nil
	s.mu.Lock()
	s.free = append(s.free, m)
	s.mu.Unlock()
	return err
}

// WaitForSubscriptions returns when at least n subscriptions are matched, or with ctx's
// error.
func (s *SerializedPublisher) WaitForSubscriptions(ctx context.Context, n int) error {
	return s.p.WaitForSubscriptions(ctx, n)
}

// Topic is the fully qualified name of the topic.
func (s *SerializedPublisher) Topic() string { return s.p.Topic() }

// Matched is how many subscriptions are matched.
func (s *SerializedPublisher) Matched() int { return s.p.Matched() }

// Stats returns the counts so far.
func (s *SerializedPublisher) Stats() PublisherStats { return s.p.Stats() }

// Close ends the publisher. It is idempotent.
func (s *SerializedPublisher) Close() error { return s.p.Close() }
