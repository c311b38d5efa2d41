package tagus

import (
	"context"

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
	opts = append(opts, func(c *subscriptionConfig) { c.private = false })
	return newSubscription(n, topic, ts, q, fn, raw, opts)
}
