//go:build linux

package folder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tagus-ros/tagus/graph"
)

// pair returns both ends of a control connection.
func pair(t testing.TB) (dialed, accepted *Conn) {
	t.Helper()
	f := testFolder(t)
	m := testJoin(t, f, nil)
	c, err := f.Dial(context.Background(), m.ID())
	if err != nil {
		t.Fatal(err)
	}
	a, err := m.Accept(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); a.Close() })
	return c, a
}

// TestLongPath: a socket's address has room for 107 bytes, the folder's path
// may be longer.
func TestLongPath(t *testing.T) {
	path := filepath.Join(t.TempDir(), strings.Repeat("d", 200))
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := Open(filepath.Join(path, "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m := testJoin(t, f, nil)
	c, err := f.Dial(context.Background(), m.ID())
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if pid, uid, gid := c.Peer(); pid != os.Getpid() || uid != os.Geteuid() || gid != os.Getegid() {
		t.Errorf("Peer = %d, %d, %d", pid, uid, gid)
	}
}

// TestBordersAndOrder: messages keep their borders and their order, from many
// senders each.
func TestBordersAndOrder(t *testing.T) {
	c, a := pair(t)
	const senders, each = 4, 500
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			for i := range each {
				if err := c.Send(context.Background(), fmt.Appendf(nil, "%d %d%s", s, i, strings.Repeat("x", i))); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	var next [senders]int
	buf := make([]byte, 4096)
	for range senders * each {
		n, _, err := a.Recv(buf)
		if err != nil {
			t.Fatal(err)
		}
		var s, i int
		fmt.Sscan(strings.TrimRight(string(buf[:n]), "x"), &s, &i)
		if i != next[s] || n != len(fmt.Sprintf("%d %d", s, i))+i {
			t.Fatalf("message %d of %d has %d bytes, want message %d", i, s, n, next[s])
		}
		next[s]++
	}
	wg.Wait()
}

func TestSendWaitsForReader(t *testing.T) {
	c, a := pair(t)
	msg := make([]byte, 4096)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	sent := 0
	for {
		err := c.Send(ctx, msg)
		if err == nil {
			sent++
			continue
		}
		var se *SocketError
		if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &se) {
			t.Fatalf("Send to one who does not read: %v", err)
		}
		break
	}
	if sent == 0 {
		t.Fatal("nothing was sent")
	}
	// A cancelled context ends a waiting Send; one that waits for its turn too.
	ctx2, cancel2 := context.WithCancel(context.Background())
	errs := make(chan error, 2)
	for range 2 {
		go func() { errs <- c.Send(ctx2, msg) }()
	}
	cancel2()
	for range 2 {
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Errorf("Send: %v", err)
		}
	}
	// As soon as the other side reads, it goes on, in spite of the deadlines
	// that have passed.
	go func() { errs <- c.Send(context.Background(), []byte("late")) }()
	for range sent {
		if n, _, err := a.Recv(msg); err != nil || n != len(msg) {
			t.Fatalf("Recv = %d, %v", n, err)
		}
	}
	if n, _, err := a.Recv(msg); err != nil || string(msg[:n]) != "late" {
		t.Fatalf("Recv = %q, %v", msg[:n], err)
	}
	if err := <-errs; err != nil {
		t.Fatal(err)
	}
}

// TestUntilEndsThoughItsDeadlineIsTakenAway: the context ends just while the
// deadline that an earlier call left is taken away.
func TestUntilEndsThoughItsDeadlineIsTakenAway(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	waits := 0
	err := until(ctx, func(d time.Time) error {
		if d.IsZero() {
			cancel()
			<-ended
		} else {
			close(ended)
		}
		return nil
	}, func() error {
		if waits++; waits > 1 {
			return errors.New("waits for ever")
		}
		return os.ErrDeadlineExceeded
	})
	if err != context.Canceled {
		t.Errorf("until: %v", err)
	}
}

func TestRecvDeadlineAndClose(t *testing.T) {
	c, a := pair(t)
	buf := make([]byte, 10)
	a.SetRecvDeadline(time.Now().Add(time.Millisecond))
	if _, _, err := a.Recv(buf); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Recv: %v", err)
	}
	a.SetRecvDeadline(time.Time{})
	errs := make(chan error)
	started := make(chan struct{})
	go func() {
		close(started)
		_, _, err := a.Recv(buf)
		errs <- err
	}()
	<-started
	a.Close()
	if err := <-errs; !errors.Is(err, ErrClosed) {
		t.Errorf("Recv of a closed one: %v", err)
	}
	if err := a.Send(context.Background(), buf); !errors.Is(err, ErrClosed) {
		t.Errorf("Send of a closed one: %v", err)
	}
	if err := a.SetRecvDeadline(time.Time{}); !errors.Is(err, ErrClosed) {
		t.Errorf("SetRecvDeadline of a closed one: %v", err)
	}
	if err := a.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if _, _, err := c.Recv(buf); err != io.EOF {
		t.Errorf("Recv of the other: %v", err)
	}
	if err := c.Send(context.Background(), nil); err == nil {
		t.Error("an empty message is sent")
	}
}

