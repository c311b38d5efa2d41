package bench

import "bytes"

// Payloads carry a pattern that follows from the tracking number: byte i of message n is i+n, modulo 256. A receiver can so check
// every byte by itself, and two messages in a row differ everywhere.
const patternBytes = 4096 // small enough to stay in the first cache, a multiple of 256

var pattern = func() (p [patternBytes + 256]byte) {
	for i := range p {
		p[i] = byte(i)
	}
	return p
}()

// Fill writes every byte of the payload of message number.
func Fill(b []byte, number uint32) {
	chunk := pattern[number%256:][:patternBytes]
	for len(b) > 0 {
		b = b[copy(b, chunk):]
	}
}

// Intact reads every byte of a payload and reports whether it is the one that Fill wrote for number.
func Intact(b []byte, number uint32) bool {
	chunk := pattern[number%256:][:patternBytes]
	for len(b) >= patternBytes {
		if !bytes.Equal(b[:patternBytes], chunk) {
			return false
		}
		b = b[patternBytes:]
	}
	return bytes.Equal(b, chunk[:len(b)])
}

// cacheLine is the stride of touching a payload by lines.
const cacheLine = 64

// intactLines reads one byte of every cache line.
func intactLines(b []byte, number uint32) bool {
	var wrong byte
	for i := 0; i < len(b); i += cacheLine {
		wrong |= b[i] ^ byte(uint32(i)+number)
	}
	return wrong == 0
}
