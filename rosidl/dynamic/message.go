package dynamic

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/tagus-ros/tagus/cdr"
	"github.com/tagus-ros/tagus/rosidl"
)

// Message is a message of a type known at run time. It is used by one goroutine
// at a time. Decoding into a message that was used before takes no memory if it
// has enough.
type Message struct {
	typ    *Type
	values []value
}

// value is what one field holds: numbers and bools in bits, all else in ref.
type value struct {
	bits uint64
	ref  any // *string, *Message, *numbers, *[]string or *[]Message; made by prepare
}

// numbers are the elements of an array or sequence of numbers or bools.
type numbers struct {
	raw []byte // little-endian, without gaps
}

// New makes a message with all fields zero, and arrays at their length.
func (t *Type) New() *Message {
	m := &Message{}
	m.prepare(t)
	for i := range m.values {
		m.zero(i)
	}
	return m
}

// NewDefault makes a message with the default values of the definition.
func (t *Type) NewDefault() *Message {
	m := t.New()
	m.defaults()
	return m
}

func (m *Message) defaults() {
	for i := range m.typ.Fields {
		f := &m.typ.Fields[i]
		switch {
		case f.Nested != nil && f.Type.Shape == rosidl.Single:
			m.nested(i).defaults()
		case f.Nested != nil:
			list := *m.list(i)
			for j := range list {
				list[j].defaults()
			}
		case f.Default != nil && f.Type.Shape == rosidl.Single:
			// Defaults were checked against the type when it was made.
			_ = m.setElement(i, f.Default[0])
		case f.Default != nil:
			_ = m.Set(i, anySlice(f.Default))
		}
	}
}

func anySlice(values []rosidl.Value) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = v
	}
	return out
}

// Type of the message.
func (m *Message) Type() *Type { return m.typ }

// prepare makes m a message of type t. What it has stays if it was one before.
func (m *Message) prepare(t *Type) {
	if m.typ == t {
		return
	}
	m.typ, m.values = t, make([]value, len(t.Fields))
	for i := range t.Fields {
		f := &t.Fields[i]
		switch {
		case f.Nested != nil && f.Type.Shape == rosidl.Single:
			m.values[i].ref = new(Message)
		case f.Nested != nil:
			m.values[i].ref = new([]Message)
		case f.Type.ID.IsString() && f.Type.Shape == rosidl.Single:
			m.values[i].ref = new(string)
		case f.Type.ID.IsString():
			m.values[i].ref = new([]string)
		case f.Type.Shape != rosidl.Single:
			m.values[i].ref = new(numbers)
		}
	}
}

func (m *Message) text(i int) *string     { return m.values[i].ref.(*string) }
func (m *Message) texts(i int) *[]string  { return m.values[i].ref.(*[]string) }
func (m *Message) numbers(i int) *numbers { return m.values[i].ref.(*numbers) }
func (m *Message) nested(i int) *Message  { return m.values[i].ref.(*Message) }
func (m *Message) list(i int) *[]Message  { return m.values[i].ref.(*[]Message) }

// zero sets field i to zero; sequences become empty.
func (m *Message) zero(i int) {
	f := &m.typ.Fields[i]
	n := 0
	if f.Type.Shape == rosidl.Array {
		n = f.Type.Capacity
	}
	switch ref := m.values[i].ref.(type) {
	case nil:
		m.values[i].bits = 0
	case *string:
		*ref = ""
	case *Message:
		ref.prepare(f.Nested)
		for j := range ref.values {
			ref.zero(j)
		}
	case *numbers:
		ref.raw = sized(ref.raw, n*f.Type.ID.Size())
		clear(ref.raw)
	case *[]string:
		*ref = sized(*ref, n)
		clear(*ref)
	case *[]Message:
		*ref = sized(*ref, n)
		for j := range *ref {
			e := &(*ref)[j]
			e.prepare(f.Nested)
			for k := range e.values {
				e.zero(k)
			}
		}
	}
}

func sized[E any](s []E, n int) []E {
	if n <= cap(s) {
		return s[:n]
	}
	grown := make([]E, n)
	copy(grown, s[:cap(s)])
	return grown
}

// Decode reads a payload, encapsulation first, into a new message.
func (t *Type) Decode(payload []byte) (*Message, error) {
	var d cdr.Decoder
	d.Reset(payload)
	m := &Message{}
	return m, m.Decode(t, &d)
}

// Decode reads a message of type t from d into m, using again what m has. After
// an error m holds any valid values.
func (m *Message) Decode(t *Type, d *cdr.Decoder) error {
	if !d.Failed() && uint64(d.Left()) < t.min {
		d.Fail(fmt.Sprintf("a %s has at least %d bytes, %d are left", t.Name, t.min, d.Left()))
	}
	m.decode(t, d)
	return d.Err()
}

