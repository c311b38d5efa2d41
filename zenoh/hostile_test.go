package zenoh

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tagus-ros/tagus/internal/pool"
	"github.com/tagus-ros/tagus/zenoh/internal/transport"
	"github.com/tagus-ros/tagus/zenoh/internal/wire"
)

// What a hostile router may send once the session is open, and how the session
// must end the link (or not): it says why, connects again, and never panics.
func TestHostileRouter(t *testing.T) {
	long := strings.Repeat("61", 100)
	for _, tc := range []struct {
		name   string
		raw    string // batches with their prefix
		reason CloseReason
		stays  bool
	}{
		{name: "garbage", raw: "0400 1f1e1d1c", reason: 2},
		{name: "unknown transport message", raw: "0100 08", reason: 2},
		{name: "unknown declaration", raw: "0500 25SN 1e 0f", reason: 2},
		{name: "payload beyond the batch", raw: "0b00 25SN 1d 00 01 7f 61", reason: 2},
		{name: "sequence number out of range", raw: "0900 25 ffffffffffffff7f", reason: 2},
		{name: "mandatory extension", raw: "0700 a5SN 13 00", reason: 2},
		{name: "shared memory", raw: "0a00 25SN 1d 01 81 12 00", reason: 2},
		{name: "fragments that are no message", raw: "0800 a6SN 02 04 04", reason: 2},
		{name: "key id zero", raw: "0a00 25SN 1e 20 00 00 01 61", stays: true},
		{name: "unknown alias", raw: "0a00 25SN 1d 05 01 01 61", stays: true},
		{name: "final of nothing", raw: "0800 25SN 1a 63 04", stays: true},
		{name: "interest in all", raw: "0900 25SN 79 01 0f 04", stays: true},
		{name: "undeclared before declared", raw: "0900 25SN 1e 07 05 04", stays: true},
		{name: "malformed key", raw: "0e00 25SN 1e 22 01 00 04 2f2f2f2f", stays: true},
		{name: "old frame", raw: "0700 25OLD 1a 01", stays: true},
		{name: "fragment without beginning", raw: "0800 26SN 61 61 61", stays: true},
		{name: "oam", raw: "0a00 25SN 5f 01 02 0102", stays: true},
		{name: "close", raw: "0200 2305"},
		{name: "end of file", raw: ""},
		{name: "half a batch", raw: "ff00 25"},
		{name: "keep-alives", raw: strings.Repeat("0100 04", 1000), stays: true},
		{name: "reply to nobody", raw: "5f00 25SN 3b 05 00 64" + long[:64] + "04 01 01 61", reason: 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFake(t)
			st := newStates()
			s := session(t, f.locator(), func(c *Config) { c.OnState = st.note; c.RetryMin = time.Millisecond })
			must[*Subscriber](t)(s.NewSubscriber("**", func(*Sample) {}, SubscriberOptions{}))
			must[*Queryable](t)(s.NewQueryable("**", func(*Query) {}, QueryableOptions{}))
			c := within(t, "connection", f.conns)
			st.until(t, true)
			sn := c.t.Agreed().LocalSN
			enc := func(sn uint32) string { // always four bytes, so that lengths can be written down
				b := []byte{byte(sn) | 0x80, byte(sn>>7) | 0x80, byte(sn>>14) | 0x80, byte(sn >> 21 & 0x7f)}
				return hex.EncodeToString(b)
			}
			raw := strings.NewReplacer(" ", "", "SN", enc(sn), "OLD", enc(sn-1&wire.SNMask)).Replace(tc.raw)
			b, err := hex.DecodeString(raw)
			if err != nil {
				t.Fatal(err)
			}
			b = relength(b)
			if _, err := c.raw.Write(b); err != nil {
				t.Fatal(err)
			}
			if tc.raw == "" || tc.name == "half a batch" {
				_ = c.raw.Close()
			}
			if tc.stays {
				// A round trip over the same link shows that it is alive.
				done := make(chan struct{})
				go func() {
					defer close(done)
					for m := range c.said {
						if i, ok := m.(*wire.Interest); ok && i.Mode == wire.InterestCurrent {
							// The raw bytes used up a number of this lane, so another one is used here.
							d := wire.NewDeclare(wire.Declaration{Kind: wire.DeclareFinal})
							d.Answers, d.Interest = true, i.ID
							_ = c.t.Send(bg, transport.Lane{Priority: wire.PriorityDataHigh, Reliable: true}, d.Append(nil), nil)
							return
						}
					}
				}()
				if _, err := s.Tokens(bg, "x"); err != nil {
					t.Error(err)
				}
				within(t, "answer", done)
				if n := s.State().Links; n != 1 {
					t.Errorf("%d links", n)
				}
				return
			}
			down := st.until(t, false)
			var ce *CloseError
			if !errors.As(down.Err, &ce) {
				t.Fatalf("%v", down.Err)
			}
			if tc.reason != 0 && (ce.Reason != tc.reason || ce.Remote) {
				t.Errorf("%v", ce)
			}
			if tc.name == "close" && (!ce.Remote || ce.Reason != wire.ReasonExpired) {
				t.Errorf("%v", ce)
			}
			// The peer is told.
			gone := within(t, "end at the peer", c.gone)
			if tc.reason != 0 && (!errors.As(gone, &ce) || ce.Reason != tc.reason || !ce.Remote) {
				t.Errorf("peer was told %v", gone)
			}
			st.until(t, true)
		})
	}
}

