package wire

// InterestMode says which declarations an interest asks for.
type InterestMode uint8

// The modes. InterestFinal takes an interest back.
const (
	InterestFinal InterestMode = iota
	InterestCurrent
	InterestFuture
	InterestCurrentFuture
)

// Options of an interest.
const (
	InterestKeys        = 0x01
	InterestSubscribers = 0x02
	InterestQueryables  = 0x04
	InterestTokens      = 0x08
	interestRestricted  = 0x10
	InterestAggregate   = 0x80
)

// Interest asks the receiver for the declarations it has now, or to be told of those to come.
type Interest struct {
	ID      uint32
	Mode    InterestMode
	Options byte     // of the Interest constants above
	Key     WireExpr // restricts the answer; null: everything
	QoS     QoS
}

// Append encodes m.
func (m *Interest) Append(dst []byte) []byte {
	e := exts{len(dst)}
	dst = AppendUint(append(dst, IDInterest|byte(m.Mode)<<5), uint64(m.ID))
	if m.Mode != InterestFinal {
		if m.Key.IsNull() {
			dst = append(dst, m.Options)
		} else {
			dst = append(dst, m.Options|interestRestricted|m.Key.flags())
			dst = m.Key.append(dst)
		}
	}
	return e.qos(dst, m.QoS)
}

// Bound is at least the number of bytes Append adds.
func (m *Interest) Bound() int { return 24 + len(m.Key.Suffix) }

// Decode reads an Interest, header included.
func (m *Interest) Decode(r *Reader) {
	h := r.Byte("interest")
	*m = Interest{Mode: InterestMode(h >> 5 & 3), QoS: DefaultQoS}
	m.ID = r.Uint32("interest: id")
	if m.Mode != InterestFinal {
		o := r.Byte("interest: options")
		m.Options = o & (InterestKeys | InterestSubscribers | InterestQueryables | InterestTokens | InterestAggregate)
		if o&interestRestricted != 0 {
			m.Key.decode(r, o)
		}
	}
	for h&flagZ != 0 && !r.Failed() {
		h = r.Byte("interest: extension")
		switch h &^ flagZ {
		case extQoS:
			m.QoS = r.qos()
		case extNodeID:
			r.Uint("interest: node id")
		default:
			skipExt(r, h)
		}
	}
}
