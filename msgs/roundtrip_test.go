package msgs_test

import (
	"bytes"
	"reflect"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/tagus-ros/tagus/cdr"
	"github.com/tagus-ros/tagus/rosidl"
)

// forAll runs a property over random values of every type, fewer for large ones.
func forAll(t *testing.T, property func(t *rapid.T, typ message, m any)) {
	for _, typ := range allTypes {
		t.Run(typ.name(), func(t *testing.T) {
			set, st := structOf(typ)
			runs := 0
			rapid.Check(t, func(t *rapid.T) {
				if runs++; runs > 2 && typ.memory() > 100_000 {
					return
				}
				r := newRandom(rapid.Uint64().Draw(t, "seed"))
				r.long = rapid.IntRange(0, 9).Draw(t, "longest sequence")
				m := typ.fresh()
				r.fill(set, st, m)
				property(t, typ, m)
			})
		})
	}
}

func decoder(p []byte) *cdr.Decoder {
	d := new(cdr.Decoder)
	d.Reset(p)
	return d
}

func TestRoundTrip(t *testing.T) {
	forAll(t, func(t *rapid.T, typ message, m any) {
		if err := typ.check(m); err != nil {
			t.Fatal(err)
		}
		p := payload(typ, m)
		got := typ.fresh()
		d := decoder(p)
		if err := typ.decode(d, got); err != nil {
			t.Fatal(err)
		}
		if d.Left() != 0 {
			t.Fatalf("%d bytes of %d were not read", d.Left(), len(p))
		}
		if !typ.equal(m, got) {
			t.Fatalf("got  %+v\nwant %+v", got, m)
		}
		// Bytes after the message are ignored, and a used message is overwritten.
		if err := typ.decode(decoder(append(p[:len(p):len(p)], 1, 2, 3)), got); err != nil || !typ.equal(m, got) {
			t.Fatalf("into a used message: %v, %+v", err, got)
		}
		if again := payload(typ, got); !bytes.Equal(p, again) {
			t.Fatalf("encoded again: % x\nfirst: % x", again, p)
		}
	})
}

func TestAlias(t *testing.T) {
	forAll(t, func(t *rapid.T, typ message, m any) {
		p := payload(typ, m)
		got := typ.fresh()
		if err := typ.alias(decoder(p), got); err != nil {
			t.Fatal(err)
		}
		if !typ.equal(m, got) {
			t.Fatalf("got  %+v\nwant %+v", got, m)
		}
		slices := 0
		eachSlice(reflect.ValueOf(got).Elem(), func(v reflect.Value) {
			if v.Len() == 0 || !within(v, p) {
				return
			}
			slices++
			if v.Cap() != v.Len() {
				t.Fatalf("a slice in the payload has length %d and capacity %d", v.Len(), v.Cap())
			}
		})
		// Strings and what stays must not change with the payload.
		typ.unalias(got)
		for i := range p {
			p[i] = 0xEE
		}
		eachSlice(reflect.ValueOf(got).Elem(), func(v reflect.Value) {
			if within(v, p) {
				t.Fatal("a slice points into the payload after Unalias")
			}
		})
		eachString(reflect.ValueOf(got).Elem(), func(s string) {
			if len(s) > 0 && inside(unsafe.Pointer(unsafe.StringData(s)), p) {
				t.Fatal("a string points into the payload")
			}
		})
		// The message can be used again.
		p = payload(typ, m)
		if err := typ.alias(decoder(p), got); err != nil || !typ.equal(m, got) {
			t.Fatalf("used again: %v\ngot  %+v\nwant %+v", err, got, m)
		}
		typ.unalias(got)
	})
}

// A payload that does not lie at a multiple of 8 is still read, by copying.
func TestAliasUnaligned(t *testing.T) {
	forAll(t, func(t *rapid.T, typ message, m any) {
		p := payload(typ, m)
		odd := append(make([]byte, 1, len(p)+1), p...)[1:]
		got := typ.fresh()
		if err := typ.alias(decoder(odd), got); err != nil || !typ.equal(m, got) {
			t.Fatalf("%v\ngot  %+v\nwant %+v", err, got, m)
		}
		typ.unalias(got)
	})
}

func TestCopyAndReset(t *testing.T) {
	forAll(t, func(t *rapid.T, typ message, m any) {
		dst := typ.fresh()
		typ.copy(dst, m)
		if !typ.equal(dst, m) {
			t.Fatalf("got  %+v\nwant %+v", dst, m)
		}
		var shared bool
		own := map[unsafe.Pointer]bool{}
		eachSlice(reflect.ValueOf(m).Elem(), func(v reflect.Value) {
			if v.Cap() > 0 {
				own[v.UnsafePointer()] = true
			}
		})
		eachSlice(reflect.ValueOf(dst).Elem(), func(v reflect.Value) {
			shared = shared || v.Len() > 0 && v.Type().Elem().Size() > 0 && own[v.UnsafePointer()]
		})
		if shared {
			t.Fatal("the copy shares a slice")
		}
		typ.reset(dst)
		if typ.memory() <= 4096 && !typ.equal(dst, typ.fresh()) {
			t.Fatalf("after Reset: %+v", dst)
		}
		typ.copy(dst, m)
		if !typ.equal(dst, m) {
			t.Fatalf("into a used message: got  %+v\nwant %+v", dst, m)
		}
	})
}

