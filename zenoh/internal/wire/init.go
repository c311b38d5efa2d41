package wire

const (
	flagInitAck  = 0x20
	flagInitSize = 0x40

	extInitQoS   = 0x01 | extUnit
	extInitPatch = 0x07 | extZ64

	defaultResolution = 0x0a // 32 bits for sequence numbers and for request ids
	// MaxBatch is the largest batch a stream link can carry, its two length bytes included.
	MaxBatch = 65535
)

// Init opens a handshake (InitSyn) or answers it (InitAck).
type Init struct {
	Ack     bool
	Version byte
	WhatAmI WhatAmI
	ID      ID
	// Resolution packs the widths of sequence numbers (bits 0-1) and request
	// ids (bits 2-3): 0 for 8 bits, 1 for 16, 2 for 32, 3 for 64.
	Resolution byte
	Batch      uint16 // largest batch
	Cookie     []byte // in an InitAck
	QoS        bool   // priorities
	Patch      uint8  // 1: fragments are marked with First and Drop
}

// DefaultInit fills in the values that stand for "nothing said".
func DefaultInit() Init {
	return Init{Version: Version, Resolution: defaultResolution, Batch: MaxBatch}
}

// Append encodes m.
func (m *Init) Append(dst []byte) []byte {
	e := exts{len(dst)}
	h := byte(IDInit)
	size := m.Resolution != defaultResolution || m.Batch != MaxBatch
	if size {
		h |= flagInitSize
	}
	if m.Ack {
		h |= flagInitAck
	}
	dst = m.ID.appendNibble(append(dst, h, m.Version), byte(m.WhatAmI))
	if size {
		dst = append(dst, m.Resolution, byte(m.Batch), byte(m.Batch>>8))
	}
	if m.Ack {
		dst = AppendBytes(dst, m.Cookie)
	}
	if m.QoS {
		dst = e.add(dst, extInitQoS)
	}
	if m.Patch != 0 {
		dst = AppendUint(e.add(dst, extInitPatch), uint64(m.Patch))
	}
	return dst
}

// Decode reads an Init, header included. A version other than ours ends the
// reading early without a failure: what follows is unknown.
func (m *Init) Decode(r *Reader) {
	*m = DefaultInit()
	h := r.Byte("init")
	if MessageID(h) != IDInit {
		r.Fail("init: other message")
		return
	}
	m.Ack = h&flagInitAck != 0
	if m.Version = r.Byte("init: version"); m.Version != Version {
		return
	}
	b := r.Byte("init: flags")
	if m.WhatAmI = WhatAmI(b & 3); m.WhatAmI > Client {
		r.Fail("init: role")
	}
	m.ID = r.readID(uint64(b>>4)+1, "init: id")
	if h&flagInitSize != 0 {
		m.Resolution = r.Byte("init: resolution")
		m.Batch = uint16(r.Byte("init: batch size"))
		m.Batch |= uint16(r.Byte("init: batch size")) << 8
	}
	if m.Ack {
		m.Cookie = r.Bytes(max16, "init: cookie")
	}
	for h&flagZ != 0 && !r.Failed() {
		h = r.Byte("init: extension")
		switch h &^ flagZ {
		case extInitQoS:
			m.QoS = true
		case extInitPatch:
			m.Patch = uint8(r.Bounded(max8, "init: patch"))
		default:
			skipExt(r, h)
		}
	}
}
