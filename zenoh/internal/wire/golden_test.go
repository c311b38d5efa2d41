package wire

import (
	"bufio"
	"encoding/hex"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.NewReplacer(" ", "", "|", "").Replace(s))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// reencode decodes one batch with every decoder there is and encodes it again.
func reencode(t testing.TB, batch []byte) []byte {
	t.Helper()
	r := NewReader(batch)
	var out []byte
	for r.Len() > 0 && !r.Failed() {
		switch MessageID(r.Peek()) {
		case IDInit:
			var m Init
			m.Decode(&r)
			out = m.Append(out)
		case IDOpen:
			var m Open
			m.Decode(&r)
			out = m.Append(out)
		case IDClose:
			var m Close
			m.Decode(&r)
			out = m.Append(out)
		case IDKeepAlive:
			SkipKeepAlive(&r)
			out = AppendKeepAlive(out)
		case IDFrame:
			var m Frame
			m.Decode(&r)
			out = m.Append(out)
			for r.Len() > 0 && IsNetwork(r.Peek()) {
				out = reencodeNetwork(&r, out)
			}
		case IDFragment:
			var m Fragment
			m.Decode(&r)
			out = append(m.Append(out), r.Rest()...)
		default:
			r.Fail("unknown message")
		}
	}
	if err := r.Err(); err != nil {
		t.Fatalf("% x: %v", batch, err)
	}
	return out
}

func reencodeNetwork(r *Reader, out []byte) []byte {
	switch MessageID(r.Peek()) {
	case IDInterest:
		var m Interest
		m.Decode(r)
		return m.Append(out)
	case IDResponseFinal:
		var m ResponseFinal
		m.Decode(r)
		return m.Append(out)
	case IDResponse:
		var m Response
		m.Decode(r)
		return append(m.AppendHead(out), m.Payload()...)
	case IDRequest:
		var m Request
		m.Decode(r)
		return m.Append(out)
	case IDPush:
		var m Push
		m.Decode(r)
		return append(m.AppendHead(out), m.Body.Payload...)
	case IDDeclare:
		var m Declare
		m.Decode(r)
		return m.Append(out)
	case IDOAM:
		var m OAM
		m.Decode(r)
		return m.Append(out)
	}
	r.Fail("unknown network message")
	return out
}

