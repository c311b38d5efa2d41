package shm

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/arena"
	"github.com/tagus-ros/tagus/internal/memfd"
	"github.com/tagus-ros/tagus/internal/shm/control"
	"github.com/tagus-ros/tagus/internal/shm/folder"
	"github.com/tagus-ros/tagus/internal/transport"
	"github.com/tagus-ros/tagus/internal/transport/conformance"
	"github.com/tagus-ros/tagus/qos"
)

// stranger is a process of the folder that announces what it likes and says anything.
type stranger struct {
	t      *testing.T
	folder *folder.Folder
	me     *folder.Member
	id     graph.ID
	node   graph.Node
	clock  control.Clock
	files  []int // descriptors to send along: an arena, ring memory, and unfit ones
}

func newStranger(t *testing.T, dir string) *stranger {
	t.Helper()
	s := &stranger{t: t, id: graph.NewID()}
	s.node = graph.Node{Participant: s.id, Domain: 1, Enclave: "/", Namespace: "/", Name: "stranger"}
	var err error
	s.clock, err = control.HostClock()
	check(t, err)
	s.folder, err = folder.Open(filepath.Join(dir, "1"))
	check(t, err)
	s.me, err = s.folder.Join(s.id, s.body())
	check(t, err)
	t.Cleanup(func() {
		s.me.Close()
		s.folder.Close()
		for _, fd := range s.files {
			unix.Close(fd)
		}
	})
	a, err := arena.New(arena.Config{Limit: 1 << 20})
	check(t, err)
	slot, err := a.Get(4096)
	check(t, err)
	rand.NewChaCha8([32]byte{}).Read(slot.Mem())
	ro, _ := a.FD()
	s.keep(unix.Dup(ro))
	s.keep(memory4k("tagus-rings", 64<<10))
	s.keep(memory4k("tagus-inbox", InboxSize))
	s.keep(memory4k("small", 100))
	s.keep(unix.MemfdCreate("unsealed", 0))
	s.keep(unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0))
	slot.Unref()
	check(t, a.Close())
	return s
}

func memory4k(name string, size int64) (int, error) {
	f, err := memfd.Create(name, size)
	if err != nil {
		return -1, err
	}
	defer f.Close()
	return unix.Dup(f.FD())
}

func (s *stranger) keep(fd int, err error) {
	check(s.t, err)
	s.files = append(s.files, fd)
}

func (s *stranger) body(endpoints ...graph.Endpoint) []byte {
	b, err := control.AppendAnnouncement(nil, &control.Announcement{Clock: s.clock, Domain: 1, Nodes: []graph.Node{s.node}, Endpoints: endpoints})
	check(s.t, err)
	return b
}

// endpoint announces an endpoint in place of all others.
func (s *stranger) endpoint(k graph.Kind, id uint32, topic string, q qos.Profile) graph.Endpoint {
	e := graph.NewEndpoint(k, s.node, id, topic, "test_msgs/msg/Filler", "RIHS01_00", q.Resolved())
	_, err := s.me.Write(s.body(e))
	check(s.t, err)
	return e
}

