package wire

const (
	flagConsolidation = 0x20
	flagParameters    = 0x40

	extQueryBody       = 0x03 | extZBuf
	extQueryAttachment = 0x05 | extZBuf
)

// Consolidation says what a requester does with several replies of one key.
type Consolidation uint8

// The modes, as they stand on the wire.
const (
	ConsolidationAuto Consolidation = iota
	ConsolidationNone
	ConsolidationMonotonic
	ConsolidationLatest
)

// Query is the body of a Request.
type Query struct {
	Consolidation Consolidation
	Parameters    []byte
	Source        SourceInfo
	Body          bool // Encoding and Payload are set
	Encoding      Encoding
	Payload       []byte
	Attachment    []byte // nil: none
}

func (m *Query) append(dst []byte) []byte {
	e := exts{len(dst)}
	h := byte(idQuery)
	if m.Consolidation != ConsolidationAuto {
		h |= flagConsolidation
	}
	if len(m.Parameters) != 0 {
		h |= flagParameters
	}
	dst = append(dst, h)
	if m.Consolidation != ConsolidationAuto {
		dst = append(dst, byte(m.Consolidation))
	}
	if len(m.Parameters) != 0 {
		dst = AppendBytes(dst, m.Parameters)
	}
	dst = e.sourceInfo(dst, &m.Source)
	if m.Body {
		dst = AppendUint(e.add(dst, extQueryBody), uint64(m.Encoding.wireLen()+len(m.Payload)))
		dst = append(m.Encoding.append(dst), m.Payload...)
	}
	if m.Attachment != nil {
		dst = AppendBytes(e.add(dst, extQueryAttachment), m.Attachment)
	}
	return dst
}

func (m *Query) bound() int {
	return 64 + len(m.Parameters) + len(m.Encoding.Schema) + len(m.Payload) + len(m.Attachment)
}

func (m *Query) decode(r *Reader) {
	h := r.Byte("query")
	*m = Query{}
	if MessageID(h) != idQuery {
		r.Fail("query: other body")
		return
	}
	if h&flagConsolidation != 0 {
		// A value from the future reads as auto.
		if c := r.Uint("query: consolidation"); c <= uint64(ConsolidationLatest) {
			m.Consolidation = Consolidation(c)
		}
	}
	if h&flagParameters != 0 {
		m.Parameters = r.Bytes(max32, "query: parameters")
	}
	for h&flagZ != 0 && !r.Failed() {
		h = r.Byte("query: extension")
		switch h &^ flagZ {
		case extSourceInfo:
			m.Source.decodeExt(r)
		case extQueryBody:
			in := NewReader(r.Bytes(max32, "query: body"))
			m.Body = true
			m.Encoding.decode(&in)
			if in.Failed() {
				r.Fail("query: body")
			}
			m.Payload = in.Rest()
		case extQueryAttachment:
			m.Attachment = r.Bytes(max32, "query: attachment")
		default:
			skipExt(r, h)
		}
	}
}
