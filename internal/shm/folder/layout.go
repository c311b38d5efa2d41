package folder

import (
	"encoding/binary"
	"fmt"

	"github.com/zeebo/xxh3"

	"github.com/tagus-ros/tagus/graph"
)

// State of the process that owns an announcement file.
type State uint8

// States. A starting process has its lock but not yet its socket; its body
// counts as empty and its silence is no sign of death.
const (
	StateStarting State = 1
	StateUp       State = 2
)

func (s State) String() string {
	switch s {
	case StateStarting:
		return "starting"
	case StateUp:
		return "up"
	}
	return fmt.Sprintf("state %d", uint8(s))
}

// Layout of an announcement file: two headers of headerSize bytes, then bodies
// wherever the headers say. See docs/shm-protocol.md.
const (
	fileMagic     = 0x41534754 // "TGSA" in file order
	fileLayout    = 1
	headerSize    = 64
	bodyStart     = 2 * headerSize
	bodyAlign     = 64
	firstFileSize = 4096
)

// MaxBody is the largest body an announcement can have, in bytes: room for
// more than 40,000 endpoints.
const MaxBody = 16 << 20

// MaxFDs is the number of descriptors one message over a [Conn] can carry.
const MaxFDs = 8

// maxOffset bounds where a body may lie: a writer never needs more than three
// times the largest body.
const maxOffset = bodyStart + 3*MaxBody

// Announcement is what a process says about itself.
type Announcement struct {
	ID      graph.ID
	Version uint64 // grows with every change; never 0
	State   State
	Body    []byte // the caller's; nil if Version is the one the caller had
}

// header describes one copy.
type header struct {
	state   State
	version uint64
	id      graph.ID
	offset  uint64
	length  uint32
	bodySum uint64
}

func (h *header) put(b *[headerSize]byte) {
	*b = [headerSize]byte{}
	le := binary.LittleEndian
	le.PutUint32(b[0:], fileMagic)
	le.PutUint16(b[4:], fileLayout)
	b[6] = byte(h.state)
	le.PutUint64(b[8:], h.version)
	copy(b[16:32], h.id[:])
	le.PutUint64(b[32:], h.offset)
	le.PutUint32(b[40:], h.length)
	le.PutUint64(b[48:], h.bodySum)
	le.PutUint64(b[56:], xxh3.Hash(b[:56]))
}

// flaw says why a copy is no good.
type flaw uint8

const (
	flawNone flaw = iota
	flawMagic
	flawSum
	flawLayout
	flawID
	flawState
	flawVersion
	flawRange
)

var flawText = [...]string{
	flawNone:    "good",
	flawMagic:   "not an announcement (wrong first bytes)",
	flawSum:     "header checksum is wrong",
	flawLayout:  "unknown layout",
	flawID:      "announces another id than its name",
	flawState:   "unknown state",
	flawVersion: "version 0",
	flawRange:   "body lies out of bounds",
}

// parseHeader checks b and everything in it that can be checked without the
// body. The checksum covers the version of the layout, so that a damaged file
// is never taken for one of a newer program.
func parseHeader(b []byte, id graph.ID) (h header, f flaw) {
	le := binary.LittleEndian
	if le.Uint32(b[0:]) != fileMagic {
		return h, flawMagic
	}
	if checksums && le.Uint64(b[56:]) != xxh3.Hash(b[:56]) {
		return h, flawSum
	}
	if le.Uint16(b[4:]) != fileLayout {
		return h, flawLayout
	}
	h.state = State(b[6])
	h.version = le.Uint64(b[8:])
	copy(h.id[:], b[16:32])
	h.offset = le.Uint64(b[32:])
	h.length = le.Uint32(b[40:])
	h.bodySum = le.Uint64(b[48:])
	switch {
	case h.id != id:
		return h, flawID
	case h.state != StateStarting && h.state != StateUp:
		return h, flawState
	case h.version == 0:
		return h, flawVersion
	case h.offset < bodyStart, h.offset > maxOffset, h.length > MaxBody:
		return h, flawRange
	}
	return h, flawNone
}

// bodySum is the checksum of a body. It is mixed with the version so that the
// body of one version never passes for that of another.
func bodySum(version uint64, body []byte) uint64 { return xxh3.HashSeed(body, version) }

// place returns where a body of n bytes goes so that it does not touch the
// current one: before it if there is room, else after it.
func place(cur header, n int) uint64 {
	if cur.version == 0 || cur.offset-bodyStart >= uint64(n) {
		return bodyStart
	}
	end := cur.offset + uint64(cur.length)
	return (end + bodyAlign - 1) &^ (bodyAlign - 1)
}

// checksums is false only in the test that shows what would happen without
// them.
var checksums = true
