package wire

// Err is the body of a Response that says why there is no reply.
type Err struct {
	Encoding Encoding
	Payload  []byte
}

func (m *Err) appendHead(dst []byte) []byte {
	if m.Encoding.IsDefault() {
		dst = append(dst, idErr)
	} else {
		dst = m.Encoding.append(append(dst, idErr|flagEncoding))
	}
	return AppendUint(dst, uint64(len(m.Payload)))
}

func (m *Err) decode(r *Reader) {
	h := r.Byte("err")
	*m = Err{}
	if h&flagEncoding != 0 {
		m.Encoding.decode(r)
	}
	skipExts(r, h)
	m.Payload = r.Bytes(max32, "err: payload")
}
