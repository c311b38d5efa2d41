package param

import (
	"encoding/base64"
	"errors"
	"strings"
)

// Parse reads a value as rcl reads what follows := in "-p name:=value", and what stands in a parameter file: true, 5, 1.5, text, 'text',
// [1, 2, 3]. null gives a Value that is not set.
func Parse(text string) (Value, error) {
	n, err := one(text)
	if err != nil {
		return Value{}, err
	}
	if n == nil {
		return Value{}, errors.New("there is no value")
	}
	v, err := n.value(rclScalar)
	if err != nil {
		return Value{}, err
	}
	return v, nil
}

// Guess reads a value as "ros2 param set" does, by the rules of Python's YAML reader. What is no value is the text itself.
func Guess(text string) Value {
	if n, err := one(text); err == nil && n != nil {
		if v, err := n.value(pythonScalar); err == nil && v.IsSet() {
			return v
		}
	}
	return textValue(text)
}

// one gives the only document of a text, nil if it is empty.
func one(text string) (*yamlNode, error) {
	docs, err := parseYAML(text)
	switch {
	case err != nil:
		return nil, err
	case len(docs) == 0:
		return nil, nil
	case len(docs) > 1:
		return nil, errors.New("more than one value")
	}
	return docs[0], nil
}

// value makes a value of a node by these rules. The error is a *yamlError.
func (n *yamlNode) value(scalar rules) (Value, error) {
	switch {
	case n.kind == yamlMapping:
		return Value{}, n.fail("a mapping is no value")
	case n.kind == yamlScalar:
		return n.scalar(scalar)
	case n.tag != "" && n.tag != "!!seq":
		return Value{}, n.fail("the tag %s is not supported here", n.tag)
	case len(n.items) == 0:
		return empty(BoolArray), nil // which converts to any list
	}
	items := make([]Value, len(n.items))
	for i, item := range n.items {
		if item.kind != yamlScalar {
			return Value{}, item.fail("a list holds single values only")
		}
		v, err := item.scalar(scalar)
		if err != nil {
			return Value{}, err
		}
		if !v.IsSet() {
			return Value{}, item.fail("a list cannot hold null")
		}
		items[i] = v
	}
	if mixed := unify(items); mixed >= 0 {
		return Value{}, n.items[mixed].fail("a list holds values of one type: %s after %s", items[mixed].typ, items[0].typ)
	}
	return list(items), nil
}

func (n *yamlNode) scalar(scalar rules) (Value, error) {
	if n.missing && n.tag == "" {
		return Value{}, n.fail("there is no value")
	}
	want, wanted := map[string]Type{"!!bool": Bool, "!!int": Integer, "!!float": Double, "!!null": NotSet}[n.tag]
	switch {
	case n.tag == "!!str", n.tag == "" && !n.plain:
		return textValue(n.text), nil
	case n.tag == "":
		return scalar(n.text), nil
	case n.tag == "!!binary":
		bytes, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(n.text), ""))
		if err != nil {
			return Value{}, n.fail("%v", err)
		}
		return Value{typ: ByteArray, list: clone(bytes)}, nil
	case wanted:
		v, ok := convert(scalar(n.text), want)
		if !ok {
			return Value{}, n.fail("%q is no %s", shorten(n.text), want)
		}
		return v, nil
	}
	return Value{}, n.fail("the tag %s is not supported", n.tag)
}

// unify makes integers doubles where there are both, and gives the index of the first that still differs from those before it, or -1.
func unify(items []Value) int {
	want := items[0].typ
	for i, v := range items {
		switch {
		case v.typ == want, v.typ == Integer && want == Double:
		case v.typ == Double && want == Integer:
			want = Double
		default:
			return i
		}
	}
	for i, v := range items {
		items[i], _ = convert(v, want)
	}
	return -1
}

// list joins values of one type. Several byte arrays, which is how single bytes are written, become one.
func list(items []Value) Value {
	switch items[0].typ {
	case Bool:
		return Value{typ: BoolArray, list: each(items, Value.bool)}
	case Integer:
		return Value{typ: IntegerArray, list: each(items, Value.int)}
	case Double:
		return Value{typ: DoubleArray, list: each(items, Value.double)}
	case ByteArray:
		var all []byte
		for _, v := range items {
			all = append(all, v.list.([]byte)...)
		}
		return Value{typ: ByteArray, list: clone(all)}
	}
	return Value{typ: StringArray, list: each(items, func(v Value) string { return v.text })}
}

func each[E any](items []Value, of func(Value) E) []E {
	out := make([]E, len(items))
	for i, v := range items {
		out[i] = of(v)
	}
	return out
}
