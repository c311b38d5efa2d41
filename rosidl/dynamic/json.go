package dynamic

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/tagus-ros/tagus/rosidl"
)

// AppendJSON writes the message as a JSON object, fields in the order of the
// definition. Floats that JSON has no number for are the texts "NaN", "Infinity"
// and "-Infinity"; integers of 64 bits are numbers.
func (m *Message) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	for i := range m.values {
		if i > 0 {
			dst = append(dst, ',')
		}
		f := &m.typ.Fields[i]
		dst = append(append(append(dst, '"'), f.Name...), `":`...)
		if f.Type.Shape == rosidl.Single {
			dst = m.appendJSONElement(dst, i, -1)
			continue
		}
		dst = append(dst, '[')
		for j := range m.length(i) {
			if j > 0 {
				dst = append(dst, ',')
			}
			dst = m.appendJSONElement(dst, i, j)
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

func (m *Message) appendJSONElement(dst []byte, i, j int) []byte {
	switch ref := m.values[i].ref.(type) {
	case *string:
		return appendJSONText(dst, *ref)
	case *Message:
		return ref.AppendJSON(dst)
	case *[]string:
		return appendJSONText(dst, (*ref)[j])
	case *[]Message:
		return (*ref)[j].AppendJSON(dst)
	}
	bits, id := m.bitsAt(i, j), m.typ.Fields[i].Type.ID
	switch id {
	case rosidl.Bool:
		if bits != 0 {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case rosidl.Float32, rosidl.Float64:
		x := floatOf(id, bits)
		switch {
		case x != x:
			return append(dst, `"NaN"`...)
		case math.IsInf(x, 1):
			return append(dst, `"Infinity"`...)
		case math.IsInf(x, -1):
			return append(dst, `"-Infinity"`...)
		}
		// The shortest text that gives the same float of its own width.
		b, _ := json.Marshal(native(id, bits))
		return append(dst, b...)
	}
	return appendInteger(dst, id, bits)
}

func appendJSONText(dst []byte, s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // strings can always be encoded
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}

// AssignJSON sets the fields that a JSON object names; see [Message.Assign].
func (m *Message) AssignJSON(text []byte, now func() time.Time) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return fmt.Errorf("dynamic: %s from JSON: %w", m.typ.Name, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("dynamic: %s from JSON: text after the object", m.typ.Name)
	}
	return m.Assign(v, now)
}
