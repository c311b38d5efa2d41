package folder

import "github.com/tagus-ros/tagus/graph"

const hexDigits = "0123456789abcdef"

// idLen is the length of an id's name: 32 lower-case hex digits, most
// significant first (byte 15 is the most significant).
const idLen = 32

// sockSuffix follows the id in the name of a control socket.
const sockSuffix = ".sock"

// fileName is the NUL-terminated name of an announcement file, ready for a
// system call without an allocation.
type fileName [idLen + 1]byte

func nameOf(id graph.ID) (n fileName) {
	for i := range id {
		b := id[15-i]
		n[2*i], n[2*i+1] = hexDigits[b>>4], hexDigits[b&15]
	}
	return n
}

func (n *fileName) String() string { return string(n[:idLen]) }

func fileOf(id graph.ID) string { n := nameOf(id); return n.String() }
func sockOf(id graph.ID) string { return fileOf(id) + sockSuffix }

// parseName returns the id whose announcement file is called name. Only the
// canonical spelling counts; anything else in the folder is not ours.
func parseName(name []byte) (id graph.ID, ok bool) {
	if len(name) != idLen {
		return graph.ID{}, false
	}
	for i := range id {
		hi, lo := unhex(name[2*i]), unhex(name[2*i+1])
		if hi > 15 || lo > 15 {
			return graph.ID{}, false
		}
		id[15-i] = hi<<4 | lo
	}
	return id, id[15] != 0
}

func unhex(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	}
	return 255
}
