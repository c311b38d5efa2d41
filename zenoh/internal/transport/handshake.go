package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"time"

	"github.com/tagus-ros/tagus/zenoh/internal/wire"
)

// Local is what this side brings into a handshake.
type Local struct {
	ID      wire.ID
	WhatAmI wire.WhatAmI
	Lease   time.Duration // announced to the peer; whole milliseconds
	Batch   uint16        // largest batch, prefix included; 0: 65535
	NoQoS   bool          // do without priorities
	Patch   uint8         // highest patch level
}

// Agreed is the result of a handshake.
type Agreed struct {
	ID        wire.ID // of the peer
	WhatAmI   wire.WhatAmI
	Lease     time.Duration // the peer's: silence after which it counts as gone
	Batch     int           // largest batch, prefix included
	QoS       bool
	Patch     uint8
	LocalSN   uint32 // first sequence number of each lane, this side's
	PeerSN    uint32
	OwnLease  time.Duration
	OwnID     wire.ID
	Handshake time.Duration // how long it took
}

// HandshakeError says at which step a handshake failed.
type HandshakeError struct {
	Step string // "InitSyn", "InitAck", "OpenSyn" or "OpenAck"
	Err  error
}

// Error implements error.
func (e *HandshakeError) Error() string { return "zenoh handshake: " + e.Step + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *HandshakeError) Unwrap() error { return e.Err }

// minBatch is the least that leaves room for headers and something to carry.
const minBatch = 128

const resolution32 = 0x0a

func (l *Local) fill() {
	if l.Batch == 0 {
		l.Batch = wire.MaxBatch
	}
	l.Batch = max(l.Batch, minBatch)
}

// Dial makes the handshake of the side that dialled. When ctx ends so does the attempt.
func Dial(ctx context.Context, conn net.Conn, l Local) (Agreed, error) {
	l.fill()
	defer interrupt(ctx, conn)()
	begin := time.Now()
	syn := l.init(false)
	if err := writeBatch(conn, syn.Append(make([]byte, prefix, 64))); err != nil {
		return Agreed{}, failed(ctx, "InitSyn", err)
	}
	var ack wire.Init
	if err := readMessage(conn, wire.IDInit, ack.Decode); err != nil {
		return Agreed{}, failed(ctx, "InitAck", err)
	}
	if err := checkInit(&ack, &l, true); err != nil {
		return Agreed{}, failed(ctx, "InitAck", err)
	}
	if ack.Batch > syn.Batch || ack.Patch > syn.Patch {
		return Agreed{}, failed(ctx, "InitAck", errors.New("peer raises what we proposed"))
	}
	a := l.agree(&ack)
	open := wire.Open{Lease: l.Lease, InitialSN: a.LocalSN, Cookie: ack.Cookie}
	if err := writeBatch(conn, open.Append(make([]byte, prefix, 64+len(ack.Cookie)))); err != nil {
		return Agreed{}, failed(ctx, "OpenSyn", err)
	}
	if err := readMessage(conn, wire.IDOpen, open.Decode); err != nil {
		return Agreed{}, failed(ctx, "OpenAck", err)
	}
	if err := a.opened(&open, true); err != nil {
		return Agreed{}, failed(ctx, "OpenAck", err)
	}
	a.Handshake = time.Since(begin)
	return a, nil
}

// Accept makes the handshake of the side that listened. check may refuse the peer.
func Accept(ctx context.Context, conn net.Conn, l Local, check func(id wire.ID, role wire.WhatAmI) (wire.Reason, error)) (Agreed, error) {
	l.fill()
	defer interrupt(ctx, conn)()
	begin := time.Now()
	refuse := func(step string, reason wire.Reason, err error) (Agreed, error) {
		m := wire.Close{Reason: reason}
		_ = writeBatch(conn, m.Append(make([]byte, prefix, 8)))
		return Agreed{}, failed(ctx, step, err)
	}
	var syn wire.Init
	if err := readMessage(conn, wire.IDInit, syn.Decode); err != nil {
		return Agreed{}, failed(ctx, "InitSyn", err)
	}
	if err := checkInit(&syn, &l, false); err != nil {
		reason := wire.ReasonInvalid
		if syn.ID == l.ID {
			reason = wire.ReasonConnectionToSelf
		}
		return refuse("InitSyn", reason, err)
	}
	if check != nil {
		if reason, err := check(syn.ID, syn.WhatAmI); err != nil {
			return refuse("InitSyn", reason, err)
		}
	}
	a := l.agree(&syn)
	ack := l.init(true)
	ack.Batch, ack.QoS, ack.Patch = uint16(a.Batch), a.QoS, a.Patch
	if err := writeBatch(conn, ack.Append(make([]byte, prefix, 64))); err != nil {
		return Agreed{}, failed(ctx, "InitAck", err)
	}
	var open wire.Open
	if err := readMessage(conn, wire.IDOpen, open.Decode); err != nil {
		return Agreed{}, failed(ctx, "OpenSyn", err)
	}
	if err := a.opened(&open, false); err != nil {
		return refuse("OpenSyn", wire.ReasonInvalid, err)
	}
	answer := wire.Open{Ack: true, Lease: l.Lease, InitialSN: a.LocalSN}
	if err := writeBatch(conn, answer.Append(make([]byte, prefix, 64))); err != nil {
		return Agreed{}, failed(ctx, "OpenAck", err)
	}
	a.Handshake = time.Since(begin)
	return a, nil
}

