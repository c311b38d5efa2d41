package wire

const (
	flagReliable = 0x20
	flagMore     = 0x40

	extFrameQoS = 0x01 | extZ64 | extMandatory
)

// SNMask is the range of sequence numbers with the 32-bit resolution: 28 bits.
const SNMask = 0x0fffffff

// Frame stands before network messages and says which lane they use.
type Frame struct {
	Reliable bool
	Priority Priority
	SN       uint32
}

// MaxFrameHeader is the most that Frame.Append adds.
const MaxFrameHeader = 1 + 4 + 2

// Append encodes the header; network messages follow.
func (m *Frame) Append(dst []byte) []byte {
	e := exts{len(dst)}
	h := byte(IDFrame)
	if m.Reliable {
		h |= flagReliable
	}
	dst = AppendUint(append(dst, h), uint64(m.SN))
	if m.Priority != PriorityData {
		dst = append(e.add(dst, extFrameQoS), byte(m.Priority))
	}
	return dst
}

// Decode reads the header; network messages follow while IsNetwork(r.Peek()).
func (m *Frame) Decode(r *Reader) {
	h := r.Byte("frame")
	*m = Frame{Reliable: h&flagReliable != 0, Priority: PriorityData}
	m.SN = r.sn("frame: sequence number")
	for h&flagZ != 0 && !r.Failed() {
		h = r.Byte("frame: extension")
		if h&^flagZ == extFrameQoS {
			m.Priority = Priority(r.Uint("frame: priority") & 7)
		} else {
			skipExt(r, h)
		}
	}
}

func (r *Reader) sn(what string) uint32 { return uint32(r.Bounded(SNMask, what)) }
