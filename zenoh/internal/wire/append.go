package wire

// AppendUint appends v as a variable-length integer of at most nine bytes; see Reader.Uint.
func AppendUint(dst []byte, v uint64) []byte {
	for n := 0; v >= 0x80 && n < 8; n++ {
		dst = append(dst, byte(v)|0x80)
		v >>= 7
	}
	return append(dst, byte(v))
}

// UintLen is the number of bytes AppendUint writes for v.
func UintLen(v uint64) int {
	n := 1
	for v >= 0x80 && n < 9 {
		v >>= 7
		n++
	}
	return n
}

// AppendBytes appends the length of b and b.
func AppendBytes[T ~[]byte | ~string](dst []byte, b T) []byte {
	return append(AppendUint(dst, uint64(len(b))), b...)
}
