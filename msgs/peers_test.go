package msgs_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tagus-ros/tagus/internal/peers"
	"github.com/tagus-ros/tagus/rosidl"
)

// peerCase is one message as a peer gets it.
type peerCase struct {
	Type       string `json:"type"`
	Definition string `json:"definition"`
	Value      any    `json:"value"`
	Payload    string `json:"payload"`

	typ     message
	message any
	bytes   []byte
}

// peerAnswer is what a peer makes of a case.
type peerAnswer struct {
	Encoded string          `json:"encoded"`
	Big     string          `json:"big"`
	Decoded json.RawMessage `json:"decoded"`
	Hash    string          `json:"hash"`
}

// peerCases makes random messages of every type that a peer can handle.
func peerCases(t *testing.T, ascii bool, want func(*rosidl.Struct) bool) []peerCase {
	t.Helper()
	var cases []peerCase
	for i, typ := range allTypes {
		set, st := structOf(typ)
		if typ.memory() > 200_000 || hasWide(set, typ.name()) || !want(st) {
			continue
		}
		runs := 30
		if typ.memory() > 5_000 {
			runs = 2
		}
		for run := range runs {
			r := newRandom(uint64(i*1000 + run))
			r.ascii = ascii
			r.long = run % 6
			m := typ.fresh()
			if run > 0 { // the first has all zeros
				r.fill(set, st, m)
			}
			p := payload(typ, m)
			cases = append(cases, peerCase{
				Type: typ.name(), Definition: typ.definition(), Payload: hex.EncodeToString(p),
				Value: asJSON(set, st, reflect.ValueOf(m).Elem()), typ: typ, message: m, bytes: p,
			})
		}
	}
	return cases
}

// ask runs a peer's script over the cases.
func ask(t *testing.T, peer *peers.Peer, script string, cases []peerCase) []peerAnswer {
	t.Helper()
	var in bytes.Buffer
	enc := json.NewEncoder(&in)
	for _, c := range cases {
		if err := enc.Encode(c); err != nil {
			t.Fatal(err)
		}
	}
	var answers []peerAnswer
	s := bufio.NewScanner(bytes.NewReader(peer.Run(t, script, &in)))
	s.Buffer(nil, 64<<20)
	for s.Scan() {
		var a peerAnswer
		if err := json.Unmarshal(s.Bytes(), &a); err != nil {
			t.Fatalf("%v in %.200s", err, s.Text())
		}
		answers = append(answers, a)
	}
	if len(answers) != len(cases) {
		t.Fatalf("%d answers to %d cases", len(answers), len(cases))
	}
	return answers
}

// compare checks both directions: the peer writes the bytes that we write, and
// reads from ours the values that went in.
func compare(t *testing.T, c peerCase, a peerAnswer) {
	t.Helper()
	if a.Encoded != c.Payload {
		t.Errorf("%s\nvalue %+v\nours  %s\npeer  %s", c.Type, c.message, c.Payload, a.Encoded)
	}
	want, err := json.Marshal(c.Value)
	if err != nil {
		t.Fatal(err)
	}
	if got := canonical(t, a.Decoded); got != canonical(t, want) {
		t.Errorf("%s: the peer reads\n%s\nwant\n%s", c.Type, got, canonical(t, want))
	}
}

func canonical(t *testing.T, text []byte) string {
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func hasWide(set *rosidl.Set, name string) bool {
	return slices.ContainsFunc(set.Struct(name).Fields, func(f rosidl.Field) bool {
		return f.Type.ID.IsWide() || f.Type.ID == rosidl.Nested && hasWide(set, f.Type.NestedName)
	})
}

// The npm package does not write what is outside ASCII, nor wide strings, and
// takes a definition of constants for a list of constants.
func TestAgainstFoxglove(t *testing.T) {
	node := peers.Node(t, "@foxglove/rosmsg2-serialization@3.1.0", "@foxglove/rosmsg@5.0.5")
	cases := peerCases(t, true, func(st *rosidl.Struct) bool { return len(st.Fields) > 0 || len(st.Constants) == 0 })
	for i, a := range ask(t, node, "testdata/peer_foxglove.js", cases) {
		compare(t, cases[i], a)
		if t.Failed() {
			return
		}
	}
	t.Logf("%d messages", len(cases))
}

// The Python package knows no names of services and actions; they are passed as
// messages, and so their hashes are not compared. It also writes big-endian and knows type hashes; it has no
// wide strings.
func TestAgainstRosbags(t *testing.T) {
	python := peers.Python(t, "rosbags==0.11.9")
	cases := peerCases(t, false, func(*rosidl.Struct) bool { return true })
	for i, a := range ask(t, python, "testdata/peer_rosbags.py", cases) {
		c := cases[i]
		compare(t, c, a)
		if strings.Contains(c.Type, "/msg/") && a.Hash != c.typ.hash() && !hasChar(c.typ) {
			t.Errorf("%s: hash %s, the peer's %s", c.Type, c.typ.hash(), a.Hash)
		}
		big, err := hex.DecodeString(a.Big)
		if err != nil {
			t.Fatal(err)
		}
		for name, decode := range map[string]func(any) error{
			"decoded": func(m any) error { return c.typ.decode(decoder(big), m) },
			"aliased": func(m any) error { return c.typ.alias(decoder(big), m) },
		} {
			m := c.typ.fresh()
			if err := decode(m); err != nil || !c.typ.equal(m, c.message) {
				t.Errorf("%s: big-endian %s: %v\ngot  %+v\nwant %+v", c.Type, name, err, m, c.message)
			}
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d messages", len(cases))
}

// asJSON is a message for peers: floats as their bits in hexadecimal, 64-bit
// integers in strings, all else as JSON has it.
func asJSON(set *rosidl.Set, st *rosidl.Struct, v reflect.Value) any {
	var b strings.Builder
	b.WriteByte('{')
	for i, f := range st.Fields {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:", f.Name)
		if f.Type.Shape == rosidl.Single {
			elementJSON(&b, set, f.Type, v.Field(i))
			continue
		}
		b.WriteByte('[')
		for j := range v.Field(i).Len() {
			if j > 0 {
				b.WriteByte(',')
			}
			elementJSON(&b, set, f.Type, v.Field(i).Index(j))
		}
		b.WriteByte(']')
	}
	b.WriteByte('}')
	return json.RawMessage(b.String())
}

func elementJSON(b *strings.Builder, set *rosidl.Set, t rosidl.FieldType, v reflect.Value) {
	switch t.ID {
	case rosidl.Nested:
		if v.Kind() == reflect.Array { // a goal id in a message of rosidl
			id, _ := json.Marshal(v.Interface())
			fmt.Fprintf(b, `{"uuid":%s}`, id)
			return
		}
		b.Write(asJSON(set, set.Struct(t.NestedName), v).(json.RawMessage))
	case rosidl.Float32:
		fmt.Fprintf(b, `"%08x"`, math.Float32bits(float32(v.Float())))
	case rosidl.Float64:
		fmt.Fprintf(b, `"%016x"`, math.Float64bits(v.Float()))
	case rosidl.Int64:
		fmt.Fprintf(b, `"%d"`, v.Int())
	case rosidl.Uint64:
		fmt.Fprintf(b, `"%d"`, v.Uint())
	default:
		switch v.Kind() {
		case reflect.String:
			text, err := json.Marshal(v.String())
			if err != nil {
				panic(err)
			}
			b.Write(text)
		case reflect.Bool:
			b.WriteString(strconv.FormatBool(v.Bool()))
		default:
			fmt.Fprint(b, v.Interface())
		}
	}
}