// say sends a message as it should be, or not quite.
func (s *stranger) say(c *folder.Conn, spoil bool, msg control.Message, fds ...int) error {
	b, err := control.Append(nil, msg)
	check(s.t, err)
	if spoil {
		for range 1 + rand.IntN(3) {
			switch at := rand.IntN(len(b)); rand.IntN(5) {
			case 0:
				b[at] = byte(rand.Uint32())
			case 1:
				b[at] ^= 1 << rand.IntN(8)
			case 2:
				b[at] = 0xff
			case 3:
				b = b[:at+1]
			case 4:
				fds = append(fds, s.files[rand.IntN(len(s.files))])
			}
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return c.Send(ctx, b, fds...)
}

// hear reads whatever comes until nothing does for a moment.
func hear(c *folder.Conn, pause time.Duration) (msgs []control.Message, err error) {
	buf := make([]byte, control.MaxMessage)
	for {
		c.SetRecvDeadline(time.Now().Add(pause))
		n, fds, err := c.Recv(buf)
		closeFDs(fds)
		if err != nil {
			return msgs, err
		}
		if m, err := control.Parse(buf[:n]); err == nil {
			msgs = append(msgs, m)
		}
	}
}

// open counts the process's descriptors and mappings.
func openThings(t *testing.T) (fds, maps int) {
	t.Helper()
	d, err := os.ReadDir("/proc/self/fd")
	check(t, err)
	m, err := os.ReadFile("/proc/self/maps")
	check(t, err)
	for _, c := range m {
		if c == '\n' {
			maps++
		}
	}
	return len(d), maps
}

// A publisher's process that says anything, in any order, with any descriptors: the
// process of the subscription lives, keeps nothing of it, and its other pairs lose
// nothing.
func TestGarbageFromPublisher(t *testing.T) {
	dir := t.TempDir()
	log := new(faults)
	_, a := newParticipant(t, dir, log)
	pb, b := newParticipant(t, dir, log)
	other := newSoundPair(t, a, b, "/other")
	q := qos.Default().WithDepth(5)
	sub, err := b.Subscription("/victim", q, conformance.Options{Callback: true})
	check(t, err)
	check(t, sub.Stream(conformance.Stream{}))
	s := newStranger(t, dir)
	var accepted int
	round := func(i int) {
		e := s.endpoint(graph.KindPublisher, uint32(i+1), "/victim", q)
		c, err := s.folder.Dial(context.Background(), pb.cfg.ID)
		check(t, err)
		defer c.Close()
		at := rand.IntN(12) // the message that is spoilt; after some, none is
		n := 0
		spoil := func() bool { n++; return n-1 == at || rand.IntN(20) == 0 }
		capacity, returns := uint32(5), uint32(returnsFor(5, transport.MaxLeases))
		steps := []func() error{
			func() error {
				return s.say(c, spoil(), control.Hello{Purpose: control.PurposeLink, ID: s.id, Mono: monoNow(), Wall: wallNow()})
			},
			func() error {
				return s.say(c, spoil(), control.Memory{Index: 0, Kind: control.MemoryArena, Size: 4 << 20}, s.files[0])
			},
			func() error {
				return s.say(c, spoil(), control.Memory{Index: 1, Kind: control.MemoryRings, Size: 64 << 10}, s.files[1])
			},
			func() error {
				return s.say(c, spoil(), control.Open{Conn: 1, Memory: 1, Pub: e.GID, Sub: sub.GID(), Capacity: capacity, Returns: returns})
			},
			func() error { return s.say(c, spoil(), control.Live{Conn: 1}) },
			func() error {
				return s.say(c, spoil(), control.Open{Conn: 2, Memory: 1, Pub: e.GID, Sub: sub.GID(), Offset: 8192, Capacity: capacity, Returns: returns})
			},
			func() error { return s.say(c, spoil(), control.Close{Conn: 1, Code: "publisher-closed"}) },
			func() error { return s.say(c, spoil(), control.Look{ID: s.id}) },
		}
		if rand.IntN(4) == 0 {
			k := 1 + rand.IntN(len(steps)-1) // after the hello, in another order
			rand.Shuffle(len(steps)-k, func(i, j int) { steps[k+i], steps[k+j] = steps[k+j], steps[k+i] })
		}
		for _, step := range steps {
			if step() != nil {
				break // it has closed the connection
			}
		}
		msgs, _ := hear(c, time.Millisecond)
		for _, m := range msgs {
			if _, ok := m.(control.Accept); ok {
				accepted++
			}
		}
	}
	for i := range 20 {
		round(i)
		other.send(t, 3)
	}
	settle(t, pb)
	fds, maps := openThings(t)
	for i := range trials(t) {
		round(i + 20)
		other.send(t, 3)
	}
	settle(t, pb)
	// Connections that end may take a moment for it, and the runtime maps memory of its own.
	fds2, maps2 := openThings(t)
	for end := time.Now().Add(10 * time.Second); fds2 > fds+4 || maps2 > maps+50; fds2, maps2 = openThings(t) {
		if time.Now().After(end) {
			t.Errorf("descriptors %d and mappings %d became %d and %d", fds, maps, fds2, maps2)
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if accepted == 0 {
		t.Error("no pair was ever accepted: the test tests nothing")
	}
	t.Logf("%d pairs accepted; logged %v", accepted, len(log.n))
	other.end(t)
	for _, h := range []conformance.Host{a, b} {
		check(t, h.Close())
	}
}

// settle waits until the process holds no connection of strangers.
func settle(t *testing.T, p *Path) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		busy := make(chan int)
		p.member.box.post(func() {
			n := 0
			for _, peer := range p.member.peers {
				if peer.ann.Nodes != nil && peer.ann.Nodes[0].Name == "stranger" {
					n += len(peer.old)
					if peer.in != nil {
						n++
					}
				}
			}
			busy <- n
		})
		n := <-busy
		if n == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d connections of a stranger are still held", n)
		}
	}
}

// A subscription's process that says anything: the process of the publisher lives, takes
// its memory back, and its other pairs lose nothing.
func TestGarbageFromSubscriber(t *testing.T) {
	dir := t.TempDir()
	log := new(faults)
	pa, a := newParticipant(t, dir, log)
	_, b := newParticipant(t, dir, log)
	other := newSoundPair(t, a, b, "/other")
	q := qos.Default().WithDepth(5)
	pub, err := a.Publisher("/victim", q)
	check(t, err)
	s := newStranger(t, dir)
	live := 0
	round := func(i int) {
		e := s.endpoint(graph.KindSubscription, uint32(i+1), "/victim", q)
		look, err := s.folder.Dial(context.Background(), pa.cfg.ID)
		check(t, err)
		check(t, s.say(look, false, control.Look{ID: s.id}))
		defer look.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		c, err := s.me.Accept(ctx)
		if err != nil {
			return // it leaves one that it was disappointed by alone for a while
		}
		defer c.Close()
		at, n := rand.IntN(8), 0
		spoil := func() bool { n++; return n-1 == at || rand.IntN(20) == 0 }
		hear(c, time.Millisecond) // its hello, or a look of an earlier round
		s.say(c, spoil(), control.HelloAck{ID: s.id, Mono: monoNow(), Wall: wallNow()}, s.files[2])
		msgs, _ := hear(c, 5*time.Millisecond)
		conn := uint32(1)
		for _, m := range msgs {
			if o, ok := m.(control.Open); ok && o.Sub == e.GID {
				conn = o.Conn
			}
		}
		steps := []func() error{
			func() error {
				return s.say(c, spoil(), control.Accept{Conn: conn, SummaryWords: 1, Area: 0, Leaf: uint32(rand.IntN(4096))})
			},
			func() error { return s.say(c, spoil(), control.Close{Conn: conn, Code: "subscription-closed"}) },
			func() error { return s.say(c, spoil(), control.Closed{Conn: conn}) },
			func() error { return s.say(c, spoil(), control.Refuse{Conn: conn, Code: "limit", Text: "no"}) },
			func() error {
				return s.say(c, spoil(), control.Accept{Conn: conn, SummaryWords: 64, Area: uint64(rand.IntN(5 << 20)), Leaf: 1 << 20})
			},
		}
		if rand.IntN(3) == 0 {
			rand.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
		}
		for k, step := range steps {
			if step() != nil {
				break
			}
			if k == 0 {
				pub.Publish(conformance.Batch{N: 8, Sizes: []int{64, 9000}})
			}
		}
		msgs, _ = hear(c, time.Millisecond)
		for _, m := range msgs {
			if _, ok := m.(control.Live); ok {
				live++
			}
		}
	}
	rounds := trials(t)
	for i := range rounds {
		round(i)
		other.send(t, 3)
	}
	if live == 0 {
		t.Error("no pair ever went live: the test tests nothing")
	}
	s.me.Write(s.body())
	check(t, pub.Close())
	other.end(t)
	t.Logf("%d of %d pairs went live; logged %v", live, rounds, len(log.n))
	s.me.Close()
	for _, h := range []conformance.Host{a, b} {
		check(t, h.Close())
	}
}
