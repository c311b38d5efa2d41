package wire

// Identifiers of the datagrams of scouting, which share no space with the others.
const (
	IDScout = 0x01
	IDHello = 0x02

	flagScoutID       = 0x08 // in the byte after the version
	flagHelloLocators = 0x20
)

// Roles is a set of WhatAmI.
type Roles uint8

// Has reports whether w is in the set.
func (r Roles) Has(w WhatAmI) bool { return r>>w&1 != 0 }

// RolesOf makes a set.
func RolesOf(ws ...WhatAmI) (r Roles) {
	for _, w := range ws {
		r |= 1 << w
	}
	return r
}

// Scout asks, by multicast, who is there.
type Scout struct {
	Version byte
	What    Roles
	ID      ID // of who asks; zero: not said
}

// Append encodes m.
func (m *Scout) Append(dst []byte) []byte {
	dst = append(dst, IDScout, m.Version)
	if m.ID.IsZero() {
		return append(dst, byte(m.What&7))
	}
	return m.ID.appendNibble(dst, byte(m.What&7)|flagScoutID)
}

// Decode reads a Scout, header included.
func (m *Scout) Decode(r *Reader) {
	h := r.Byte("scout")
	*m = Scout{}
	if MessageID(h) != IDScout {
		r.Fail("scout: other message")
		return
	}
	m.Version = r.Byte("scout: version")
	b := r.Byte("scout: flags")
	m.What = Roles(b & 7)
	if b&flagScoutID != 0 {
		m.ID = r.readID(uint64(b>>4)+1, "scout: id")
	}
	skipExts(r, h)
}
