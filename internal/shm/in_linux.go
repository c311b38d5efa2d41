package shm

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/memfd"
	"github.com/tagus-ros/tagus/internal/shm/control"
	"github.com/tagus-ros/tagus/internal/transport"
)

// inSide is the connection from publishers of one other process to subscriptions
// here. It is closed only when nothing of the peer's memory is in use any more: to
// the other side its end means that nobody reads.
type inSide struct {
	p     *peer
	link  *link
	arena []byte
	rings map[uint16][]byte
	bad   map[uint16]error // memories of rings that are not mapped, and the limit that was in the way
	pairs map[uint32]*inPair
	down  bool // the peer has ended or died; what it sent is still read
}

// inPair is one publisher there with one subscription here.
type inPair struct {
	id    uint32
	inlet *transport.Inlet
	feed  *transport.Feed
	rx    *receiver
}

// end lets the subscription drain what the publisher has sent. A process that ended at
// once may have made the pair live without having said so.
func (c *inPair) end() {
	if c.rx.begun() {
		c.inlet.Start(c.feed)
	}
	c.inlet.End(c.feed)
}

const (
	maxArena    = 1 << 44 // bytes of address space that a peer's arena may take
	maxRings    = 64 << 20
	maxMemories = 4096
)

// acceptLink serves a process that wants to connect its publishers.
func (p *peer) acceptLink(l *link) {
	if last := p.in; last != nil {
		// The peer has given up its last connection, or it would not make another.
		if p.inDown(last); p.in == last {
			p.old = append(p.old, last)
		}
	}
	s := &inSide{p: p, link: l, rings: make(map[uint16][]byte), bad: make(map[uint16]error), pairs: make(map[uint32]*inPair)}
	p.in = s
	l.start(s.handle, func(err error) {
		if !hungUp(err) {
			p.m.complain("control connection from "+p.id.String(), err)
			// It may be a limit here: the other side is told which.
			l.say(control.Refuse{Code: refusalCode(err), Text: err.Error()})
		}
		p.inDown(s)
		p.probe()
	})
	l.put(outgoing{msg: control.HelloAck{ID: p.m.cfg.ID, Mono: monoNow(), Wall: wallNow()}, fd: p.m.cfg.Inbox.FD()})
}

// inDown lets the subscriptions drain what the publishers there have sent.
func (p *peer) inDown(s *inSide) {
	if s.down {
		return
	}
	s.down = true
	for _, c := range s.pairs {
		c.end()
	}
	s.settle()
}

// settle unmaps and closes when the peer is gone and nothing of it is in use.
func (s *inSide) settle() {
	if !s.down || len(s.pairs) > 0 {
		return
	}
	s.release()
	p := s.p
	if p.in == s {
		p.in = nil
	}
	p.old = slices.DeleteFunc(p.old, func(x *inSide) bool { return x == s })
	p.m.forget(p)
}

// release unmaps, then closes: nobody reads any more.
func (s *inSide) release() {
	s.down = true
	for _, r := range s.rings {
		memfd.Unmap(r)
	}
	s.rings = nil
	if s.arena != nil {
		s.p.m.maps.remove(s.arena)
		memfd.Unmap(s.arena)
		s.arena = nil
	}
	s.link.finish()
}

func (s *inSide) handle(msg control.Message, fds []int) {
	defer closeFDs(fds)
	if s.down {
		return
	}
	var err error
	switch msg := msg.(type) {
	case control.Memory:
		err = s.memory(msg, fds[0])
	case missing:
		err = s.lack(msg.Memory, msg.err)
	case control.Open:
		s.open(msg)
	case control.Live:
		if c := s.pairs[msg.Conn]; c != nil {
			c.inlet.Start(c.feed)
		}
	case control.Close:
		if c := s.pairs[msg.Conn]; c != nil {
			if msg.Code == "protocol-error" {
				c.inlet.Drop(c.feed)
			} else {
				c.end()
			}
		}
	case control.Look:
		s.p.m.refresh(msg.ID)
	case control.Unknown:
	default:
		err = errors.New("unexpected " + msg.Type().String())
	}
	if err != nil {
		s.p.m.complain("control connection from "+s.p.id.String(), err)
		s.link.say(control.Refuse{Code: refusalCode(err), Text: err.Error()})
		s.p.inDown(s)
	}
}

// memory checks and maps what the peer hands over.
func (s *inSide) memory(msg control.Memory, fd int) error {
	switch msg.Kind {
	case control.MemoryArena:
		if s.arena != nil {
			return errors.New("a second arena")
		}
		size, err := memfd.CheckReadOnly(fd, transport.SlotHeader, maxArena)
		if err != nil {
			return fmt.Errorf("arena: %w", err)
		}
		if s.arena, err = memfd.Map(fd, size, false); err != nil {
			return fmt.Errorf("arena: %w", err)
		}
		s.p.m.maps.add(s.arena)
	case control.MemoryRings:
		if err := s.fresh(msg.Index); err != nil {
			return err
		}
		size, err := memfd.Check(fd, 4096, maxRings)
		if err != nil {
			return fmt.Errorf("rings: %w", err)
		}
		mem, err := memfd.Map(fd, size, true)
		if err != nil {
			return s.lack(msg, fmt.Errorf("map %d bytes; limits are memory and vm.max_map_count: %w", size, err))
		}
		s.rings[msg.Index] = mem
	}
	return nil
}

