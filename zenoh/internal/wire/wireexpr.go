package wire

// Flags of a wire expression in the header that precedes it.
const (
	flagN = 0x20 // a suffix follows the scope
	flagM = 0x40 // the scope was declared by the sender of the message
)

// WireExpr is a key expression on the wire: text bound to Scope, then Suffix,
// with nothing in between. Scope 0 stands for no text.
type WireExpr struct {
	Scope  uint16
	Suffix []byte
	Sender bool // Scope was declared by the message's sender, not by its receiver
}

func (w *WireExpr) flags() byte {
	var f byte
	if len(w.Suffix) != 0 {
		f = flagN
	}
	if w.Sender {
		f |= flagM
	}
	return f
}

func (w *WireExpr) append(dst []byte) []byte {
	dst = AppendUint(dst, uint64(w.Scope))
	if len(w.Suffix) != 0 {
		dst = AppendBytes(dst, w.Suffix)
	}
	return dst
}

// decode reads an expression whose flags stand in h.
func (w *WireExpr) decode(r *Reader, h byte) {
	*w = WireExpr{Scope: r.Uint16("key: scope"), Sender: h&flagM != 0}
	if h&flagN != 0 {
		w.Suffix = r.Bytes(max16, "key: suffix")
	}
}

// IsNull reports whether w names nothing.
func (w *WireExpr) IsNull() bool { return w.Scope == 0 && len(w.Suffix) == 0 }

// extWireExpr is how undeclarations carry the key: mandatory, the suffix without a length of its own.
const extWireExpr = 0x0f | extZBuf | extMandatory

func (e *exts) wireExpr(dst []byte, w *WireExpr) []byte {
	dst = e.add(dst, extWireExpr)
	dst = AppendUint(dst, uint64(1+UintLen(uint64(w.Scope))+len(w.Suffix)))
	var f byte
	if len(w.Suffix) != 0 {
		f = 1
	}
	if w.Sender {
		f |= 2
	}
	return append(AppendUint(append(dst, f), uint64(w.Scope)), w.Suffix...)
}

func (w *WireExpr) decodeExt(r *Reader) {
	in := NewReader(r.Bytes(max32, "key extension"))
	f := in.Byte("")
	*w = WireExpr{Scope: in.Uint16(""), Sender: f&2 != 0}
	if f&1 != 0 {
		w.Suffix = in.Rest()
	}
	if in.Failed() || in.Len() != 0 || len(w.Suffix) > max16 {
		r.Fail("key extension")
	}
}
