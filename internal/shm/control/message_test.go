package control

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tagus-ros/tagus/graph"
)

// unhex reads bytes written by hand: hex digits with spaces, and comments
// after "#".
func unhex(t testing.TB, text string) []byte {
	t.Helper()
	var digits strings.Builder
	for _, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		digits.WriteString(strings.Join(strings.Fields(line), ""))
	}
	b, err := hex.DecodeString(digits.String())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func seq(first byte) (b [16]byte) {
	for i := range b {
		b[i] = first + byte(i)
	}
	return b
}

// golden holds every message with its bytes, written by hand from the tables
// in docs/shm-protocol.md.
var golden = []struct {
	name  string
	msg   Message
	bytes string
}{
	{"look", Look{ID: graph.ID(seq(0x10))}, `
		0100 0100 10000000
		10111213 14151617 18191a1b 1c1d1e1f # id`},
	{"hello", Hello{Version: 1, Purpose: PurposeWatch, ID: graph.ID(seq(0x20)), Mono: 0x0102030405060708, Wall: -2}, `
		0200 0100 28000000
		01000000 02000000                   # version, purpose
		20212223 24252627 28292a2b 2c2d2e2f # id
		08070605 04030201                   # monotonic
		feffffff ffffffff                   # wall`},
	{"hello-ack", HelloAck{Version: 1, ID: graph.ID(seq(0x20)), Mono: 5, Wall: 6}, `
		0300 0100 28000000
		01000000 00000000
		20212223 24252627 28292a2b 2c2d2e2f
		05000000 00000000
		06000000 00000000`},
	{"memory", Memory{Index: 3, Kind: MemoryRings, Size: 0x10000}, `
		0400 0100 10000000
		0300 0200 00000000                  # index, kind, reserved
		00000100 00000000                   # size`},
	{"open", Open{Conn: 7, Memory: 3, Pub: graph.GID(seq(0x30)), Sub: graph.GID(seq(0x40)), Offset: 0x1000, Capacity: 10, Returns: 20}, `
		0500 0100 38000000
		07000000 0300 0000                  # connection, memory, reserved
		30313233 34353637 38393a3b 3c3d3e3f # publisher
		40414243 44454647 48494a4b 4c4d4e4f # subscription
		00100000 00000000                   # offset
		0a000000 14000000                   # capacity, returns`},
	{"accept", Accept{Conn: 7, SummaryWords: 8, Area: 0x80, Leaf: 258}, `
		0600 0100 18000000
		07000000 0800 0000                  # connection, summary words, reserved
		80000000 00000000                   # area
		02010000 00000000                   # leaf, reserved`},
	{"refuse", Refuse{Conn: 7, Code: "no-memory", Text: "só"}, `
		0700 0100 14000000
		07000000
		0900 6e6f2d6d656d6f7279             # no-memory
		0300 73c3b3                         # só`},
	{"live", Live{Conn: 7}, `0800 0100 04000000 07000000`},
	{"close", Close{Conn: 7, Code: "x"}, `0900 0100 07000000 07000000 0100 78`},
	{"closed", Closed{Conn: 7}, `0a00 0100 04000000 07000000`},
	{"ask", Ask{Name: "a/b", Hash: "R"}, `
		0b00 0100 08000000
		0300 612f62                         # name
		0100 52                             # hash`},
	{"definition", Definition{Size: 0x1234}, `0c00 0100 08000000 34120000 00000000`},
}

func TestGoldenMessages(t *testing.T) {
	for _, g := range golden {
		t.Run(g.name, func(t *testing.T) {
			want := unhex(t, g.bytes)
			if got, err := Append(nil, g.msg); err != nil || string(got) != string(want) {
				t.Errorf("Append = %x, %v\nwant     %x", got, err, want)
			}
			got, err := Parse(want)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(g.msg, got, cmp.AllowUnexported(Look{}, Hello{}, Open{}, Accept{}, Refuse{}, Live{}, Close{}, Closed{}, Ask{})); d != "" {
				t.Errorf("Parse differs (-want +got):\n%s", d)
			}
			if got.Type().String() != g.name {
				t.Errorf("Type = %v", got.Type())
			}
			// Every shorter packet is malformed, with and without a length
			// that fits.
			for n := range want {
				if m, err := Parse(want[:n]); err == nil {
					t.Errorf("Parse of the first %d bytes = %v", n, m)
				}
				if n < headSize {
					continue
				}
				short := append([]byte(nil), want[:n]...)
				le.PutUint32(short[4:], uint32(n-headSize))
				var pe *ParseError
				if m, err := Parse(short); !errors.As(err, &pe) {
					t.Errorf("Parse of a body of %d bytes = %v, %v; want a ParseError", n-headSize, m, err)
				}
			}
			// A longer body is one of a newer program.
			long := append(append([]byte(nil), want...), 1, 2, 3)
			if _, err := Parse(long); err == nil {
				t.Error("Parse takes bytes after the length")
			}
			le.PutUint32(long[4:], uint32(len(long)-headSize))
			if m, err := Parse(long); err != nil || m != got {
				t.Errorf("Parse with three fields more = %v, %v", m, err)
			}
		})
	}
}

