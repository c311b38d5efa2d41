package msgs_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/tagus-ros/tagus/cdr"
	"github.com/tagus-ros/tagus/internal/peers"
	"github.com/tagus-ros/tagus/rosidl"
	"github.com/tagus-ros/tagus/rosidl/dynamic"
)

// dynamicType makes a type from what the generated code says of itself.
func dynamicType(t testing.TB, typ message) *dynamic.Type {
	t.Helper()
	d, err := dynamic.NewType(typ.description())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Dynamic messages and generated code agree on every type: on bytes, on values,
// through JSON and through maps, and in both byte orders.
func TestDynamicAgainstGenerated(t *testing.T) {
	types := map[string]*dynamic.Type{}
	used := map[string]*dynamic.Message{}
	forAll(t, func(rt *rapid.T, typ message, m any) {
		dt := types[typ.name()]
		if dt == nil {
			dt = dynamicType(t, typ)
			types[typ.name()], used[typ.name()] = dt, &dynamic.Message{}
		}
		p := payload(typ, m)
		d, err := dt.Decode(p)
		if err != nil {
			rt.Fatal(err)
		}
		again, err := d.Encode()
		if err != nil || !bytes.Equal(again, p) {
			rt.Fatalf("%v\nwas % x\nis  % x", err, p, again)
		}
		if err := used[typ.name()].Decode(dt, decoder(p)); err != nil || !used[typ.name()].Equal(d) {
			rt.Fatalf("into a used message: %v", err)
		}
		if typ.memory() > 5000 {
			return
		}
		text := d.AppendJSON(nil)
		if !json.Valid(text) {
			rt.Fatalf("not JSON: %s", text)
		}
		back := dt.New()
		if err := back.AssignJSON(text, nil); err != nil || !back.Equal(d) {
			rt.Fatalf("through JSON: %v\n%s\n%s", err, text, back.AppendJSON(nil))
		}
		back = dt.New()
		if err := back.Assign(d.Map(), nil); err != nil || !back.Equal(d) {
			rt.Fatalf("through a map: %v\n%s\n%s", err, text, back.AppendJSON(nil))
		}
	})
}

// Bounds and malformed payloads: what one refuses the other does.
func TestDynamicMalformed(t *testing.T) {
	for _, typ := range allTypes {
		if typ.memory() > 5000 {
			continue
		}
		dt := dynamicType(t, typ)
		set, st := structOf(typ)
		r := newRandom(7)
		m := typ.fresh()
		r.fill(set, st, m)
		p := payload(typ, m)
		if len(p) > 400 {
			continue
		}
		for off := cdr.EncapsulationSize; off < len(p); off++ {
			old := p[off]
			for _, v := range []byte{byte(r.Uint32()), 0xff} {
				p[off] = v
				compareMalformed(t, typ, dt, p)
			}
			p[off] = old
			compareMalformed(t, typ, dt, p[:off:off])
		}
	}
}

func compareMalformed(t *testing.T, typ message, dt *dynamic.Type, p []byte) {
	t.Helper()
	generated := typ.fresh()
	err := typ.decode(decoder(p), generated)
	var d *dynamic.Message
	var dynamicErr error
	if used := memoryOf(uint64(100*len(p)+1<<15), func() { d, dynamicErr = dt.Decode(p) }); used > 0 {
		t.Fatalf("%s: %d bytes of memory for a payload of %d bytes", typ.name(), used, len(p))
	}
	if (err == nil) != (dynamicErr == nil) {
		t.Fatalf("%s: % x\ngenerated: %v\ndynamic: %v", typ.name(), p, err, dynamicErr)
	}
	// Also after an error the message can be printed and encoded.
	d.AppendYAML(nil, dynamic.Echo)
	encoded, encodeErr := d.Encode()
	if encodeErr != nil {
		t.Fatalf("%s: %v", typ.name(), encodeErr)
	}
	if err == nil && !bytes.Equal(encoded, payload(typ, generated)) {
		t.Fatalf("%s: encoded % x, generated code % x", typ.name(), encoded, payload(typ, generated))
	}
}

// Default values are those of generated code.
func TestDynamicDefaults(t *testing.T) {
	for _, typ := range allTypes {
		if typ.memory() > 5000 {
			continue
		}
		m := typ.fresh()
		typ.setDefault(m)
		p, err := dynamicType(t, typ).NewDefault().Encode()
		if err != nil || !bytes.Equal(p, payload(typ, m)) {
			t.Errorf("%s: %v\ngot  % x\nwant % x", typ.name(), err, p, payload(typ, m))
		}
	}
}

// Block and flow YAML, shortened or not, equal what the library prints that the
// ROS 2 tools use.
func TestYAMLAgainstPython(t *testing.T) {
	type yamlCase struct {
		Value    any  `json:"value"`
		Truncate int  `json:"truncate"`
		Flow     bool `json:"flow"`
	}
	python := peers.Python(t, "PyYAML==6.0.2")
	var in bytes.Buffer
	var want []string
	var from []string
	enc := json.NewEncoder(&in)
	for i, typ := range allTypes {
		if typ.memory() > 5000 {
			continue
		}
		dt := dynamicType(t, typ)
		set, st := structOf(typ)
		for seed := range 8 {
			r := newRandom(uint64(100*i + seed))
			r.long = seed
			r.yaml = true
			m := typ.fresh()
			r.fill(set, st, m)
			d, err := dt.Decode(payload(typ, m))
			if err != nil {
				t.Fatal(err)
			}
			p := dynamic.Print{Truncate: []int{0, 2, 128}[seed%3], Flow: seed%4 == 3}
			want = append(want, string(d.AppendYAML(nil, p)))
			from = append(from, typ.name())
			if err := enc.Encode(yamlCase{tagged(d), p.Truncate, p.Flow}); err != nil {
				t.Fatal(err)
			}
		}
	}
	s := bufio.NewScanner(bytes.NewReader(python.Run(t, "testdata/peer_yaml.py", &in)))
	s.Buffer(nil, 16<<20)
	n := 0
	for s.Scan() {
		var theirs string
		if err := json.Unmarshal(s.Bytes(), &theirs); err != nil {
			t.Fatal(err)
		}
		if n < len(want) && theirs != want[n] {
			t.Fatalf("%s: ours\n%s\nthe peer's\n%s", from[n], want[n], theirs)
		}
		n++
	}
	if n != len(want) {
		t.Fatalf("%d answers to %d messages", n, len(want))
	}
	t.Logf("%d messages", n)
}

// tagged is a message for the Python script.
func tagged(m *dynamic.Message) any {
	fields := []any{}
	for i, f := range m.Type().Fields {
		fields = append(fields, []any{f.Name, tag(f.Type.ID, m.Get(i))})
	}
	return map[string]any{"m": fields}
}

func tag(id rosidl.TypeID, v any) any {
	switch v := v.(type) {
	case *dynamic.Message:
		return tagged(v)
	case string:
		return map[string]any{"s": v}
	case bool:
		return map[string]any{"b": v}
	case float32:
		return tag(id, float64(v))
	case float64:
		return map[string]any{"f": fmt.Sprintf("%016x", math.Float64bits(v))}
	}
	if r := reflect.ValueOf(v); r.Kind() == reflect.Slice {
		list := []any{}
		for j := range r.Len() {
			list = append(list, tag(id, r.Index(j).Interface()))
		}
		return map[string]any{"l": list}
	}
	if id == rosidl.Byte {
		return map[string]any{"y": v}
	}
	return map[string]any{"i": fmt.Sprint(v)}
}

// In steady state decoding takes no memory, nor does encoding into a buffer.
func TestDynamicAllocations(t *testing.T) {
	for _, s := range samples() {
		dt := dynamicType(t, s.typ)
		p := payload(s.typ, s.m)
		m := &dynamic.Message{}
		d := new(cdr.Decoder)
		decode := func() {
			d.Reset(p)
			if err := m.Decode(dt, d); err != nil {
				t.Fatal(err)
			}
		}
		decode()
		decode()
		if n := testing.AllocsPerRun(10, decode); n != 0 {
			t.Errorf("%s: %v allocations to decode", s.typ.name(), n)
		}
		var e cdr.Encoder
		if n := testing.AllocsPerRun(10, func() { e.Reset(p[cdr.EncapsulationSize:]); m.EncodeTo(&e) }); n != 0 {
			t.Errorf("%s: %v allocations to encode", s.typ.name(), n)
		}
	}
}

func BenchmarkDynamicDecode(b *testing.B) {
	for _, s := range samples() {
		b.Run(s.typ.name(), func(b *testing.B) {
			dt := dynamicType(b, s.typ)
			p := payload(s.typ, s.m)
			m := &dynamic.Message{}
			d := new(cdr.Decoder)
			b.SetBytes(int64(len(p)))
			for b.Loop() {
				d.Reset(p)
				if err := m.Decode(dt, d); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func FuzzDynamic(f *testing.F) {
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
	types := map[int]*dynamic.Type{}
	f.Fuzz(func(t *testing.T, which uint16, p []byte) {
		i := int(which) % len(allTypes)
		if allTypes[i].memory() > 5000 || len(p) > 1<<16 {
			return
		}
		if types[i] == nil {
			types[i] = dynamicType(t, allTypes[i])
		}
		compareMalformed(t, allTypes[i], types[i], p)
	})
}
