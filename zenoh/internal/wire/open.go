package wire

import "time"

const (
	flagOpenAck     = 0x20
	flagOpenSeconds = 0x40
)

// maxLease bounds what a peer may announce; longer leases are read as this.
const maxLease = 1 << 32 * time.Millisecond

// Open ends a handshake (OpenSyn, then OpenAck).
type Open struct {
	Ack       bool
	Lease     time.Duration // whole milliseconds: silence after which the announcer counts as gone
	InitialSN uint32        // of every lane of the announcer
	Cookie    []byte        // in an OpenSyn: as it came in the InitAck
}

// Append encodes m.
func (m *Open) Append(dst []byte) []byte {
	h := byte(IDOpen)
	lease := uint64(m.Lease / time.Millisecond)
	if m.Lease%time.Second == 0 {
		h |= flagOpenSeconds
		lease /= 1000
	}
	if m.Ack {
		h |= flagOpenAck
	}
	dst = AppendUint(append(dst, h), lease)
	dst = AppendUint(dst, uint64(m.InitialSN))
	if !m.Ack {
		dst = AppendBytes(dst, m.Cookie)
	}
	return dst
}

// Decode reads an Open, header included.
func (m *Open) Decode(r *Reader) {
	*m = Open{}
	h := r.Byte("open")
	if MessageID(h) != IDOpen {
		r.Fail("open: other message")
		return
	}
	m.Ack = h&flagOpenAck != 0
	unit := time.Millisecond
	if h&flagOpenSeconds != 0 {
		unit = time.Second
	}
	m.Lease = time.Duration(min(r.Uint("open: lease"), uint64(maxLease/unit))) * unit
	m.InitialSN = r.Uint32("open: initial sequence number")
	if !m.Ack {
		m.Cookie = r.Bytes(max16, "open: cookie")
	}
	skipExts(r, h)
}
