package wire

// Reply is the body of a successful Response.
type Reply struct {
	Consolidation Consolidation
	Body          Sample
}

func (m *Reply) appendHead(dst []byte) []byte {
	if m.Consolidation == ConsolidationAuto {
		dst = append(dst, idReply)
	} else {
		dst = append(dst, idReply|flagConsolidation, byte(m.Consolidation))
	}
	return m.Body.AppendHead(dst)
}

func (m *Reply) decode(r *Reader) {
	h := r.Byte("reply")
	*m = Reply{}
	if MessageID(h) != idReply {
		r.Fail("reply: other body")
		return
	}
	if h&flagConsolidation != 0 {
		if c := r.Uint("reply: consolidation"); c <= uint64(ConsolidationLatest) {
			m.Consolidation = Consolidation(c)
		}
	}
	skipExts(r, h)
	m.Body.Decode(r)
}
