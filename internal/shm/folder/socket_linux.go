package folder

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tagus-ros/tagus/graph"
)

const (
	// backlog is how many connections may wait to be accepted. A frozen
	// process collects one for each look until it is full.
	backlog = 256
	// dialPatience is how long Dial tries if its context has no deadline.
	dialPatience = 200 * time.Millisecond
	// Pauses between tries, doubled from the first to the last.
	firstPause = time.Millisecond
	lastPause  = 20 * time.Millisecond
	// Pauses of Accept after it ran into a limit.
	firstBackOff = 10 * time.Millisecond
	lastBackOff  = time.Second
)

// socket is a non-blocking descriptor for which the runtime's poller waits.
type socket struct {
	file   *os.File
	raw    syscall.RawConn
	closed atomic.Bool
}

// open takes over fd.
func (s *socket) open(fd int, path string) (err error) {
	s.file = os.NewFile(uintptr(fd), path)
	if s.raw, err = s.file.SyscallConn(); err != nil {
		s.file.Close()
	}
	return err
}

// close ends waiting calls. It may be called more than once.
func (s *socket) close() {
	if !s.closed.Swap(true) {
		s.file.Close()
	}
}

// longAgo is a deadline that ends a wait at once.
var longAgo = time.Unix(1, 0)

// recv calls f whenever there may be something to read, until it returns
// something else than EAGAIN. Errors other than those of f: ErrClosed,
// os.ErrDeadlineExceeded.
func (s *socket) recv(f func(fd int) error) error { return s.wait(s.raw.Read, f) }

// send is recv for writing.
func (s *socket) send(f func(fd int) error) error { return s.wait(s.raw.Write, f) }

func (s *socket) wait(poll func(func(uintptr) bool) error, f func(fd int) error) error {
	var ferr error
	err := poll(func(fd uintptr) bool {
		ferr = retry(func() error { return f(int(fd)) })
		return ferr != unix.EAGAIN
	})
	switch {
	case err == nil:
		return ferr
	case s.closed.Load():
		return ErrClosed
	}
	return err
}

// until calls wait, which waits for recv or send, and ends it when the context
// ends. set sets the deadline of that wait, which belongs to this call.
func until(ctx context.Context, set func(time.Time) error, wait func() error) error {
	stop := context.AfterFunc(ctx, func() { set(longAgo) })
	defer stop()
	for {
		err := wait()
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		// It was the end of an earlier call's context.
		if err := set(time.Time{}); err != nil {
			return ErrClosed
		}
		if ctx.Err() != nil { // and its deadline may just have been taken away
			return ctx.Err()
		}
	}
}

// listener is a control socket others can connect to.
type listener struct {
	socket
	ino  uint64
	path string
}

func newSocket() (int, error) {
	return unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
}

// listen binds the control socket of id, which must not exist.
func (f *Folder) listen(d *dir, id graph.ID) (*listener, error) {
	path := pathOf(f.path, id) + sockSuffix
	fd, err := newSocket()
	if err != nil {
		return nil, systemError("listen at", path, d.fd, 0, err)
	}
	fail := func(err error) (*listener, error) {
		unix.Close(fd)
		return nil, systemError("listen at", path, d.fd, 0, err)
	}
	// The mode of the socket is the mode of the name that bind makes, less the
	// umask: there is no moment at which others could connect.
	if err := unix.Fchmod(fd, 0o600); err != nil {
		return fail(err)
	}
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: throughProc(d.fd, sockOf(id))}); err != nil {
		return fail(err)
	}
	st, err := lstatat(d.fd, sockOf(id))
	if err == nil && st.Mode&0o600 != 0o600 { // an odd umask
		err = unix.Fchmodat(d.fd, sockOf(id), 0o600, 0)
	}
	if err == nil {
		err = unix.Listen(fd, backlog)
	}
	if err != nil {
		unlinkat(d.fd, sockOf(id))
		return fail(err)
	}
	l := &listener{ino: st.Ino, path: path}
	if err := l.open(fd, path); err != nil {
		unlinkat(d.fd, sockOf(id))
		return nil, &SocketError{Path: path, Op: "listen", Err: err}
	}
	return l, nil
}

