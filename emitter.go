package tagus

import (
	"errors"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/tagus-ros/tagus/cdr"
	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/arena"
	"github.com/tagus-ros/tagus/internal/clock"
	"github.com/tagus-ros/tagus/internal/transport"
	"github.com/tagus-ros/tagus/rosidl"
)

// emitter is what every sending endpoint is made of: it brings a message into the
// forms that its readers want, once each, and hands it to the outlet.
type emitter[T any] struct {
	n     *Node
	ts    *rosidl.TypeSupport[T]
	out   *transport.Outlet
	arena *arena.Arena

	mu     sync.Mutex
	free   []*sending // not in use
	values valuePool[T]

	bytes   atomic.Uint64
	copied  atomic.Uint64
	full    atomic.Uint64
	refused atomic.Uint64
}

// sending is what one publication needs besides its message: kept and used again,
// so that publishing allocates nothing.
type sending struct {
	msg transport.Message
	to  graph.GID // the one endpoint it is for; zero: all
	enc cdr.Encoder
}

func (p *emitter[T]) init(n *Node, ts *rosidl.TypeSupport[T], e graph.Endpoint) {
	p.n, p.ts, p.out, p.arena = n, ts, transport.NewOutlet(e), n.d.arena
	p.values.init(ts)
}

// emit sends m, or v, which holds m and stays the caller's.
func (p *emitter[T]) emit(m *T, v *transport.Value) error {
	s := p.take()
	s.msg.Value = v
	err := p.send(s, m)
	if s.msg.Value != nil && v == nil {
		s.msg.Value.Drop() // the copy that send made
	}
	p.give(s)
	return err
}

// ask sends a request to all servers and returns its sequence number.
func (p *emitter[T]) ask(m *T) (uint64, error) {
	s := p.take()
	err := p.send(s, m)
	seq := s.msg.Sequence
	if s.msg.Value != nil {
		s.msg.Value.Drop()
	}
	p.give(s)
	return seq, err
}

// answer sends m to one client, as the answer to its request number seq.
func (p *emitter[T]) answer(m *T, client graph.GID, seq uint64) error {
	s := p.take()
	s.to, s.msg.Answers = client, seq
	err := p.send(s, m)
	if s.msg.Value != nil {
		s.msg.Value.Drop()
	}
	p.give(s)
	return err
}

// refuse tells one client that its request number seq failed, and why.
func (p *emitter[T]) refuse(client graph.GID, seq uint64, text string) error {
	s := p.take()
	defer p.give(s)
	slot, err := p.slot(len(text))
	if err != nil {
		return err
	}
	s.msg.Stamp, s.msg.Source = clock.Now()
	s.msg.Slot, s.msg.Length = slot, cdr.EncapsulationSize+len(text)
	s.msg.Answers, s.msg.Failed = seq, true
	mem := slot.Mem()
	cdr.PutEncapsulation(mem[transport.CDROffset:])
	copy(mem[transport.SlotHeader:], text)
	return p.out.SendTo(client, &s.msg)
}

// send brings m into the forms that its readers want and hands it over. A reader
// that comes meanwhile may want another form; then nothing was accepted yet.
func (p *emitter[T]) send(s *sending, m *T) error {
	s.msg.Stamp, s.msg.Source = clock.Now()
	if err := p.ts.Check(m); err != nil {
		p.refused.Add(1)
		return err
	}
	var full error
	for {
		want := p.out.Wants()
		if !s.to.IsZero() {
			want = p.out.Takes(s.to)
		}
		if want&transport.FormBytes != 0 && s.msg.Slot == nil && full == nil {
			if err := p.encode(s, m); err != nil {
				if !errors.As(err, new(*arena.ErrArenaFull)) {
					return err
				}
				full, s.msg.NoSlot = err, true
			}
		}
		if want&transport.FormAny != 0 && s.msg.Slot == nil && s.msg.Value == nil && !p.out.GivesBytesOnly() {
			s.msg.Value = p.values.copy(m)
			p.addCopied(p.ts.Size(m))
		}
		var err error
		if s.to.IsZero() {
			err = p.out.Send(&s.msg)
		} else {
			err = p.out.SendTo(s.to, &s.msg)
		}
		if err == transport.ErrForm {
			continue
		}
		if err == nil && full == nil {
			return nil
		}
		return errors.Join(err, full)
	}
}

// encode writes m into a slot.
func (p *emitter[T]) encode(s *sending, m *T) error {
	p.out.Collect()
	size := p.ts.Size(m)
	slot, err := p.slot(size)
	if err != nil {
		return err
	}
	mem := slot.Mem()
	cdr.PutEncapsulation(mem[transport.CDROffset:])
	s.enc.Reset(mem[transport.SlotHeader:])
	p.ts.Encode(&s.enc, m)
	if err := s.enc.Err(); err != nil {
		slot.Unref()
		p.refused.Add(1)
		return err
	}
	p.addCopied(size)
	p.bytes.Add(uint64(size) + cdr.EncapsulationSize)
	s.msg.Slot, s.msg.Length = slot, size+cdr.EncapsulationSize
	return nil
}

// addCopied counts payload bytes that were copied to publish.
func (p *emitter[T]) addCopied(n int) {
	p.copied.Add(uint64(n))
	p.n.d.copied.Add(uint64(n))
}

// slot gets memory for a body of size bytes.
func (p *emitter[T]) slot(size int) (*arena.Slot, error) {
	slot, err := p.arena.Get(transport.SlotHeader + size)
	if err != nil {
		return p.makeRoom(size, err)
	}
	return slot, nil
}

// makeRoom takes queued messages back from readers that do not take them, until the slot
// can be had for which err came.
func (p *emitter[T]) makeRoom(size int, err error) (slot *arena.Slot, _ error) {
	var full *arena.ErrArenaFull
	for errors.As(err, &full) {
		if !p.out.Shed() {
			p.full.Add(1)
			full.Topic = p.out.Endpoint.Name
			return nil, err
		}
		slot, err = p.arena.Get(transport.SlotHeader + size)
	}
	return slot, err
}

func (p *emitter[T]) take() *sending {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		s := p.free[n-1]
		p.free = p.free[:n-1]
		return s
	}
	return &sending{}
}

// give ends a publication: its reference to the slot goes, the links have theirs.
func (p *emitter[T]) give(s *sending) {
	if s.msg.Slot != nil {
		s.msg.Slot.Unref()
	}
	s.msg, s.to = transport.Message{}, graph.GID{}
	s.enc.Reset(nil)
	p.mu.Lock()
	p.free = append(p.free, s)
	p.mu.Unlock()
}

// pointer is m as the transports carry it.
func pointer[T any](m *T) unsafe.Pointer { return unsafe.Pointer(m) }
