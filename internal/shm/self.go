package shm

import (
	"sync/atomic"
	"unsafe"

	"github.com/tagus-ros/tagus/internal/arena"
	"github.com/tagus-ros/tagus/internal/transport"
	"github.com/tagus-ros/tagus/internal/wake"
)

// selfPair joins two ends of one process by the same ring that joins two
// processes, without a socket: the ring lies in plain memory, and the reader finds
// the slot itself beside the entry. It reads through the read-only mapping.
type selfPair struct {
	*sender
	*receiver
}

var _ transport.LocalPair = selfPair{}

// Claim wins entry number index or finds that the publisher took it back.
func (p selfPair) Claim(index uint64, rec *transport.Received) (bool, error) {
	slot := p.mirror[index%p.sender.ring.cap].Load()
	if !p.win(index) {
		return false, nil
	}
	if rec != nil {
		if what := transport.ReadSlot(slot.View(), 0, &p.gid, rec); what != "" {
			return true, p.receiver.fault("entry %d: %s", index, what)
		}
	}
	return true, nil
}

func (p selfPair) Wire(area *wake.Area, leaf int) { p.sender.area, p.sender.leaf = area, leaf }

// newSelf makes the part of the path that joins ends of this process.
func newSelf(cfg *Config) *transport.Local {
	return transport.NewLocal(transport.PathSHM, cfg.Joins, func(o *transport.Outlet, in *transport.Inlet) (transport.LocalPair, error) {
		capacity, returns := ringShape(in)
		mem := make([]uint64, ringSize(capacity, returns)/8+8)
		for uintptr(unsafe.Pointer(&mem[0]))%64 != 0 {
			mem = mem[1:]
		}
		bytes := unsafe.Slice((*byte)(unsafe.Pointer(&mem[0])), ringSize(capacity, returns))
		r, err := newRing(bytes, capacity, returns)
		if err != nil {
			return nil, err
		}
		// Both halves are this process's own: there is no peer to break the
		// protocol.
		s := newSender(r, nil, 0, transport.Refuses(&o.Endpoint, &in.Endpoint), cfg.leaseBytes(), func(error) {})
		s.mirror = make([]atomic.Pointer[arena.Slot], capacity)
		return selfPair{s, newReceiver(r, o.Endpoint.GID, nil)}, nil
	})
}

// ringShape is the capacity of the ring to in, exactly its depth, and of the
// returns.
func ringShape(in *transport.Inlet) (capacity, returns uint32) {
	return uint32(in.Depth()), uint32(returnsFor(in.Depth(), in.MaxLeases()))
}
