package shm

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/shm/control"
	"github.com/tagus-ros/tagus/internal/shm/folder"
)

// tell has p look at this process's announcement.
func (m *member) tell(p *peer) {
	msg := control.Look{ID: m.cfg.ID}
	if p.say(msg) || p.reaching() {
		return // who is greeted looks, too
	}
	if p.calling {
		p.callAgain = true
		return
	}
	p.calling = true
	m.wg.Add(1)
	go func() {
		defer m.wg.Done()
		m.callOn(p.id, msg)
		m.box.post(func() {
			again := p.callAgain
			if p.calling, p.callAgain = false, false; again && !p.dead && !m.closing {
				m.tell(p)
			}
		})
	}()
}

// callOn connects to say one thing. A process with a full backlog has looks waiting
// already; one that is gone needs none.
func (m *member) callOn(id graph.ID, msg control.Message) {
	conn, err := m.folder.Dial(m.ctx, id)
	if err != nil {
		return
	}
	defer conn.Close()
	buf, err := control.Append(nil, msg)
	if err == nil {
		conn.Send(m.ctx, buf)
	}
}

// accept takes connections.
func (m *member) accept() {
	defer m.wg.Done()
	for {
		conn, err := m.me.Accept(m.ctx)
		switch {
		case err == nil:
			m.wg.Add(1)
			go m.greet(conn)
		case m.ctx.Err() != nil || errors.Is(err, folder.ErrClosed):
			return
		default:
			m.box.post(func() { m.complain("control socket", err) })
		}
	}
}

// greet reads what a new connection is for.
func (m *member) greet(conn *folder.Conn) {
	defer m.wg.Done()
	stop := context.AfterFunc(m.ctx, func() { conn.Close() })
	defer stop()
	conn.SetRecvDeadline(time.Now().Add(greeting))
	buf := make([]byte, control.MaxMessage)
	n, fds, err := conn.Recv(buf)
	closeFDs(fds)
	if err != nil {
		conn.Close()
		return
	}
	msg, err := control.Parse(buf[:n])
	switch msg := msg.(type) {
	case control.Look:
		conn.Close()
		m.box.post(func() { m.refresh(msg.ID) })
		return
	case control.Hello:
		conn.SetRecvDeadline(time.Time{})
		if m.box.post(func() { m.hello(conn, msg) }) {
			return
		}
	default:
		if err == nil {
			err = errors.New("the first message was a " + msg.Type().String())
		}
		if b, err := control.Append(nil, control.Refuse{Code: refusalCode(err), Text: err.Error()}); err == nil {
			conn.Send(m.ctx, b)
		}
		m.box.post(func() { m.complain("control connection refused", err) })
	}
	conn.Close()
}

// codeUnknown refuses a process whose announcement cannot be read at the moment.
const codeUnknown = "unknown-process"

func refusalCode(err error) string {
	var v *control.VersionError
	switch {
	case errors.As(err, &v):
		return "protocol-version"
	case errors.As(err, new(*folder.LimitError)), errors.Is(err, unix.ENOMEM):
		return codeLimit
	}
	return "protocol-error"
}

// hello answers a process that wants to connect its publishers or to watch.
func (m *member) hello(conn *folder.Conn, h control.Hello) {
	l := newLink(m, h.ID, conn)
	refuse := func(code, text string) {
		l.start(func(_ control.Message, fds []int) { closeFDs(fds) }, func(error) { l.end() })
		l.say(control.Refuse{Code: code, Text: text})
		l.finish()
	}
	m.refresh(h.ID)
	p := m.peers[h.ID]
	switch {
	case m.closing || p == nil || p.dead:
		refuse(codeUnknown, "no announcement of "+h.ID.String()+" can be read in "+m.folder.Path())
	case p.ann.Clock != m.clock:
		refuse("clock", "the two processes have different monotonic clocks: "+m.clock.String()+" and "+p.ann.Clock.String())
	case h.Purpose == control.PurposeLink:
		p.acceptLink(l)
	case h.Purpose == control.PurposeWatch:
		p.acceptWatch(l)
	case h.Purpose == control.PurposeAsk:
		m.acceptAsk(l)
	default:
		refuse("purpose", "nothing here serves "+h.Purpose.String())
	}
}
