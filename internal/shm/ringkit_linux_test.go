package shm

import (
	"encoding/binary"
	"fmt"
	"testing"
	"unsafe"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/arena"
	"github.com/tagus-ros/tagus/internal/clock"
	"github.com/tagus-ros/tagus/internal/memfd"
	"github.com/tagus-ros/tagus/internal/transport"
	"github.com/tagus-ros/tagus/internal/wake"
	"github.com/tagus-ros/tagus/qos"
)

// rig is a ring pair between a publisher and a reader that sees the arena as another
// process would: mapped for reading.
type rig struct {
	mem   []byte // of the ring
	arena *arena.Arena
	view  []byte
	area  *wake.Area
	out   *transport.Outlet
	tx    *sender
	rx    *receiver
	fault error // that the sender found
	msg   transport.Message
	sent  uint64
}

// newRig makes a ring of so many messages and returns. lentMax bounds the bytes lent.
func newRig(t testing.TB, capacity, returns uint32, q qos.Profile, keepAll bool, lentMax int64) *rig {
	t.Helper()
	g := &rig{}
	var err error
	if g.arena, err = arena.New(arena.Config{Limit: 1 << 30}); err != nil {
		t.Fatal(err)
	}
	fd, size := g.arena.FD()
	if g.view, err = memfd.Map(fd, size, false); err != nil {
		t.Fatal(err)
	}
	if g.area, err = wake.NewHeapArea(1); err != nil {
		t.Fatal(err)
	}
	var r memory
	g.mem = r.get(ringSize(capacity, returns))
	ring, err := newRing(g.mem, capacity, returns)
	if err != nil {
		t.Fatal(err)
	}
	n := graph.Node{Participant: graph.NewID(), Enclave: "/", Namespace: "/", Name: "test"}
	e := graph.NewEndpoint(graph.KindPublisher, n, 1, "/topic", "test_msgs/msg/Test", "RIHS01_0", q)
	g.out = transport.NewOutlet(e)
	g.tx = newSender(ring, g.area, 0, keepAll, lentMax, func(err error) { g.fault = err })
	g.rx = newReceiver(ring, e.GID, g.view)
	if err := g.out.Attach(g.tx, graph.GID{1}, 0); err != nil {
		t.Fatal(err)
	}
	return g
}

// memory hands out zeroed memory at multiples of 64.
type memory struct{}

func (memory) get(n int) []byte {
	b := make([]byte, n+64)
	for addressOf(b)%64 != 0 {
		b = b[1:]
	}
	return b[:n:n]
}

// send publishes a message of a size whose body is its number, again and again.
func (g *rig) send(size int) error {
	slot, err := g.arena.Get(transport.SlotHeader + size)
	if err != nil {
		return err
	}
	g.msg = transport.Message{Stamp: clock.Mono(), Source: clock.Wall(), Slot: slot, Length: size + 4}
	body := slot.Mem()[transport.SlotHeader:]
	for i := 0; i+8 <= len(body); i += 8 {
		binary.LittleEndian.PutUint64(body[i:], g.sent+1+uint64(i))
	}
	if err = g.out.Send(&g.msg); err == nil {
		g.sent++
	}
	slot.Unref()
	return err
}

// intact says what is wrong with a message that send sent.
func intact(r *transport.Received) error {
	body := r.Bytes[4:]
	for i := 0; i+8 <= len(body); i += 8 {
		if got, want := binary.LittleEndian.Uint64(body[i:]), r.Sequence+uint64(i); got != want {
			return fmt.Errorf("message %d of %d bytes has %d at %d, want %d", r.Sequence, len(body), got, i, want)
		}
	}
	return nil
}

// end takes everything back and finds that nothing is missing.
func (g *rig) end(t testing.TB) {
	t.Helper()
	g.out.Detach(g.tx)
	g.out.With(g.tx.Collect)
	g.over(t)
}

// over finds that nothing of the arena is in use.
func (g *rig) over(t testing.TB) {
	t.Helper()
	g.out.Close()
	if s := g.arena.Stats(); s.InUse != 0 || s.Misuse != 0 {
		t.Errorf("%d slots in use, %d misused", s.Slots, s.Misuse)
	}
	if err := g.arena.Close(); err != nil {
		t.Error(err)
	}
	memfd.Unmap(g.view)
}

func addressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