// relength corrects the prefix of a first batch, so that the scripts need not count.
func relength(b []byte) []byte {
	if len(b) > 6 && b[2] != 0x04 && !(b[0] == 0xff) {
		binary.LittleEndian.PutUint16(b, uint16(len(b)-2))
	}
	return b
}

// A router that hangs up right after each handshake is not called without pause.
func TestHangUpAfterHandshake(t *testing.T) {
	f := newFake(t)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case c := <-f.conns:
				_ = c.raw.Close()
			case <-stop:
				return
			}
		}
	})
	defer wg.Wait()
	defer close(stop)
	s, err := Open(bg, Config{Connect: []string{f.locator()}, RetryMin: 40 * time.Millisecond, RetryMax: 80 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(600 * time.Millisecond)
	if n := s.State().Links; n < 3 || n > 16 {
		t.Errorf("%d links in 600 ms", n)
	}
	_ = s.Close()
}

// FuzzFace hands bytes to a session as network messages.
func FuzzFace(f *testing.F) {
	capture, err := readCapture("internal/wire/testdata/eclipse-zenoh-1.10.2.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, b := range capture {
		r := wire.NewReader(b)
		if wire.MessageID(r.Peek()) == wire.IDFrame {
			var m wire.Frame
			m.Decode(&r)
			f.Add(r.Rest())
		}
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		ours, theirs := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, theirs) }()
		cfg := Config{Connect: []string{"tcp/x:1"}}
		if err := cfg.fill(); err != nil {
			t.Fatal(err)
		}
		s := newSession(cfg)
		s.buffers = pool.New(0)
		agreed := transport.Agreed{ID: NewID(), Lease: time.Hour, Batch: 65535, QoS: true, Patch: 1, OwnLease: time.Hour, OwnID: s.ID()}
		face := newFace(s, ours, agreed, "x")
		s.up(face)
		sink := func(*Sample) {}
		_, _ = s.NewSubscriber("demo/**", sink, SubscriberOptions{})
		_, _ = s.NewQueryable("demo/*", func(q *Query) { _ = q.Reply(bg, "", q.Payload, PutOptions{}) }, QueryableOptions{})
		_, _ = s.NewToken("lv/x")
		_, _ = s.NewLivelinessSubscriber("lv/**", func(LivelinessEvent) {}, LivelinessOptions{History: true})
		ask, err := s.Ask(bg, "demo/q", QuerierOptions{}, QueryOptions{}, func(*Reply) {}, func(error) {})
		if err != nil {
			t.Fatal(err)
		}
		r := wire.NewReader(in)
		for r.Len() > 0 {
			face.Message(&r, transport.Lane{Priority: wire.PriorityData, Reliable: true}, nil)
		}
		ask.Cancel()
		face.t.Close(bg, wire.ReasonGeneric)
		<-face.t.Done()
		_ = theirs.Close()
	})
}

func readCapture(path string) ([][]byte, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var out [][]byte
	for line := range bytes.Lines(b) {
		fields := strings.Fields(string(line))
		if len(fields) != 3 || fields[0] == "#" {
			continue
		}
		raw, err := hex.DecodeString(fields[2])
		if err != nil {
			return nil, err
		}
		out = append(out, raw)
	}
	return out, nil
}
