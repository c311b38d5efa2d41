package wire

// OAM is an operation message. Only its frame is understood here: who does not know ID skips it.
type OAM struct {
	ID   uint16
	Body []byte // of the bytes form; nil for the others
}

// Append encodes m with a bytes body, as a network message.
func (m *OAM) Append(dst []byte) []byte {
	dst = AppendUint(append(dst, IDOAM|extZBuf), uint64(m.ID))
	return AppendBytes(dst, m.Body)
}

// Decode reads an OAM, header included, inside a frame or outside.
func (m *OAM) Decode(r *Reader) {
	h := r.Byte("oam")
	*m = OAM{ID: r.Uint16("oam: id")}
	skipExts(r, h)
	switch h & extEncoding {
	case extUnit:
	case extZ64:
		r.Uint("oam: body")
	case extZBuf:
		m.Body = r.Bytes(max32, "oam: body")
	default:
		r.Fail("oam: reserved encoding")
	}
}