// TestDescriptorsNeverLeak: whatever is wrong with a message, its descriptors
// are closed.
func TestDescriptorsNeverLeak(t *testing.T) {
	c, a := pair(t)
	ctx := context.Background()
	own, err := unix.MemfdCreate("folder-test", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	many := make([]int, 3*MaxFDs)
	for i := range many {
		many[i] = own
	}
	rawSend := func(msg []byte, fds ...int) {
		t.Helper()
		if err := c.send(func(fd int) error {
			_, err := unix.SendmsgN(fd, msg, unix.UnixRights(fds...), nil, unix.MSG_NOSIGNAL)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	buf := make([]byte, 10)
	noLeak(t, func() {
		if err := c.Send(ctx, []byte("x"), many...); err == nil || !strings.Contains(err.Error(), "MaxFDs = 8") {
			t.Errorf("Send of %d descriptors: %v", len(many), err)
		}
		rawSend([]byte("too many"), many...)
		var le *LimitError
		if _, fds, err := a.Recv(buf); !errors.As(err, &le) || le.Limit != "MaxFDs" || le.Value != MaxFDs || fds != nil {
			t.Errorf("Recv of too many descriptors: %v, %v", fds, err)
		}
		rawSend([]byte("a message that is too long"), own, own)
		if _, fds, err := a.Recv(buf); !errors.As(err, &le) || le.Limit != "message size" || le.Value != 10 || fds != nil {
			t.Errorf("Recv of a long message: %v, %v", fds, err)
		}
		oob := unix.UnixRights(own)
		empty := unix.Msghdr{Control: &oob[0], Controllen: uint64(len(oob))}
		if err := c.send(func(fd int) error {
			if _, _, e := unix.Syscall(unix.SYS_SENDMSG, uintptr(fd), uintptr(unsafe.Pointer(&empty)), unix.MSG_NOSIGNAL); e != 0 {
				return e
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if _, fds, err := a.Recv(buf); err != io.EOF || fds != nil {
			t.Errorf("Recv of an empty message: %v, %v", fds, err)
		}
		if err := c.Send(ctx, []byte("x"), own, -1); err == nil {
			t.Error("Send of a bad descriptor works")
		}
		if err := c.Send(ctx, []byte("good"), many[:MaxFDs]...); err != nil {
			t.Error(err)
		}
		n, fds, err := a.Recv(buf)
		if err != nil || string(buf[:n]) != "good" || len(fds) != MaxFDs {
			t.Fatalf("Recv = %q, %v, %v", buf[:n], fds, err)
		}
		for _, fd := range fds {
			if fl, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || fl&unix.FD_CLOEXEC == 0 {
				t.Errorf("descriptor %d: flags %d, %v", fd, fl, err)
			}
			unix.Close(fd)
		}
	})
	// Those that were never received go with the connection.
	if err := c.Send(ctx, []byte("x"), own); err != nil {
		t.Fatal(err)
	}
	c.Close()
	a.Close()
	unix.Close(own)
	if n := linksTo(t, "/memfd:folder-test"); n != 0 {
		t.Errorf("%d descriptors are left", n)
	}
}

// TestCloseWrite: who sends nothing more still hears what the other side says.
func TestCloseWrite(t *testing.T) {
	c, a := pair(t)
	ctx := context.Background()
	if err := c.Send(ctx, []byte("last")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := c.CloseWrite(); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Send(ctx, []byte("x")); !errors.Is(err, ErrPeerClosed) {
		t.Errorf("Send after CloseWrite: %v", err)
	}
	buf := make([]byte, 10)
	if n, _, err := a.Recv(buf); err != nil || string(buf[:n]) != "last" {
		t.Errorf("Recv = %q, %v", buf[:n], err)
	}
	if _, _, err := a.Recv(buf); err != io.EOF {
		t.Errorf("Recv after the last: %v", err)
	}
	if err := a.Send(ctx, []byte("still")); err != nil {
		t.Fatal(err)
	}
	if n, _, err := c.Recv(buf); err != nil || string(buf[:n]) != "still" {
		t.Errorf("Recv = %q, %v", buf[:n], err)
	}
	a.Close()
	if _, _, err := c.Recv(buf); err != io.EOF {
		t.Errorf("Recv from who closed: %v", err)
	}
	c.Close()
	if err := c.CloseWrite(); !errors.Is(err, ErrClosed) {
		t.Errorf("CloseWrite after Close: %v", err)
	}
}

// linksTo counts descriptors of a file.
func linksTo(t testing.TB, prefix string) (n int) {
	t.Helper()
	es, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range es {
		if to, _ := os.Readlink("/proc/self/fd/" + e.Name()); strings.HasPrefix(to, prefix) {
			n++
		}
	}
	return n
}

// TestDescriptorLimits runs in a process of its own, whose limit it lowers.
func TestDescriptorLimits(t *testing.T) {
	runChild(t, nil, "limits", t.TempDir())
}

func init() {
	children["limits"] = func(args []string) error {
		f, err := Open(args[0] + "/0")
		if err != nil {
			return err
		}
		m, err := f.Join(graph.NewID(), nil)
		if err != nil {
			return err
		}
		ctx := context.Background()
		c, err := f.Dial(ctx, m.ID())
		if err != nil {
			return err
		}
		a, err := m.Accept(ctx)
		if err != nil {
			return err
		}
		// Wait for a connection once, so that the poller exists.
		short, cancel := context.WithTimeout(ctx, time.Millisecond)
		m.Accept(short)
		cancel()
		if err := c.Send(ctx, []byte("x"), 0, 1, 2); err != nil {
			return err
		}
		waiting, err := f.Dial(ctx, m.ID())
		if err != nil {
			return err
		}
		const limit = 100
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
			return err
		}
		var hold []int
		for {
			fd, err := unix.Dup(0)
			if err != nil {
				break
			}
			hold = append(hold, fd)
		}
		want := func(what string, err error) error {
			var le *LimitError
			if !errors.As(err, &le) || le.Limit != "RLIMIT_NOFILE" || le.Value != limit {
				return fmt.Errorf("%s: %v; want a LimitError of RLIMIT_NOFILE", what, err)
			}
			return nil
		}
		// One descriptor is left; the message brings three.
		unix.Close(hold[0])
		buf := make([]byte, 10)
		n, fds, err := a.Recv(buf)
		if err := want("Recv", err); err != nil {
			return err
		}
		if string(buf[:n]) != "x" {
			return fmt.Errorf("Recv lost the message with the descriptors: %q", buf[:n])
		}
		if fd, err := unix.Dup(0); err != nil || len(fds) > 0 || fd != hold[0] {
			return fmt.Errorf("after Recv the next descriptor is %d, %v; want %d", fd, err, hold[0])
		}
		// Nothing is left.
		for what, try := range map[string]func() error{
			"Open": func() error { _, err := Open(args[0] + "/1"); return err },
			"Join": func() error { _, err := f.Join(graph.NewID(), nil); return err },
			"Read": func() error { _, err := f.Read(m.ID(), 0); return err },
			"List": func() error { _, err := f.List(); return err },
			"Dial": func() error { _, err := f.Dial(ctx, m.ID()); return err },
			"Alive": func() error {
				_, err := f.Alive(m.ID())
				return err
			},
		} {
			if err := want(what, try()); err != nil {
				return err
			}
		}
		// Accept says so at once, then only after pauses that get longer.
		start := time.Now()
		for range 4 { // after 0, 10, 20 and 40 ms
			_, err := m.Accept(ctx)
			if err := want("Accept", err); err != nil {
				return err
			}
		}
		if d := time.Since(start); d < 70*time.Millisecond {
			return fmt.Errorf("four tries took %v", d)
		}
		if err := short2(ctx, m); err != nil {
			return err
		}
		closeAll(hold[1:])
		b, err := m.Accept(ctx)
		if err != nil {
			return fmt.Errorf("Accept after descriptors are back: %v", err)
		}
		b.Close()
		waiting.Close()
		if m.backOff.pause != 0 {
			return fmt.Errorf("pause is still %v", m.backOff.pause)
		}
		return nil
	}
}

// short2 checks that the pause of Accept ends with its context.
func short2(ctx context.Context, m *Member) error {
	ctx, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	if _, err := m.Accept(ctx); err != context.DeadlineExceeded {
		return fmt.Errorf("Accept in its pause: %v", err)
	}
	return nil
}

// TestFrozenPeer: a process that does not accept costs those who call it their
// patience once its backlog is full, and nobody else anything.
func TestFrozenPeer(t *testing.T) {
	f := testFolder(t)
	c := startChild(t, nil, "join", f.Path())
	frozen := mustID(t, c.line())
	c.cmd.Process.Signal(unix.SIGSTOP)
	other := testJoin(t, f, nil)
	ctx := context.Background()
	n := 0
	noLeak(t, func() {
		for {
			conn, err := f.Dial(ctx, frozen)
			if err == nil {
				if n++; n > backlog+1 {
					t.Fatal("the backlog has no end")
				}
				// The message waits there though the caller has left.
				if err := conn.Send(ctx, []byte("look")); err != nil {
					t.Fatal(err)
				}
				conn.Close()
				continue
			}
			var se *SocketError
			if !errors.Is(err, ErrBacklog) || !errors.As(err, &se) || !strings.Contains(err.Error(), frozen.String()) {
				t.Fatalf("Dial: %v", err)
			}
			break
		}
	})
	if n < backlog {
		t.Errorf("only %d were taken", n)
	}
	cctx, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := f.Dial(cctx, frozen); !errors.Is(err, context.Canceled) {
		t.Errorf("Dial with an ended context: %v", err)
	}
	conn, err := f.Dial(ctx, other.ID())
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	// It dies: whoever is calling learns that at once.
	errs := make(chan error)
	go func() {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		_, err := f.Dial(ctx, frozen)
		errs <- err
	}()
	c.kill()
	if err := <-errs; !errors.Is(err, ErrDead) && !errors.Is(err, ErrGone) {
		t.Errorf("Dial of one who died: %v", err)
	}
}

func TestDialNobody(t *testing.T) {
	f := testFolder(t)
	noLeak(t, func() {
		if _, err := f.Dial(context.Background(), graph.NewID()); !errors.Is(err, ErrGone) {
			t.Errorf("Dial of nobody: %v", err)
		}
		c := startChild(t, nil, "join", f.Path())
		id := mustID(t, c.line())
		c.kill()
		if _, err := f.Dial(context.Background(), id); !errors.Is(err, ErrDead) {
			t.Errorf("Dial of a dead one: %v", err)
		}
		if ns := names(t, f.Path()); len(ns) != 0 {
			t.Errorf("left %v", ns)
		}
	})
}

// TestOtherUserIsRefused opens the folder and the socket for all, as only
// somebody's hand could do: the kernel still says who calls and who listens.
func TestOtherUserIsRefused(t *testing.T) {
	needRoot(t)
	path := worldTemp(t) + "/0"
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m := testJoin(t, f, nil)
	for p, mode := range map[string]os.FileMode{path: 0o777, pathOf(path, m.ID()): 0o666, pathOf(path, m.ID()) + sockSuffix: 0o666} {
		if err := os.Chmod(p, mode); err != nil {
			t.Fatal(err)
		}
	}
	noLeak(t, func() {
		c := startChild(t, asUser(12345), "caller", path, m.ID().String())
		var pe *PeerError
		if _, err := m.Accept(context.Background()); !errors.As(err, &pe) || pe.UID != 12345 || pe.PID != c.cmd.Process.Pid || pe.Want != 0 ||
			!strings.Contains(err.Error(), "refused: peer runs as uid 12345") || !strings.Contains(err.Error(), m.ID().String()) {
			t.Errorf("Accept: %v", err)
		}
		c.expect("refused: peer runs as uid 0")
		c.finish()
	})
}

func init() {
	// caller connects, as a user who could not open the folder.
	children["caller"] = func(args []string) error {
		fd, err := unix.Open(args[0], unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		d := &dir{fd: fd}
		d.refs.Store(1)
		f := &Folder{path: args[0], cur: d}
		id, err := graph.ParseID(args[1])
		if err != nil {
			return err
		}
		_, err = f.Dial(context.Background(), id)
		var pe *PeerError
		if !errors.As(err, &pe) || pe.UID != 0 || pe.Want != 12345 {
			return fmt.Errorf("Dial: %v", err)
		}
		fmt.Println("refused: peer runs as uid", pe.UID)
		untilTold()
		return nil
	}
}
