package wire

const extResponder = 0x03 | extZBuf

// Response is one answer to a request: a sample, or an error.
type Response struct {
	ID        uint32 // of the request
	Key       WireExpr
	QoS       QoS
	Responder Responder
	IsErr     bool
	Err       Err
	Reply     Reply
}

// Responder names the queryable that answered; the zero ID means unknown.
type Responder struct {
	ID     ID
	Entity uint32
}

func (p *Responder) wireLen() int { return 1 + p.ID.Len() + UintLen(uint64(p.Entity)) }

// AppendHead encodes everything but the payload, which follows it on the wire as the last part.
func (m *Response) AppendHead(dst []byte) []byte {
	e := exts{len(dst)}
	dst = AppendUint(append(dst, IDResponse|m.Key.flags()), uint64(m.ID))
	dst = m.Key.append(dst)
	dst = e.qos(dst, m.QoS)
	if !m.Responder.ID.IsZero() {
		dst = AppendUint(e.add(dst, extResponder), uint64(m.Responder.wireLen()))
		dst = AppendUint(m.Responder.ID.appendNibble(dst, 0), uint64(m.Responder.Entity))
	}
	if m.IsErr {
		return m.Err.appendHead(dst)
	}
	return m.Reply.appendHead(dst)
}

// Payload is what follows the head.
func (m *Response) Payload() []byte {
	if m.IsErr {
		return m.Err.Payload
	}
	return m.Reply.Body.Payload
}

// HeadBound is at least the number of bytes AppendHead adds.
func (m *Response) HeadBound() int {
	return 64 + len(m.Key.Suffix) + m.Reply.Body.headBound() + len(m.Err.Encoding.Schema)
}

// Decode reads a Response, header included.
func (m *Response) Decode(r *Reader) {
	h := r.Byte("response")
	m.ID = r.Uint32("response: id")
	m.Key.decode(r, h)
	m.QoS, m.Responder = DefaultQoS, Responder{}
	for h&flagZ != 0 && !r.Failed() {
		h = r.Byte("response: extension")
		switch h &^ flagZ {
		case extQoS:
			m.QoS = r.qos()
		case extResponder:
			in := NewReader(r.Bytes(max32, "response: responder"))
			m.Responder.ID = in.readID(uint64(in.Byte("")>>4)+1, "id")
			m.Responder.Entity = in.Uint32("entity")
			if in.Failed() || in.Len() != 0 {
				r.Fail("response: responder")
			}
		case extNodeID:
			r.Uint("response: node id")
		default:
			skipExt(r, h)
		}
	}
	m.IsErr = MessageID(r.Peek()) == idErr
	if m.IsErr {
		m.Err.decode(r)
	} else {
		m.Reply.decode(r)
	}
}
