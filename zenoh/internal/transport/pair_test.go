package transport

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/tagus-ros/tagus/internal/pool"
	"github.com/tagus-ros/tagus/zenoh/internal/wire"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sink is a Handler whose parts a test fills in.
type sink struct {
	push   func(m *wire.Push, lane Lane, own *Owned)
	closed chan error
	m      wire.Push
}

func newSink(push func(*wire.Push, Lane, *Owned)) *sink {
	return &sink{push: push, closed: make(chan error, 1)}
}

func (s *sink) Message(in *wire.Reader, lane Lane, own *Owned) {
	if wire.MessageID(in.Peek()) != wire.IDPush {
		wire.SkipNetwork(in)
		return
	}
	s.m.Decode(in)
	if !in.Failed() && s.push != nil {
		s.push(&s.m, lane, own)
	}
}

func (s *sink) Closed(err error) { s.closed <- err }

type side struct {
	local  Local
	limits Limits
	sink   *sink
}

// tcpPair connects two sockets over loopback.
func tcpPair(t testing.TB) (dialled, accepted net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	type result struct {
		c   net.Conn
		err error
	}
	got := make(chan result, 1)
	go func() {
		c, err := l.Accept()
		got <- result{c, err}
	}()
	if dialled, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	r := <-got
	if r.err != nil {
		t.Fatal(r.err)
	}
	return dialled, r.c
}

func (s *side) fill(role wire.WhatAmI) {
	if s.local.ID.IsZero() {
		s.local.ID = wire.NewID()
	}
	if s.local.Lease == 0 {
		s.local.Lease = 10 * time.Second
	}
	s.local.WhatAmI = role
	if s.sink == nil {
		s.sink = newSink(nil)
	}
}

// connect opens a transport between a (which dials) and b, over the connections given or over loopback.
func connect(t testing.TB, a, b *side) (ta, tb *Transport) {
	t.Helper()
	ca, cb := tcpPair(t)
	return connectOver(t, ca, cb, a, b)
}

func connectOver(t testing.TB, ca, cb net.Conn, a, b *side) (ta, tb *Transport) {
	t.Helper()
	a.fill(wire.Client)
	b.fill(wire.Router)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var agreedB Agreed
	var errB error
	var wg sync.WaitGroup
	wg.Go(func() { agreedB, errB = Accept(ctx, cb, b.local, nil) })
	agreedA, errA := Dial(ctx, ca, a.local)
	wg.Wait()
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	ta = New(ca, agreedA, a.limits, pool.New(64<<20), a.sink)
	tb = New(cb, agreedB, b.limits, pool.New(64<<20), b.sink)
	ta.Run()
	tb.Run()
	t.Cleanup(func() {
		ta.Close(context.Background(), wire.ReasonGeneric)
		tb.Close(context.Background(), wire.ReasonGeneric)
		within(t, "end of the dialling side", ta.Done())
		within(t, "end of the accepting side", tb.Done())
	})
	return ta, tb
}

func within[T any](t testing.TB, what string, ch <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-ch:
	case <-time.After(10 * time.Second):
		t.Fatalf("%s: nothing for 10 s", what)
	}
	return v
}

// put sends a push with the given payload.
func put(ctx context.Context, t *Transport, o Lane, scope uint16, payload []byte) error {
	m := wire.Push{Key: wire.WireExpr{Scope: scope, Sender: true}, QoS: wire.QoS(o.Priority), Body: wire.Sample{Payload: payload}}
	var buf [128]byte
	return t.Send(ctx, o, m.AppendHead(buf[:0]), payload)
}

var (
	data  = Lane{Priority: wire.PriorityData, Reliable: true}
	block = Lane{Priority: wire.PriorityData, Reliable: true, Block: true}
)
