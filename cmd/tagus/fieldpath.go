package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tagus-ros/tagus/rosidl"
	"github.com/tagus-ros/tagus/rosidl/dynamic"
)

// fieldPath is a path to a field of a message of a known type, such as "header.stamp.sec" or "poses[2].position": it is right for every message
// of the type, except that a list may be too short.
type fieldPath struct {
	text  string
	field *dynamic.Field
	list  bool // the whole list, not one element
}

// parsePath checks a path against a type.
func parsePath(t *dynamic.Type, text string) (*fieldPath, error) {
	p := &fieldPath{text: text}
	at := t
	for _, part := range strings.Split(text, ".") {
		name, index, indexed := strings.Cut(part, "[")
		if at == nil {
			return nil, fmt.Errorf("%s: %s is no message and has no field %q", text, typeWord(p.field, p.list), name)
		}
		if p.field != nil && p.list {
			return nil, fmt.Errorf("%s: %s is a list; say which element: %s[0].%s", text, p.field.Name, p.field.Name, name)
		}
		i := at.FieldIndex(name)
		if i < 0 {
			return nil, fmt.Errorf("%s: %s has no field %q; it has %s", text, at.Name, name, strings.Join(fieldNames(at), ", "))
		}
		p.field = &at.Fields[i]
		p.list = p.field.Type.Shape != rosidl.Single
		if indexed {
			digits, ok := strings.CutSuffix(index, "]")
			if !ok || digits == "" || strings.Trim(digits, "0123456789") != "" {
				return nil, fmt.Errorf("%s: %q is no index; want a number from 0 in brackets", text, "["+index)
			}
			if !p.list {
				return nil, fmt.Errorf("%s: %s is no list", text, name)
			}
			p.list = false
		}
		at = p.field.Nested
	}
	return p, nil
}

// value is what the path leads to in m: see [dynamic.Message.Get].
func (p *fieldPath) value(m *dynamic.Message) (any, error) { return m.GetPath(p.text) }

func fieldNames(t *dynamic.Type) []string {
	var names []string
	for i := range t.Fields {
		names = append(names, t.Fields[i].Name)
	}
	slices.Sort(names)
	return names
}

// typeWord names the type of a field for errors.
func typeWord(f *dynamic.Field, list bool) string {
	t := f.Type
	if !list {
		t.Shape = rosidl.Single
	}
	return t.String()
}
