package cdr

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"testing"
	"unsafe"
)

// body makes room for n bytes at a multiple of 8, filled with rubbish.
func body(n int) []byte {
	words := make([]uint64, n/8+1)
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), n)
	for i := range b {
		b[i] = 0xAA
	}
	return b
}

func decode(t *testing.T, little bool, hexBody string) *Decoder {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(hexBody, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	p := append([]byte{0, 0, 0, 0}, b...)
	if little {
		p[1] = 1
	}
	d := new(Decoder)
	d.Reset(p)
	return d
}

// What stands in these tests as bytes was worked out by hand from the encoding
// rules, not taken from the encoder.
func TestEncode(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(e *Encoder)
		want string
	}{
		{"bools", func(e *Encoder) { e.Bool(true); e.Bool(false) }, "01 00"},
		{"alignment", func(e *Encoder) {
			e.Uint8(1)
			e.Uint16(0x0203)
			e.Uint8(4)
			e.Uint32(0x05060708)
			e.Uint8(9)
			e.Uint64(0x0A0B0C0D0E0F1011)
		}, "01 00 0302 04 000000 08070605 09 000000 11100F0E0D0C0B0A"},
		{"signed", func(e *Encoder) { e.Int8(-1); e.Int16(-2); e.Int32(-3); e.Int64(-4) },
			"FF 00 FEFF FDFFFFFF FCFFFFFFFFFFFFFF"},
		{"floats", func(e *Encoder) { e.Float32(1.5); e.Float64(-2) }, "0000C03F 00000000 00000000000000C0"},
		{"string", func(e *Encoder) { e.String("abc") }, "04000000 61626300"},
		{"empty string", func(e *Encoder) { e.String("") }, "01000000 00"},
		{"8-byte elements after an odd string", func(e *Encoder) { e.String("ab"); EncodeSlice(e, []float64{1}) },
			"03000000 616200 00 01000000 00000000 000000000000F03F"},
		{"no elements after an odd string", func(e *Encoder) { e.String("ab"); EncodeSlice(e, []float64{}); e.Uint8(7) },
			"03000000 616200 00 00000000 07"},
		{"array", func(e *Encoder) { e.Uint8(1); EncodeArray(e, []uint16{2, 3}) }, "01 00 0200 0300"},
		{"bool sequence", func(e *Encoder) { e.Count(2); EncodeBools(e, []bool{true, false}) }, "02000000 01 00"},
		{"wide", func(e *Encoder) { e.WString("a𝄞") }, "03000000 6100 34D8 1EDD"},
		{"wide empty", func(e *Encoder) { e.WString(""); e.Uint8(1) }, "00000000 01"},
		{"wide broken", func(e *Encoder) { e.WString("\xff") }, "01000000 FDFF"},
	} {
		want, err := hex.DecodeString(strings.ReplaceAll(c.want, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		b := body(len(want))
		e := NewEncoder(b)
		c.do(&e)
		if e.Err() != nil || e.Len() != len(want) || !bytes.Equal(b, want) {
			t.Errorf("%s: %v, %d bytes\ngot  % X\nwant % X", c.name, e.Err(), e.Len(), b, want)
		}
		for n := range want { // one byte too few, two, …
			e := NewEncoder(body(n))
			c.do(&e)
			if !errors.Is(e.Err(), ErrShortBuffer) {
				t.Errorf("%s into %d bytes: %v", c.name, n, e.Err())
			}
		}
	}
}

func TestDecodeBothByteOrders(t *testing.T) {
	for _, c := range []struct {
		little bool
		text   string
	}{
		{true, "01 00 0302 08070605 11100F0E0D0C0B0A 0000C03F 03000000 616200 00 02000000 0100 0200 00000000 02000000 6100 FC00"},
		{false, "01 00 0203 05060708 0A0B0C0D0E0F1011 3FC00000 00000003 616200 00 00000002 0001 0002 00000000 00000002 0061 00FC"},
	} {
		d := decode(t, c.little, c.text)
		var s, w string
		var seq []uint16
		if v := d.Uint8(); v != 1 {
			t.Errorf("uint8 %d", v)
		}
		if v := d.Uint16(); v != 0x0203 {
			t.Errorf("uint16 %#x", v)
		}
		if v := d.Uint32(); v != 0x05060708 {
			t.Errorf("uint32 %#x", v)
		}
		if v := d.Uint64(); v != 0x0A0B0C0D0E0F1011 {
			t.Errorf("uint64 %#x", v)
		}
		if v := d.Float32(); v != 1.5 {
			t.Errorf("float32 %v", v)
		}
		d.String(&s, -1)
		DecodeSlice(d, &seq, -1)
		var none []float64
		DecodeSlice(d, &none, -1)
		d.WString(&w, -1)
		if s != "ab" || len(seq) != 2 || seq[0] != 1 || seq[1] != 2 || len(none) != 0 || w != "aü" {
			t.Errorf("%q %v %v %q", s, seq, none, w)
		}
		if d.Err() != nil || d.Left() != 0 {
			t.Errorf("%v, %d bytes left", d.Err(), d.Left())
		}
	}
}

func TestWideStrings(t *testing.T) {
	for _, s := range []string{"", "a", "über", "𝄞", "x𝄞y€", strings.Repeat("ß", 1000)} {
		n := WStringSize(0, s)
		b := append([]byte{0, 1, 0, 0}, body(n)...)
		e := NewEncoder(b[4:])
		e.WString(s)
		if e.Err() != nil || e.Len() != n {
			t.Fatalf("%.10q: %v, %d of %d bytes", s, e.Err(), e.Len(), n)
		}
		d := new(Decoder)
		d.Reset(b)
		got := "x"
		if d.WString(&got, -1); got != s || d.Err() != nil || d.Left() != 0 {
			t.Errorf("%.10q came back as %.10q: %v", s, got, d.Err())
		}
	}
	// A surrogate alone is no text.
	for _, text := range []string{"01000000 34D8", "01000000 1EDD", "02000000 34D8 6100", "02000000 1EDD 34D8"} {
		var got string
		d := decode(t, true, text)
		if d.WString(&got, -1); d.Err() != nil || !strings.Contains(got, "\uFFFD") {
			t.Errorf("%s gives %q, %v", text, got, d.Err())
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	var s string
	var f []float64
	var b []uint8
	for _, c := range []struct {
		name, text, want string
		do               func(d *Decoder)
	}{
		{"cut number", "0102", "4 bytes wanted where 2 are left", func(d *Decoder) { d.Uint32() }},
		{"long string", "05000000 6162", "a string of 5 bytes where 2 are left", func(d *Decoder) { d.String(&s, -1) }},
		{"huge string", "FFFFFFFF 6162", "a string of 4294967295 bytes where 2 are left", func(d *Decoder) { d.String(&s, -1) }},
		{"no terminator", "02000000 6162", "without terminator", func(d *Decoder) { d.String(&s, -1) }},
		{"no terminator in one byte", "01000000 61", "without terminator", func(d *Decoder) { d.String(&s, -1) }},
		{"string over bound", "04000000 61626300", "3 bytes over its bound of 2", func(d *Decoder) { d.String(&s, 2) }},
		{"wide over bound", "02000000 61006200", "2 elements over its bound of 1", func(d *Decoder) { d.WString(&s, 1) }},
		{"sequence over bound", "03000000 010203", "3 elements over its bound of 2", func(d *Decoder) { DecodeSlice(d, &b, 2) }},
		{"lying count", "00FFFFFF 0102", "4294967040 elements", func(d *Decoder) { DecodeSlice(d, &b, -1) }},
		{"count overflowing a product", "00000020 0102030405060708", "536870912 elements", func(d *Decoder) { DecodeSlice(d, &f, -1) }},
		{"padding missing", "01000000 0102030405060708", "8 bytes wanted", func(d *Decoder) { DecodeSlice(d, &f, -1) }},
		{"padding missing, in place", "01000000 0102030405060708", "8 bytes wanted", func(d *Decoder) { AliasSlice(d, &f, -1) }},
	} {
		d := decode(t, true, c.text)
		c.do(d)
		var e *Error
		if !errors.As(d.Err(), &e) || !strings.Contains(e.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, d.Err(), c.want)
		}
		// Everything after the first error is zero and keeps the error.
		first := d.Err()
		if d.Uint64() != 0 || d.Count(1, -1) != 0 || d.Err() != first {
			t.Errorf("%s: reading on gives something", c.name)
		}
	}
	for _, p := range [][]byte{nil, {0, 1, 0}, {0, 2, 0, 0}, {1, 1, 0, 0}} {
		d := new(Decoder)
		if d.Reset(p); d.Err() == nil {
			t.Errorf("payload % x was accepted", p)
		}
	}
}

// Slices that point into the payload have no room to grow into it.
func TestAliasSlice(t *testing.T) {
	p := append(make([]byte, 0, 64), body(24)...)
	PutEncapsulation(p)
	e := NewEncoder(p[4:])
	EncodeSlice(&e, []uint8{1, 2, 3})
	EncodeSlice(&e, []uint16{4, 5})
	d := new(Decoder)
	d.Reset(p)
	var a []uint8
	var b []uint16
	AliasSlice(d, &a, -1)
	AliasSlice(d, &b, -1)
	if d.Err() != nil || string(a) != "\x01\x02\x03" || len(b) != 2 || b[1] != 5 {
		t.Fatalf("%v %v %v", d.Err(), a, b)
	}
	if cap(a) != len(a) || cap(b) != len(b) {
		t.Fatalf("capacities %d and %d", cap(a), cap(b))
	}
	if &a[0] != &p[8] {
		t.Error("a does not point into the payload")
	}
}

func TestPlace(t *testing.T) {
	b := body(32)
	s := make([]float64, 2)
	e := NewEncoder(b)
	e.Uint8(1)
	PlaceSlice(&e, &s, 8)
	if e.Err() != nil || e.Len() != 24 || cap(s) != 2 || unsafe.Pointer(&s[0]) != unsafe.Pointer(&b[8]) {
		t.Fatalf("%v, %d bytes, capacity %d", e.Err(), e.Len(), cap(s))
	}
	off := 1
	if !SlicePlaced(b, &off, s, 8) || off != 24 {
		t.Errorf("not placed, or the end is %d", off)
	}
	if off = 5; SlicePlaced(b, &off, s, 8) {
		t.Error("placed also when it belongs elsewhere")
	}
	e = NewEncoder(b[1:])
	if PlaceSlice(&e, &s, 8); e.Err() == nil {
		t.Error("numbers were placed at an odd address")
	}
}

// A string that was seen before is not allocated again, and does not point into
// the payload.
func TestStringCache(t *testing.T) {
	p := []byte{0, 1, 0, 0, 4, 0, 0, 0, 'a', 'b', 'c', 0}
	d := new(Decoder)
	read := func() (s string) {
		d.Reset(p)
		d.String(&s, -1)
		return s
	}
	read()
	s := read()
	if n := testing.AllocsPerRun(10, func() { read() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	p[8] = 'X'
	if s != "abc" {
		t.Errorf("the string became %q", s)
	}
	if s = read(); s != "Xbc" {
		t.Errorf("read %q", s)
	}
}

func TestCountOfTooMany(t *testing.T) {
	e := NewEncoder(body(8))
	n := uint64(math.MaxUint32) + 1
	if int(n) == 0 {
		t.Skip("no slice is that long here")
	}
	if e.Count(int(n)); e.Err() == nil {
		t.Error("a count over 32 bits was written")
	}
}

func FuzzDecoder(f *testing.F) {
	f.Add([]byte{0, 1, 0, 0, 4, 0, 0, 0, 'a', 'b', 'c', 0}, []byte{6, 2, 1})
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 1, 0, 'a', 0, 0}, []byte{7, 3, 4, 5})
	f.Fuzz(func(t *testing.T, p, script []byte) {
		d := new(Decoder)
		d.Reset(p)
		var s string
		var u8 []uint8
		var u16 []uint16
		var f64 []float64
		for _, step := range script {
			switch bound := int(step>>4) - 1; step & 15 {
			case 0:
				d.Bool()
			case 1:
				d.Uint16()
			case 2:
				d.Uint32()
			case 3:
				d.Float64()
			case 4:
				DecodeSlice(d, &u8, bound)
			case 5:
				DecodeSlice(d, &f64, bound)
			case 6:
				d.String(&s, bound)
			case 7:
				d.WString(&s, bound)
			case 8:
				u8 = nil
				AliasSlice(d, &u8, bound)
				u8 = nil
			case 9:
				AliasSlice(d, &u16, bound)
				u16 = nil
			case 10:
				AliasSlice(d, &f64, bound)
				f64 = nil
			case 11:
				DecodeArray(d, make([]uint32, step>>4))
			case 12:
				DecodeBools(d, make([]bool, step>>4))
			}
			if left := d.Left(); left < 0 || left > len(p) {
				t.Fatalf("%d bytes left of %d", left, len(p))
			}
			if len(s) > 2*len(p) || len(u8) > len(p) || 8*len(f64) > len(p) {
				t.Fatal("more was read than there is")
			}
		}
	})
}
