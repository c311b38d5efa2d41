package wire

import (
	"bytes"
	"encoding/hex"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestUintVectors(t *testing.T) {
	for _, tc := range []struct {
		v   uint64
		hex string
	}{
		{0, "00"}, {127, "7f"}, {128, "8001"}, {300, "ac02"}, {10000, "904e"}, {65535, "ffff03"}, {268435455, "ffffff7f"},
		{1 << 63, "808080808080808080"}, {math.MaxUint64, "ffffffffffffffffff"}, {1<<56 - 1, "ffffffffffffff7f"}, {1 << 56, "808080808080808001"},
	} {
		got := AppendUint(nil, tc.v)
		if hex.EncodeToString(got) != tc.hex || UintLen(tc.v) != len(got) {
			t.Errorf("%d: % x, want %s (length %d)", tc.v, got, tc.hex, UintLen(tc.v))
		}
		r := NewReader(got)
		if v := r.Uint(""); v != tc.v || r.Len() != 0 || r.Failed() {
			t.Errorf("%s read as %d", tc.hex, v)
		}
		for n := range got {
			if r := NewReader(got[:n]); r.Uint("x") != 0 || !r.Failed() {
				t.Errorf("% x accepted", got[:n])
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Uint64().Draw(t, "v")
		r := NewReader(AppendUint(nil, v))
		if got := r.Uint(""); got != v || r.Len() != 0 {
			t.Fatalf("%d read as %d", v, got)
		}
	})
}

func TestBounds(t *testing.T) {
	r := NewReader([]byte{0x80, 0x80, 0x04}) // 65536
	if r.Uint16("x"); !r.Failed() {
		t.Error("65536 accepted as 16 bits")
	}
	r = NewReader([]byte{0x05, 1, 2, 3, 4})
	if r.Bytes(max32, "x"); !r.Failed() {
		t.Error("length beyond the input accepted")
	}
	r = NewReader(append(AppendUint(nil, math.MaxUint64), 1, 2))
	if r.Bytes(math.MaxUint64, "x"); !r.Failed() {
		t.Error("length of 2^64-1 accepted")
	}
	r = NewReader([]byte{0})
	if b := r.Bytes(max32, "x"); b == nil || len(b) != 0 {
		t.Error("empty byte string is nil")
	}
}

func TestID(t *testing.T) {
	for _, s := range []string{"1", "f0", "abc", "777f8c1c711983bbb70b6f4055fe0905"} {
		id, err := ParseID(s)
		if err != nil || id.String() != s {
			t.Errorf("%q: %v, %v", s, id, err)
		}
	}
	for _, s := range []string{"", "0", "01", "A", "g", "777f8c1c711983bbb70b6f4055fe09051"} {
		if id, err := ParseID(s); err == nil {
			t.Errorf("%q accepted as %v", s, id)
		}
	}
	for range 1000 {
		if id := NewID(); id.Len() != 16 {
			t.Fatalf("%v has %d bytes", id, id.Len())
		}
	}
}

func TestTimestamp(t *testing.T) {
	now := time.Date(2026, 2, 3, 4, 5, 6, 789_000_000, time.UTC)
	ts := Timestamp{Time: NTP64(now.UnixNano()), ID: ID{1}}
	if d := ts.AsTime().Sub(now).Abs(); d > time.Microsecond {
		t.Errorf("%v became %v", now, ts.AsTime())
	}
	a, b := Timestamp{Time: 1, ID: ID{2}}, Timestamp{Time: 1, ID: ID{1, 1}}
	if a.Compare(&b) != -1 || b.Compare(&a) != 1 || a.Compare(&a) != 0 {
		t.Error("order by id")
	}
}

// Generators of every record, by fields that survive a round trip.

func genID(t *rapid.T) ID {
	id := ID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
	n := rapid.IntRange(1, 16).Draw(t, "id length")
	clear(id[n:])
	id[n-1] |= 1
	return id
}

func genBytes(t *rapid.T, name string) []byte {
	return rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(t, name)
}

func genKey(t *rapid.T) WireExpr {
	k := WireExpr{Scope: rapid.Uint16().Draw(t, "scope"), Sender: rapid.Bool().Draw(t, "sender")}
	if rapid.Bool().Draw(t, "suffix") {
		k.Suffix = genBytes(t, "suffix")
	}
	return k
}

func genEncoding(t *rapid.T) (e Encoding) {
	if rapid.Bool().Draw(t, "encoding") {
		e.ID = rapid.Uint32Max(1<<31-1).Draw(t, "encoding id")
		if rapid.Bool().Draw(t, "schema") {
			e.Schema = rapid.SliceOfN(rapid.Byte(), 1, 255).Draw(t, "schema")
		}
	}
	return e
}

func genSource(t *rapid.T) (s SourceInfo) {
	if rapid.Bool().Draw(t, "source") {
		s = SourceInfo{genID(t), rapid.Uint32().Draw(t, "entity"), rapid.Uint32().Draw(t, "sequence")}
	}
	return s
}

func genSample(t *rapid.T) (s Sample) {
	s.Delete = rapid.Bool().Draw(t, "delete")
	if rapid.Bool().Draw(t, "timestamp") {
		s.Timestamp = Timestamp{rapid.Uint64().Draw(t, "time"), genID(t)}
	}
	s.Source = genSource(t)
	if rapid.Bool().Draw(t, "attachment") {
		s.Attachment = genBytes(t, "attachment")
	}
	if !s.Delete {
		s.Encoding = genEncoding(t)
		s.Payload = genBytes(t, "payload")
	}
	return s
}

func genQoS(t *rapid.T) QoS { return QoS(rapid.Byte().Draw(t, "qos")) }

func roundTrip[M any](t *rapid.T, m M, bytes []byte, decode func(*M, *Reader)) {
	t.Helper()
	r := NewReader(append(bytes, 0xee))
	var got M
	decode(&got, &r)
	if err := r.Err(); err != nil {
		t.Fatalf("%+v: % x: %v", m, bytes, err)
	}
	if r.Len() != 1 {
		t.Fatalf("%+v: %d bytes left", m, r.Len()-1)
	}
	if d := cmp.Diff(m, got); d != "" {
		t.Fatalf("% x: %s", bytes, d)
	}
}

func TestRoundTrips(t *testing.T) {
	dirty := bytes.Repeat([]byte{0xff}, 4096)[:0] // appending must not rely on zeroed memory
	rapid.Check(t, func(t *rapid.T) {
		switch rapid.IntRange(0, 8).Draw(t, "record") {
		case 0:
			m := Push{genKey(t), genQoS(t), genSample(t)}
			b := m.AppendHead(dirty)
			if len(b) > m.HeadBound() {
				t.Fatalf("head of %d bytes, bound %d", len(b), m.HeadBound())
			}
			roundTrip(t, m, append(b, m.Body.Payload...), (*Push).Decode)
		case 1:
			m := Response{ID: rapid.Uint32().Draw(t, "rid"), Key: genKey(t), QoS: genQoS(t)}
			if rapid.Bool().Draw(t, "responder") {
				m.Responder = Responder{genID(t), rapid.Uint32().Draw(t, "entity")}
			}
			if m.IsErr = rapid.Bool().Draw(t, "err"); m.IsErr {
				m.Err = Err{genEncoding(t), genBytes(t, "payload")}
			} else {
				m.Reply = Reply{Consolidation(rapid.IntRange(0, 3).Draw(t, "consolidation")), genSample(t)}
			}
			b := m.AppendHead(dirty)
			if len(b) > m.HeadBound() {
				t.Fatalf("head of %d bytes, bound %d", len(b), m.HeadBound())
			}
			roundTrip(t, m, append(b, m.Payload()...), (*Response).Decode)
		case 2:
			m := Request{ID: rapid.Uint32().Draw(t, "rid"), Key: genKey(t), QoS: genQoS(t), Target: Target(rapid.IntRange(0, 2).Draw(t, "target")),
				Timeout: time.Duration(rapid.Int64Range(0, 1<<40).Draw(t, "ms")) * time.Millisecond,
				Body:    Query{Consolidation: Consolidation(rapid.IntRange(0, 3).Draw(t, "consolidation")), Source: genSource(t)}}
			if rapid.Bool().Draw(t, "parameters") {
				m.Body.Parameters = genBytes(t, "parameters")
			}
			if m.Body.Body = rapid.Bool().Draw(t, "body"); m.Body.Body {
				m.Body.Encoding, m.Body.Payload = genEncoding(t), genBytes(t, "payload")
			}
			if rapid.Bool().Draw(t, "attachment") {
				m.Body.Attachment = genBytes(t, "attachment")
			}
			b := m.Append(dirty)
			if len(b) > m.Bound() {
				t.Fatalf("%d bytes, bound %d", len(b), m.Bound())
			}
			roundTrip(t, m, b, (*Request).Decode)
		case 3:
			m := Declare{QoS: genQoS(t), Answers: rapid.Bool().Draw(t, "answers")}
			if m.Answers {
				m.Interest = rapid.Uint32().Draw(t, "interest")
			}
			m.Kind = rapid.SampledFrom([]DeclarationKind{0, 1, 2, 3, 4, 5, 6, 7, DeclareFinal}).Draw(t, "kind")
			switch m.Kind {
			case DeclareFinal:
			case DeclareKey:
				m.ID, m.Key = uint32(rapid.Uint16().Draw(t, "key id")), genKey(t)
				m.Key.Sender = true
			case UndeclareKey:
				m.ID = uint32(rapid.Uint16().Draw(t, "key id"))
			default:
				m.ID, m.Key = rapid.Uint32().Draw(t, "id"), genKey(t)
				if m.Key.IsNull() {
					m.Key.Scope = 1
				}
				if m.Kind == DeclareQueryable {
					m.Complete, m.Distance = rapid.Bool().Draw(t, "complete"), rapid.Uint16().Draw(t, "distance")
				}
			}
			b := m.Append(dirty)
			if len(b) > m.Bound() {
				t.Fatalf("%d bytes, bound %d", len(b), m.Bound())
			}
			roundTrip(t, m, b, (*Declare).Decode)
		case 4:
			m := Interest{ID: rapid.Uint32().Draw(t, "id"), Mode: InterestMode(rapid.IntRange(0, 3).Draw(t, "mode")), QoS: genQoS(t)}
			if m.Mode != InterestFinal {
				m.Options = rapid.Byte().Draw(t, "options") & 0x8f
				if m.Key = genKey(t); m.Key.IsNull() {
					m.Key = WireExpr{}
				}
			}
			b := m.Append(dirty)
			if len(b) > m.Bound() {
				t.Fatalf("%d bytes, bound %d", len(b), m.Bound())
			}
			roundTrip(t, m, b, (*Interest).Decode)
		case 5:
			m := Init{Ack: rapid.Bool().Draw(t, "ack"), Version: Version, WhatAmI: WhatAmI(rapid.IntRange(0, 2).Draw(t, "role")), ID: genID(t),
				Resolution: byte(rapid.IntRange(0, 15).Draw(t, "resolution")), Batch: rapid.Uint16().Draw(t, "batch"),
				QoS: rapid.Bool().Draw(t, "qos"), Patch: rapid.Byte().Draw(t, "patch")}
			if m.Ack {
				m.Cookie = genBytes(t, "cookie")
			}
			roundTrip(t, m, m.Append(dirty), (*Init).Decode)
		case 6:
			m := Open{Ack: rapid.Bool().Draw(t, "ack"), Lease: time.Duration(rapid.Uint32().Draw(t, "ms")) * time.Millisecond,
				InitialSN: rapid.Uint32().Draw(t, "sn")}
			if !m.Ack {
				m.Cookie = genBytes(t, "cookie")
			}
			roundTrip(t, m, m.Append(dirty), (*Open).Decode)
		case 7:
			m := Frame{rapid.Bool().Draw(t, "reliable"), Priority(rapid.IntRange(0, 7).Draw(t, "priority")), rapid.Uint32Max(SNMask).Draw(t, "sn")}
			b := m.Append(dirty)
			if len(b) > MaxFrameHeader {
				t.Fatalf("%d bytes, bound %d", len(b), MaxFrameHeader)
			}
			roundTrip(t, m, b, (*Frame).Decode)
		case 8:
			m := Fragment{rapid.Bool().Draw(t, "reliable"), Priority(rapid.IntRange(0, 7).Draw(t, "priority")), rapid.Uint32Max(SNMask).Draw(t, "sn"),
				rapid.Bool().Draw(t, "more"), rapid.Bool().Draw(t, "first"), rapid.Bool().Draw(t, "drop")}
			b := m.Append(dirty)
			if len(b) > MaxFragmentHeader {
				t.Fatalf("%d bytes, bound %d", len(b), MaxFragmentHeader)
			}
			roundTrip(t, m, b, (*Fragment).Decode)
		}
	})
}

func TestCodecDoesNotAllocate(t *testing.T) {
	m := Push{Key: WireExpr{Scope: 3, Sender: true}, QoS: DefaultQoS, Body: Sample{Attachment: make([]byte, 33), Payload: make([]byte, 64),
		Timestamp: Timestamp{Time: 1 << 60, ID: ID{15: 1}}}}
	buf := make([]byte, 0, 1024)
	var got Push
	if n := testing.AllocsPerRun(100, func() {
		b := append(m.AppendHead(buf), m.Body.Payload...)
		r := NewReader(b)
		got.Decode(&r)
		if r.Failed() || r.Len() != 0 {
			t.Error(r.Err())
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkPush(b *testing.B) {
	m := Push{Key: WireExpr{Scope: 3, Sender: true}, QoS: DefaultQoS, Body: Sample{Attachment: make([]byte, 33), Payload: make([]byte, 64)}}
	buf := make([]byte, 0, 1024)
	b.Run("encode", func(b *testing.B) {
		for b.Loop() {
			_ = append(m.AppendHead(buf), m.Body.Payload...)
		}
	})
	enc := append(m.AppendHead(buf), m.Body.Payload...)
	var got Push
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			r := NewReader(enc)
			got.Decode(&r)
		}
	})
}
