package conformance

import (
	"encoding/binary"
	"fmt"

	"github.com/tagus-ros/tagus/graph"
)

// minPayload holds the number and one word of filler.
const minPayload = 16

// encapsulation stands in front of the payload as in front of a CDR body.
var encapsulation = [4]byte{0, 1, 0, 0}

// word is the filler at index i of the message with a number of a publisher. Every word
// is different, and so is the same word of two messages or two publishers.
func word(number, tag uint64, i int) uint64 {
	return (number*0x9e3779b97f4a7c15 ^ tag) + uint64(i)*0xbf58476d1ce4e5b9
}

func tag(gid *graph.GID) uint64 { return binary.LittleEndian.Uint64(gid[:]) }

// fill writes the payload with a number into b.
func fill(b []byte, number uint64, gid *graph.GID) {
	binary.LittleEndian.PutUint64(b, number)
	t := tag(gid)
	i := 1
	for ; len(b)-8*i >= 8; i++ {
		binary.LittleEndian.PutUint64(b[8*i:], word(number, t, i))
	}
	for j := 8 * i; j < len(b); j++ {
		b[j] = byte(word(number, t, j))
	}
}

// check returns the number of a payload and what is wrong with it.
func check(b []byte, gid *graph.GID) (number uint64, bad string) {
	if len(b) < minPayload {
		return 0, fmt.Sprintf("payload of %d bytes", len(b))
	}
	number = binary.LittleEndian.Uint64(b)
	t := tag(gid)
	i := 1
	for ; len(b)-8*i >= 8; i++ {
		if got, want := binary.LittleEndian.Uint64(b[8*i:]), word(number, t, i); got != want {
			return number, fmt.Sprintf("payload %d of %d bytes: word %d is %#x, want %#x", number, len(b), i, got, want)
		}
	}
	for j := 8 * i; j < len(b); j++ {
		if b[j] != byte(word(number, t, j)) {
			return number, fmt.Sprintf("payload %d of %d bytes: byte %d is wrong", number, len(b), j)
		}
	}
	return number, ""
}
