package topology

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// value is a JSON value that remembers the line it stands on.
type value struct {
	line    int
	scalar  any // nil, bool, string, json.Number
	array   []value
	members []member // in file order
	kind    byte     // 'n' null, 'b' bool, 's' string, '#' number, '[' array, '{' object
}

type member struct {
	key  string
	line int
	val  value
}

func (v *value) kindName() string {
	switch v.kind {
	case 'n':
		return "null"
	case 'b':
		return "a boolean"
	case 's':
		return "a string"
	case '#':
		return "a number"
	case '[':
		return "a list"
	default:
		return "an object"
	}
}

// lines maps byte offsets to line numbers.
type lines struct{ data []byte }

func (l lines) at(offset int64) int {
	if offset > int64(len(l.data)) {
		offset = int64(len(l.data))
	}
	return 1 + bytes.Count(l.data[:offset], []byte{'\n'})
}

// parseJSON reads one JSON value and nothing after it.
func parseJSON(file string, data []byte) (value, error) {
	l := lines{data}
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		e := &Error{File: file, Text: "not JSON: " + err.Error()}
		if s := (*json.SyntaxError)(nil); errors.As(err, &s) {
			e.Line = l.at(s.Offset)
		}
		return value{}, e
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	v, err := readValue(d, l)
	if err != nil {
		return value{}, &Error{File: file, Line: l.at(d.InputOffset()), Text: "not JSON: " + err.Error()}
	}
	return v, nil
}

func readValue(d *json.Decoder, l lines) (value, error) {
	tok, err := d.Token()
	if err != nil {
		return value{}, err
	}
	v := value{line: l.at(d.InputOffset()), scalar: tok}
	switch tok := tok.(type) {
	case nil:
		v.kind = 'n'
	case bool:
		v.kind = 'b'
	case string:
		v.kind = 's'
	case json.Number:
		v.kind = '#'
	case json.Delim:
		v.scalar = nil
		v.kind = byte(tok)
		return v, readInside(d, l, &v)
	default:
		return value{}, fmt.Errorf("unexpected %v", tok)
	}
	return v, nil
}

func readInside(d *json.Decoder, l lines, v *value) error {
	for d.More() {
		if v.kind == '[' {
			e, err := readValue(d, l)
			if err != nil {
				return err
			}
			v.array = append(v.array, e)
			continue
		}
		key, err := d.Token()
		if err != nil {
			return err
		}
		m := member{key: key.(string), line: l.at(d.InputOffset())}
		if m.val, err = readValue(d, l); err != nil {
			return err
		}
		v.members = append(v.members, m)
	}
	_, err := d.Token()
	return err
}
