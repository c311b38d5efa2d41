package msgs_test

import (
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/tagus-ros/tagus/cdr"
)

// lies are values put where a length may stand.
var lies = []uint32{0, 1, 2, 255, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFF00, 0xFFFFFFFF}

// harm decodes a payload in every way and fails if that takes more memory than
// the payload itself could justify. It returns the message if it was accepted.
func harm(t testing.TB, typ message, p []byte) any {
	t.Helper()
	var plain, lent any
	var err, aliasErr error
	// Both decoders may keep the payload once; strings and slices in sequences
	// have headers that are longer than their encoding, and grow in steps.
	limit := uint64(28*len(p)) + 8192 + 2*uint64(typ.memory()) // the messages themselves, rounded up
	if typ.memory() > 5000 {
		limit += 1 << 16
	}
	if used := memoryOf(limit, func() {
		plain, lent = typ.fresh(), typ.fresh()
		err = typ.decode(decoder(p), plain)
		aliasErr = typ.alias(decoder(p), lent)
	}); used > 0 {
		t.Errorf("%s: %d bytes of memory for a payload of %d bytes", typ.name(), used, len(p))
	}
	if (err == nil) != (aliasErr == nil) {
		t.Fatalf("%s: decoded: %v, aliased: %v", typ.name(), err, aliasErr)
	}
	if err != nil {
		typ.unalias(lent)
		return nil
	}
	if !typ.equal(plain, lent) {
		t.Fatalf("%s: decoded %+v, aliased %+v", typ.name(), plain, lent)
	}
	typ.unalias(lent)
	if err := typ.check(plain); err != nil {
		t.Fatalf("%s: a message over its bounds was accepted: %v", typ.name(), err)
	}
	again := typ.fresh()
	if err := typ.decode(decoder(payload(typ, plain)), again); err != nil || !typ.equal(plain, again) {
		t.Fatalf("%s: %v\nwas %+v\nis  %+v", typ.name(), err, plain, again)
	}
	return plain
}

// memoryOf returns the bytes that fn allocates if they are over the limit, each
// time of a few, since others allocate in between; else 0.
func memoryOf(limit uint64, fn func()) (used uint64) {
	var before, after runtime.MemStats
	for range 3 {
		runtime.ReadMemStats(&before)
		fn()
		runtime.ReadMemStats(&after)
		if used = after.TotalAlloc - before.TotalAlloc; used <= limit {
			return 0
		}
	}
	return used
}

func TestMalformed(t *testing.T) {
	for _, typ := range allTypes {
		if typ.memory() > 5000 {
			continue
		}
		set, st := structOf(typ)
		for seed := range uint64(3) {
			r := newRandom(seed)
			r.long = 1 + 2*int(seed)
			m := typ.fresh()
			r.fill(set, st, m)
			p := payload(typ, m)
			if len(p) > 500 {
				continue
			}
			for n := range p { // cut short
				if harm(t, typ, p[:n:n]) != nil {
					t.Fatalf("%s: %d of %d bytes were accepted", typ.name(), n, len(p))
				}
			}
			for off := cdr.EncapsulationSize; off+4 <= len(p); off += 4 {
				left := uint32(len(p) - off - 4)
				old := binary.LittleEndian.Uint32(p[off:])
				for _, lie := range []uint32{left, left + 1, old + 1, lies[r.IntN(len(lies))], lies[r.IntN(len(lies))]} {
					binary.LittleEndian.PutUint32(p[off:], lie)
					harm(t, typ, p)
				}
				binary.LittleEndian.PutUint32(p[off:], old)
			}
			if t.Failed() {
				return
			}
		}
	}
}

// Counts that lie deep in a large payload, after many elements that could be
// read, cost no more than a small multiple of it.
func TestLyingCountInLargePayload(t *testing.T) {
	for _, typ := range allTypes {
		p := aligned(1 << 20)
		cdr.PutEncapsulation(p)
		for i := cdr.EncapsulationSize; i < len(p); i += 4 {
			binary.LittleEndian.PutUint32(p[i:], 40_000)
		}
		m := typ.fresh()
		var err error
		if used := memoryOf(uint64(4*len(p)), func() { err = typ.decode(decoder(p), m) }); err != nil && used > 0 {
			t.Errorf("%s: %d bytes of memory for a payload of %d bytes that was refused", typ.name(), used, len(p))
		}
	}
}

func TestWrongHeaders(t *testing.T) {
	for _, typ := range allTypes {
		for _, p := range [][]byte{
			nil, {}, {0}, {0, 1, 0}, {0, 1, 0, 0}, {0, 2, 0, 0, 1, 2, 3, 4}, {0, 3, 0, 0, 1, 2, 3, 4}, {0, 7, 0, 0, 1, 2, 3, 4},
			{1, 0, 0, 0, 1, 2, 3, 4}, {0xff, 0xff, 0xff, 0xff},
		} {
			if harm(t, typ, p) != nil {
				t.Errorf("%s: payload % x was accepted", typ.name(), p)
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	for i, typ := range allTypes {
		if typ.memory() > 5000 {
			continue
		}
		set, st := structOf(typ)
		r := newRandom(uint64(i))
		m := typ.fresh()
		r.fill(set, st, m)
		f.Add(uint16(i), payload(typ, m))
	}
	f.Fuzz(func(t *testing.T, which uint16, p []byte) {
		typ := allTypes[int(which)%len(allTypes)]
		if typ.memory() > 5000 || len(p) > 1<<16 {
			return
		}
		harm(t, typ, append(aligned(max(0, len(p)-cdr.EncapsulationSize))[:0], p...))
	})
}
