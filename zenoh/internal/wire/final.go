package wire

// ResponseFinal ends the responses to a request.
type ResponseFinal struct {
	ID  uint32
	QoS QoS
}

// Append encodes m.
func (m *ResponseFinal) Append(dst []byte) []byte {
	e := exts{len(dst)}
	dst = AppendUint(append(dst, IDResponseFinal), uint64(m.ID))
	return e.qos(dst, m.QoS)
}

// Decode reads a ResponseFinal, header included.
func (m *ResponseFinal) Decode(r *Reader) {
	h := r.Byte("response final")
	*m = ResponseFinal{QoS: DefaultQoS}
	m.ID = r.Uint32("response final: id")
	for h&flagZ != 0 && !r.Failed() {
		h = r.Byte("response final: extension")
		if h&^flagZ == extQoS {
			m.QoS = r.qos()
		} else {
			skipExt(r, h)
		}
	}
}
