package shm

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/shm/control"
	"github.com/tagus-ros/tagus/internal/shm/folder"
	"github.com/tagus-ros/tagus/internal/transport/conformance"
	"github.com/tagus-ros/tagus/qos"
)

// own runs f on the owner's goroutine of p, with what is known of the process id.
func own(t *testing.T, p *Path, id graph.ID, f func(*peer)) {
	t.Helper()
	done := make(chan bool)
	p.member.box.post(func() {
		peer := p.member.peers[id]
		if peer != nil {
			f(peer)
		}
		done <- peer != nil
	})
	if !<-done {
		t.Fatalf("%v is not known", id)
	}
}

// until waits for something that the other goroutines do.
func until(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !f(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// called takes the next connection whose first message is of type T.
func called[T control.Message](s *stranger, within time.Duration) (*folder.Conn, T) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	for {
		c, err := s.me.Accept(ctx)
		if err != nil {
			s.t.Fatalf("nobody calls: %v", err)
		}
		if msg, err := next(c); err == nil {
			if m, ok := msg.(T); ok {
				s.t.Cleanup(func() { c.Close() })
				return c, m
			}
		}
		c.Close()
	}
}

func next(c *folder.Conn) (control.Message, error) {
	buf := make([]byte, control.MaxMessage)
	c.SetRecvDeadline(time.Now().Add(10 * time.Second))
	n, fds, err := c.Recv(buf)
	closeFDs(fds)
	if err != nil {
		return nil, err
	}
	return control.Parse(buf[:n])
}

// heard reads up to the next message of type T.
func heard[T control.Message](t *testing.T, c *folder.Conn) T {
	t.Helper()
	for {
		msg, err := next(c)
		check(t, err)
		if m, ok := msg.(T); ok {
			return m
		}
	}
}

func (s *stranger) dial(id graph.ID, purpose control.Purpose) *folder.Conn {
	s.t.Helper()
	c, err := s.folder.Dial(context.Background(), id)
	check(s.t, err)
	s.t.Cleanup(func() { c.Close() })
	check(s.t, s.say(c, false, control.Hello{Purpose: purpose, ID: s.id, Mono: monoNow(), Wall: wallNow()}))
	heard[control.HelloAck](s.t, c)
	return c
}

func (s *stranger) welcome(c *folder.Conn, fds ...int) {
	s.t.Helper()
	check(s.t, s.say(c, false, control.HelloAck{ID: s.id, Mono: monoNow(), Wall: wallNow()}, fds...))
}

// look has the process id look at the stranger, over a connection of its own.
func (s *stranger) look(id graph.ID) {
	s.t.Helper()
	c, err := s.folder.Dial(context.Background(), id)
	check(s.t, err)
	defer c.Close()
	check(s.t, s.say(c, false, control.Look{ID: s.id}))
}

// A process whose backlog was full is met soon after it accepts again.
func TestMetAfterFullBacklog(t *testing.T) {
	dir := t.TempDir()
	log := new(faults)
	_, a := newParticipant(t, dir, log)
	q := qos.Default().WithDepth(5)
	s := newStranger(t, dir)
	s.endpoint(graph.KindSubscription, 1, "/topic", q)
	for {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
		c, err := s.folder.Dial(ctx, s.id)
		cancel()
		if errors.Is(err, folder.ErrBacklog) {
			break
		}
		check(t, err)
		defer c.Close()
		_, err = a.InUse()
		check(t, err)
		check(t, s.say(c, false, control.Look{ID: s.id}))
	}
	_, err := a.Publisher("/topic", q)
	check(t, err)
	until(t, "a full backlog is found", func() bool { return log.count("connect to") > 0 })
	_, hello := called[control.Hello](s, 2*time.Second)
	if hello.Purpose != control.PurposeLink {
		t.Errorf("met to %v", hello.Purpose)
	}
	check(t, a.Close())
}

// A process that is met again is read again: it may have said so over the connection
// that ended.
func TestMeetingReadsAgain(t *testing.T) {
	dir := t.TempDir()
	log := new(faults)
	_, a := newParticipant(t, dir, log)
	q := qos.Default().WithDepth(5)
	s := newStranger(t, dir)
	for _, topic := range []string{"/one", "/two"} {
		_, err := a.Publisher(topic, q)
		check(t, err)
	}
	until(t, "the publishers are announced", func() bool {
		ids, err := s.folder.List()
		check(t, err)
		for _, id := range ids {
			ann, err := s.folder.Read(id, 0)
			check(t, err)
			if b, err := control.ParseAnnouncement(ann.Body, id); err == nil && len(b.Endpoints) == 2 {
				s.endpoint(graph.KindSubscription, 1, "/one", q)
				s.look(id)
				return true
			}
		}
		return false
	})
	c, _ := called[control.Hello](s, 10*time.Second)
	s.welcome(c, s.files[2])
	heard[control.Open](t, c)
	e := s.endpoint(graph.KindSubscription, 2, "/two", q)
	c.Close()
	c, _ = called[control.Hello](s, 10*time.Second)
	s.welcome(c, s.files[2])
	if o := heard[control.Open](t, c); o.Sub != e.GID {
		t.Errorf("offered to %v, which is not there any more", o.Sub)
	}
	check(t, a.Close())
}

// A process that refuses connections is left alone until it announces something else,
// and that is logged once.
func TestRefusalIsRemembered(t *testing.T) {
	dir := t.TempDir()
	log := new(faults)
	pa, a := newParticipant(t, dir, log)
	s := newStranger(t, dir)
	s.look(pa.cfg.ID)
	check(t, pa.Watch())
	for range 2 {
		c, hello := called[control.Hello](s, 10*time.Second)
		if hello.Purpose != control.PurposeWatch {
			t.Fatalf("called to %v", hello.Purpose)
		}
		check(t, s.say(c, false, control.Refuse{Code: "purpose", Text: "no"}))
		c.Close()
		until(t, "the refusal is known", func() (known bool) {
			own(t, pa, s.id, func(p *peer) { known = p.turned[control.PurposeWatch] != "" && p.watch == nil })
			return known
		})
		own(t, pa, s.id, func(p *peer) {
			p.meet()
			if p.dialing {
				t.Error("it is called again")
			}
		})
		if n := log.count("control connection to"); n != 1 {
			t.Errorf("logged %d times", n)
		}
		_, err := s.me.Write(s.body())
		check(t, err)
		s.look(pa.cfg.ID)
	}
	check(t, a.Close())
}

// One with another clock is not called at all, but its death is seen.
func TestOtherClockIsNotWatched(t *testing.T) {
	dir := t.TempDir()
	log := new(faults)
	pa, a := newParticipant(t, dir, log)
	s := newStranger(t, dir)
	s.clock.Offset++
	for range 2 {
		_, err := s.me.Write(s.body())
		check(t, err)
		s.look(pa.cfg.ID)
	}
	until(t, "it is known", func() bool { return log.count("a process in the folder has another") > 0 })
	check(t, pa.Watch())
	until(t, "that is announced", func() (done bool) {
		own(t, pa, s.id, func(p *peer) { done = p.m.watching && !p.m.changing })
		return done
	})
	own(t, pa, s.id, func(p *peer) {
		if p.watchLink(); p.dialing {
			t.Error("it is called")
		}
	})
	if n := log.count("a process in the folder has another"); n != 1 {
		t.Errorf("logged %d times", n)
	}
	check(t, s.me.Close())
	until(t, "its end is seen", func() bool {
		known := make(chan bool)
		pa.member.box.post(func() { known <- pa.member.peers[s.id] != nil })
		return !<-known
	})
	check(t, a.Close())
}

// Of looks to a process that does not read, one waits. One that cannot be said over a
// connection is said over another.
func TestLooksAreOne(t *testing.T) {
	dir := t.TempDir()
	pa, a := newParticipant(t, dir, new(faults))
	s := newStranger(t, dir)
	s.look(pa.cfg.ID)
	conn, err := s.folder.Dial(context.Background(), pa.cfg.ID)
	check(t, err)
	l := newLink(pa.member, s.id, conn)
	for range 5 {
		if !l.say(control.Look{ID: pa.cfg.ID}) {
			t.Error("not said")
		}
		l.say(control.Closed{Conn: 1})
	}
	if len(l.queue) != 6 {
		t.Errorf("%d messages wait", len(l.queue))
	}
	l.end()
	until(t, "the stranger is known", func() bool {
		known := make(chan bool)
		pa.member.box.post(func() { known <- pa.member.peers[s.id] != nil })
		return <-known
	})
	own(t, pa, s.id, func(p *peer) {
		p.watchers = append(p.watchers, l)
		p.m.tell(p)
		p.watchers = nil
	})
	if _, look := called[control.Look](s, 10*time.Second); look.ID != pa.cfg.ID {
		t.Errorf("look at %v", look.ID)
	}
	check(t, a.Close())
}

// Looks go over a connection to watch, both ways.
func TestLooksOverWatch(t *testing.T) {
	dir := t.TempDir()
	pa, a := newParticipant(t, dir, new(faults))
	q := qos.Default().WithDepth(5)
	s := newStranger(t, dir)
	s.endpoint(graph.KindPublisher, 1, "/topic", q)
	c := s.dial(pa.cfg.ID, control.PurposeWatch)
	_, err := a.Subscription("/topic", q, conformance.Options{})
	check(t, err)
	if look := heard[control.Look](t, c); look.ID != pa.cfg.ID {
		t.Errorf("look at %v", look.ID)
	}
	_, err = a.Publisher("/back", q)
	check(t, err)
	heard[control.Look](t, c)
	s.endpoint(graph.KindSubscription, 2, "/back", q)
	check(t, s.say(c, false, control.Look{ID: s.id}))
	if _, hello := called[control.Hello](s, 10*time.Second); hello.Purpose != control.PurposeLink {
		t.Errorf("called to %v", hello.Purpose)
	}
	check(t, a.Close())
}

// A process that asks and stays connected does not keep another from leaving.
func TestAskDoesNotHoldClose(t *testing.T) {
	dir := t.TempDir()
	pa, a := newParticipant(t, dir, new(faults))
	s := newStranger(t, dir)
	s.dial(pa.cfg.ID, control.PurposeAsk)
	closed := make(chan error)
	go func() { closed <- a.Close() }()
	select {
	case err := <-closed:
		check(t, err)
	case <-time.After(10 * time.Second):
		t.Fatal("Close waits for who asks")
	}
}

// A descriptor that does not fit into this process's limit costs what lies in its memory,
// and nothing else.
func TestMissingDescriptor(t *testing.T) {
	dir := t.TempDir()
	log := new(faults)
	_, a := newParticipant(t, dir, log)
	pb, b := newParticipant(t, dir, log)
	other := newSoundPair(t, a, b, "/other")
	q := qos.Default().WithDepth(5)
	sub, err := b.Subscription("/victim", q, conformance.Options{})
	check(t, err)
	s := newStranger(t, dir)
	e := s.endpoint(graph.KindPublisher, 1, "/victim", q)
	c := s.dial(pb.cfg.ID, control.PurposeLink)
	check(t, s.say(c, false, control.Memory{Index: 0, Kind: control.MemoryArena, Size: 4 << 20}, s.files[0]))
	offer := func(n uint16, fd int) {
		check(t, s.say(c, false, control.Memory{Index: n, Kind: control.MemoryRings, Size: 64 << 10}, fd))
		check(t, s.say(c, false, control.Open{Conn: uint32(n), Memory: n, Pub: e.GID, Sub: sub.GID(), Capacity: 5, Returns: uint32(returnsFor(5, 256))}))
	}
	offer(1, s.files[1])
	heard[control.Accept](t, c)
	var limit unix.Rlimit
	check(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	low := limit
	low.Cur = 3
	check(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &low))
	defer unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)
	offer(2, s.files[1])
	r := heard[control.Refuse](t, c)
	check(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))
	if r.Conn != 2 || r.Code != "limit" || !strings.Contains(r.Text, "RLIMIT_NOFILE") {
		t.Errorf("answered %#v", r)
	}
	other.send(t, 100)
	check(t, s.say(c, false, control.Close{Conn: 1, Code: "publisher-closed"}))
	heard[control.Closed](t, c)
	offer(3, s.files[1])
	heard[control.Accept](t, c)
	c.Close()
	other.end(t)
	check(t, a.Close())
	check(t, b.Close())
}

