package dynamic

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tagus-ros/tagus/rosidl"
)

// FieldError tells which field a value could not be put into, and why.
type FieldError struct {
	Path string // from the top of the message: "poses[3].name"
	What string
}

func (e *FieldError) Error() string {
	if e.Path == "" {
		return e.What
	}
	return fmt.Sprintf("field %s: %s", e.Path, e.What)
}

// below puts a part in front of the path of err.
func below(part string, err error) error {
	e, ok := err.(*FieldError)
	if !ok {
		return err
	}
	switch {
	case e.Path == "":
		e.Path = part
	case e.Path[0] == '[':
		e.Path = part + e.Path
	default:
		e.Path = part + "." + e.Path
	}
	return e
}

func mismatch(v any, want string) error {
	return &FieldError{What: fmt.Sprintf("%s is not %s", show(v), want)}
}

// show is a short form of a value for errors.
func show(v any) string {
	s := fmt.Sprintf("%v", v)
	if _, ok := v.(string); ok {
		s = strconv.Quote(s)
	}
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:60], "") + "…"
	}
	return s
}

// Assign sets the fields that v names and leaves the others: v is a map from
// field names to values, as readers of JSON and YAML give it; nil changes
// nothing. Numbers may be any Go numbers or text, lists any slices.
//
// If now is not nil, the word "now" stands for the current time where a Time
// belongs, and "auto" for a header that holds it. The error is a [*FieldError];
// what came before the bad field is set then.
func (m *Message) Assign(v any, now func() time.Time) error {
	a := assigner{now: now}
	return a.message(m, v)
}

// Set sets field i to v; see [Message.Assign].
func (m *Message) Set(i int, v any) error {
	a := assigner{}
	return below(m.typ.Fields[i].Name, a.field(m, i, v))
}

// SetPath sets the field that a path such as "poses[2].position.x" names.
func (m *Message) SetPath(path string, v any) error {
	at, i, j, err := m.find(path)
	if err != nil {
		return err
	}
	a := assigner{}
	if j >= 0 {
		return below(path, a.indexed(at, i, j, v))
	}
	return below(path, a.field(at, i, v))
}

// setElement sets a single number or text.
func (m *Message) setElement(i int, v any) error {
	a := assigner{}
	return a.field(m, i, v)
}

type assigner struct{ now func() time.Time }

func (a *assigner) message(m *Message, v any) error {
	switch v := v.(type) {
	case nil:
		return nil
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			i := m.typ.FieldIndex(name)
			if i < 0 {
				return &FieldError{Path: name, What: fmt.Sprintf("%s has no such field (it has %s)", m.typ.Name, strings.Join(m.typ.names(), ", "))}
			}
			if err := a.field(m, i, v[name]); err != nil {
				return below(name, err)
			}
		}
		return nil
	case *Message:
		if v.typ.Name != m.typ.Name {
			return mismatch(v.typ.Name, "a "+m.typ.Name)
		}
		return a.message(m, v.Map())
	case string:
		if a.special(m, v) {
			return nil
		}
	}
	return mismatch(v, "a "+m.typ.Name)
}

// special handles the words that stand for the current time.
func (a *assigner) special(m *Message, word string) bool {
	if a.now == nil {
		return false
	}
	switch {
	case word == "now" && m.typ.Name == "builtin_interfaces/msg/Time" && len(m.values) == 2:
		t := a.now()
		m.values[0].bits = uint64(t.Unix())
		m.values[1].bits = uint64(t.Nanosecond())
		return true
	case word == "auto" && m.typ.Name == "std_msgs/msg/Header":
		i := m.typ.FieldIndex("stamp")
		return i >= 0 && m.typ.Fields[i].Nested != nil && m.typ.Fields[i].Type.Shape == rosidl.Single && a.special(m.nested(i), "now")
	}
	return false
}

// field sets field i of m.
func (a *assigner) field(m *Message, i int, v any) error {
	f := &m.typ.Fields[i]
	switch ref := m.values[i].ref.(type) {
	case nil:
		bits, err := toBits(f.Type.ID, v)
		if err == nil {
			m.values[i].bits = bits
		}
		return err
	case *string:
		s, err := toText(v)
		if err == nil {
			*ref = s
		}
		return err
	case *Message:
		return a.message(ref, v)
	}
	n, at, ok := elements(v)
	switch {
	case !ok:
		return mismatch(v, "a list for "+f.Type.String())
	case f.Type.Shape == rosidl.Array && n != f.Type.Capacity:
		return &FieldError{What: fmt.Sprintf("%d elements for %s", n, f.Type)}
	case f.Type.Shape == rosidl.Bounded && n > f.Type.Capacity:
		return &FieldError{What: fmt.Sprintf("%d elements for %s", n, f.Type)}
	}
	switch ref := m.values[i].ref.(type) {
	case *numbers:
		fresh := numbers{raw: make([]byte, 0, n*f.Type.ID.Size())}
		if b, ok := v.([]byte); ok && f.Type.ID.Size() == 1 && f.Type.ID != rosidl.Bool && f.Type.ID != rosidl.Int8 {
			fresh.raw = append(fresh.raw, b...)
		} else {
			for j := range n {
				bits, err := toBits(f.Type.ID, at(j))
				if err != nil {
					return below(fmt.Sprintf("[%d]", j), err)
				}
				fresh.append(f.Type.ID, bits)
			}
		}
		*ref = fresh
	case *[]string:
		fresh := make([]string, n)
		for j := range n {
			s, err := toText(at(j))
			if err != nil {
				return below(fmt.Sprintf("[%d]", j), err)
			}
			fresh[j] = s
		}
		*ref = fresh
	case *[]Message:
		fresh := make([]Message, n)
		for j := range n {
			fresh[j] = *f.Nested.NewDefault()
			if err := a.message(&fresh[j], at(j)); err != nil {
				return below(fmt.Sprintf("[%d]", j), err)
			}
		}
		*ref = fresh
	}
	return nil
}

