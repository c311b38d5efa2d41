package wire

import "time"

const (
	extTarget  = 0x04 | extZ64 | extMandatory
	extTimeout = 0x06 | extZ64
)

// Target says which of the matching queryables answer a request.
type Target uint8

// The targets, as they stand on the wire.
const (
	TargetBestMatching Target = iota
	TargetAll
	TargetAllComplete
)

// Request asks queryables for replies.
type Request struct {
	ID      uint32 // unique among the requester's open requests
	Key     WireExpr
	QoS     QoS
	Target  Target
	Timeout time.Duration // 0: the receiver's default
	Body    Query
}

// maxTimeout bounds what a peer may ask for; "never" comes as a value of 64 bits.
const maxTimeout = 1 << 40 * time.Millisecond

// Append encodes m.
func (m *Request) Append(dst []byte) []byte {
	e := exts{len(dst)}
	dst = AppendUint(append(dst, IDRequest|m.Key.flags()), uint64(m.ID))
	dst = m.Key.append(dst)
	dst = e.qos(dst, m.QoS)
	if m.Target != TargetBestMatching {
		dst = AppendUint(e.add(dst, extTarget), uint64(m.Target))
	}
	if m.Timeout > 0 {
		ms := uint64((m.Timeout + time.Millisecond - 1) / time.Millisecond)
		if m.Timeout >= maxTimeout {
			ms = 1<<64 - 1
		}
		dst = AppendUint(e.add(dst, extTimeout), ms)
	}
	return m.Body.append(dst)
}

// Bound is at least the number of bytes Append adds.
func (m *Request) Bound() int { return 48 + len(m.Key.Suffix) + m.Body.bound() }

// Decode reads a Request, header included.
func (m *Request) Decode(r *Reader) {
	h := r.Byte("request")
	m.ID = r.Uint32("request: id")
	m.Key.decode(r, h)
	m.QoS, m.Target, m.Timeout = DefaultQoS, TargetBestMatching, 0
	for h&flagZ != 0 && !r.Failed() {
		h = r.Byte("request: extension")
		switch h &^ flagZ {
		case extQoS:
			m.QoS = r.qos()
		case extTarget:
			m.Target = Target(r.Bounded(uint64(TargetAllComplete), "request: target"))
		case extTimeout:
			m.Timeout = time.Duration(min(r.Uint("request: timeout"), uint64(maxTimeout/time.Millisecond))) * time.Millisecond
		case extNodeID:
			r.Uint("request: node id")
		default:
			skipExt(r, h) // the budget too: a hint we have no use for
		}
	}
	m.Body.decode(r)
}