// Equal is false as soon as one byte of the encoding differs that means something.
func TestEqualSeesEveryByte(t *testing.T) {
	forAll(t, func(t *rapid.T, typ message, m any) {
		p := payload(typ, m)
		if len(p) > 4096 {
			return
		}
		i := rapid.IntRange(cdr.EncapsulationSize, len(p)-1).Draw(t, "byte")
		p[i] ^= byte(rapid.IntRange(1, 255).Draw(t, "change"))
		other := typ.fresh()
		if typ.decode(decoder(p), other) != nil {
			return
		}
		changed := !bytes.Equal(payload(typ, other), payload(typ, m))
		if typ.equal(m, other) == changed {
			t.Fatalf("equal is %v, the encodings differ: %v\n%+v\n%+v", !changed, changed, m, other)
		}
	})
}

// A flat message is its own encoding.
func TestFlat(t *testing.T) {
	flat := 0
	forAll(t, func(t *rapid.T, typ message, m any) {
		n := typ.flat()
		if n == 0 {
			return
		}
		flat++
		if uintptr(n) > typ.memory() || n != typ.size(m) {
			t.Fatalf("flat %d, in memory %d, encoded %d", n, typ.memory(), typ.size(m))
		}
		memory := unsafe.Slice((*byte)(reflect.ValueOf(m).UnsafePointer()), n)
		got := typ.fresh()
		p := append([]byte{0, 1, 0, 0}, memory...)
		if err := typ.decode(decoder(p), got); err != nil || !typ.equal(m, got) {
			t.Fatalf("%v\ngot  %+v\nwant %+v", err, got, m)
		}
	})
	if cdr.HostFlat && flat == 0 {
		t.Error("no type is flat on this host")
	}
}

func TestPlace(t *testing.T) {
	forAll(t, func(t *rapid.T, typ message, m any) {
		want := payload(typ, m)
		n := len(want) - cdr.EncapsulationSize
		body := aligned(n)[cdr.EncapsulationSize:]
		loan := typ.fresh()
		typ.copy(loan, m)
		e := cdr.NewEncoder(body)
		if !typ.place(&e, loan) {
			if typ.placed(loan, body) {
				t.Fatal("not placed, but said to be")
			}
			return
		}
		if e.Len() != n || !typ.placed(loan, body) {
			t.Fatalf("placed %d of %d bytes, at its place: %v", e.Len(), n, typ.placed(loan, body))
		}
		// Filling the placed slices and encoding writes the same bytes, with no
		// slice moved.
		copySlices(reflect.ValueOf(loan).Elem(), reflect.ValueOf(m).Elem())
		e = cdr.NewEncoder(body)
		typ.encode(&e, loan)
		if e.Err() != nil || !bytes.Equal(body, want[cdr.EncapsulationSize:]) {
			t.Fatalf("%v\ngot  % x\nwant % x", e.Err(), body, want[cdr.EncapsulationSize:])
		}
		// In another buffer it is not at its place, and is copied.
		other := aligned(n)[cdr.EncapsulationSize:]
		if hasElements(loan, body) && typ.placed(loan, other) {
			t.Fatal("said to be placed in a buffer it does not lie in")
		}
		e = cdr.NewEncoder(other)
		typ.encode(&e, loan)
		if !bytes.Equal(other, body) {
			t.Fatal("encoded elsewhere it differs")
		}
	})
}

// hasElements tells whether a slice of m lies in body.
func hasElements(m any, body []byte) (found bool) {
	eachSlice(reflect.ValueOf(m).Elem(), func(v reflect.Value) { found = found || v.Len() > 0 && within(v, body) })
	return found
}

// copySlices copies the elements of the number slices directly in src.
func copySlices(dst, src reflect.Value) {
	for i := range dst.NumField() {
		if dst.Field(i).Kind() == reflect.Slice {
			reflect.Copy(dst.Field(i), src.Field(i))
		}
	}
}

// What a user put into a recycled message is never handed out again; what the
// pool made is, without allocation.
func TestRecycle(t *testing.T) {
	forAll(t, func(t *rapid.T, typ message, m any) {
		var own rosidl.Owned
		user := map[unsafe.Pointer]bool{}
		eachSlice(reflect.ValueOf(m).Elem(), func(v reflect.Value) {
			if v.Cap() > 0 && v.Type().Elem().Size() > 0 {
				user[v.UnsafePointer()] = true
			}
		})
		typ.recycle(m, &own)
		if typ.memory() <= 4096 && !typ.equal(m, typ.fresh()) {
			t.Fatalf("after Recycle: %+v", m)
		}
		eachSlice(reflect.ValueOf(m).Elem(), func(v reflect.Value) {
			if v.Cap() > 0 && user[v.UnsafePointer()] {
				t.Fatal("a slice of the user was kept")
			}
		})
		if n := testing.AllocsPerRun(3, func() { typ.recycle(m, &own) }); n != 0 {
			t.Fatalf("%v allocations when nothing was put in", n)
		}
	})
}

// eachSlice calls fn for every slice reachable from v.
func eachSlice(v reflect.Value, fn func(reflect.Value)) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			eachSlice(v.Field(i), fn)
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice {
			fn(v)
		}
		if k := v.Type().Elem().Kind(); k == reflect.Struct {
			for i := range v.Len() {
				eachSlice(v.Index(i), fn)
			}
		}
	}
}

func eachString(v reflect.Value, fn func(string)) {
	switch v.Kind() {
	case reflect.String:
		fn(v.String())
	case reflect.Struct:
		for i := range v.NumField() {
			eachString(v.Field(i), fn)
		}
	case reflect.Slice, reflect.Array:
		if k := v.Type().Elem().Kind(); k == reflect.Struct || k == reflect.String {
			for i := range v.Len() {
				eachString(v.Index(i), fn)
			}
		}
	}
}

func within(v reflect.Value, b []byte) bool { return v.Cap() > 0 && inside(v.UnsafePointer(), b) }

func inside(p unsafe.Pointer, b []byte) bool {
	return uintptr(p)-uintptr(unsafe.Pointer(unsafe.SliceData(b))) < uintptr(len(b))
}
