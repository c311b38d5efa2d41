package wire

const (
	extFragmentFirst = 0x02 | extUnit
	extFragmentDrop  = 0x03 | extUnit
)

// Fragment carries a part of one network message. Its payload is the rest of the batch.
type Fragment struct {
	Reliable bool
	Priority Priority
	SN       uint32
	More     bool // others follow
	First    bool // patch 1: nothing came before
	Drop     bool // patch 1: the sender gave up, forget what came
}

// MaxFragmentHeader is the most that Fragment.Append adds.
const MaxFragmentHeader = 1 + 4 + 2 + 1 + 1

// Append encodes the header; the payload follows.
func (m *Fragment) Append(dst []byte) []byte {
	e := exts{len(dst)}
	h := byte(IDFragment)
	if m.Reliable {
		h |= flagReliable
	}
	if m.More {
		h |= flagMore
	}
	dst = AppendUint(append(dst, h), uint64(m.SN))
	if m.Priority != PriorityData {
		dst = append(e.add(dst, extFrameQoS), byte(m.Priority))
	}
	if m.First {
		dst = e.add(dst, extFragmentFirst)
	}
	if m.Drop {
		dst = e.add(dst, extFragmentDrop)
	}
	return dst
}

// Decode reads the header; the payload is r.Rest.
func (m *Fragment) Decode(r *Reader) {
	h := r.Byte("fragment")
	*m = Fragment{Reliable: h&flagReliable != 0, More: h&flagMore != 0, Priority: PriorityData}
	m.SN = r.sn("fragment: sequence number")
	for h&flagZ != 0 && !r.Failed() {
		h = r.Byte("fragment: extension")
		switch h &^ flagZ {
		case extFrameQoS:
			m.Priority = Priority(r.Uint("fragment: priority") & 7)
		case extFragmentFirst:
			m.First = true
		case extFragmentDrop:
			m.Drop = true
		default:
			skipExt(r, h)
		}
	}
}
