package arena

import (
	"bytes"
	"fmt"
	"slices"
)

// poisoned is what free slots contain in checked builds.
var poisoned = bytes.Repeat([]byte{0xdb}, 4096)

func (s *Slot) poison() {
	for part := range slices.Chunk(s.all(), len(poisoned)) {
		copy(part, poisoned)
	}
	s.dirty = true
}

// unpoisoned panics if somebody wrote to the slot while it was free.
func (s *Slot) unpoisoned() {
	if !s.dirty {
		return
	}
	s.dirty = false
	at := 0
	for part := range slices.Chunk(s.all(), len(poisoned)) {
		if !bytes.Equal(part, poisoned[:len(part)]) {
			i := slices.IndexFunc(part, func(b byte) bool { return b != poisoned[0] })
			panic(fmt.Sprintf("arena: write to a free slot: offset %d, size %d, byte %d", s.off, s.Cap(), at+i))
		}
		at += len(part)
	}
}

func (s *Slot) all() []byte { return s.Mem()[:s.Cap()] }
