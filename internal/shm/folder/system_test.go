//go:build linux

package folder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tagus-ros/tagus/graph"
)

// TestContainers: two processes in PID and mount namespaces of their own, with
// nothing in common but the folder, both with pid 1.
func TestContainers(t *testing.T) {
	attr := namespaces(unix.CLONE_NEWPID | unix.CLONE_NEWNS)
	needNamespaces(t, attr, "proc")
	f := testFolder(t)
	a := startChild(t, attr, "container", f.Path())
	idA := mustID(t, a.line())
	b := startChild(t, attr, "container", f.Path())
	idB := mustID(t, b.line())
	// Each finds the other alive, calls it and is called. Both ends know the
	// user; a pid of another namespace is 0.
	fmt.Fprintln(a.in, "accept")
	fmt.Fprintln(b.in, "dial", idA)
	b.expect("peer pid 0 uid 0 said hello")
	a.expect("peer pid 0 uid 0 said hello")
	// Seen from outside both live, until they are killed.
	for _, id := range []graph.ID{idA, idB} {
		if ok, err := f.Alive(id); !ok || err != nil {
			t.Errorf("Alive = %v, %v", ok, err)
		}
	}
	a.kill()
	fmt.Fprintln(b.in, "alive", idA)
	b.expect("alive: false <nil>")
	fmt.Fprintln(b.in, "alive", idA)
	b.expect("alive: false <nil>")
	if ns := names(t, f.Path()); len(ns) != 2 {
		t.Errorf("left %v", ns)
	}
	b.finish()
	if ns := names(t, f.Path()); len(ns) != 0 {
		t.Errorf("left %v", ns)
	}
}

// TestNoProc: without /proc files cannot be named through it, and the error
// says so.
func TestNoProc(t *testing.T) {
	attr := namespaces(unix.CLONE_NEWNS)
	needNamespaces(t, attr)
	runChild(t, attr, "noproc", filepath.Join(t.TempDir(), "0"))
}

func init() {
	children["noproc"] = func(args []string) error {
		if err := mountOver("none", "/proc", "tmpfs", ""); err != nil {
			return err
		}
		return children["open"]([]string{args[0], string(CodeUnsupported), args[0], "/proc/self/fd does not lead to open files"})
	}
}

func init() {
	children["container"] = func(args []string) error {
		if os.Getpid() != 1 {
			return fmt.Errorf("pid is %d", os.Getpid())
		}
		if err := mountOver("proc", "/proc", "proc", ""); err != nil {
			return err
		}
		f, err := Open(args[0])
		if err != nil {
			return err
		}
		m, err := f.Join(graph.NewID(), nil)
		if err != nil {
			return err
		}
		defer m.Close()
		fmt.Println(m.ID())
		ctx := context.Background()
		for {
			var what, who string
			if _, err := fmt.Scanln(&what, &who); what == "" {
				if err == io.EOF {
					return nil
				}
				return err
			}
			id, _ := graph.ParseID(who)
			var c *Conn
			switch what {
			case "accept":
				c, err = m.Accept(ctx)
			case "dial":
				if _, err := f.Read(id, 0); err != nil {
					return err
				}
				c, err = f.Dial(ctx, id)
			case "alive":
				ok, err := f.Alive(id)
				fmt.Println("alive:", ok, err)
				continue
			}
			if err != nil {
				return err
			}
			if err := c.Send(ctx, []byte("hello")); err != nil {
				return err
			}
			buf := make([]byte, 10)
			n, _, err := c.Recv(buf)
			if err != nil {
				return err
			}
			pid, uid, _ := c.Peer()
			fmt.Println("peer pid", pid, "uid", uid, "said", string(buf[:n]))
			c.Close()
		}
	}
}

// TestSmallFileSystem: a full or read-only file system gives errors that say
// so; what was there stays; when there is room again, all goes on.
func TestSmallFileSystem(t *testing.T) {
	attr := namespaces(unix.CLONE_NEWNS)
	needNamespaces(t, attr)
	runChild(t, attr, "small", t.TempDir())
}

