package shm

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/memfd"
	"github.com/tagus-ros/tagus/internal/shm/control"
	"github.com/tagus-ros/tagus/internal/shm/folder"
	"github.com/tagus-ros/tagus/internal/transport"
	"github.com/tagus-ros/tagus/internal/wake"
)

// outSide is the connection from publishers here to subscriptions of one other
// process: this side dialled it and owns the memory of its rings.
type outSide struct {
	p       *peer
	link    *link // nil while dialling
	asked   int64 // when the hello went out, ns of CLOCK_MONOTONIC
	ready   bool  // the peer's inbox is mapped
	worked  bool  // a pair was accepted
	inbox   []byte
	areas   map[areaKey]*wake.Area
	rings   ringMemory
	next    uint32 // number of the next pair
	pairs   map[uint32]*outPair
	memory  uint16   // number of the next memory
	numbers []uint16 // of the ring segments
}

type areaKey struct {
	offset uint64
	words  uint16
}

// outPair is one publisher here with one subscription there.
type outPair struct {
	side   *outSide
	key    pairKey
	outlet *transport.Outlet
	sub    graph.Endpoint

	id     uint32 // 0: not offered yet
	block  block
	ring   ring
	link   *sender // nil until the subscription accepted
	ending string  // why it was closed from here; "" while it is not
}

// maxInbox bounds what a peer can have mapped as its inbox.
const maxInbox = 64 << 20

// redial is how long a process that could not be reached, or that ended the connection
// right away, is left alone; doubled each time, up to probeLast.
const redial = 100 * time.Millisecond

// maxFailed is how many connections that were given up here a process may keep open
// before no more are made to it.
const maxFailed = 8

// want opens a pair as soon as the connection is there.
func (p *peer) want(key pairKey, o *transport.Outlet, sub graph.Endpoint) {
	if p.out == nil {
		p.out = &outSide{p: p, pairs: make(map[uint32]*outPair), areas: make(map[areaKey]*wake.Area)}
		p.out.dial()
	}
	c := &outPair{side: p.out, key: key, outlet: o, sub: sub}
	p.pairs[key] = c
	if p.out.ready {
		c.offer()
	}
}

// dial connects and says hello. then runs on the owner's goroutine.
func (m *member) dial(p *peer, purpose control.Purpose, then func(*link, error)) {
	m.wg.Add(1)
	go func() {
		defer m.wg.Done()
		conn, err := m.folder.Dial(m.ctx, p.id)
		posted := m.box.post(func() {
			if err == nil && (p.dead || m.closing) {
				conn.Close()
				err = unix.ECANCELED
			}
			if err != nil {
				then(nil, err)
				return
			}
			l := newLink(m, p.id, conn)
			l.say(control.Hello{Purpose: purpose, ID: m.cfg.ID, Mono: monoNow(), Wall: wallNow()})
			then(l, nil)
		})
		if !posted && err == nil {
			conn.Close()
		}
	}()
}

func (s *outSide) dial() {
	p, m := s.p, s.p.m
	s.asked = monoNow()
	m.dial(p, control.PurposeLink, func(l *link, err error) {
		if p.out != s {
			if l != nil {
				l.end()
			}
			return
		}
		if err != nil {
			p.outDown()
			if errors.Is(err, folder.ErrGone) || errors.Is(err, folder.ErrDead) {
				m.gone(p.id)
				return
			}
			if !p.dead && !m.closing {
				m.complain("connect to "+p.id.String(), err)
				p.again(monoNow())
			}
			return
		}
		m.complain("connect to "+p.id.String(), nil)
		s.link = l
		l.over = s.over
		l.start(s.handle, func(err error) {
			if p.out == s && !hungUp(err) {
				s.fail(err)
			}
		})
	})
}

// fail gives the connection up because of an error here or there. The other side is told
// by the end of what is sent; it stays open here, with all that is queued and lent, since
// the other side still reads what lies in the arena, until its end of file.
func (s *outSide) fail(err error) {
	p := s.p
	if p.turned[control.PurposeLink] != "unknown-process" { // it or this process has just left
		p.m.complain("control connection to "+p.id.String(), err)
	}
	p.out = nil
	p.failed = append(p.failed, s)
	s.link.part()
	for _, c := range s.pairs {
		c.part()
	}
	clear(p.pairs)
	p.again(s.link.began)
}

// over runs at the end of file.
func (s *outSide) over() {
	p := s.p
	if p.out == s {
		p.outDown()
		p.again(s.link.began)
		return
	}
	if i := slices.Index(p.failed, s); i >= 0 {
		full := len(p.failed) == maxFailed
		p.failed = slices.Delete(p.failed, i, i+1)
		s.reclaim()
		if p.m.forget(p); full {
			p.again(s.link.began)
		}
	}
}

