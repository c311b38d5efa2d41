package zenoh

import (
	"sync"

	"github.com/tagus-ros/tagus/zenoh/internal/transport"
	"github.com/tagus-ros/tagus/zenoh/internal/wire"
)

// Kind says what a sample is.
type Kind uint8

// Put is a value at a key, Delete the key's end.
const (
	Put Kind = iota
	Delete
)

// String names the kind.
func (k Kind) String() string {
	if k == Delete {
		return "delete"
	}
	return "put"
}

// Sample is a received value. It is lent: with all it points to, but for Key,
// it is valid until the callback that got it returns. Retain keeps it longer.
type Sample struct {
	Key        string // for ever
	Kind       Kind
	Payload    []byte // read-only: others may have the same bytes
	Attachment []byte // nil: none
	Timestamp  Timestamp
	Source     SourceInfo
	Priority   Priority
	Congestion Congestion
	Express    bool
	Reliable   bool

	encoding wire.Encoding
	s        *Session
	own      *transport.Owned // what Payload points into, if that can be kept
	held     bool             // made by Retain
}

// Encoding tells what the payload is.
func (m *Sample) Encoding() Encoding { return encodingOf(&m.encoding) }

func (m *Sample) set(s *Session, key string, q wire.QoS, reliable bool, b *wire.Sample, own *transport.Owned) {
	*m = Sample{
		Key: key, Payload: b.Payload, Attachment: b.Attachment, Timestamp: b.Timestamp, Source: b.Source,
		Priority: Priority(q.Priority()), Express: q.Express(), Reliable: reliable, encoding: b.Encoding, s: s, own: own,
	}
	if b.Delete {
		m.Kind = Delete
	}
	if q.Block() {
		m.Congestion = Block
	}
}

var samples = sync.Pool{New: func() any { return new(Sample) }}

// Retain returns a sample that stays valid until its Release. A payload that
// came in fragments is not copied for that, a smaller one is.
func (m *Sample) Retain() *Sample {
	k := samples.Get().(*Sample)
	*k = *m
	k.held = true
	if k.own != nil {
		k.own.Ref()
		return k
	}
	n := len(m.Payload)
	buf := m.s.buffers.Get(n + len(m.Attachment) + len(m.encoding.Schema))
	copy(buf, m.Payload)
	a := copy(buf[n:], m.Attachment)
	copy(buf[n+a:], m.encoding.Schema)
	k.own = transport.Adopt(buf, m.s.buffers)
	k.Payload = buf[:n:n]
	if m.Attachment != nil {
		k.Attachment = buf[n : n+a : n+a]
	}
	k.encoding.Schema = buf[n+a:]
	return k
}

// Release gives a sample of Retain back; it must not be used any more. On a
// lent sample it does nothing.
func (m *Sample) Release() {
	if !m.held {
		return
	}
	own := m.own
	*m = Sample{}
	samples.Put(m)
	own.Unref()
}
