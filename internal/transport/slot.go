package transport

import (
	"encoding/binary"
	"math"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/tagus-ros/tagus/graph"
)

// Layout of a slot, little-endian. The CDR encapsulation lies in the last four
// bytes of the header, so that the header is one cache line, the CDR is
// contiguous from CDROffset, and its body is aligned to 64.
//
//	 0  16  GID of the publisher
//	16   8  sequence number, from 1
//	24   8  source time, ns since the Unix epoch
//	32   8  start of publish, ns of CLOCK_MONOTONIC
//	40   4  length of the CDR with its encapsulation, bytes
//	44   4  flags: 1 the message is an error that answers a request
//	48   8  sequence number of the request that this answers, or 0
//	56   4  lifespan, ms from the start of publish, or 0: for ever
//	60   4  CDR encapsulation
//	64      CDR body
const (
	SlotHeader = 64
	CDROffset  = 60

	slotGID      = 0
	slotSequence = 16
	slotSource   = 24
	slotStamp    = 32
	slotLength   = 40
	slotFlags    = 44
	slotAnswers  = 48
	slotLifespan = 56

	flagFailed = 1
)

// stampSlot writes the header of m into its slot.
func stampSlot(m *Message, gid *graph.GID) {
	b := m.Slot.Mem()[:SlotHeader]
	copy(b[slotGID:], gid[:])
	binary.LittleEndian.PutUint64(b[slotSequence:], m.Sequence)
	binary.LittleEndian.PutUint64(b[slotSource:], uint64(m.Source))
	binary.LittleEndian.PutUint64(b[slotStamp:], uint64(m.Stamp))
	binary.LittleEndian.PutUint32(b[slotLength:], uint32(m.Length))
	flags := uint32(0)
	if m.Failed {
		flags = flagFailed
	}
	binary.LittleEndian.PutUint32(b[slotFlags:], flags)
	binary.LittleEndian.PutUint64(b[slotAnswers:], m.Answers)
	binary.LittleEndian.PutUint32(b[slotLifespan:], lifespanMS(m.Lifespan))
}

// lifespanMS rounds up; what is longer than fits, 49 days, is for ever.
func lifespanMS(ns int64) uint32 {
	ms := (ns + int64(time.Millisecond) - 1) / int64(time.Millisecond)
	if ms > math.MaxUint32 {
		return 0
	}
	return uint32(ms)
}

// ReadSlot fills r from the slot that starts at b[off]. It believes nothing:
// offset and length are checked against b, each loaded once. The slot must be
// leased, so that only a lying publisher could change it meanwhile. It reports
// what is wrong with the slot, or "".
func ReadSlot(b []byte, off uint64, gid *graph.GID, r *Received) string {
	if off%64 != 0 || off > uint64(len(b)) || uint64(len(b))-off < SlotHeader {
		return "slot outside the arena"
	}
	s := b[off:]
	length := uint64(atomic.LoadUint32((*uint32)(unsafe.Pointer(&s[slotLength]))))
	if length < SlotHeader-CDROffset || length > uint64(len(s))-CDROffset {
		return "message length outside the arena"
	}
	if graph.GID(s[slotGID:slotGID+16]) != *gid {
		return "slot of another publisher"
	}
	r.GID = *gid
	r.Sequence = binary.LittleEndian.Uint64(s[slotSequence:])
	r.Source = int64(binary.LittleEndian.Uint64(s[slotSource:]))
	r.Stamp = int64(binary.LittleEndian.Uint64(s[slotStamp:]))
	r.Bytes = s[CDROffset : CDROffset+length : CDROffset+length]
	r.Answers = binary.LittleEndian.Uint64(s[slotAnswers:])
	r.Failed = binary.LittleEndian.Uint32(s[slotFlags:])&flagFailed != 0
	r.Lifespan = int64(binary.LittleEndian.Uint32(s[slotLifespan:])) * int64(time.Millisecond)
	r.Value = nil
	return ""
}
