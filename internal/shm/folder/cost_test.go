//go:build linux

package folder

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tagus-ros/tagus/graph"
)

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
// calls and no memory.
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
	var ids []graph.ID
	if n := testing.AllocsPerRun(20, func() {
		var err error
		if ids, err = f.AppendList(ids[:0]); err != nil || len(ids) != 200 {
			t.Fatal(len(ids), err)
		}
	}); n > 1 {
		t.Errorf("AppendList allocates %v times", n)
	}
}

func benchmarkLookAll(b *testing.B, n int, changed bool) {
	f := testFolder(b)
	as := crowd(b, f, n, make([]byte, 3000))
	var have uint64
	if !changed {
		have = as[0].cur.version
	}
	var ids []graph.ID
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if ids, err = f.AppendList(ids[:0]); err != nil {
			b.Fatal(err)
		}
		for _, id := range ids {
			if a, err := f.Read(id, have); err != nil || (a.Body != nil) != changed {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/peer")
}

func BenchmarkLookAt200Unchanged(b *testing.B) { benchmarkLookAll(b, 200, false) }
func BenchmarkLookAt200Changed(b *testing.B)   { benchmarkLookAll(b, 200, true) }

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
