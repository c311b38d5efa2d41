package shm

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/clock"
	"github.com/tagus-ros/tagus/internal/shm/control"
	"github.com/tagus-ros/tagus/internal/shm/folder"
)

// link is one control connection. A goroutine reads it, another writes it, so that
// neither the owner of the state nor any lock ever waits for the other process; one
// that does not read costs only the messages that wait for it.
type link struct {
	m    *member
	peer graph.ID
	conn *folder.Conn

	mu     sync.Mutex
	queue  []outgoing
	look   bool // a look is among them
	ended  bool
	muted  bool // nothing more is sent
	drain  bool // end when the queue is empty
	wake   chan struct{}
	ctx    context.Context
	cancel context.CancelFunc
	began  int64 // when it was made, ns of CLOCK_MONOTONIC

	down func(error)
	over func() // set before start, or nil
}

// outgoing is one message to send. fd is sent along if it is not negative, and closed
// after that if own is set.
type outgoing struct {
	msg control.Message
	fd  int
	own bool
}

// newLink takes conn over. At the latest it ends when the member leaves.
func newLink(m *member, peer graph.ID, conn *folder.Conn) *link {
	l := &link{m: m, peer: peer, conn: conn, wake: make(chan struct{}, 1), began: monoNow()}
	l.ctx, l.cancel = context.WithCancel(m.ctx)
	context.AfterFunc(l.ctx, l.end)
	return l
}

// start begins to read and write. handle and down run on the owner's goroutine: handle
// for each message, with the descriptors that came with it, which it must close; down
// when nothing more will be handled, or nothing more can be sent (it may run for both). If over is set the connection stays open then, and
// over runs when the other side has closed it.
func (l *link) start(handle func(control.Message, []int), down func(error)) {
	l.down = down
	l.m.wg.Add(2)
	go l.read(handle)
	go l.write()
}

func (l *link) read(handle func(control.Message, []int)) {
	defer l.m.wg.Done()
	buf := make([]byte, control.MaxMessage)
	err := l.receive(buf, handle)
	l.m.box.post(func() { l.down(err) })
	if l.over == nil {
		return
	}
	for lost := err; !hungUp(lost); {
		var fds []int
		_, fds, lost = l.recv(buf)
		closeFDs(fds)
		if lost != nil && !hungUp(lost) && !errors.As(lost, new(*folder.LimitError)) {
			l.pause(lastPause)
		}
	}
	l.m.box.post(l.over)
}

// recv waits for the next message. The system's lack of memory is not the end.
func (l *link) recv(buf []byte) (n int, fds []int, err error) {
	for {
		if n, fds, err = l.conn.Recv(buf); !passes(err) || l.ctx.Err() != nil {
			return n, fds, err
		}
		l.pause(lastPause)
	}
}

// missing is a memory whose descriptor did not arrive for a limit of this process.
type missing struct {
	control.Memory
	err error
}

// receive reads until something is wrong.
func (l *link) receive(buf []byte, handle func(control.Message, []int)) error {
	for {
		n, fds, lack := l.recv(buf)
		if lack != nil && n == 0 {
			return lack
		}
		msg, err := control.Parse(buf[:n])
		switch memory, ok := msg.(control.Memory); {
		case err != nil:
		case lack == nil:
			err = control.CheckFDs(msg, len(fds))
		case ok:
			msg = missing{memory, lack}
		default:
			err = lack
		}
		if err != nil {
			closeFDs(fds)
			return err
		}
		if !l.m.box.post(func() { handle(msg, fds) }) {
			closeFDs(fds)
			return folder.ErrClosed
		}
	}
}

