// Package invariants holds the expensive checks of a build with the tag invariants: recycled memory is filled with a pattern that shows
// who reads it too late or still writes to it, and what was given away is summed up to show who changes it.
//
// Callers write
//
//	if invariants.Enabled {
//		invariants.Poison(buf)
//	}
//
// so that other builds contain nothing of it. The package knows only bytes.
package invariants

import (
	"bytes"
	"fmt"

	"github.com/zeebo/xxh3"
)

// pattern is odd, no valid UTF-8, and negative, not a number, or huge in every primitive type that a message can have.
const pattern = 0xfd

// page is what memory is filled from and compared with: byte by byte, a large message would take milliseconds.
var page = bytes.Repeat([]byte{pattern}, 4096)

// Poison fills memory that nobody may use any more.
func Poison(b []byte) {
	for len(b) > 0 {
		b = b[copy(b, page):]
	}
}

// Intact says whether memory is as Poison left it; if not, at is the first byte that is different.
func Intact(b []byte) (at int, ok bool) {
	for at = 0; at < len(b); {
		part := b[at:min(at+len(page), len(b))]
		if bytes.Equal(part, page[:len(part)]) {
			at += len(part)
			continue
		}
		for b[at] == pattern {
			at++
		}
		return at, false
	}
	return 0, true
}

// MustBeIntact panics if memory is not as Poison left it; what says whose memory it is.
func MustBeIntact(b []byte, what string) {
	if at, ok := Intact(b); !ok {
		panic(fmt.Sprintf("tagus invariants: %s was written to after it was released: byte %d of %d is %#02x", what, at, len(b), b[at]))
	}
}

// Sum gives a checksum of memory that nobody may change, for MustBeUnchanged.
func Sum(b []byte) uint64 { return xxh3.Hash(b) }

// MustBeUnchanged panics if the checksum of memory is not what it was; what says whose memory it is.
func MustBeUnchanged(b []byte, sum uint64, what string) {
	if Sum(b) != sum {
		panic("tagus invariants: " + what + " was written to after it was given away")
	}
}

// Must panics with the text if something that always holds does not.
func Must(holds bool, text string) {
	if !holds {
		panic("tagus invariants: " + text)
	}
}
