package cdr

// piece is the length in bytes in which large payloads are copied. From 1 MiB on, Go's
// copy on amd64 writes around the cache (runtime/memmove_amd64.s), so that a recycled
// buffer would be cold again for its reader; in pieces it stays warm. Much larger payloads
// do not stay in a cache anyway, and one copy is then the faster way.
const (
	piece     = 256 << 10
	piecesMin = 1 << 20
	piecesMax = 4 << 20
)

// bulkCopy copies src to dst, which are of one length.
func bulkCopy(dst, src []byte) {
	if len(src) >= piecesMin && len(src) <= piecesMax {
		for len(src) > piece {
			copy(dst[:piece], src[:piece])
			dst, src = dst[piece:], src[piece:]
		}
	}
	copy(dst, src)
}