func (l *Local) init(ack bool) wire.Init {
	m := wire.DefaultInit()
	m.Ack, m.WhatAmI, m.ID, m.Batch, m.QoS, m.Patch = ack, l.WhatAmI, l.ID, l.Batch, !l.NoQoS, l.Patch
	return m
}

// agree takes of each feature what both sides have.
func (l *Local) agree(peer *wire.Init) Agreed {
	return Agreed{
		ID: peer.ID, WhatAmI: peer.WhatAmI, OwnID: l.ID, OwnLease: l.Lease,
		Batch: int(min(peer.Batch, l.Batch)), QoS: peer.QoS && !l.NoQoS, Patch: min(peer.Patch, l.Patch),
		LocalSN: rand.Uint32() & wire.SNMask,
	}
}

func (a *Agreed) opened(m *wire.Open, ack bool) error {
	switch {
	case m.Ack != ack:
		return errors.New("answer in place of a request, or the reverse")
	case m.InitialSN > wire.SNMask:
		return fmt.Errorf("initial sequence number %d out of range", m.InitialSN)
	case m.Lease <= 0:
		return errors.New("lease of zero")
	}
	a.PeerSN, a.Lease = m.InitialSN, m.Lease
	return nil
}

func checkInit(m *wire.Init, l *Local, ack bool) error {
	switch {
	case m.Version != wire.Version:
		return fmt.Errorf("protocol version %d, want %d", m.Version, wire.Version)
	case m.Ack != ack:
		return errors.New("answer in place of a request, or the reverse")
	case m.ID == l.ID:
		return fmt.Errorf("peer has our own id %s", m.ID)
	case m.Resolution&3 < 2:
		// Narrow sequence numbers would wrap within a burst; no peer of ours asks for them.
		return fmt.Errorf("sequence numbers of less than 32 bits (resolution %#x)", m.Resolution)
	case m.Resolution != resolution32 && ack:
		return fmt.Errorf("resolution %#x, proposed %#x", m.Resolution, resolution32)
	case m.Batch < minBatch:
		return fmt.Errorf("batch size %d below %d", m.Batch, minBatch)
	}
	return nil
}

func failed(ctx context.Context, step string, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return &HandshakeError{step, err}
}

// interrupt makes conn's operations fail when ctx ends, until the returned function is called.
func interrupt(ctx context.Context, conn net.Conn) (restore func()) {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	return func() {
		if stop() {
			_ = conn.SetDeadline(time.Time{})
		}
	}
}

// writeBatch writes b, which begins with room for the prefix.
func writeBatch(conn net.Conn, b []byte) error {
	n := len(b) - prefix
	b[0], b[1] = byte(n), byte(n>>8)
	_, err := conn.Write(b)
	return err
}

// readMessage reads a batch that holds just the message id, or a Close.
func readMessage(conn net.Conn, id byte, decode func(*wire.Reader)) error {
	var head [prefix]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return err
	}
	// Large enough for every cookie in use; nobody is believed 64 KiB before he is known.
	n := int(head[0]) | int(head[1])<<8
	if n == 0 || n > 4096 {
		return fmt.Errorf("handshake batch of %d bytes", n)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(conn, b); err != nil {
		return err
	}
	r := wire.NewReader(b)
	switch wire.MessageID(r.Peek()) {
	case id:
		decode(&r)
		return r.Err()
	case wire.IDClose:
		var m wire.Close
		if m.Decode(&r); r.Failed() {
			return r.Err()
		}
		return &CloseError{Remote: true, Reason: m.Reason}
	}
	return fmt.Errorf("unexpected message %#02x", b[0])
}
