package wire

import (
	"errors"
	"testing"
)

// Each line breaks one rule; the decoder must say so, naming the field, and not go on.
func TestMalformed(t *testing.T) {
	const zid = "0509fe55406f0bb7bb8319711c8c7f77"
	decoders := map[string]func(*Reader){
		"init":     func(r *Reader) { new(Init).Decode(r) },
		"open":     func(r *Reader) { new(Open).Decode(r) },
		"close":    func(r *Reader) { new(Close).Decode(r) },
		"frame":    func(r *Reader) { new(Frame).Decode(r) },
		"fragment": func(r *Reader) { new(Fragment).Decode(r) },
		"push":     func(r *Reader) { new(Push).Decode(r) },
		"declare":  func(r *Reader) { new(Declare).Decode(r) },
		"interest": func(r *Reader) { new(Interest).Decode(r) },
		"request":  func(r *Reader) { new(Request).Decode(r) },
		"response": func(r *Reader) { new(Response).Decode(r) },
		"final":    func(r *Reader) { new(ResponseFinal).Decode(r) },
		"oam":      func(r *Reader) { new(OAM).Decode(r) },
	}
	for _, tc := range []struct{ record, in, what string }{
		{"init", "", "init"},
		{"init", "02 09", "init: other message"},
		{"init", "01 09 03 05", "init: role"},
		{"init", "01 09 f2 0509", "init: id"},
		{"init", "01 09 12 0000", "init: id"},
		{"init", "41 09 f1" + zid + "0a 00", "init: batch size"},
		{"init", "21 09 f1" + zid + "05 0102", "init: cookie"},
		{"init", "81 09 f1" + zid + "17 01", "unknown mandatory extension"},
		{"init", "81 09 f1" + zid + "68", "extension of reserved encoding"},
		{"open", "42 0a", "open: initial sequence number"},
		{"open", "42 0a 00 02 01", "open: cookie"},
		{"open", "42 ff", "open: lease"},
		{"close", "23", "close: reason"},
		{"frame", "25 80808080 01", "frame: sequence number"},
		{"frame", "a5 01 31", "frame: priority"},
		{"frame", "a5 01 11", "unknown mandatory extension"},
		{"fragment", "26 ffffffffffffffffff", "fragment: sequence number"},
		{"push", "3d 00 ffff04", "key: suffix"},
		{"push", "1d 80 80 04", "key: scope"},
		{"push", "1d 01 03", "sample: neither put nor del"},
		{"push", "1d 01 01 05 0102", "sample: payload"},
		{"push", "1d 01 81 12 00 00", "unknown mandatory extension"}, // a shared-memory payload
		{"push", "1d 01 81 43 ff", "sample: attachment"},
		{"push", "1d 01 81 41 03 f0 01 02 01 61", "source info"},
		{"push", "1d 01 21 01 11 00", "timestamp: id"},
		{"push", "1d 01 41 09 05 61", "encoding: schema"},
		{"declare", "1e 08", "declaration: unknown kind"},
		{"declare", "3e", "declare: interest id"},
		{"declare", "1e 00 808004 01", "declaration: key id"},
		{"declare", "1e 07 05 80", ""},
		{"declare", "1e 87 05 5f 00", "key extension"},
		{"declare", "1e 87 05 5f 03 00 00 61", "key extension"},
		{"interest", "39 01", "interest: options"},
		{"request", "1c 01 01 04 00", "query: other body"},
		{"request", "9c 01 01 34 03 03", "request: target"},
		{"request", "1c 01 01 83 43 02 80", "query: body"},
		{"response", "1b 01 01 03", "reply: other body"},
		{"response", "9b 01 01 43 02 f0 01 04", "response: responder"},
		{"final", "1a", "response final: id"},
		{"oam", "5f 01 05 00", "oam: body"},
		{"oam", "7f 01 00", "oam: reserved encoding"},
	} {
		r := NewReader(unhex(t, tc.in))
		decoders[tc.record](&r)
		err := r.Err()
		if tc.what == "" {
			if err != nil {
				t.Errorf("%s %s: %v", tc.record, tc.in, err)
			}
			continue
		}
		var we *Error
		if !errors.As(err, &we) || we.What != tc.what {
			t.Errorf("%s %s: %v, want %q", tc.record, tc.in, err, tc.what)
		}
		if r.Len() != 0 {
			t.Errorf("%s %s: goes on after a failure", tc.record, tc.in)
		}
	}
}

// An unknown extension that need not be understood is read past, in each of its forms.
func TestUnknownExtensionsAreSkipped(t *testing.T) {
	var m Push
	r := NewReader(unhex(t, "9d 01 8b ac ff 01 4d 02 0102 81 0e 01 61"))
	m.Decode(&r)
	if r.Failed() || string(m.Body.Payload) != "a" {
		t.Errorf("%+v, %v", m, r.Err())
	}
}

