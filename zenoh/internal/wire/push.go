package wire

// Push carries a sample from a publisher.
type Push struct {
	Key  WireExpr
	QoS  QoS
	Body Sample
}

// AppendHead encodes everything but the payload, which follows it on the wire as the last part.
func (m *Push) AppendHead(dst []byte) []byte {
	e := exts{len(dst)}
	dst = m.Key.append(append(dst, IDPush|m.Key.flags()))
	dst = e.qos(dst, m.QoS)
	return m.Body.AppendHead(dst)
}

// HeadBound is at least the number of bytes AppendHead adds.
func (m *Push) HeadBound() int { return 16 + len(m.Key.Suffix) + m.Body.headBound() }

// Decode reads a Push, header included.
func (m *Push) Decode(r *Reader) {
	h := r.Byte("push")
	m.QoS = DefaultQoS
	m.Key.decode(r, h)
	for h&flagZ != 0 && !r.Failed() {
		h = r.Byte("push: extension")
		switch h &^ flagZ {
		case extQoS:
			m.QoS = r.qos()
		case extNodeID:
			r.Uint("push: node id")
		default:
			skipExt(r, h)
		}
	}
	m.Body.Decode(r)
}
