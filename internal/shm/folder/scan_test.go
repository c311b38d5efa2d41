//go:build linux

package folder

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tagus-ros/tagus/graph"
)

// found collects what a scanner visits.
type found []Change

func (l *found) visit(c Change) { *l = append(*l, c) }

func (l *found) scan(t testing.TB, s *Scanner) {
	t.Helper()
	*l = (*l)[:0]
	if err := s.Scan(l.visit); err != nil {
		t.Fatal(err)
	}
}

func (l found) String() string {
	s := ""
	for _, c := range l {
		s += fmt.Sprintf("{%d %q %v}", c.Kind, c.Announcement.Body, c.Err)
	}
	return s
}

func TestScanner(t *testing.T) {
	f := testFolder(t)
	self := testJoin(t, f, []byte("self"))
	a := testJoin(t, f, []byte("a"))
	s := f.NewScanner(self.ID())
	var l found
	step := func(what, want string) {
		t.Helper()
		l.scan(t, s)
		slices.SortFunc(l, func(x, y Change) int { return int(x.Kind) - int(y.Kind) })
		if l.String() != want {
			t.Errorf("%s: %v, want %s", what, l, want)
		}
	}
	step("first look", `{1 "a" <nil>}`)
	step("nothing new", ``)
	a.Write([]byte("b"))
	step("changed", `{1 "b" <nil>}`)
	a.Write(nil)
	step("empty", `{1 "" <nil>}`)
	s.Forget(a.ID())
	step("forgotten", `{1 "" <nil>}`)
	s.Forget(graph.NewID())
	a.Write([]byte("c"))
	l = l[:0]
	s.Look(a.ID(), l.visit)
	if l.String() != `{1 "c" <nil>}` {
		t.Errorf("Look: %v", l)
	}
	step("after Look", ``)
	c := startChild(t, nil, "join", f.Path(), "child")
	c.line()
	step("another", `{1 "child" <nil>}`)
	c.kill()
	step("killed", `{2 "" process has died}`)
	step("killed and reaped", ``)
	damaged := pathOf(f.Path(), a.ID())
	overwrite(t, damaged, make([]byte, bodyStart), 0)
	for range 2 {
		l.scan(t, s)
		var ce *CorruptError
		if len(l) != 1 || l[0].Kind != Trouble || l[0].ID != a.ID() || !errors.As(l[0].Err, &ce) || ce.Path != damaged {
			t.Fatalf("damaged: %v", l)
		}
	}
	a.Check()
	step("mended", `{1 "c" <nil>}`)
	os.Remove(damaged)
	step("file removed", `{2 "" no such process in the folder}`)
	a.Check()
	step("file remade", `{1 "c" <nil>}`)
	a.Close()
	step("left", `{2 "" no such process in the folder}`)
	f.Close()
	if err := s.Scan(l.visit); err != ErrClosed {
		t.Errorf("Scan of a closed folder: %v", err)
	}
}

// crowd fills a folder with announcements of n living processes, which cost no
// more than a file each here.
func crowd(t testing.TB, f *Folder, n int, body []byte) []*announcement {
	t.Helper()
	d, err := f.use()
	if err != nil {
		t.Fatal(err)
	}
	defer d.done()
	var as []*announcement
	for range n {
		a, err := f.create(d, graph.NewID(), StateUp, 1, body)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(a.close)
		as = append(as, a)
	}
	return as
}

// TestLookCosts: a look at a process that has not changed takes four system
// calls and no memory; a whole scan of 200 a few dozen bytes.
func TestLookCosts(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector makes buffers of system calls escape")
	}
	f := testFolder(t)
	as := crowd(t, f, 200, make([]byte, 3000))
	id, version := as[0].cur.id, as[0].cur.version
	if n := testing.AllocsPerRun(100, func() {
		if a, err := f.Read(id, version); err != nil || a.Body != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("Read of an unchanged one allocates %v times", n)
	}
	if n := testing.AllocsPerRun(100, func() {
		if a, err := f.Read(id, 0); err != nil || a.Body == nil {
			t.Fatal(err)
		}
	}); n > 1 {
		t.Errorf("Read of a changed one allocates %v times", n)
	}
	if n := testing.AllocsPerRun(100, func() {
		if ok, err := f.Alive(id); err != nil || !ok {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("Alive allocates %v times", n)
	}
	s := f.NewScanner(graph.ID{})
	n := 0
	visit := func(Change) { n++ }
	if err := s.Scan(visit); err != nil || n != 200 {
		t.Fatalf("%d of 200, %v", n, err)
	}
	if n := testing.AllocsPerRun(20, func() {
		if err := s.Scan(visit); err != nil {
			t.Fatal(err)
		}
	}); n > 5 {
		t.Errorf("Scan of 200 unchanged ones allocates %v times", n)
	}
	if n != 200 {
		t.Errorf("%d changes, want 200", n)
	}
}

func benchmarkScan(b *testing.B, n int, change bool) {
	f := testFolder(b)
	crowd(b, f, n, make([]byte, 3000))
	s := f.NewScanner(graph.ID{})
	visit := func(Change) {}
	if err := s.Scan(visit); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if change {
			clear(s.seen)
		}
		if err := s.Scan(visit); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/peer")
}

func BenchmarkScan200Unchanged(b *testing.B) { benchmarkScan(b, 200, false) }
func BenchmarkScan200Changed(b *testing.B)   { benchmarkScan(b, 200, true) }

func BenchmarkWrite(b *testing.B) {
	f := testFolder(b)
	m := testJoin(b, f, nil)
	body := make([]byte, 3000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Write(body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	f := testFolder(b)
	m := testJoin(b, f, make([]byte, 3000))
	b.ReportAllocs()
	for b.Loop() {
		if remade, err := m.Check(); remade || err != nil {
			b.Fatal(remade, err)
		}
	}
}

func BenchmarkJoinClose(b *testing.B) {
	f := testFolder(b)
	for b.Loop() {
		m, err := f.Join(graph.NewID(), nil)
		if err != nil {
			b.Fatal(err)
		}
		if err := m.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLook is what a change costs for each process that is told of it:
// connect, say so, close.
func BenchmarkLook(b *testing.B) {
	f := testFolder(b)
	m := testJoin(b, f, nil)
	for b.Loop() {
		c, err := f.Dial(b.Context(), m.ID())
		if err != nil {
			b.Fatal(err)
		}
		if err := c.Send(b.Context(), []byte("look")); err != nil {
			b.Fatal(err)
		}
		c.Close()
		fd, _, err := unix.Accept4(sockFD(m), unix.SOCK_CLOEXEC)
		if err != nil {
			b.Fatal(err)
		}
		unix.Close(fd)
	}
}

// sockFD is the listening descriptor.
func sockFD(m *Member) (fd int) {
	m.sock.recv(func(s int) error { fd = s; return nil })
	return fd
}