// outDown ends the connection. At the end of file nobody reads the arena there any
// more, so that everything lent comes back.
func (p *peer) outDown() {
	s := p.out
	if s == nil {
		return
	}
	p.out = nil
	clear(p.pairs)
	s.reclaim()
	p.m.forget(p)
}

// reclaim takes everything back that was given to the other side.
func (s *outSide) reclaim() {
	if s.link != nil {
		s.link.end()
	}
	for _, c := range s.pairs {
		c.drop()
	}
	s.rings.release()
	if s.inbox != nil {
		memfd.Unmap(s.inbox)
	}
}

func (s *outSide) handle(msg control.Message, fds []int) {
	if s.p.out != s {
		closeFDs(fds)
		return
	}
	var err error
	switch msg := msg.(type) {
	case control.HelloAck:
		err = s.welcome(msg, fds)
		fds = nil
	case control.Accept:
		err = s.accepted(msg)
	case control.Refuse:
		s.refused(msg)
	case control.Close:
		if c := s.pairs[msg.Conn]; c != nil && c.link != nil {
			c.outlet.Detach(c.link)
		}
	case control.Closed:
		if c := s.pairs[msg.Conn]; c != nil {
			c.drop()
			c.free()
		}
	case control.Look:
		s.p.m.refresh(msg.ID)
	case control.Unknown:
	default:
		err = errors.New("unexpected " + msg.Type().String())
	}
	closeFDs(fds)
	if err != nil && s.p.out == s {
		s.fail(err)
	}
}

// welcome maps the inbox of the process and hands it the arena.
func (s *outSide) welcome(msg control.HelloAck, fds []int) error {
	defer closeFDs(fds)
	if s.ready || len(fds) != 1 || msg.ID != s.p.id {
		return errors.New("unexpected hello-ack")
	}
	if err := control.CheckClock(s.asked, msg.Mono, monoNow()); err != nil {
		return err
	}
	size, err := memfd.Check(fds[0], 4096, maxInbox)
	if err != nil {
		return err
	}
	if s.inbox, err = memfd.Map(fds[0], size, true); err != nil {
		return err
	}
	fd, n := s.p.m.cfg.Arena.FD()
	s.give(control.MemoryArena, uint64(n), fd, false)
	s.ready = true
	for _, c := range s.p.pairs {
		c.offer()
	}
	return nil
}

// give hands a memory over and returns its number.
func (s *outSide) give(kind control.MemoryKind, size uint64, fd int, own bool) uint16 {
	n := s.memory
	s.memory++
	s.link.put(outgoing{msg: control.Memory{Index: n, Kind: kind, Size: size}, fd: fd, own: own})
	return n
}

// offer asks the subscription's process to take the pair.
func (c *outPair) offer() {
	s := c.side
	capacity := uint32(transport.Capacity(&c.sub))
	returns := uint32(returnsFor(int(capacity), transport.MaxLeases))
	b, fd, err := s.rings.get(ringSize(capacity, returns))
	if err == nil {
		c.ring, err = newRing(b.mem, capacity, returns)
	}
	if err != nil {
		s.p.m.complain("a match was not made on "+c.sub.Name+": no memory for its ring", err)
		delete(s.p.pairs, c.key)
		s.p.offerAgain(c.key)
		return
	}
	s.p.m.complain("a match was not made on "+c.sub.Name+": no memory for its ring", nil)
	c.block = b
	if fd >= 0 {
		s.numbers = append(s.numbers, s.give(control.MemoryRings, uint64(len(s.rings.segments[b.segment].mem)), fd, true))
	}
	s.next++
	c.id = s.next
	s.pairs[c.id] = c
	s.link.say(control.Open{
		Conn: c.id, Memory: s.numbers[b.segment], Pub: c.key.pub, Sub: c.key.sub,
		Offset: uint64(b.offset), Capacity: capacity, Returns: returns,
	})
}

