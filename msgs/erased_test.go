package msgs_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"unsafe"

	"github.com/tagus-ros/tagus/cdr"
	"github.com/tagus-ros/tagus/rosidl"
)

// message is a type support without its type parameter, so that tests can go
// over all types. Values are pointers to the message struct.
type message interface {
	name() string
	hash() string
	flat() int
	memory() uintptr // size of the struct
	fresh() any
	size(m any) int
	check(m any) error
	encode(e *cdr.Encoder, m any)
	decode(d *cdr.Decoder, m any) error
	alias(d *cdr.Decoder, m any) error
	unalias(m any)
	place(e *cdr.Encoder, m any) bool
	placed(m any, body []byte) bool
	reset(m any)
	setDefault(m any)
	copy(dst, src any)
	equal(a, b any) bool
	recycle(m any, own *rosidl.Owned)
	definition() string
	description() *rosidl.TypeDescription
}

type erased[T any] struct{ ts *rosidl.TypeSupport[T] }

func erase[T any, P rosidl.Message[T]]() message { return erased[T]{rosidl.Of[T, P]()} }

func eraseSupport[T any](ts *rosidl.TypeSupport[T]) message { return erased[T]{ts} }

func (e erased[T]) name() string                         { return e.ts.Name }
func (e erased[T]) hash() string                         { return e.ts.Hash }
func (e erased[T]) flat() int                            { return e.ts.Flat }
func (e erased[T]) memory() uintptr                      { return unsafe.Sizeof(*new(T)) }
func (e erased[T]) fresh() any                           { return new(T) }
func (e erased[T]) size(m any) int                       { return e.ts.Size(m.(*T)) }
func (e erased[T]) check(m any) error                    { return e.ts.Check(m.(*T)) }
func (e erased[T]) encode(enc *cdr.Encoder, m any)       { e.ts.Encode(enc, m.(*T)) }
func (e erased[T]) decode(d *cdr.Decoder, m any) error   { return e.ts.Decode(d, m.(*T)) }
func (e erased[T]) alias(d *cdr.Decoder, m any) error    { return e.ts.Alias(d, m.(*T)) }
func (e erased[T]) unalias(m any)                        { e.ts.Unalias(m.(*T)) }
func (e erased[T]) place(enc *cdr.Encoder, m any) bool   { return e.ts.Place(enc, m.(*T)) }
func (e erased[T]) placed(m any, body []byte) bool       { return rosidl.Placed(e.ts, m.(*T), body) }
func (e erased[T]) reset(m any)                          { e.ts.Reset(m.(*T)) }
func (e erased[T]) setDefault(m any)                     { e.ts.Default(m.(*T)) }
func (e erased[T]) copy(dst, src any)                    { e.ts.Copy(dst.(*T), src.(*T)) }
func (e erased[T]) equal(a, b any) bool                  { return e.ts.Equal(a.(*T), b.(*T)) }
func (e erased[T]) recycle(m any, own *rosidl.Owned)     { e.ts.Recycle(m.(*T), own) }
func (e erased[T]) definition() string                   { return e.ts.Definition() }
func (e erased[T]) description() *rosidl.TypeDescription { return e.ts.Description() }

// payload encodes m with its encapsulation, its body at a multiple of 8.
func payload(t message, m any) []byte {
	n := t.size(m)
	p := aligned(n)
	for i := range p {
		p[i] = 0xAA // so that bytes left unwritten show
	}
	cdr.PutEncapsulation(p)
	e := cdr.NewEncoder(p[cdr.EncapsulationSize:])
	t.encode(&e, m)
	if err := e.Err(); err != nil {
		panic(fmt.Sprintf("%s: %v", t.name(), err))
	}
	if e.Len() != n {
		panic(fmt.Sprintf("%s: size %d, but %d bytes were written", t.name(), n, e.Len()))
	}
	return p
}

// aligned returns room for a payload with a body of n bytes at a multiple of 8.
func aligned(n int) []byte {
	words := make([]uint64, (n+7)/8+1)
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*8)
	return b[8-cdr.EncapsulationSize : 8+n]
}

// random fills values. ascii keeps strings to what every peer agrees on.
type random struct {
	*rand.Rand
	ascii bool
	yaml  bool // favour texts that YAML could misread
	long  int  // most elements of a sequence
}

func newRandom(seed uint64) *random {
	return &random{Rand: rand.New(rand.NewPCG(seed, 1)), long: 5}
}

// fill sets all fields of m, which points to a message of st, to random values
// within bounds.
func (r *random) fill(set *rosidl.Set, st *rosidl.Struct, m any) {
	r.structure(set, st, reflect.ValueOf(m).Elem())
}

func (r *random) structure(set *rosidl.Set, st *rosidl.Struct, v reflect.Value) {
	for i, f := range st.Fields {
		fv := v.Field(i)
		switch f.Type.Shape {
		case rosidl.Single:
			r.element(set, f.Type, fv)
			continue
		case rosidl.Bounded:
			fv.Set(reflect.MakeSlice(fv.Type(), r.IntN(f.Type.Capacity+1), f.Type.Capacity))
		case rosidl.Unbounded:
			n := r.IntN(r.long + 1)
			fv.Set(reflect.MakeSlice(fv.Type(), n, n))
		}
		if b, ok := bytesOf(fv); ok {
			r.bytes(b)
			continue
		}
		for j := range fv.Len() {
			r.element(set, f.Type, fv.Index(j))
		}
	}
}