// The page about the protocol has a row for each message.
func TestPageHasAllMessages(t *testing.T) {
	page, err := os.ReadFile("../../../docs/shm-protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	for n, word := range typeWords {
		if row := fmt.Sprintf("\n| %d | %s | ", n, word); n > 0 && !strings.Contains(string(page), row) {
			t.Errorf("docs/shm-protocol.md has no row %q", row)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ name, bytes, want string }{
		{"unknown critical", `ff00 0100 00000000`, "type 255 is unknown but must be understood"},
		{"type 0", `0000 0100 00000000`, "type 0 is unknown"},
		{"connection 0", `0800 0100 04000000 00000000`, "malformed live: at byte 8: connection number 0"},
		{"no code", `0900 0100 06000000 07000000 0000`, `"" is not a code`},
		{"bad code", `0900 0100 07000000 07000000 0100 41`, `"A" is not a code`},
		{"text too long", `0700 0100 09000000 07000000 0100 78 0104`, "text has 1025 bytes, MaxText is 1024"},
		{"not UTF-8", `0700 0100 0a000000 07000000 0100 78 0100 ff`, "text is not UTF-8"},
		{"text ends late", `0700 0100 09000000 07000000 0100 78 0100`, "1 bytes are wanted, 0 are left"},
		{"length too large", `0800 0100 ffffffff 07000000`, "its length says 4294967295, 4 bytes follow the head"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Parse(unhex(t, c.bytes))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Parse = %v, %v; want %q", m, err, c.want)
			}
		})
	}
	if _, err := Parse(make([]byte, MaxMessage+1)); err == nil {
		t.Error("Parse takes a message above MaxMessage")
	}
}

func TestUnknownMessageIsPassedOver(t *testing.T) {
	m, err := Parse(unhex(t, `ff00 feff 02000000 abcd`))
	if err != nil || m != (Unknown{Kind: 255}) {
		t.Fatalf("Parse = %v, %v", m, err)
	}
	if err := CheckFDs(m, 3); err != nil {
		t.Error(err)
	}
}

func TestOtherVersionIsRefusedWithBothNumbers(t *testing.T) {
	// Only the first 24 bytes of the body are the same in every version.
	_, err := Parse(unhex(t, `
		0200 0100 18000000
		02000000 01000000
		20212223 24252627 28292a2b 2c2d2e2f`))
	var ve *VersionError
	if !errors.As(err, &ve) || *ve != (VersionError{Peer: graph.ID(seq(0x20)), Ours: 1, Theirs: 2}) {
		t.Fatalf("Parse: %v", err)
	}
	if s := err.Error(); !strings.Contains(s, "version 2") || !strings.Contains(s, "version 1") || !strings.Contains(s, "2f2e2d2c") {
		t.Errorf("error %q does not name the peer and both versions", s)
	}
}

func TestAppendRefusesAndShortens(t *testing.T) {
	for _, code := range []string{"", "Up", "a b", strings.Repeat("x", MaxCode+1)} {
		if _, err := Append(nil, Refuse{Conn: 1, Code: code}); err == nil {
			t.Errorf("Append takes the code %q", code)
		}
	}
	long := strings.Repeat("x", MaxText-1) + "óó\xff"
	b, err := Append(nil, Refuse{Conn: 1, Code: "c", Text: long})
	if err != nil {
		t.Fatal(err)
	}
	m, err := Parse(b)
	if err != nil || m.(Refuse).Text != strings.Repeat("x", MaxText-1) {
		t.Errorf("shortened to %q, %v", m, err)
	}
	if b, err = Append(nil, Refuse{Conn: 1, Code: "c", Text: "a\xffb"}); err != nil {
		t.Fatal(err)
	}
	if m, err = Parse(b); err != nil || m.(Refuse).Text != "a?b" {
		t.Errorf("Parse = %v, %v", m, err)
	}
}

func TestCheckFDs(t *testing.T) {
	for _, c := range []struct {
		m           Message
		least, most int
	}{{Look{}, 0, 0}, {HelloAck{}, 0, 1}, {Memory{}, 1, 1}} {
		for n := range 4 {
			if err := CheckFDs(c.m, n); (err == nil) != (n >= c.least && n <= c.most) {
				t.Errorf("CheckFDs(%v, %d) = %v", c.m.Type(), n, err)
			}
		}
	}
}

func TestCheckClock(t *testing.T) {
	for _, c := range []struct {
		before, stamp, after int64
		ok                   bool
	}{
		{100e6, 150e6, 200e6, true},
		{100e6, 100e6 - clockTolerance, 200e6, true},
		{100e6, 98e6, 200e6, false},
		{0, 201e6, 200e6, true},
		{0, 202e6, 200e6, false},
		{0, -5e9, 200e6, false},
	} {
		if err := CheckClock(c.before, c.stamp, c.after); (err == nil) != c.ok || (err != nil && !errors.Is(err, ErrClock)) {
			t.Errorf("CheckClock(%d, %d, %d) = %v", c.before, c.stamp, c.after, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, g := range golden {
		f.Add(unhex(f, g.bytes))
	}
	f.Add([]byte{0xff, 0xff, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Parse(b)
		if err != nil {
			return
		}
		if _, ok := m.(Unknown); ok {
			return
		}
		again, err := Append(nil, m)
		if err != nil {
			t.Fatalf("Append of %#v: %v", m, err)
		}
		if n, err := Parse(again); err != nil || n != m {
			t.Fatalf("Parse(Append(%#v)) = %#v, %v", m, n, err)
		}
	})
}
