package rosidl

import (
	"fmt"

	"github.com/tagus-ros/tagus/cdr"
)

// Descriptions travel as type_description_interfaces/msg/TypeDescription, which
// this file writes and reads without the generated package.

// Payload is the description as a message, encapsulation first.
func (d *TypeDescription) Payload() []byte {
	n := describedSize(0, &d.Type)
	n = cdr.Align(n, 4) + 4
	for i := range d.Referenced {
		n = describedSize(n, &d.Referenced[i])
	}
	p := make([]byte, cdr.EncapsulationSize+n)
	cdr.PutEncapsulation(p)
	e := cdr.NewEncoder(p[cdr.EncapsulationSize:])
	encodeDescribed(&e, &d.Type)
	e.Count(len(d.Referenced))
	for i := range d.Referenced {
		encodeDescribed(&e, &d.Referenced[i])
	}
	return p
}

func describedSize(off int, t *IndividualType) int {
	off = cdr.StringSize(off, t.Name)
	off = cdr.Align(off, 4) + 4
	for i := range t.Fields {
		f := &t.Fields[i]
		off = cdr.StringSize(off, f.Name)
		off = cdr.Align(off+1, 8) + 16
		off = cdr.StringSize(off, f.Type.NestedTypeName)
		off = cdr.StringSize(off, f.Default)
	}
	return off
}

func encodeDescribed(e *cdr.Encoder, t *IndividualType) {
	e.String(t.Name)
	e.Count(len(t.Fields))
	for i := range t.Fields {
		f := &t.Fields[i]
		e.String(f.Name)
		e.Uint8(f.Type.TypeID)
		e.Uint64(f.Type.Capacity)
		e.Uint64(f.Type.StringCapacity)
		e.String(f.Type.NestedTypeName)
		e.String(f.Default)
	}
}

// maxTypeName is the bound of type names in descriptions.
const maxTypeName = 255

// DescriptionFromPayload reads a description that came as a message. It may be
// of anything: dynamic.NewType tells whether it makes sense.
func DescriptionFromPayload(p []byte) (*TypeDescription, error) {
	var d cdr.Decoder
	d.Reset(p)
	out := &TypeDescription{}
	decodeDescribed(&d, &out.Type)
	n := d.Count(8, -1)
	for i := 0; i < n && !d.Failed(); i++ {
		if i == len(out.Referenced) {
			out.Referenced = cdr.Grow(&d, out.Referenced, n)
		}
		decodeDescribed(&d, &out.Referenced[i])
	}
	if err := d.Err(); err != nil {
		return nil, fmt.Errorf("rosidl: type description: %w", err)
	}
	return out, nil
}

func decodeDescribed(d *cdr.Decoder, t *IndividualType) {
	d.String(&t.Name, maxTypeName)
	n := d.Count(29, -1)
	for i := 0; i < n && !d.Failed(); i++ {
		if i == len(t.Fields) {
			t.Fields = cdr.Grow(d, t.Fields, n)
		}
		f := &t.Fields[i]
		d.String(&f.Name, -1)
		f.Type.TypeID = d.Uint8()
		f.Type.Capacity = d.Uint64()
		f.Type.StringCapacity = d.Uint64()
		d.String(&f.Type.NestedTypeName, maxTypeName)
		d.String(&f.Default, -1)
	}
}