// bytesOf returns the memory of a byte array or slice.
func bytesOf(v reflect.Value) ([]byte, bool) {
	if v.Type().Elem().Kind() != reflect.Uint8 {
		return nil, false
	}
	if v.Kind() == reflect.Array {
		return v.Slice(0, v.Len()).Bytes(), true
	}
	return v.Bytes(), true
}

// bytes fills b. A large one repeats a piece of odd length: byte by byte it would take
// a second under the race detector.
func (r *random) bytes(b []byte) {
	piece := b[:min(len(b), 4099)]
	for i := range piece {
		piece[i] = byte(r.Uint32())
	}
	for n := len(piece); n < len(b); {
		n += copy(b[n:], piece)
	}
}

func (r *random) element(set *rosidl.Set, t rosidl.FieldType, v reflect.Value) {
	switch t.ID {
	case rosidl.Nested:
		if v.Kind() == reflect.Array { // a goal id in a message of rosidl
			r.bytes(v.Slice(0, v.Len()).Bytes())
			return
		}
		r.structure(set, set.Struct(t.NestedName), v)
	case rosidl.Bool:
		v.SetBool(r.IntN(2) == 1)
	case rosidl.Float32:
		v.SetFloat(float64(r.float32()))
	case rosidl.Float64:
		v.SetFloat(r.float64())
	case rosidl.Int8, rosidl.Int16, rosidl.Int32, rosidl.Int64:
		v.SetInt(int64(r.integer(t.ID.Size())))
	case rosidl.Uint8, rosidl.Byte, rosidl.Uint16, rosidl.Uint32, rosidl.Uint64:
		v.SetUint(r.integer(t.ID.Size()) & (1<<(8*t.ID.Size()) - 1))
	default:
		v.SetString(r.text(t))
	}
}

// integer favours the ends of the range; the upper bits are sign extended.
func (r *random) integer(size int) uint64 {
	v := []uint64{0, 1, 1<<63 - 1, 1 << 63, math.MaxUint64, r.Uint64()}[r.IntN(6)]
	shift := 64 - 8*size
	return uint64(int64(v) >> shift)
}

// float32 leaves out NaNs other than the usual one: languages change them.
func (r *random) float32() float32 {
	switch r.IntN(6) {
	case 0:
		return float32(math.Inf(1 - 2*r.IntN(2)))
	case 1:
		return math.Float32frombits(0x7fc00000)
	case 2:
		return float32(math.Copysign(0, -1))
	}
	if f := math.Float32frombits(r.Uint32()); f == f {
		return f
	}
	return 1.5
}

func (r *random) float64() float64 {
	switch r.IntN(6) {
	case 0:
		return math.Inf(1 - 2*r.IntN(2))
	case 1:
		return math.Float64frombits(0x7ff8000000000000)
	case 2:
		return math.Copysign(0, -1)
	}
	if f := math.Float64frombits(r.Uint64()); f == f {
		return f
	}
	return 1.5
}

func (r *random) text(t rosidl.FieldType) string {
	if r.yaml && t.StringCapacity == 0 && r.IntN(2) == 0 {
		return awkwardTexts[r.IntN(len(awkwardTexts))]
	}
	bound := 12
	if t.StringCapacity > 0 {
		bound = min(bound, t.StringCapacity)
	}
	letters := []string{"a", "Z", "0", " ", "/", "\"", "\\", "~"}
	if !r.ascii {
		letters = append(letters, "ü", "€", "𝄞", "\n")
	}
	var b strings.Builder
	n := r.IntN(bound + 1)
	for {
		l := letters[r.IntN(len(letters))]
		used := b.Len() + len(l)
		if t.ID.IsWide() {
			used = cdr.WStringLen(b.String() + l)
		}
		if used > n {
			return b.String()
		}
		b.WriteString(l)
	}
}

// awkwardTexts are written in quotes by some rule or other, or just not.
var awkwardTexts = []string{
	"yes", "No", "true", "null", "~", "", " ", "a b", "-", "- a", "-a", "?", "? a", ":", ": a", "a: b", "a:b", "a #b", "a#b", "#", "1", "-1", "0x1f",
	"1.5", "1e5", "1.0e+5", ".5", ".inf", "-.INF", ".NaN", "1_000", "0b11", "017", "1:30", "1:30.5", "2001-01-01", "2001-1-1 1:00:00 Z", "<<", "=",
	"---", "--- a", "...", "[a]", "{a}", "a, b", "a]", "'", "it's", "\"", "\\", "%a", "@a", "`a", "!a", "&a", "*a", "|", ">", " lead", "trail ",
	"a\nb", "a\n", "\na", "a\n\nb", "a \nb", "a\n b", "a\tb", "\t", "a\rb", "\x00", "\x7f", "\u0085", "\u00a0", "a\u2028b", "\ufeff", "\ufffd",
	"ü", "日本", "𝄞", "𝄞\x01", "a\u00a0b", "x' y\nz''", "0", "0.", "00", "08", "+1", "1e+5", "1.e+5", "on", "Off", "y", "n", "NULL", "nULL",
}

// structOf gives the definition of a type.
func structOf(t message) (*rosidl.Set, *rosidl.Struct) {
	set, err := rosidl.ParseDefinition(t.name(), t.definition())
	if err != nil {
		panic(err)
	}
	return set, set.Struct(t.name())
}
