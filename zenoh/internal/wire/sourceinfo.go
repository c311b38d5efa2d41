package wire

// SourceInfo tells which entity of which session made a sample, and its place in that entity's sequence.
type SourceInfo struct {
	ID       ID // the zero ID means "no source info"
	Entity   uint32
	Sequence uint32
}

// IsZero reports whether s is no source info.
func (s *SourceInfo) IsZero() bool { return s.ID.IsZero() }

func (s *SourceInfo) wireLen() int {
	return 1 + s.ID.Len() + UintLen(uint64(s.Entity)) + UintLen(uint64(s.Sequence))
}

func (s *SourceInfo) append(dst []byte) []byte {
	dst = s.ID.appendNibble(dst, 0)
	return AppendUint(AppendUint(dst, uint64(s.Entity)), uint64(s.Sequence))
}

// extSourceInfo is the extension's header in every body that may carry it.
const extSourceInfo = 0x01 | extZBuf

func (e *exts) sourceInfo(dst []byte, s *SourceInfo) []byte {
	if s.IsZero() {
		return dst
	}
	dst = e.add(dst, extSourceInfo)
	return s.append(AppendUint(dst, uint64(s.wireLen())))
}

func (s *SourceInfo) decodeExt(r *Reader) {
	in := NewReader(r.Bytes(max32, "source info"))
	s.ID = in.readID(uint64(in.Byte("")>>4)+1, "id")
	s.Entity = in.Uint32("entity")
	s.Sequence = in.Uint32("sequence")
	if in.Failed() || in.Len() != 0 {
		r.Fail("source info")
	}
}