func (m *Message) decode(t *Type, d *cdr.Decoder) {
	m.prepare(t)
	if t.empty {
		d.Uint8()
		return
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		switch ref := m.values[i].ref.(type) {
		case nil:
			m.values[i].bits = decodeNumber(d, f.Type.ID)
		case *string:
			decodeText(d, f, ref)
		case *Message:
			ref.decode(f.Nested, d)
		case *numbers:
			size := f.Type.ID.Size()
			n := m.count(d, f, uint64(size))
			raw := d.Take(size, n)
			ref.raw = sized(ref.raw, len(raw))
			copy(ref.raw, raw)
			if f.Type.ID == rosidl.Bool {
				for j, b := range ref.raw {
					ref.raw[j] = min(b, 1)
				}
			}
			if !d.LittleEndian() {
				swap(ref.raw, size)
			}
		case *[]string:
			n := m.count(d, f, 4)
			s := (*ref)[:0]
			for j := 0; j < n && !d.Failed(); j++ {
				if j == len(s) {
					s = cdr.Grow(d, s, n)
				}
				decodeText(d, f, &s[j])
			}
			*ref = s
		case *[]Message:
			n := m.count(d, f, f.Nested.min)
			s := (*ref)[:0]
			for j := 0; j < n && !d.Failed(); j++ {
				if j == len(s) {
					s = cdr.Grow(d, s, n)
				}
				s[j].decode(f.Nested, d)
			}
			for j := range s { // all valid also after an error
				if s[j].typ == nil {
					s = s[:j]
					break
				}
			}
			*ref = s
		}
	}
	if d.Failed() {
		m.repair()
	}
}

// repair gives arrays their length after an error.
func (m *Message) repair() {
	for i := range m.typ.Fields {
		if m.typ.Fields[i].Type.Shape == rosidl.Array || m.typ.Fields[i].Nested != nil && m.typ.Fields[i].Type.Shape == rosidl.Single {
			m.zero(i)
		}
	}
}

// count is the number of elements of a sequence or array that follow.
func (m *Message) count(d *cdr.Decoder, f *Field, least uint64) int {
	if f.Type.Shape != rosidl.Array {
		bound := -1
		if f.Type.Shape == rosidl.Bounded {
			bound = f.Type.Capacity
		}
		return d.Count(int(least), bound)
	}
	if uint64(f.Type.Capacity) > uint64(d.Left())/least {
		d.Fail(fmt.Sprintf("an array of %d elements of at least %d bytes where %d bytes are left", f.Type.Capacity, least, d.Left()))
		return 0
	}
	return f.Type.Capacity
}

func decodeText(d *cdr.Decoder, f *Field, s *string) {
	bound := -1
	if f.Type.StringCapacity > 0 {
		bound = f.Type.StringCapacity
	}
	if f.Type.ID.IsWide() {
		d.WString(s, bound)
	} else {
		d.String(s, bound)
	}
}

func decodeNumber(d *cdr.Decoder, id rosidl.TypeID) uint64 {
	switch id {
	case rosidl.Bool:
		if d.Bool() {
			return 1
		}
		return 0
	case rosidl.Int8:
		return uint64(int64(d.Int8()))
	case rosidl.Int16:
		return uint64(int64(d.Int16()))
	case rosidl.Int32:
		return uint64(int64(d.Int32()))
	}
	switch id.Size() {
	case 1:
		return uint64(d.Uint8())
	case 2:
		return uint64(d.Uint16())
	case 4:
		return uint64(d.Uint32())
	}
	return d.Uint64()
}

// Encode gives the payload: encapsulation and body, little-endian. It fails
// with a [*rosidl.BoundError] if a bound is broken.
func (m *Message) Encode() ([]byte, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	p := make([]byte, cdr.EncapsulationSize+m.Size())
	cdr.PutEncapsulation(p)
	e := cdr.NewEncoder(p[cdr.EncapsulationSize:])
	m.EncodeTo(&e)
	return p, e.Err()
}

// EncodeTo writes the body into e, which was made over Size bytes.
func (m *Message) EncodeTo(e *cdr.Encoder) {
	if m.typ.empty {
		e.Uint8(0)
		return
	}
	for i := range m.values {
		f := &m.typ.Fields[i]
		sequence := f.Type.Shape == rosidl.Bounded || f.Type.Shape == rosidl.Unbounded
		switch ref := m.values[i].ref.(type) {
		case nil:
			var b [8]byte
			binary.LittleEndian.PutUint64(b[:], m.values[i].bits)
			e.Put(f.Type.ID.Size(), b[:f.Type.ID.Size()])
		case *string:
			encodeText(e, f, *ref)
		case *Message:
			ref.EncodeTo(e)
		case *numbers:
			if sequence {
				e.Count(len(ref.raw) / f.Type.ID.Size())
			}
			e.Put(f.Type.ID.Size(), ref.raw)
		case *[]string:
			if sequence {
				e.Count(len(*ref))
			}
			for _, s := range *ref {
				encodeText(e, f, s)
			}
		case *[]Message:
			if sequence {
				e.Count(len(*ref))
			}
			for j := range *ref {
				(*ref)[j].EncodeTo(e)
			}
		}
	}
}

