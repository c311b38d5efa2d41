package wire

// AppendKeepAlive encodes a KeepAlive, which has no content.
func AppendKeepAlive(dst []byte) []byte { return append(dst, IDKeepAlive) }

// SkipKeepAlive reads a KeepAlive, header included.
func SkipKeepAlive(r *Reader) { skipExts(r, r.Byte("keep-alive")) }