func fuzzDecoder[M any](f *testing.F, decode func(*M, *Reader), encode func(*M) []byte, seeds ...string) {
	for _, s := range seeds {
		f.Add(unhex(f, s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		r := NewReader(in)
		var m M
		decode(&m, &r)
		if r.Failed() {
			return
		}
		if r.Offset() > len(in) {
			t.Fatal("read past the end")
		}
		// What was understood once must mean the same after we have written it.
		b := encode(&m)
		r2 := NewReader(b)
		var again M
		decode(&again, &r2)
		if r2.Failed() || r2.Len() != 0 {
			t.Fatalf("% x -> %+v -> % x: %v, %d left", in, m, b, r2.Err(), r2.Len())
		}
		if b2 := encode(&again); string(b2) != string(b) {
			t.Fatalf("% x -> % x -> % x", in, b, b2)
		}
	})
}

func FuzzInit(f *testing.F) {
	fuzzDecoder(f, func(m *Init, r *Reader) {
		if m.Decode(r); m.Version != Version {
			r.Fail("version")
		}
	}, func(m *Init) []byte { return m.Append(nil) }, "8109f20102030405060708090a0b0c0d0e0f10812701", "e109f0421c9b3475f4b0a993e7ff08a01eca0e0a00c00201028127 01")
}

func FuzzOpen(f *testing.F) {
	fuzzDecoder(f, (*Open).Decode, func(m *Open) []byte { return m.Append(nil) }, "420a0000", "620a00")
}

func FuzzClose(f *testing.F) {
	fuzzDecoder(f, (*Close).Decode, func(m *Close) []byte { return m.Append(nil) }, "2300", "0305")
}

func FuzzFrame(f *testing.F) {
	fuzzDecoder(f, (*Frame).Decode, func(m *Frame) []byte { return m.Append(nil) }, "a5cfb084503101", "2500")
}

func FuzzFragment(f *testing.F) {
	fuzzDecoder(f, (*Fragment).Decode, func(m *Fragment) []byte { return m.Append(nil) }, "e6d1b0845002", "a601 03")
}

func FuzzPush(f *testing.F) {
	fuzzDecoder(f, (*Push).Decode, func(m *Push) []byte { return append(m.AppendHead(nil), m.Body.Payload...) },
		"dd012109c1084304303132330568656c6c6f", "7d000864656d6f2f737263814113f08bfaf135ac59712a8c7b401ded8c767006070179", "5d0202")
}

func FuzzDeclare(f *testing.F) {
	fuzzDecoder(f, (*Declare).Decode, func(m *Declare) []byte { return m.Append(nil) },
		"9e21082001000464656d6f", "9e2108c402022101", "be0121081a", "9e210887055f020000")
}

func FuzzInterest(f *testing.F) {
	fuzzDecoder(f, (*Interest).Decode, func(m *Interest) []byte { return m.Append(nil) }, "f90153012108", "b9047904032f2a2a2108", "9905210 8")
}

func FuzzRequest(f *testing.F) {
	fuzzDecoder(f, (*Request).Decode, func(m *Request) []byte { return m.Append(nil) },
		"dc0403a10db40226b8176301037a3d31", "9c0102a10d26d00fe30307613d313b623d32c30500626f647945027161")
}

func FuzzResponse(f *testing.F) {
	fuzzDecoder(f, (*Response).Decode, func(m *Response) []byte { return append(m.AppendHead(nil), m.Payload()...) },
		"fb01000664656d6f2f71a10d4312f01902498e6bdd072ef67af03642732a81070481430361747406616e73776572",
		"fb02000664656d6f2f65a10d4312f01902498e6bdd072ef67af03642732a8108450803626164")
}

func FuzzResponseFinal(f *testing.F) {
	fuzzDecoder(f, (*ResponseFinal).Decode, func(m *ResponseFinal) []byte { return m.Append(nil) }, "9a03210d", "1a01")
}

func FuzzOAM(f *testing.F) {
	fuzzDecoder(f, (*OAM).Decode, func(m *OAM) []byte { return m.Append(nil) }, "5f0103000102", "1f02")
}

func FuzzScout(f *testing.F) {
	fuzzDecoder(f, (*Scout).Decode, func(m *Scout) []byte { return m.Append(nil) }, "010901", "0109f90102030405060708090a0b0c0d0e0f10")
}

func FuzzHello(f *testing.F) {
	fuzzDecoder(f, (*Hello).Decode, func(m *Hello) []byte { return m.Append(nil) }, "220900010103612f62", "020911 0102")
}
