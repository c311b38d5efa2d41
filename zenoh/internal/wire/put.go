package wire

const (
	flagTimestamp = 0x20
	flagEncoding  = 0x40

	extPutAttachment = 0x03 | extZBuf
	extDelAttachment = 0x02 | extZBuf
)

// Sample is the body of a Push or a Reply: a value put at a key (PUT), or the
// key's deletion (DEL), which has neither encoding nor payload.
type Sample struct {
	Delete     bool
	Timestamp  Timestamp
	Encoding   Encoding
	Source     SourceInfo
	Attachment []byte // nil: none
	Payload    []byte
}

// AppendHead encodes everything but the payload.
func (m *Sample) AppendHead(dst []byte) []byte {
	e := exts{len(dst)}
	h, attachment := byte(idPut), byte(extPutAttachment)
	if m.Delete {
		h, attachment = idDel, extDelAttachment
	}
	if !m.Timestamp.IsZero() {
		h |= flagTimestamp
	}
	withEncoding := !m.Delete && !m.Encoding.IsDefault()
	if withEncoding {
		h |= flagEncoding
	}
	dst = append(dst, h)
	if !m.Timestamp.IsZero() {
		dst = m.Timestamp.append(dst)
	}
	if withEncoding {
		dst = m.Encoding.append(dst)
	}
	dst = e.sourceInfo(dst, &m.Source)
	if m.Attachment != nil {
		dst = AppendBytes(e.add(dst, attachment), m.Attachment)
	}
	if !m.Delete {
		dst = AppendUint(dst, uint64(len(m.Payload)))
	}
	return dst
}

func (m *Sample) headBound() int { return 96 + len(m.Encoding.Schema) + len(m.Attachment) }

// Decode reads a PUT or DEL, header included.
func (m *Sample) Decode(r *Reader) {
	h := r.Byte("sample")
	*m = Sample{Delete: MessageID(h) == idDel}
	attachment := byte(extPutAttachment)
	switch MessageID(h) {
	case idPut:
	case idDel:
		attachment = extDelAttachment
	default:
		r.Fail("sample: neither put nor del")
		return
	}
	if h&flagTimestamp != 0 {
		m.Timestamp.decode(r)
	}
	if !m.Delete && h&flagEncoding != 0 {
		m.Encoding.decode(r)
	}
	for x := h; x&flagZ != 0 && !r.Failed(); {
		x = r.Byte("sample: extension")
		switch x &^ flagZ {
		case extSourceInfo:
			m.Source.decodeExt(r)
		case attachment:
			m.Attachment = r.Bytes(max32, "sample: attachment")
		default:
			skipExt(r, x)
		}
	}
	if !m.Delete {
		m.Payload = r.Bytes(max32, "sample: payload")
	}
}