// indexed sets element j of field i.
func (a *assigner) indexed(m *Message, i, j int, v any) error {
	f := &m.typ.Fields[i]
	switch ref := m.values[i].ref.(type) {
	case *numbers:
		bits, err := toBits(f.Type.ID, v)
		if err != nil {
			return err
		}
		size := f.Type.ID.Size()
		one := numbers{raw: ref.raw[j*size : j*size : (j+1)*size]}
		one.append(f.Type.ID, bits)
	case *[]string:
		s, err := toText(v)
		if err != nil {
			return err
		}
		(*ref)[j] = s
	case *[]Message:
		return a.message(&(*ref)[j], v)
	}
	return nil
}

// elements gives the length of a list and its elements.
func elements(v any) (n int, at func(int) any, ok bool) {
	switch v := v.(type) {
	case nil:
		return 0, nil, true
	case []any:
		return len(v), func(i int) any { return v[i] }, true
	case []*Message:
		return len(v), func(i int) any { return v[i] }, true
	}
	r := reflect.ValueOf(v)
	if r.Kind() != reflect.Slice && r.Kind() != reflect.Array {
		return 0, nil, false
	}
	return r.Len(), func(i int) any { return r.Index(i).Interface() }, true
}

// toText accepts strings, and numbers and bools for what people write without
// quotes.
func toText(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case json.Number:
		return v.String(), nil
	case bool, int, int64, uint64, float64:
		return fmt.Sprint(v), nil
	}
	return "", mismatch(v, "text")
}

// toBits converts a value to a number of the given type.
func toBits(id rosidl.TypeID, v any) (uint64, error) {
	switch id {
	case rosidl.Bool:
		return toBool(v)
	case rosidl.Float32, rosidl.Float64:
		x, err := toFloat(v)
		if err != nil {
			return 0, err
		}
		if id == rosidl.Float64 {
			return math.Float64bits(x), nil
		}
		if !math.IsInf(x, 0) && math.Abs(x) > math.MaxFloat32 {
			return 0, mismatch(v, "a float32: "+errRange.Error())
		}
		return uint64(math.Float32bits(float32(x))), nil
	}
	if s, ok := v.(string); ok && id == rosidl.Byte && utf8.RuneCountInString(s) == 1 && (s < "0" || s > "9") {
		if r, _ := utf8.DecodeRuneInString(s); r <= 0xff { // as bytes are printed
			return uint64(r), nil
		}
	}
	name := rosidl.FieldType{ID: id}.String()
	size := id.Size() * 8
	signed := id == rosidl.Int8 || id == rosidl.Int16 || id == rosidl.Int32 || id == rosidl.Int64
	i, u, negative, ok := toInteger(v)
	switch {
	case !ok:
		return 0, mismatch(v, "a number for "+name)
	case signed && (negative && i < -1<<(size-1) || !negative && u > 1<<(size-1)-1),
		!signed && (negative || size < 64 && u >= 1<<size):
		return 0, mismatch(v, "a "+name+": "+errRange.Error())
	case negative:
		return uint64(i), nil
	}
	return u, nil
}

// toInteger gives a whole number, as i if it is negative, else as u.
func toInteger(v any) (i int64, u uint64, negative, ok bool) {
	switch v := v.(type) {
	case json.Number:
		return toInteger(v.String())
	case string:
		s := strings.TrimSpace(v)
		if i, err := strconv.ParseInt(s, 0, 64); err == nil {
			return i, uint64(i), i < 0, true
		}
		if u, err := strconv.ParseUint(s, 0, 64); err == nil {
			return 0, u, false, true
		}
		if x, err := strconv.ParseFloat(s, 64); err == nil {
			return toInteger(x)
		}
		return 0, 0, false, false
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return r.Int(), uint64(r.Int()), r.Int() < 0, true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return 0, r.Uint(), false, true
	case reflect.Float32, reflect.Float64:
		x := r.Float()
		if x == math.Trunc(x) && x >= -1<<63 && x < 1<<63 {
			return int64(x), uint64(int64(x)), x < 0, true
		}
		if x == math.Trunc(x) && x >= 1<<63 && x < 1<<64 {
			return 0, uint64(x), false, true
		}
	}
	return 0, 0, false, false
}

func toBool(v any) (uint64, error) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, nil
		}
		return 0, nil
	case string:
		switch strings.ToLower(v) {
		case "true", "yes", "on":
			return 1, nil
		case "false", "no", "off":
			return 0, nil
		}
	}
	if _, u, negative, ok := toInteger(v); ok && !negative && u <= 1 {
		return u, nil
	}
	return 0, mismatch(v, "true or false")
}

func toFloat(v any) (float64, error) {
	switch v := v.(type) {
	case json.Number:
		return toFloat(v.String())
	case string:
		s := strings.TrimSpace(v)
		if isDotted(s) {
			s = strings.Replace(s, ".", "", 1)
		}
		x, err := strconv.ParseFloat(s, 64)
		switch {
		case err != nil:
			return 0, mismatch(v, "a number")
		case x != x:
			return math.Float64frombits(0x7ff8 << 48), nil // the NaN that others write
		}
		return x, nil
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return float64(r.Int()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return float64(r.Uint()), nil
	case reflect.Float32, reflect.Float64:
		return r.Float(), nil
	}
	return 0, mismatch(v, "a number")
}

// isDotted tells whether s is .nan or .inf as YAML writes them.
func isDotted(s string) bool {
	s = strings.ToLower(strings.TrimLeft(s, "+-"))
	return s == ".nan" || s == ".inf"
}