func init() {
	children["small"] = func(args []string) error {
		root := args[0]
		const size, inodes = 256 << 10, 20
		if err := mountOver("small", root, "tmpfs", fmt.Sprintf("size=%d,nr_inodes=%d,mode=0700", size, inodes)); err != nil {
			return err
		}
		f, err := Open(root + "/0")
		if err != nil {
			return err
		}
		m, err := f.Join(graph.NewID(), []byte("small body"))
		if err != nil {
			return err
		}
		same := func() error {
			a, err := f.Read(m.ID(), 0)
			if err != nil || string(a.Body) != "small body" {
				return fmt.Errorf("Read = %.20q, %v", a.Body, err)
			}
			if remade, err := m.Check(); remade || err != nil {
				return fmt.Errorf("Check = %v, %v", remade, err)
			}
			return nil
		}
		full := func(what string, err error, wanted int64, path string) error {
			var fe *FullError
			if !errors.As(err, &fe) {
				return fmt.Errorf("%s: %v (%T), want a FullError", what, err, err)
			}
			b, _ := json.Marshal(fe)
			if fe.Wanted != wanted || fe.Free < 0 || fe.Free >= size || fe.FileSystem != "tmpfs mounted at "+root || fe.Path != path {
				return fmt.Errorf("%s: %s", what, b)
			}
			for _, s := range []string{path, "tmpfs mounted at " + root, strconv.FormatInt(wanted, 10), strconv.FormatInt(fe.Free, 10)} {
				if !strings.Contains(err.Error(), s) {
					return fmt.Errorf("%s: error %q does not say %s", what, err, s)
				}
			}
			return nil
		}
		_, err = m.Write(make([]byte, 2*size))
		if err := full("Write", err, 2*size, pathOf(f.Path(), m.ID())); err != nil {
			return err
		}
		if err := same(); err != nil {
			return err
		}
		// Somebody fills it to the last byte.
		filler := root + "/filler"
		if err := fill(filler); err != nil {
			return err
		}
		fds, _ := os.ReadDir("/proc/self/fd")
		id := graph.NewID()
		_, err = f.Join(id, []byte("x"))
		if err := full("Join", err, firstFileSize, pathOf(f.Path(), id)); err != nil {
			return err
		}
		if now, _ := os.ReadDir("/proc/self/fd"); len(now) != len(fds) {
			return fmt.Errorf("%d descriptors before Join, %d after", len(fds), len(now))
		}
		_, err = m.Write(make([]byte, 5000))
		if err := full("Write", err, 5000, pathOf(f.Path(), m.ID())); err != nil {
			return err
		}
		if err := same(); err != nil {
			return err
		}
		// What fits where there is room already is still accepted.
		if _, err := m.Write([]byte("another body")); err != nil {
			return fmt.Errorf("Write of a few bytes: %w", err)
		}
		if _, err := m.Write([]byte("small body")); err != nil {
			return err
		}
		// Its file is removed while there is no room for another one: Check
		// says so until there is.
		os.Remove(pathOf(f.Path(), m.ID()))
		_, err = m.Check()
		if err := full("Check", err, firstFileSize, pathOf(f.Path(), m.ID())); err != nil {
			return err
		}
		os.Remove(filler)
		if remade, err := m.Check(); !remade || err != nil {
			return fmt.Errorf("Check = %v, %v", remade, err)
		}
		if err := same(); err != nil {
			return err
		}
		// No inodes.
		var more []*Member
		for {
			n, err := f.Join(graph.NewID(), nil)
			if err == nil {
				more = append(more, n)
				continue
			}
			var fe *FullError
			if !errors.As(err, &fe) || !fe.NoInodes || !strings.Contains(err.Error(), "no free inodes") {
				return fmt.Errorf("Join without inodes: %v", err)
			}
			break
		}
		if es, err := os.ReadDir(f.Path()); err != nil || len(es) != 2+2*len(more) {
			return fmt.Errorf("%d members have %d files", 1+len(more), len(es))
		}
		for _, n := range more {
			n.Close()
		}
		// Read-only.
		if err := unix.Mount("", root, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err == nil {
			return errors.New("remounted though a file is open for writing")
		}
		if err := m.Close(); err != nil {
			return err
		}
		if err := unix.Mount("", root, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
			return fmt.Errorf("remount: %w", err)
		}
		var fe *FolderError
		if _, err := f.Join(graph.NewID(), nil); !errors.As(err, &fe) || fe.Code != CodeReadOnly || !strings.Contains(err.Error(), "read-only") {
			return fmt.Errorf("Join on a read-only file system: %v", err)
		}
		if _, err := Open(root + "/1"); !errors.As(err, &fe) || fe.Code != CodeReadOnly || fe.Path != root+"/1" {
			return fmt.Errorf("Open on a read-only file system: %v", err)
		}
		return nil
	}
}

// fill makes a file of all the room there is.
func fill(path string) error {
	w, err := os.Create(path)
	if err != nil {
		return err
	}
	defer w.Close()
	for chunk := make([]byte, 4096); ; {
		if _, err := w.Write(chunk); errors.Is(err, syscall.ENOSPC) {
			return nil
		} else if err != nil {
			return err
		}
	}
}
