package dynamic

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tagus-ros/tagus/rosidl"
)

// Get gives the value of field i: a Go bool, number or string; a []E of those
// (a copy); a *Message; or a []*Message. Messages are those in m, not copies.
func (m *Message) Get(i int) any {
	f := &m.typ.Fields[i]
	switch ref := m.values[i].ref.(type) {
	case *string:
		return *ref
	case *Message:
		return ref
	case *numbers:
		return ref.slice(f.Type.ID)
	case *[]string:
		return append([]string{}, *ref...)
	case *[]Message:
		list := make([]*Message, len(*ref))
		for j := range *ref {
			list[j] = &(*ref)[j]
		}
		return list
	}
	return native(f.Type.ID, m.values[i].bits)
}

// GetPath gives the value that a path such as "poses[2].position.x" names; see
// [Message.Get].
func (m *Message) GetPath(path string) (any, error) {
	at, i, j, err := m.find(path)
	if err != nil {
		return nil, err
	}
	if j < 0 {
		return at.Get(i), nil
	}
	switch ref := at.values[i].ref.(type) {
	case *numbers:
		id := at.typ.Fields[i].Type.ID
		return native(id, ref.at(id, j)), nil
	case *[]string:
		return (*ref)[j], nil
	}
	return &(*at.list(i))[j], nil
}

// find goes along a path: the message and field it ends at, and the index of the
// element, or -1.
func (m *Message) find(path string) (at *Message, i, j int, err error) {
	fail := func(what string) (*Message, int, int, error) {
		return nil, 0, 0, &FieldError{Path: path, What: what}
	}
	parts := strings.Split(path, ".")
	for k, part := range parts {
		name, index, indexed := strings.Cut(part, "[")
		if i = m.typ.FieldIndex(name); i < 0 {
			return fail(fmt.Sprintf("%s has no field %q (it has %s)", m.typ.Name, name, strings.Join(m.typ.names(), ", ")))
		}
		j = -1
		if indexed {
			n, err := strconv.Atoi(strings.TrimSuffix(index, "]"))
			if err != nil || !strings.HasSuffix(index, "]") {
				return fail(fmt.Sprintf("%q is not an index", "["+index))
			}
			if length := m.length(i); n < 0 || n >= length {
				return fail(fmt.Sprintf("index %d of %d elements", n, length))
			}
			j = n
		}
		if k == len(parts)-1 {
			return m, i, j, nil
		}
		switch ref := m.values[i].ref.(type) {
		case *Message:
			m = ref
		case *[]Message:
			if j < 0 {
				return fail(fmt.Sprintf("%s is a list: say which element", name))
			}
			m = &(*ref)[j]
		default:
			return fail(fmt.Sprintf("%s is no message", name))
		}
	}
	return m, i, j, nil
}

// length is the number of elements of field i, 0 if it is a single value.
func (m *Message) length(i int) int {
	switch ref := m.values[i].ref.(type) {
	case *numbers:
		return len(ref.raw) / m.typ.Fields[i].Type.ID.Size()
	case *[]string:
		return len(*ref)
	case *[]Message:
		return len(*ref)
	}
	return 0
}

// Map gives the message as maps, slices and Go values; messages become maps.
func (m *Message) Map() map[string]any {
	out := make(map[string]any, len(m.values))
	for i := range m.values {
		name := m.typ.Fields[i].Name
		switch ref := m.values[i].ref.(type) {
		case *Message:
			out[name] = ref.Map()
		case *[]Message:
			list := make([]any, len(*ref))
			for j := range *ref {
				list[j] = (*ref)[j].Map()
			}
			out[name] = list
		default:
			out[name] = m.Get(i)
		}
	}
	return out
}

// Equal compares by value; numbers are equal if their bits are.
func (m *Message) Equal(o *Message) bool {
	if m.typ.Name != o.typ.Name || len(m.values) != len(o.values) {
		return false
	}
	for i := range m.values {
		if m.values[i].bits != o.values[i].bits || m.length(i) != o.length(i) {
			return false
		}
		switch ref := m.values[i].ref.(type) {
		case *string:
			if *ref != *o.text(i) {
				return false
			}
		case *Message:
			if !ref.Equal(o.nested(i)) {
				return false
			}
		case *numbers:
			if !bytes.Equal(ref.raw, o.numbers(i).raw) {
				return false
			}
		case *[]string:
			for j, s := range *ref {
				if s != (*o.texts(i))[j] {
					return false
				}
			}
		case *[]Message:
			for j := range *ref {
				if !(*ref)[j].Equal(&(*o.list(i))[j]) {
					return false
				}
			}
		}
	}
	return true
}

// slice gives the elements as a slice of their Go type.
func (n *numbers) slice(id rosidl.TypeID) any {
	switch id {
	case rosidl.Bool:
		return convert(n, id, func(b uint64) bool { return b != 0 })
	case rosidl.Int8:
		return convert(n, id, func(b uint64) int8 { return int8(b) })
	case rosidl.Int16:
		return convert(n, id, func(b uint64) int16 { return int16(b) })
	case rosidl.Uint16:
		return convert(n, id, func(b uint64) uint16 { return uint16(b) })
	case rosidl.Int32:
		return convert(n, id, func(b uint64) int32 { return int32(b) })
	case rosidl.Uint32:
		return convert(n, id, func(b uint64) uint32 { return uint32(b) })
	case rosidl.Int64:
		return convert(n, id, func(b uint64) int64 { return int64(b) })
	case rosidl.Uint64:
		return convert(n, id, func(b uint64) uint64 { return b })
	case rosidl.Float32:
		return convert(n, id, func(b uint64) float32 { return math.Float32frombits(uint32(b)) })
	case rosidl.Float64:
		return convert(n, id, math.Float64frombits)
	}
	return append([]byte{}, n.raw...)
}

func convert[E any](n *numbers, id rosidl.TypeID, one func(uint64) E) []E {
	out := make([]E, len(n.raw)/id.Size())
	for j := range out {
		out[j] = one(n.at(id, j))
	}
	return out
}