func (l *link) write() {
	defer l.m.wg.Done()
	var buf []byte
	for {
		l.mu.Lock()
		work := l.queue
		l.queue, l.look = nil, false
		l.mu.Unlock()
		for i, o := range work {
			var err error
			if buf, err = control.Append(buf[:0], o.msg); err == nil {
				err = l.send(buf, o.fd)
			} else {
				l.m.cfg.Log.Error("control message not sent", "peer", l.peer.String(), "err", err)
				err = nil
			}
			o.done()
			if err != nil {
				for _, o := range work[i+1:] {
					o.done()
				}
				// Not closed: that would tell the other side that nobody reads here.
				l.mute()
				if !hungUp(err) && l.ctx.Err() == nil { // else the reader finds the end
					l.m.box.post(func() { l.down(err) })
				}
				return
			}
		}
		l.mu.Lock()
		finished := l.drain && len(l.queue) == 0
		l.mu.Unlock()
		if finished {
			l.end()
			return
		}
		select {
		case <-l.wake:
		case <-l.ctx.Done():
			return
		}
	}
}

// Pauses after which it is tried again to send what the system had no room for.
const (
	firstPause = 10 * time.Millisecond
	lastPause  = 500 * time.Millisecond
)

// send waits for as long as the peer does not read: a frozen process is no error. Nor is
// a system with too many descriptors on their way, or without memory: that passes.
func (l *link) send(buf []byte, fd int) error {
	var fds []int
	if fd >= 0 {
		fds = []int{fd}
	}
	for wait := firstPause; ; {
		err := l.conn.Send(l.ctx, buf, fds...)
		switch {
		case err == nil || l.ctx.Err() != nil:
			return err
		case errors.Is(err, context.DeadlineExceeded):
		case passes(err):
			l.m.box.post(func() { l.m.complain("control message delayed to "+l.peer.String(), err) })
			l.pause(wait)
			wait = min(2*wait, lastPause)
		default:
			return err
		}
	}
}

// passes reports whether err says that the system has no room at the moment.
func passes(err error) bool {
	return errors.Is(err, unix.ETOOMANYREFS) || errors.Is(err, unix.ENOBUFS) || errors.Is(err, unix.ENOMEM)
}

func (l *link) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-l.ctx.Done():
	}
}

func (o *outgoing) done() {
	if o.own && o.fd >= 0 {
		unix.Close(o.fd)
		o.fd = -1
	}
}

// say queues a message. False: nothing is sent any more.
func (l *link) say(msg control.Message) bool { return l.put(outgoing{msg: msg, fd: -1}) }

// put is say for a message with a descriptor. Of looks at this process one waits at most:
// who reads it looks at what is there then.
func (l *link) put(o outgoing) bool {
	_, look := o.msg.(control.Look)
	l.mu.Lock()
	if l.ended || l.muted {
		l.mu.Unlock()
		o.done()
		return false
	}
	if !look || !l.look {
		l.queue = append(l.queue, o)
		l.look = l.look || look
	}
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
	return true
}

// finish closes the connection once what was said is sent, or after a second.
func (l *link) finish() {
	l.mu.Lock()
	l.drain = true
	muted := l.muted
	l.mu.Unlock()
	if muted {
		l.end()
		return
	}
	select {
	case l.wake <- struct{}{}:
	default:
	}
	time.AfterFunc(time.Second, l.end)
}

// mute drops what was not sent and sends nothing more.
func (l *link) mute() {
	l.mu.Lock()
	l.muted = true
	queue := l.queue
	l.queue = nil
	l.mu.Unlock()
	for _, o := range queue {
		o.done()
	}
}

// part sends nothing more and says so: the other side's reader finds the end. It stays
// open here until the other side has closed.
func (l *link) part() {
	l.mute()
	l.conn.CloseWrite()
}

// end closes the connection.
func (l *link) end() {
	l.mute()
	l.mu.Lock()
	ended := l.ended
	l.ended = true
	l.mu.Unlock()
	if !ended {
		l.cancel()
		l.conn.Close()
	}
}

func closeFDs(fds []int) {
	for _, fd := range fds {
		unix.Close(fd)
	}
}

// hungUp reports whether err is the ordinary end of a connection.
func hungUp(err error) bool {
	return err == io.EOF || errors.Is(err, folder.ErrClosed) || errors.Is(err, folder.ErrPeerClosed) || errors.Is(err, unix.ECONNRESET)
}

func monoNow() int64 { return clock.Mono() }
func wallNow() int64 { return clock.Wall() }