// accepted makes the pair live: kept messages go into the ring, then what is
// published from now on.
func (s *outSide) accepted(msg control.Accept) error {
	c := s.pairs[msg.Conn]
	if c == nil || c.link != nil {
		return errors.New("accept of a connection that was not offered")
	}
	area, err := s.area(areaKey{msg.Area, msg.SummaryWords})
	if err != nil {
		return err
	}
	if int64(msg.Leaf) >= int64(area.Leaves()) {
		return errors.New("accept with a leaf outside its area")
	}
	m := s.p.m
	pub := c.outlet.Endpoint
	keepAll := transport.Refuses(&pub, &c.sub)
	s.worked = true
	s.rings.segments[c.block.segment].proven = true
	c.link = newSender(c.ring, area, int(msg.Leaf), keepAll, m.cfg.leaseBytes(), func(err error) {
		m.box.post(func() { c.fault(err) })
	})
	if c.ending == "" {
		if err := c.outlet.Attach(c.link, c.sub.GID, transport.History(pub.QoS, c.sub.QoS)); err == nil {
			s.link.say(control.Live{Conn: c.id})
			return nil
		}
	}
	// The publisher was closed meanwhile.
	s.link.say(control.Close{Conn: c.id, Code: "publisher-closed"})
	return nil
}

// area is the peer's place to sleep at an offset of its inbox.
func (s *outSide) area(k areaKey) (*wake.Area, error) {
	if a := s.areas[k]; a != nil {
		return a, nil
	}
	if k.words == 0 || k.words > wake.MaxSummaryWords || k.offset%64 != 0 || k.offset > uint64(len(s.inbox)) ||
		uint64(len(s.inbox))-k.offset < uint64(wake.AreaSize(int(k.words))) {
		return nil, errors.New("accept with an area outside the inbox")
	}
	a, err := wake.NewArea(s.inbox[k.offset:], int(k.words))
	if err == nil {
		s.areas[k] = a
	}
	return a, err
}

// fault closes a pair whose reader broke the protocol. What it holds comes back when
// it says that it is done, or with the end of the connection.
func (c *outPair) fault(err error) {
	if c.side.pairs[c.id] != c {
		return
	}
	c.side.p.m.cfg.Log.Error("a subscription was disconnected", "topic", c.sub.Name, "subscription", c.sub.String(), "err", err)
	c.outlet.Detach(c.link)
	c.side.p.refused[c.key] = true
	c.close("protocol-error")
}

// close asks the other side to let go of the pair.
func (c *outPair) close(code string) {
	if c.ending != "" {
		return
	}
	c.ending = code
	switch {
	case c.id == 0: // not offered yet
		delete(c.side.p.pairs, c.key)
	case c.link != nil:
		c.side.link.say(control.Close{Conn: c.id, Code: code})
	}
}

// offerLater is how long a match that failed for want of something is left alone.
const offerLater = time.Second

// offerAgain tries a match again after a while: what it lacked, a descriptor or memory, may
// be there then.
func (p *peer) offerAgain(key pairKey) {
	p.refused[key] = true
	m := p.m
	time.AfterFunc(offerLater, func() {
		m.box.post(func() {
			if m.peers[p.id] == p && !m.closing {
				delete(p.refused, key)
				m.match(p)
			}
		})
	})
}

func (s *outSide) refused(msg control.Refuse) {
	m := s.p.m
	if msg.Conn == 0 {
		if !s.worked {
			s.p.turned[control.PurposeLink] = msg.Code
		}
		s.fail(refusal(msg))
		return
	}
	c := s.pairs[msg.Conn]
	if c == nil || c.link != nil {
		return
	}
	if msg.Code != codeGone && c.ending == "" {
		m.cfg.Log.Warn("a subscription refused to be connected", "topic", c.sub.Name, "subscription", c.sub.String(), "code", msg.Code, "why", msg.Text)
	}
	s.p.refused[c.key] = true
	if msg.Code == codeLimit {
		s.rings.doubt(c.block.segment) // its descriptor may not have arrived
		s.p.offerAgain(c.key)
	}
	c.free()
}

// refusal is the error that a process refuses a whole connection.
func refusal(msg control.Refuse) error { return fmt.Errorf("refused: %s: %s", msg.Code, msg.Text) }

// part queues nothing more and takes nothing back until the end of the connection: the
// other side drains the ring meanwhile.
func (c *outPair) part() {
	if c.link != nil {
		c.outlet.With(func() { c.link.broken = true })
		c.outlet.Detach(c.link)
	}
}

// drop takes everything back: the other side does not touch the pair any more.
func (c *outPair) drop() {
	if c.link != nil {
		c.outlet.Detach(c.link)
		c.outlet.With(c.link.Reclaim)
	}
}

// free forgets the pair. If both ends are still there it can be made again.
func (c *outPair) free() {
	s := c.side
	delete(s.pairs, c.id)
	s.rings.put(c.block)
	if s.p.pairs[c.key] == c {
		delete(s.p.pairs, c.key)
	}
}
