//go:build linux

package folder

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tagus-ros/tagus/graph"
)

// testFolder returns a folder of the test's own.
func testFolder(t testing.TB) *Folder {
	t.Helper()
	f, err := Open(filepath.Join(t.TempDir(), "0"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func testJoin(t testing.TB, f *Folder, body []byte) *Member {
	t.Helper()
	m, err := f.Join(graph.NewID(), body)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// names lists a folder.
func names(t testing.TB, path string) []string {
	t.Helper()
	es, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	var ns []string
	for _, e := range es {
		ns = append(ns, e.Name())
	}
	return ns
}

func TestJoinReadWriteClose(t *testing.T) {
	f := testFolder(t)
	m := testJoin(t, f, []byte("first"))
	ids, err := f.List()
	if err != nil || len(ids) != 1 || ids[0] != m.ID() {
		t.Fatalf("List = %v, %v; want %v", ids, err, m.ID())
	}
	a, err := f.Read(m.ID(), 0)
	if err != nil || string(a.Body) != "first" || a.State != StateUp || a.ID != m.ID() {
		t.Fatalf("Read = %+v, %v", a, err)
	}
	if b, err := f.Read(m.ID(), a.Version); err != nil || b.Body != nil || b.Version != a.Version {
		t.Fatalf("Read of the same version = %+v, %v", b, err)
	}
	for i, body := range [][]byte{[]byte("second"), bytes.Repeat([]byte("x"), 10000), nil, bytes.Repeat([]byte("yz"), 100000), []byte("z")} {
		v, err := m.Write(body)
		if err != nil || v <= a.Version {
			t.Fatalf("Write %d = %d, %v after version %d", i, v, err, a.Version)
		}
		if a, err = f.Read(m.ID(), a.Version); err != nil || a.Version != v || !bytes.Equal(a.Body, body) || a.Body == nil {
			t.Fatalf("Read after Write %d: version %d, %d bytes, %v; want version %d, %d bytes", i, a.Version, len(a.Body), err, v, len(body))
		}
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if ns := names(t, f.Path()); len(ns) != 0 {
		t.Errorf("Close left %v", ns)
	}
	if _, err := f.Read(m.ID(), 0); err != ErrGone {
		t.Errorf("Read after Close: %v, want ErrGone", err)
	}
	if _, err := m.Write(nil); err != ErrClosed {
		t.Errorf("Write after Close: %v, want ErrClosed", err)
	}
}

func TestConversation(t *testing.T) {
	f := testFolder(t)
	m := testJoin(t, f, nil)
	ctx := context.Background()
	c, err := f.Dial(ctx, m.ID())
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	if err := c.Send(ctx, []byte("one"), p[1]); err != nil {
		t.Fatal(err)
	}
	unix.Close(p[1])
	buf := make([]byte, 100)
	n, fds, err := s.Recv(buf)
	if err != nil || string(buf[:n]) != "one" || len(fds) != 1 {
		t.Fatalf("Recv = %q, %v, %v", buf[:n], fds, err)
	}
	unix.Write(fds[0], []byte("through"))
	closeAll(fds)
	r := os.NewFile(uintptr(p[0]), "pipe")
	if b, err := io.ReadAll(r); err != nil || string(b) != "through" {
		t.Fatalf("read %q, %v", b, err)
	}
	r.Close()
	if err := s.Send(ctx, []byte("unread")); err != nil {
		t.Fatal(err)
	}
	c.Send(ctx, []byte("last"))
	c.Close()
	// The reset that the unread message causes must not hide the last one.
	if n, _, err := s.Recv(buf); err != nil || string(buf[:n]) != "last" {
		t.Fatalf("Recv = %q, %v", buf[:n], err)
	}
	if _, _, err := s.Recv(buf); err != io.EOF {
		t.Fatalf("Recv after the end: %v, want EOF", err)
	}
	if err := s.Send(ctx, []byte("x")); !errors.Is(err, ErrPeerClosed) {
		t.Fatalf("Send after the end: %v, want ErrPeerClosed", err)
	}
}