// The publisher's side does not offer again what did not arrive.
func TestRefusedMemoryIsGivenUp(t *testing.T) {
	dir := t.TempDir()
	pa, a := newParticipant(t, dir, new(faults))
	q := qos.Default().WithDepth(5)
	_, err := a.Publisher("/victim", q)
	check(t, err)
	s := newStranger(t, dir)
	s.endpoint(graph.KindSubscription, 1, "/victim", q)
	s.look(pa.cfg.ID)
	c, _ := called[control.Hello](s, 10*time.Second)
	s.welcome(c, s.files[2])
	first := heard[control.Open](t, c)
	check(t, s.say(c, false, control.Refuse{Conn: first.Conn, Code: "limit", Text: "rings"}))
	s.endpoint(graph.KindSubscription, 2, "/victim", q)
	check(t, s.say(c, false, control.Look{ID: s.id}))
	second := heard[control.Open](t, c)
	if second.Memory == first.Memory {
		t.Error("offered in the same memory")
	}
	check(t, s.say(c, false, control.Accept{Conn: second.Conn, SummaryWords: 1}))
	heard[control.Live](t, c)
	s.endpoint(graph.KindSubscription, 3, "/victim", q)
	check(t, s.say(c, false, control.Look{ID: s.id}))
	if third := heard[control.Open](t, c); third.Memory != second.Memory {
		t.Error("a memory that arrived is not used any more")
	}
	check(t, a.Close())
}