// Every batch of the reference library must come out of our encoders as it went into our decoders.
func TestReferenceCapture(t *testing.T) {
	f, err := os.Open("testdata/eclipse-zenoh-1.10.2.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	// We identify what is undeclared by its number alone; the reference adds an empty key.
	nullKeys := strings.NewReplacer("87055f020000", "0705", "87045f020000", "0704", "87035f020000", "0703", "85025f020000", "0502")
	batches := 0
	for s := bufio.NewScanner(f); s.Scan(); {
		line := s.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		text := strings.Fields(line)[2]
		if got := hex.EncodeToString(reencode(t, unhex(t, text))); got != nullKeys.Replace(text) {
			t.Errorf("%s\n in %s\nout %s", line, nullKeys.Replace(text), got)
		}
		batches++
	}
	if batches < 50 {
		t.Errorf("only %d batches", batches)
	}
}

// Batches of zenoh-pico 1.9.0 (default build, peer mode over a relay) and
// hand-made ones that it accepted.
func TestPicoBatches(t *testing.T) {
	const zid = "0509fe55406f0bb7bb8319711c8c7f77"
	for _, in := range []string{
		"c1 09 f1" + zid + "0a 00 08 27 01",
		"e1 09 f1" + zid + "0a 00 08 00 27 01",
		"81 09 f2" + zid + "81 27 01",
		"42 0a 00 00",
		"62 0a 00",
		"25 00 3e 00 20 01 00 04 64656d6f",
		"25 01 3e 00 62 01 01 03 2f2a2a",
		"25 02 3e 00 1a",
		"04",
		"25 01 5d 01 e1 e1a9d2cad88cca866b 10" + zid + "03 04 75746638 43 02 0102 03 616263",
		"25 00 fc 01 00 06 64656d6f2f71 a1 0d 26 90 4e a3 02 c3 08 03 04 75746638 6869 45 01 00",
		"25 03 fb 01 00 06 64656d6f2f71 a1 0d 43 12 f0" + zid + "00 04 c1 03 04 75746638 43 01 07 02 6869",
		"25 04 1a 01",
		"25 00 1e 20 01 00 04 6c762f78",
		"25 01 1e 46 01 01",
		"25 07 39 01 79 00 05 6c762f2a2a",
		"25 07 79 02 59 02",
		"25 07 59 05 59 02",
		"25 07 1e 44 03 02",
		"25 08 5d 02 01 04 03000000",
		"25 09 5d 01 81 41 13 f0" + zid + "01 01 01 61",
		"23 00",
	} {
		if got := reencode(t, unhex(t, in)); !cmp.Equal(got, unhex(t, in)) {
			t.Errorf("in  %s\nout % x", in, got)
		}
	}
}

func TestFieldsOfGoldenBytes(t *testing.T) {
	id, err := ParseID("777f8c1c711983bbb70b6f4055fe0905")
	if err != nil {
		t.Fatal(err)
	}
	check := func(name string, got, want any) {
		t.Helper()
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}

	var init Init
	r := NewReader(unhex(t, "c1 09 f1 0509fe55406f0bb7bb8319711c8c7f77 0a 00 08 27 01"))
	init.Decode(&r)
	check("init", init, Init{Version: 9, WhatAmI: Peer, ID: id, Resolution: 0x0a, Batch: 2048, Patch: 1})

	var open Open
	r = NewReader(unhex(t, "42 0a 80eede0b 02 0102"))
	open.Decode(&r)
	check("open", open, Open{Lease: 10 * time.Second, InitialSN: 24622848, Cookie: []byte{1, 2}})

	var frag Fragment
	r = NewReader(unhex(t, "e6 d1b08450 02 01"))
	frag.Decode(&r)
	check("fragment", frag, Fragment{Reliable: true, Priority: PriorityData, SN: 0xa011851, More: true, First: true})

	var req Request
	r = NewReader(unhex(t, "dc 04 03 a1 0d b4 02 26 b817 63 01 03 7a3d31"))
	req.Decode(&r)
	check("request", req, Request{ID: 4, Key: WireExpr{Scope: 3, Sender: true}, QoS: 0x0d, Target: TargetAllComplete,
		Timeout: 3 * time.Second, Body: Query{Consolidation: ConsolidationNone, Parameters: []byte("z=1")}})

	var req2 Request
	r = NewReader(unhex(t, "9c 01 02 a1 0d 26 d00f e3 03 07 613d313b623d32 c3 05 00 626f6479 45 02 7161"))
	req2.Decode(&r)
	check("request with body", req2, Request{ID: 1, Key: WireExpr{Scope: 2}, QoS: 0x0d, Timeout: 2 * time.Second,
		Body: Query{Consolidation: ConsolidationLatest, Parameters: []byte("a=1;b=2"), Body: true, Payload: []byte("body"), Attachment: []byte("qa")}})

	var resp Response
	r = NewReader(unhex(t, "fb 02 00 06 64656d6f2f65 a1 0d 43 12 f0 0509fe55406f0bb7bb8319711c8c7f77 08 45 08 03 626164"))
	resp.Decode(&r)
	check("err", resp, Response{ID: 2, Key: WireExpr{Suffix: []byte("demo/e"), Sender: true}, QoS: 0x0d,
		Responder: Responder{ID: id, Entity: 8}, IsErr: true, Err: Err{Encoding: Encoding{ID: 4}, Payload: []byte("bad")}})

	var decl Declare
	r = NewReader(unhex(t, "9e 21 08 c4 02 02 21 01"))
	decl.Decode(&r)
	check("queryable", decl, Declare{QoS: ControlQoS, Declaration: Declaration{Kind: DeclareQueryable, ID: 2,
		Key: WireExpr{Scope: 2, Sender: true}, Complete: true}})

	r = NewReader(unhex(t, "9e 21 08 87 05 5f 07 03 01 2f2a2a 6f 6f"))
	decl.Decode(&r)
	check("undeclared token with key", decl, Declare{QoS: ControlQoS, Declaration: Declaration{Kind: UndeclareToken, ID: 5,
		Key: WireExpr{Scope: 1, Suffix: []byte("/**oo"), Sender: true}}})

	var oam OAM
	r = NewReader(unhex(t, "5f 01 03 000102 1a 01"))
	oam.Decode(&r)
	check("oam", oam, OAM{ID: 1, Body: []byte{0, 1, 2}})
	check("rest after oam", r.Peek(), byte(IDResponseFinal))
}

func TestInitOfOtherVersion(t *testing.T) {
	var m Init
	r := NewReader(unhex(t, "01 0a ff ff"))
	m.Decode(&r)
	if m.Version != 10 || r.Failed() {
		t.Errorf("version %d, %v", m.Version, r.Err())
	}
}