func encodeText(e *cdr.Encoder, f *Field, s string) {
	if f.Type.ID.IsWide() {
		e.WString(s)
	} else {
		e.String(s)
	}
}

// Size is the length of the body in bytes.
func (m *Message) Size() int { return m.size(0) }

func (m *Message) size(off int) int {
	if m.typ.empty {
		return off + 1
	}
	for i := range m.values {
		f := &m.typ.Fields[i]
		width := f.Type.ID.Size()
		sequence := f.Type.Shape == rosidl.Bounded || f.Type.Shape == rosidl.Unbounded
		if sequence {
			off = cdr.Align(off, 4) + 4
		}
		switch ref := m.values[i].ref.(type) {
		case nil:
			off = cdr.Align(off, width) + width
		case *string:
			off = textSize(off, f, *ref)
		case *Message:
			off = ref.size(off)
		case *numbers:
			if len(ref.raw) > 0 {
				off = cdr.Align(off, width) + len(ref.raw)
			}
		case *[]string:
			for _, s := range *ref {
				off = textSize(off, f, s)
			}
		case *[]Message:
			for j := range *ref {
				off = (*ref)[j].size(off)
			}
		}
	}
	return off
}

func textSize(off int, f *Field, s string) int {
	if f.Type.ID.IsWide() {
		return cdr.WStringSize(off, s)
	}
	return cdr.StringSize(off, s)
}

// Check verifies bounds; the error is a [*rosidl.BoundError].
func (m *Message) Check() error {
	for i := range m.values {
		f := &m.typ.Fields[i]
		n := 1
		switch ref := m.values[i].ref.(type) {
		case *string:
			if err := checkText(f, f.Name, *ref); err != nil {
				return err
			}
		case *Message:
			if err := ref.Check(); err != nil {
				return rosidl.InField(f.Name, err)
			}
		case *numbers:
			n = len(ref.raw) / f.Type.ID.Size()
		case *[]string:
			n = len(*ref)
			for j, s := range *ref {
				if err := checkText(f, rosidl.Element(f.Name, j), s); err != nil {
					return err
				}
			}
		case *[]Message:
			n = len(*ref)
			for j := range *ref {
				if err := (*ref)[j].Check(); err != nil {
					return rosidl.InElement(f.Name, j, err)
				}
			}
		}
		if f.Type.Shape == rosidl.Bounded {
			if err := rosidl.CheckLen(f.Name, n, f.Type.Capacity, "elements"); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkText(f *Field, path, s string) error {
	if f.Type.StringCapacity == 0 {
		return nil
	}
	if f.Type.ID.IsWide() {
		return rosidl.CheckLen(path, cdr.WStringLen(s), f.Type.StringCapacity, "UTF-16 units")
	}
	return rosidl.CheckLen(path, len(s), f.Type.StringCapacity, "bytes")
}

// errRange is the cause when a number does not fit.
var errRange = errors.New("out of range")

// swap reverses the bytes of each element.
func swap(b []byte, size int) {
	for ; len(b) >= size && size > 1; b = b[size:] {
		for i, j := 0, size-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
	}
}

// at is the bits of element j as they would stand in value.bits.
func (n *numbers) at(id rosidl.TypeID, j int) uint64 {
	switch id.Size() {
	case 1:
		if id == rosidl.Int8 {
			return uint64(int64(int8(n.raw[j])))
		}
		return uint64(n.raw[j])
	case 2:
		v := binary.LittleEndian.Uint16(n.raw[2*j:])
		if id == rosidl.Int16 {
			return uint64(int64(int16(v)))
		}
		return uint64(v)
	case 4:
		v := binary.LittleEndian.Uint32(n.raw[4*j:])
		if id == rosidl.Int32 {
			return uint64(int64(int32(v)))
		}
		return uint64(v)
	}
	return binary.LittleEndian.Uint64(n.raw[8*j:])
}

// append adds an element given by its bits.
func (n *numbers) append(id rosidl.TypeID, bits uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], bits)
	n.raw = append(n.raw, b[:id.Size()]...)
}

// native is a number as the Go type of its ROS type.
func native(id rosidl.TypeID, bits uint64) any {
	switch id {
	case rosidl.Bool:
		return bits != 0
	case rosidl.Int8:
		return int8(bits)
	case rosidl.Uint8, rosidl.Byte:
		return uint8(bits)
	case rosidl.Int16:
		return int16(bits)
	case rosidl.Uint16:
		return uint16(bits)
	case rosidl.Int32:
		return int32(bits)
	case rosidl.Uint32:
		return uint32(bits)
	case rosidl.Int64:
		return int64(bits)
	case rosidl.Float32:
		return math.Float32frombits(uint32(bits))
	case rosidl.Float64:
		return math.Float64frombits(bits)
	}
	return bits
}
