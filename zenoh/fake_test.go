package zenoh

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tagus-ros/tagus/internal/pool"
	"github.com/tagus-ros/tagus/zenoh/internal/transport"
	"github.com/tagus-ros/tagus/zenoh/internal/wire"
)

// fake is a router that does nothing by itself: it notes what a session says,
// and says what the test wants.
type fake struct {
	t      testing.TB
	l      net.Listener
	limits transport.Limits
	lease  time.Duration

	mu    sync.Mutex
	conn  *fakeConn
	conns chan *fakeConn
}

// fakeConn is one connection of it.
type fakeConn struct {
	f    *fake
	raw  net.Conn
	t    *transport.Transport
	said chan any // *wire.Push, *wire.Declare, … in order, as copies
	gone chan error
	deaf atomic.Bool // what the session says is not noted
}

func newFake(t testing.TB, lease ...time.Duration) *fake {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{t: t, l: l, conns: make(chan *fakeConn, 100), lease: 10 * time.Second}
	if len(lease) > 0 {
		f.lease = lease[0]
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			f.accept(c)
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
		f.hangUp()
	})
	return f
}

func (f *fake) locator() string { return "tcp/" + f.l.Addr().String() }

func (f *fake) accept(c net.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	a, err := transport.Accept(ctx, c, transport.Local{ID: wire.NewID(), WhatAmI: wire.Router, Lease: f.lease, Patch: 1}, nil)
	if err != nil {
		_ = c.Close()
		return
	}
	fc := &fakeConn{f: f, raw: c, said: make(chan any, 1<<16), gone: make(chan error, 1)}
	fc.t = transport.New(c, a, f.limits, pool.New(1<<24), fc)
	fc.t.Run()
	f.mu.Lock()
	f.conn = fc
	f.mu.Unlock()
	f.conns <- fc
}

// hangUp breaks the present connection without a word.
func (f *fake) hangUp() {
	f.mu.Lock()
	c := f.conn
	f.conn = nil
	f.mu.Unlock()
	if c != nil {
		_ = c.raw.Close()
		<-c.t.Done()
	}
}

func (c *fakeConn) Closed(err error) { c.gone <- err }

func (c *fakeConn) Message(in *wire.Reader, _ transport.Lane, _ *transport.Owned) {
	if c.deaf.Load() {
		wire.SkipNetwork(in)
		return
	}
	keep := func(w *wire.WireExpr) { w.Suffix = append([]byte(nil), w.Suffix...) }
	switch wire.MessageID(in.Peek()) {
	case wire.IDPush:
		m := new(wire.Push)
		m.Decode(in)
		keep(&m.Key)
		m.Body.Payload = append([]byte(nil), m.Body.Payload...)
		c.said <- m
	case wire.IDDeclare:
		m := new(wire.Declare)
		m.Decode(in)
		keep(&m.Key)
		c.said <- m
	case wire.IDInterest:
		m := new(wire.Interest)
		m.Decode(in)
		keep(&m.Key)
		c.said <- m
	case wire.IDRequest:
		m := new(wire.Request)
		m.Decode(in)
		keep(&m.Key)
		m.Body.Parameters = append([]byte(nil), m.Body.Parameters...)
		m.Body.Payload = append([]byte(nil), m.Body.Payload...)
		m.Body.Attachment = append([]byte(nil), m.Body.Attachment...)
		c.said <- m
	case wire.IDResponse:
		m := new(wire.Response)
		m.Decode(in)
		keep(&m.Key)
		c.said <- m
	case wire.IDResponseFinal:
		m := new(wire.ResponseFinal)
		m.Decode(in)
		c.said <- m
	default:
		wire.SkipNetwork(in)
	}
}

// say sends a network message.
func (c *fakeConn) say(head []byte, payload ...byte) {
	c.f.t.Helper()
	o := transport.Lane{Priority: wire.PriorityData, Reliable: true, Block: true, Express: true}
	if err := c.t.Send(context.Background(), o, head, payload); err != nil {
		c.f.t.Error(err)
	}
}

func (c *fakeConn) declare(d wire.Declaration, answers ...uint32) {
	m := wire.NewDeclare(d)
	if len(answers) > 0 {
		m.Answers, m.Interest = true, answers[0]
	}
	c.say(m.Append(nil))
}

func (c *fakeConn) push(w wire.WireExpr, payload string) {
	m := wire.Push{Key: w, QoS: wire.DefaultQoS, Body: wire.Sample{Payload: []byte(payload)}}
	c.say(m.AppendHead(nil), []byte(payload)...)
}

// hears gives the next message of the session's, which must be an M.
func hears[M any](t testing.TB, c *fakeConn) *M {
	t.Helper()
	m := within(t, "message of the session", c.said)
	x, ok := m.(*M)
	if !ok {
		t.Fatalf("session says %s, want a %T", show(m), x)
	}
	return x
}

func show(m any) string { return fmt.Sprintf("%T %+v", m, m) }

func (c *fakeConn) silent(t testing.TB) {
	t.Helper()
	select {
	case m := <-c.said:
		t.Errorf("session says %s", show(m))
	case <-time.After(30 * time.Millisecond):
	}
}

// withFake opens a session with a fake router.
func withFake(t testing.TB, change ...func(*Config)) (*Session, *fake, *fakeConn) {
	t.Helper()
	f := newFake(t)
	s := session(t, f.locator(), change...)
	return s, f, within(t, "connection", f.conns)
}

// proxy passes bytes between sessions and a router, until it is cut; slow limits the bytes per second towards the router.
type proxy struct {
	l    net.Listener
	to   string
	slow int

	mu    sync.Mutex
	conns []net.Conn
	dark  bool // new connections are not answered
	wg    sync.WaitGroup
}

func newProxy(t testing.TB, to string, slow int) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{l: l, to: to, slow: slow}
	p.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			p.mu.Lock()
			dark := p.dark
			p.conns = append(p.conns, c)
			p.mu.Unlock()
			if dark {
				continue
			}
			d, err := net.Dial("tcp", to)
			if err != nil {
				_ = c.Close()
				continue
			}
			p.mu.Lock()
			p.conns = append(p.conns, d)
			p.mu.Unlock()
			p.wg.Go(func() { p.pump(d, c, p.slow) })
			p.wg.Go(func() { p.pump(c, d, 0) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		p.cut(false)
		p.wg.Wait()
	})
	return p
}

func (p *proxy) locator() string { return "tcp/" + p.l.Addr().String() }

func (p *proxy) pump(to, from net.Conn, slow int) {
	defer to.Close()
	if slow == 0 {
		_, _ = io.Copy(to, from)
		return
	}
	if tcp, ok := from.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(16 << 10)
	}
	buf := make([]byte, 8<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		time.Sleep(time.Duration(n) * time.Second / time.Duration(slow))
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// cut breaks all connections; dark leaves new ones without an answer.
func (p *proxy) cut(dark bool) {
	p.mu.Lock()
	p.dark = dark
	conns := p.conns
	p.conns = nil
	p.mu.Unlock()
	for _, c := range conns {
		_ = c.Close()
	}
}

// light undoes cut(true), and hangs up on who still waits.
func (p *proxy) light() { p.cut(false) }