func (s *inSide) fresh(index uint16) error {
	if len(s.rings)+len(s.bad) == maxMemories || s.rings[index] != nil || s.bad[index] != nil {
		return errors.New("too many memories, or one number twice")
	}
	return nil
}

// lack remembers that a limit of this process kept it from a memory of rings: only what
// lies in it is refused. Without the arena nothing can be served.
func (s *inSide) lack(msg control.Memory, err error) error {
	if msg.Kind == control.MemoryArena {
		return fmt.Errorf("arena: %w", err)
	}
	if err := s.fresh(msg.Index); err != nil {
		return err
	}
	s.bad[msg.Index] = fmt.Errorf("rings: %w", err)
	return nil
}

// codeLimit refuses what a limit is in the way of; the text names it.
const codeLimit = "limit"

// codeGone refuses a pair whose subscription was closed after it was read of: nobody
// needs to know. A publisher that was closed meanwhile knows by itself.
const codeGone = "no-subscription"

// open takes or refuses a pair.
func (s *inSide) open(msg control.Open) {
	code, text := s.take(msg)
	if code != "" {
		s.link.say(control.Refuse{Conn: msg.Conn, Code: code, Text: text})
	}
}

func (s *inSide) take(msg control.Open) (code, text string) {
	m := s.p.m
	in := m.inlets[msg.Sub]
	if in == nil || m.closing {
		return codeGone, "there is no subscription " + msg.Sub.String()
	}
	pub := s.publisher(msg.Pub, counterpart(in.Endpoint.Kind))
	if pub == nil {
		return "no-publisher", "publisher " + msg.Pub.String() + " is not announced"
	}
	if !m.cfg.Match(pub, &in.Endpoint) {
		return "mismatch", "publisher and subscription do not match"
	}
	if err := s.bad[msg.Memory]; err != nil {
		return codeLimit, err.Error()
	}
	mem := s.rings[msg.Memory]
	size := uint64(ringSize(min(msg.Capacity, maxRingEntries), min(msg.Returns, maxRingEntries)))
	switch {
	case s.pairs[msg.Conn] != nil || msg.Conn == 0:
		return "protocol-error", "connection number used twice"
	case s.arena == nil || mem == nil || msg.Offset%64 != 0 || msg.Offset > uint64(len(mem)) || uint64(len(mem))-msg.Offset < size:
		return "protocol-error", "ring outside its memory"
	case int(msg.Capacity) != in.Depth() || int(msg.Returns) < returnsFor(in.Depth(), in.MaxLeases()):
		return "protocol-error", fmt.Sprintf("ring of %d messages and %d returns for depth %d and %d leases", msg.Capacity, msg.Returns, in.Depth(), in.MaxLeases())
	}
	r, err := newRing(mem[msg.Offset:msg.Offset+size], msg.Capacity, msg.Returns)
	if err != nil {
		return "protocol-error", err.Error()
	}
	c := &inPair{id: msg.Conn, inlet: in, rx: newReceiver(r, msg.Pub, s.arena)}
	c.feed, err = in.AddFeed(c.rx, msg.Pub, transport.PathSHM,
		func() { m.box.post(func() { s.idle(c) }) },
		func(err error) {
			m.box.post(func() {
				m.cfg.Log.Error("a publisher was disconnected", "err", err)
				s.link.say(control.Close{Conn: c.id, Code: "protocol-error"})
			})
		})
	if err == transport.ErrClosed {
		return codeGone, "the subscription is being closed"
	}
	if err != nil {
		return codeLimit, err.Error()
	}
	s.pairs[c.id] = c
	st := in.Station()
	s.link.say(control.Accept{Conn: c.id, SummaryWords: uint16(st.SummaryWords()), Area: st.Offset(), Leaf: uint32(c.feed.Leaf())})
	return "", ""
}

// publisher is the announced sending end with the GID; the announcement is read again
// if it is not there yet.
func (s *inSide) publisher(gid graph.GID, kind graph.Kind) *graph.Endpoint {
	for range 2 {
		for i := range s.p.ann.Endpoints {
			if e := &s.p.ann.Endpoints[i]; e.GID == gid && e.Kind == kind {
				return e
			}
		}
		s.p.m.refresh(s.p.id)
	}
	return nil
}

// idle says that nothing of a pair is in use here any more.
func (s *inSide) idle(c *inPair) {
	if s.pairs[c.id] != c {
		return
	}
	delete(s.pairs, c.id)
	if !announced(s.p.ann.Endpoints, c.rx.gid) {
		c.inlet.Forget(c.rx.gid)
	}
	if !s.down {
		s.link.say(control.Closed{Conn: c.id})
	}
	s.settle()
}
