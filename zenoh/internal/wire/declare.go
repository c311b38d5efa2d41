package wire

const flagInterest = 0x20

// Declare carries one declaration, unprompted or in answer to an interest.
type Declare struct {
	Answers  bool   // Interest is set
	Interest uint32 // the interest this answers
	QoS      QoS
	Declaration
}

// NewDeclare returns a Declare of d as sessions send it: on the control priority, never dropped.
func NewDeclare(d Declaration) Declare { return Declare{QoS: ControlQoS, Declaration: d} }

// Append encodes m.
func (m *Declare) Append(dst []byte) []byte {
	e := exts{len(dst)}
	if m.Answers {
		dst = AppendUint(append(dst, IDDeclare|flagInterest), uint64(m.Interest))
	} else {
		dst = append(dst, IDDeclare)
	}
	dst = e.qos(dst, m.QoS)
	return m.Declaration.append(dst)
}

// Bound is at least the number of bytes Append adds.
func (m *Declare) Bound() int { return 32 + len(m.Key.Suffix) }

// Decode reads a Declare, header included.
func (m *Declare) Decode(r *Reader) {
	h := r.Byte("declare")
	*m = Declare{QoS: DefaultQoS, Answers: h&flagInterest != 0}
	if m.Answers {
		m.Interest = r.Uint32("declare: interest id")
	}
	for h&flagZ != 0 && !r.Failed() {
		h = r.Byte("declare: extension")
		switch h &^ flagZ {
		case extQoS:
			m.QoS = r.qos()
		case extNodeID:
			r.Uint("declare: node id")
		default:
			skipExt(r, h)
		}
	}
	m.Declaration.decode(r)
}
