package control

import (
	"fmt"

	"github.com/tagus-ros/tagus/graph"
)

// MemoryKind says what a memory holds.
type MemoryKind uint16

// Kinds of memory.
const (
	MemoryArena MemoryKind = 1 // slots of the sender's arena, read-only
	MemoryRings MemoryKind = 2 // rings and return queues
)

func (k MemoryKind) String() string {
	switch k {
	case MemoryArena:
		return "arena"
	case MemoryRings:
		return "rings"
	}
	return fmt.Sprintf("memory kind %d", uint16(k))
}

// Memory gives a memory of the sender, whose descriptor comes with it, a
// number on this connection.
type Memory struct {
	Index uint16
	Kind  MemoryKind
	Size  uint64 // bytes
}

// Type returns [TypeMemory].
func (Memory) Type() Type { return TypeMemory }

// FDs returns 1, 1: the memory.
func (Memory) FDs() (least, most int) { return 1, 1 }

func (m Memory) append(b []byte) ([]byte, error) {
	b = le.AppendUint16(b, m.Index)
	b = le.AppendUint16(b, uint16(m.Kind))
	b = le.AppendUint32(b, 0)
	return le.AppendUint64(b, m.Size), nil
}

func parseMemory(c *cursor) Message {
	m := Memory{Index: c.u16(), Kind: MemoryKind(c.u16())}
	c.skip(4)
	m.Size = c.u64()
	return m
}

// Open offers a connection from a publisher to a subscription. What the
// subscription is owed first is known only later: it stands in the ring.
type Open struct {
	noFDs
	Conn     uint32    // number of the connection, chosen by the sender; never 0
	Memory   uint16    // memory with the rings
	Pub, Sub graph.GID // who is to be connected
	Offset   uint64    // of the rings in the memory, bytes
	Capacity uint32    // of the ring, messages
	Returns  uint32    // of the return queue, leases
}

// Type returns [TypeOpen].
func (Open) Type() Type { return TypeOpen }

func (m Open) append(b []byte) ([]byte, error) {
	b = le.AppendUint32(b, m.Conn)
	b = le.AppendUint16(b, m.Memory)
	b = le.AppendUint16(b, 0)
	b = append(b, m.Pub[:]...)
	b = append(b, m.Sub[:]...)
	b = le.AppendUint64(b, m.Offset)
	b = le.AppendUint32(b, m.Capacity)
	return le.AppendUint32(b, m.Returns), nil
}

func parseOpen(c *cursor) Message {
	m := Open{Conn: c.conn(), Memory: c.u16()}
	c.skip(2)
	m.Pub, m.Sub = c.bytes16(), c.bytes16()
	m.Offset = c.u64()
	m.Capacity, m.Returns = c.u32(), c.u32()
	return m
}

// Accept takes an offer and says whom to wake: a leaf of an executor's area in
// the sender's inbox.
type Accept struct {
	noFDs
	Conn         uint32
	SummaryWords uint16 // of the area
	Area         uint64 // offset of the area in the inbox, bytes
	Leaf         uint32 // bit to set
}

// Type returns [TypeAccept].
func (Accept) Type() Type { return TypeAccept }

func (m Accept) append(b []byte) ([]byte, error) {
	b = le.AppendUint32(b, m.Conn)
	b = le.AppendUint16(b, m.SummaryWords)
	b = le.AppendUint16(b, 0)
	b = le.AppendUint64(b, m.Area)
	b = le.AppendUint32(b, m.Leaf)
	return le.AppendUint32(b, 0), nil
}

func parseAccept(c *cursor) Message {
	m := Accept{Conn: c.conn(), SummaryWords: c.u16()}
	c.skip(2)
	m.Area, m.Leaf = c.u64(), c.u32()
	c.skip(4)
	return m
}

// Refuse declines an offer, or with Conn 0 the whole control connection.
type Refuse struct {
	noFDs
	Conn uint32
	Code string // for programs; 1 to MaxCode of a-z, 0-9 and hyphen
	Text string // for people; shortened to MaxText bytes
}

// Type returns [TypeRefuse].
func (Refuse) Type() Type { return TypeRefuse }

func (m Refuse) append(b []byte) ([]byte, error) {
	b, err := appendCode(le.AppendUint32(b, m.Conn), m.Code)
	if err != nil {
		return nil, err
	}
	return appendText(b, shorten(m.Text)), nil
}

// Live says that all kept messages of a connection are in its ring: from now
// on it gets what is published.
type Live struct {
	noFDs
	Conn uint32
}

// Type returns [TypeLive].
func (Live) Type() Type { return TypeLive }

func (m Live) append(b []byte) ([]byte, error) { return le.AppendUint32(b, m.Conn), nil }

// Close asks the other side to let go of a connection. It is answered by
// Closed when the last lease is back.
type Close struct {
	noFDs
	Conn uint32
	Code string // why; as in Refuse
}

// Type returns [TypeClose].
func (Close) Type() Type { return TypeClose }

func (m Close) append(b []byte) ([]byte, error) {
	return appendCode(le.AppendUint32(b, m.Conn), m.Code)
}

// Closed says that the sender no longer touches a connection's memory.
type Closed struct {
	noFDs
	Conn uint32
}

// Type returns [TypeClosed].
func (Closed) Type() Type { return TypeClosed }

func (m Closed) append(b []byte) ([]byte, error) { return le.AppendUint32(b, m.Conn), nil }
