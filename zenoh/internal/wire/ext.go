package wire

// Flag that announces extensions, in message headers and in extension headers alike.
const flagZ = 0x80

// Encodings of an extension body, as they stand in its header.
const (
	extUnit = 0x00
	extZ64  = 0x20
	extZBuf = 0x40

	extEncoding  = 0x60
	extMandatory = 0x10
)

// Extensions that many messages share, as header bytes without the Z flag.
const (
	extQoS    = 0x01 | extZ64
	extNodeID = 0x03 | extZ64 | extMandatory
)

// skipExt reads past an extension that the caller does not know; h is its
// header. One that must be understood is a failure.
func skipExt(r *Reader, h byte) {
	if h&extMandatory != 0 {
		r.Fail("unknown mandatory extension")
		return
	}
	switch h & extEncoding {
	case extUnit:
	case extZ64:
		r.Uint("extension")
	case extZBuf:
		r.Bytes(max32, "extension")
	default:
		r.Fail("extension of reserved encoding")
	}
}

// skipExts reads past all extensions of a message with header h.
func skipExts(r *Reader, h byte) {
	for h&flagZ != 0 && !r.Failed() {
		h = r.Byte("extension")
		skipExt(r, h)
	}
}

// exts writes extension headers: each one sets the Z flag on what came before it.
type exts struct {
	last int // index of the message header or the last extension header
}

func (e *exts) add(dst []byte, h byte) []byte {
	dst[e.last] |= flagZ
	e.last = len(dst)
	return append(dst, h)
}

func (e *exts) qos(dst []byte, q QoS) []byte {
	if q == DefaultQoS {
		return dst
	}
	return AppendUint(e.add(dst, extQoS), uint64(q))
}
