package wire

// Encoding tells what a payload is; the zero value (raw bytes) is not written.
type Encoding struct {
	ID     uint32
	Schema []byte // at most 255 bytes
}

// IsDefault reports whether e is the zero value.
func (e *Encoding) IsDefault() bool { return e.ID == 0 && len(e.Schema) == 0 }

func (e *Encoding) append(dst []byte) []byte {
	if len(e.Schema) == 0 {
		return AppendUint(dst, uint64(e.ID)<<1)
	}
	return AppendBytes(AppendUint(dst, uint64(e.ID)<<1|1), e.Schema)
}

func (e *Encoding) wireLen() int {
	n := UintLen(uint64(e.ID) << 1)
	if len(e.Schema) != 0 {
		n += UintLen(uint64(len(e.Schema))) + len(e.Schema)
	}
	return n
}

func (e *Encoding) decode(r *Reader) {
	v := r.Uint32("encoding: id")
	*e = Encoding{ID: v >> 1}
	if v&1 != 0 {
		e.Schema = r.Bytes(max8, "encoding: schema")
	}
}
