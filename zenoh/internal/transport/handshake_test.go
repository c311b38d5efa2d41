package transport

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/tagus-ros/tagus/zenoh/internal/wire"
)

func TestHandshakeAgreesOnTheLess(t *testing.T) {
	for _, tc := range []struct {
		name  string
		a, b  Local
		batch int
		qos   bool
		patch uint8
	}{
		{"same", Local{Patch: 1}, Local{Patch: 1}, 65535, true, 1},
		{"small acceptor", Local{Patch: 1}, Local{Patch: 1, Batch: 2048, NoQoS: true}, 2048, false, 1},
		{"small opener", Local{Batch: 4096, NoQoS: true}, Local{Patch: 1}, 4096, false, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, b := &side{local: tc.a}, &side{local: tc.b}
			a.local.Lease, b.local.Lease = 7*time.Second, 1500*time.Millisecond
			ta, tb := connect(t, a, b)
			for _, x := range []struct {
				got       Agreed
				own, peer *side
			}{{ta.Agreed(), a, b}, {tb.Agreed(), b, a}} {
				g := x.got
				if g.Batch != tc.batch || g.QoS != tc.qos || g.Patch != tc.patch || g.ID != x.peer.local.ID || g.Lease != x.peer.local.Lease || g.WhatAmI != x.peer.local.WhatAmI {
					t.Errorf("%+v", g)
				}
			}
			if ta.Agreed().LocalSN != tb.Agreed().PeerSN || tb.Agreed().LocalSN != ta.Agreed().PeerSN {
				t.Error("sequence numbers differ")
			}
		})
	}
}

// scripted answers each batch with the next one of replies; an empty one ends the connection.
func scripted(t *testing.T, conn net.Conn, replies ...string) {
	go func() {
		defer conn.Close()
		for _, r := range replies {
			var head [2]byte
			if _, err := io.ReadFull(conn, head[:]); err != nil {
				return
			}
			if _, err := io.CopyN(io.Discard, conn, int64(head[0])|int64(head[1])<<8); err != nil || r == "" {
				return
			}
			b, err := hex.DecodeString(strings.ReplaceAll(r, " ", ""))
			if err != nil {
				t.Error(err)
				return
			}
			if err := writeBatch(conn, append([]byte{0, 0}, b...)); err != nil {
				return
			}
		}
		_, _ = io.Copy(io.Discard, conn)
	}()
}

func TestHandshakeFailures(t *testing.T) {
	const peer = "f0 000102030405060708090a0b0c0d0e0f"
	own, _ := wire.ParseID("f0e0d0c0b0a09080706050403020101")
	for _, tc := range []struct {
		name    string
		replies []string
		want    string
	}{
		{"close in place of an answer", []string{"03 03"}, "InitAck: zenoh link: closed by peer: max-sessions"},
		{"version", []string{"21 0a f0"}, "InitAck: protocol version 10, want 9"},
		{"syn in place of ack", []string{"01 09 " + peer}, "InitAck: answer in place of a request"},
		{"larger batch", []string{"61 09 " + peer + "0a ff ff 00"}, ""}, // 65535 is what we proposed
		{"patch raised", []string{"a1 09 " + peer + "00 27 02"}, "InitAck: peer raises what we proposed"},
		{"tiny batch", []string{"61 09 " + peer + "0a 10 00 00"}, "InitAck: batch size 16 below 128"},
		{"narrow resolution", []string{"61 09 " + peer + "05 ff ff 00"}, "InitAck: sequence numbers of less than 32 bits"},
		{"our own id", []string{"21 09 f0" + hex.EncodeToString(own[:]) + "00"}, "InitAck: peer has our own id"},
		{"truncated", []string{"21 09 f0 0001"}, "InitAck: zenoh wire: byte 3: init: id"},
		{"end", []string{""}, "InitAck: EOF"},
		{"other message", []string{"04"}, "InitAck: unexpected message 0x04"},
		{"lease of zero", []string{"21 09 " + peer + "00", "62 00 00"}, "OpenAck: lease of zero"},
		{"initial sn", []string{"21 09 " + peer + "00", "62 0a 8080808001"}, "OpenAck: initial sequence number 268435456 out of range"},
		{"refused late", []string{"21 09 " + peer + "00", "03 02"}, "OpenAck: zenoh link: closed by peer: invalid"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ca, cb := tcpPair(t)
			defer ca.Close()
			scripted(t, cb, tc.replies...)
			ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
			defer cancel()
			_, err := Dial(ctx, ca, Local{ID: own, WhatAmI: wire.Client, Lease: time.Second, Patch: 1})
			var he *HandshakeError
			if !errors.As(err, &he) {
				t.Fatalf("%v", err)
			}
			if tc.want == "" {
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Fatalf("%v, want only a time-out", err)
				}
			} else if !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("%v, want %q", err, tc.want)
			}
		})
	}
}

func TestAcceptRefuses(t *testing.T) {
	id := wire.NewID()
	for _, tc := range []struct {
		name   string
		local  Local
		check  func(wire.ID, wire.WhatAmI) (wire.Reason, error)
		reason wire.Reason
	}{
		{"self", Local{ID: id}, nil, wire.ReasonConnectionToSelf},
		{"by choice", Local{ID: wire.NewID()}, func(wire.ID, wire.WhatAmI) (wire.Reason, error) {
			return wire.ReasonMaxLinks, errors.New("known already")
		}, wire.ReasonMaxLinks},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ca, cb := tcpPair(t)
			defer ca.Close()
			defer cb.Close()
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			tc.local.Lease = time.Second
			refused := make(chan error, 1)
			go func() {
				_, err := Accept(ctx, cb, tc.local, tc.check)
				refused <- err
			}()
			_, err := Dial(ctx, ca, Local{ID: id, Lease: time.Second})
			var ce *CloseError
			if !errors.As(err, &ce) || ce.Reason != tc.reason || !ce.Remote {
				t.Errorf("dialler got %v", err)
			}
			if err := within(t, "refusal", refused); err == nil {
				t.Error("acceptor is content")
			}
		})
	}
}

func TestHandshakeEndsWithContext(t *testing.T) {
	ca, cb := tcpPair(t)
	defer ca.Close()
	defer cb.Close()
	ctx, cancel := context.WithCancelCause(context.Background())
	reason := errors.New("changed my mind")
	time.AfterFunc(20*time.Millisecond, func() { cancel(reason) })
	if _, err := Dial(ctx, ca, Local{ID: wire.NewID(), Lease: time.Second}); !errors.Is(err, reason) {
		t.Error(err)
	}
}