// Accept waits for the next connection of a process of this user. It goes on
// across a Check that remade the socket. One goroutine at a time.
//
// Errors: the context's; [ErrClosed] after Close; *[PeerError] for a process
// of another user, which is refused; *[LimitError] if there was no descriptor
// left. After the last two call it again: that call then waits a little first,
// longer each time up to a second, so that a limit never makes a busy loop.
func (m *Member) Accept(ctx context.Context) (*Conn, error) {
	for {
		m.mu.Lock()
		l, closed := m.sock, m.closed
		m.mu.Unlock()
		if closed {
			return nil, ErrClosed
		}
		if err := m.backOff.wait(ctx); err != nil {
			return nil, err
		}
		fd := -1
		err := until(ctx, l.file.SetReadDeadline, func() error {
			return l.recv(func(s int) (err error) {
				fd, _, err = unix.Accept4(s, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
				return err
			})
		})
		if err != nil && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		switch err {
		case nil:
			c, err := newConn(fd, l.path)
			if err == nil {
				m.backOff.reset()
			} else {
				m.backOff.grow()
			}
			return c, err
		case ErrClosed: // or remade by Check
			continue
		case unix.ECONNABORTED:
			continue
		}
		m.backOff.grow()
		if err == unix.EMFILE || err == unix.ENFILE {
			return nil, descriptorLimit("accept at "+l.path, err)
		}
		return nil, &SocketError{Path: l.path, Op: "accept", Err: err}
	}
}

// backOff is the pause before the next try.
type backOff struct{ pause time.Duration }

func (b *backOff) reset() { b.pause = 0 }
func (b *backOff) grow()  { b.pause = min(max(2*b.pause, firstBackOff), lastBackOff) }
func (b *backOff) wait(ctx context.Context) error {
	if b.pause == 0 {
		return ctx.Err()
	}
	return pause(ctx, b.pause)
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Dial connects to the control socket of a process. It tries until the
// context's deadline, or for 200 ms if it has none.
//
// Errors: *[SocketError] with [ErrBacklog] if the process did not accept
// connections all the time (it may be frozen), [ErrNotListening] if it lives
// but has no socket, [ErrGone], [ErrDead] or the context's error; *[PeerError]
// if it belongs to another user; *[LimitError].
func (f *Folder) Dial(ctx context.Context, id graph.ID) (*Conn, error) {
	path := pathOf(f.path, id) + sockSuffix
	fail := func(err error) (*Conn, error) { return nil, &SocketError{Path: path, Op: "connect", Err: err} }
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, dialPatience)
		defer cancel()
	}
	fd, err := newSocket()
	if err != nil {
		return nil, systemError("connect to", path, -1, 0, err)
	}
	var last error
	for wait := firstPause; ; wait = min(2*wait, lastPause) {
		d, err := f.use()
		if err != nil {
			unix.Close(fd)
			return fail(err)
		}
		err = connect(fd, d, id)
		d.done()
		switch err {
		case nil:
			return newConn(fd, path)
		case unix.EAGAIN:
			last = ErrBacklog
		case unix.ENOENT, unix.ECONNREFUSED:
			last = ErrNotListening
			if err := f.dead(id); err != nil {
				unix.Close(fd)
				return fail(err)
			}
		default:
			unix.Close(fd)
			if isFull(err) || err == unix.EMFILE || err == unix.ENFILE {
				return nil, systemError("connect to", path, -1, 0, err)
			}
			return fail(err)
		}
		if pause(ctx, wait) != nil {
			unix.Close(fd)
			if errors.Is(ctx.Err(), context.Canceled) {
				return fail(ctx.Err())
			}
			return fail(last)
		}
	}
}

// dead returns ErrGone, ErrDead or what else keeps the file of id from being
// that of a living process.
func (f *Folder) dead(id graph.ID) error {
	d, err := f.use()
	if err != nil {
		return err
	}
	defer d.done()
	fd, err := f.openAlive(d, id)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

func connect(fd int, d *dir, id graph.ID) error {
	return retry(func() error {
		return unix.Connect(fd, &unix.SockaddrUnix{Name: throughProc(d.fd, sockOf(id))})
	})
}
