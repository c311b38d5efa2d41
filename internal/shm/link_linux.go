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
	ended  bool
	muted  bool // nothing more is sent
	drain  bool // end when the queue is empty
	wake   chan struct{}
	ctx    context.Context
	cancel context.CancelFunc

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

func newLink(m *member, peer graph.ID, conn *folder.Conn) *link {
	l := &link{m: m, peer: peer, conn: conn, wake: make(chan struct{}, 1)}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// start begins to read and write. handle and down run on the owner's goroutine: handle
// for each message, with the descriptors that came with it, which it must close; down
// when nothing more will be handled. If over is set the connection stays open then, and
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
		if _, fds, lost = l.conn.Recv(buf); lost != nil && !errors.As(lost, new(*folder.LimitError)) {
			break
		}
		closeFDs(fds)
	}
	l.m.box.post(l.over)
}

// receive reads until something is wrong.
func (l *link) receive(buf []byte, handle func(control.Message, []int)) error {
	for {
		n, fds, err := l.conn.Recv(buf)
		if err != nil {
			return err
		}
		msg, err := control.Parse(buf[:n])
		if err == nil {
			err = control.CheckFDs(msg, len(fds))
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
		l.queue = nil
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
				if l.over == nil {
					l.end()
				} else if !hungUp(err) { // else the reader finds the end
					l.m.box.post(func() { l.down(err) })
				}
				l.mute()
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

// send waits for as long as the peer does not read: a frozen process is no error.
func (l *link) send(buf []byte, fd int) error {
	var fds []int
	if fd >= 0 {
		fds = []int{fd}
	}
	for {
		err := l.conn.Send(l.ctx, buf, fds...)
		if err == nil || l.ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
	}
}

func (o *outgoing) done() {
	if o.own && o.fd >= 0 {
		unix.Close(o.fd)
		o.fd = -1
	}
}

// say queues a message.
func (l *link) say(msg control.Message) { l.put(outgoing{msg: msg, fd: -1}) }

func (l *link) put(o outgoing) {
	l.mu.Lock()
	if l.ended || l.muted {
		l.mu.Unlock()
		o.done()
		return
	}
	l.queue = append(l.queue, o)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// finish closes the connection once what was said is sent, or after a second.
func (l *link) finish() {
	l.mu.Lock()
	l.drain = true
	l.mu.Unlock()
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
