package folder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// sendPatience bounds a Send whose context has no deadline.
const sendPatience = 10 * time.Second

// Conn is a control connection: messages with borders, in order, that can
// carry descriptors. Send and Close may be called by any goroutine, Recv by
// one at a time.
type Conn struct {
	socket
	path          string
	pid, uid, gid int
	sending       chan struct{} // holds a token while a Send owns the write deadline
	oob           [64]byte      // of the receiver; unix.CmsgSpace(4*MaxFDs) bytes are needed
}

// newConn takes over fd, refuses peers of other users and closes fd if it does.
func newConn(fd int, path string) (*Conn, error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		unix.Close(fd)
		return nil, &SocketError{Path: path, Op: "ask who the peer is", Err: err}
	}
	if want := os.Geteuid(); int(cred.Uid) != want {
		unix.Close(fd)
		return nil, &PeerError{Path: path, PID: int(cred.Pid), UID: int(cred.Uid), GID: int(cred.Gid), Want: want,
			Overflow: strangerUID(int(cred.Uid))}
	}
	c := &Conn{path: path, pid: int(cred.Pid), uid: int(cred.Uid), gid: int(cred.Gid), sending: make(chan struct{}, 1)}
	if err := c.open(fd, path); err != nil {
		return nil, &SocketError{Path: path, Op: "connect", Err: err}
	}
	return c, nil
}

// Peer returns who is at the other end, as the kernel knew it when the
// connection was made. The pid is for showing to people only: it may be that
// of another process by now, and is 0 for a process of a PID namespace that
// this one cannot see.
func (c *Conn) Peer() (pid, uid, gid int) { return c.pid, c.uid, c.gid }

// Close ends the connection. Waiting calls return [ErrClosed]. It may be
// called more than once and returns nil.
func (c *Conn) Close() error {
	c.close()
	return nil
}

// CloseWrite ends what this side sends: the peer receives what was sent, then [io.EOF].
// Recv goes on until the peer closes. It may be called more than once.
func (c *Conn) CloseWrite() error {
	var err error
	if c.raw.Control(func(fd uintptr) { err = unix.Shutdown(int(fd), unix.SHUT_WR) }) != nil {
		err = ErrClosed
	}
	if err == nil || err == unix.ENOTCONN {
		return nil
	}
	return &SocketError{Path: c.path, Op: "end sending", Err: err}
}

// Send sends one message with at most [MaxFDs] descriptors, which stay the
// caller's. It waits while the peer does not read, until the context ends, or
// for 10 s if it has no deadline. A message is sent whole or not at all.
//
// Errors: *[SocketError] with [ErrPeerClosed], [ErrClosed], the context's
// error or the system's; *[LimitError].
func (c *Conn) Send(ctx context.Context, msg []byte, fds ...int) error {
	if len(msg) == 0 {
		return &SocketError{Path: c.path, Op: "send", Err: errors.New("an empty message would look like the end")}
	}
	if len(fds) > MaxFDs {
		return &LimitError{Op: "send to " + c.path, Limit: "MaxFDs", Value: MaxFDs, Hint: fmt.Sprintf("%d descriptors in one message", len(fds))}
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, sendPatience)
		defer cancel()
	}
	select {
	case c.sending <- struct{}{}:
	case <-ctx.Done():
		return &SocketError{Path: c.path, Op: "send", Err: ctx.Err()}
	}
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	err := until(ctx, c.file.SetWriteDeadline, func() error {
		return c.send(func(fd int) error {
			_, err := unix.SendmsgN(fd, msg, oob, nil, unix.MSG_NOSIGNAL)
			return err
		})
	})
	<-c.sending
	switch err {
	case nil:
		return nil
	case unix.EPIPE, unix.ECONNRESET, unix.ENOTCONN:
		err = ErrPeerClosed
	case unix.ETOOMANYREFS:
		l := descriptorLimit("send descriptors to "+c.path, unix.EMFILE)
		l.Hint, l.Err = "descriptors of this user on their way", err
		return l
	case unix.EMSGSIZE:
		return &LimitError{Op: "send to " + c.path, Limit: "net.core.wmem_default", Value: -1,
			Hint: fmt.Sprintf("the message has %d bytes", len(msg)), Err: err}
	}
	return &SocketError{Path: c.path, Op: "send", Err: err}
}

// SetRecvDeadline makes Recv fail with [os.ErrDeadlineExceeded] from t on; the
// zero time takes the deadline away. It may be called by any goroutine and
// acts on a Recv that is waiting.
func (c *Conn) SetRecvDeadline(t time.Time) error {
	if err := c.file.SetReadDeadline(t); err != nil {
		return &SocketError{Path: c.path, Op: "set a deadline", Err: ErrClosed}
	}
	return nil
}

// Recv waits for the next message and puts it into buf. The descriptors that
// came with it are the caller's to close; with an error there are none. They
// are closed on exec.
//
// Errors: [io.EOF] when the peer has closed or died, after everything it sent;
// *[LimitError] if the message is larger than buf, with n = 0: it is lost and the
// connection should be closed; *[LimitError] with n > 0 if the descriptors of the
// message in buf[:n] did not all arrive for a limit here: those that did were closed; *[SocketError] with [ErrClosed], [os.ErrDeadlineExceeded] or the system's
// error.
func (c *Conn) Recv(buf []byte) (n int, fds []int, err error) {
	var oobn, flags int
	for {
		err = c.recv(func(fd int) (err error) {
			n, oobn, flags, _, err = unix.Recvmsg(fd, buf, c.oob[:unix.CmsgSpace(4*MaxFDs)], unix.MSG_CMSG_CLOEXEC)
			return err
		})
		if err != unix.ECONNRESET {
			break
		}
		// The peer closed without reading all that we sent. The kernel says so
		// once; what the peer sent before is still to be read.
	}
	if err != nil {
		return 0, nil, &SocketError{Path: c.path, Op: "receive", Err: err}
	}
	if oobn > 0 {
		fds = parseFDs(c.oob[:oobn])
	}
	switch {
	case flags&unix.MSG_CTRUNC != 0:
		err = c.truncatedFDs(len(fds))
	case flags&unix.MSG_TRUNC != 0:
		err = &LimitError{Op: "receive from " + c.path, Limit: "message size", Value: int64(len(buf)), Hint: "the peer sent a larger message"}
	case n == 0:
		err = io.EOF
	default:
		return n, fds, nil
	}
	closeAll(fds)
	if flags&(unix.MSG_CTRUNC|unix.MSG_TRUNC) == unix.MSG_CTRUNC && len(fds) < MaxFDs {
		return n, nil, err
	}
	return 0, nil, err
}

// truncatedFDs names the limit that kept descriptors from arriving.
func (c *Conn) truncatedFDs(arrived int) error {
	op := "receive descriptors from " + c.path
	if arrived >= MaxFDs {
		return &LimitError{Op: op, Limit: "MaxFDs", Value: MaxFDs, Hint: "the peer sent more in one message"}
	}
	return descriptorLimit(op, unix.EMFILE)
}

// parseFDs returns all descriptors in a control buffer.
func parseFDs(oob []byte) (fds []int) {
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil
	}
	for i := range msgs {
		if got, err := unix.ParseUnixRights(&msgs[i]); err == nil {
			fds = append(fds, got...)
		}
	}
	return fds
}

func closeAll(fds []int) {
	for _, fd := range fds {
		unix.Close(fd)
	}
}
