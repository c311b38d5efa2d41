package control

import (
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/qos"
)

const stringHash = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"

var talker = graph.ID(seq(0xe1)) // f0efee…e1

// talkerToken is written by hand from the rules of rmw_zenoh.
const talkerToken = "@ros2_lv/0/f0efeeedecebeae9e8e7e6e5e4e3e2e1/0/3/MP/%/%/talker/%chatter/std_msgs::msg::dds_::String_/" + stringHash +
	"/::,7:,:,:,,"

func talkerAnnouncement() *Announcement {
	n := graph.Node{Participant: talker, Domain: 0, ID: 0, Enclave: "/", Namespace: "/", Name: "talker"}
	return &Announcement{
		WatchesGraph: true,
		Clock:        Clock{Boot: seq(0xb0), Offset: -3},
		Nodes:        []graph.Node{n},
		Endpoints: []graph.Endpoint{
			graph.NewEndpoint(graph.KindPublisher, n, 3, "/chatter", "std_msgs/msg/String", stringHash, qos.Profile{Depth: 7}),
		},
	}
}

// talkerBytes is written by hand from the tables in docs/shm-protocol.md; the
// GID in it is that of talkerToken.
var talkerBytes = `
	01000000 01000000                   # protocol version, flags: watches the graph
	b0b1b2b3 b4b5b6b7 b8b9babb bcbdbebf # boot id
	fdffffff ffffffff                   # clock offset
	00000000 30000000                   # domain, records start at 48
	01000000 01000000                   # nodes, endpoints

	16000000 00000000                   # node: 22 bytes, id 0
	0100 2f 0100 2f                     # enclave, namespace
	0600 74616c6b6572                   # talker

	a8000000 00000000 03000000          # endpoint: 168 bytes, node 0, id 3
	02 01 02 01 01 000000               # publisher, reliable, volatile, keep last, automatic
	07000000                            # depth
	00000000 00000000                   # deadline
	00000000 00000000                   # lifespan
	00000000 00000000                   # liveliness lease
	` + graph.TokenGID(talkerToken).Hex() + `
	0800 2f63686174746572               # /chatter
	1300 7374645f6d7367732f6d73672f537472696e67
	4700 5249485330315f
	     6466363638633734303438326262643438666233396437366137306466643462
	     6435396462313238383032313734333530333235396539343866366231613138
`

func TestGoldenAnnouncement(t *testing.T) {
	want := unhex(t, talkerBytes)
	got, err := AppendAnnouncement(nil, talkerAnnouncement())
	if err != nil || string(got) != string(want) {
		t.Errorf("AppendAnnouncement = %x, %v\nwant                 %x", got, err, want)
	}
	a, err := ParseAnnouncement(want, talker)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(talkerAnnouncement(), a); d != "" {
		t.Errorf("ParseAnnouncement differs (-want +got):\n%s", d)
	}
	for n := range want {
		if a, err := ParseAnnouncement(want[:n], talker); err == nil {
			t.Errorf("ParseAnnouncement of the first %d bytes = %v", n, a)
		}
	}
}

// everything has each policy, several nodes and long names.
func everything(t testing.TB) *Announcement {
	id := graph.NewID()
	a := &Announcement{Domain: 42, Clock: Clock{Boot: seq(1), Offset: 1 << 40}}
	for i := range 3 {
		a.Nodes = append(a.Nodes, graph.Node{Participant: id, Domain: 42, ID: uint32(100 * i), Enclave: "/", Namespace: "/a/b",
			Name: strings.Repeat("n", MaxText-i)})
	}
	add := func(q qos.Profile) {
		k := graph.KindPublisher + graph.Kind(len(a.Endpoints)%4)
		a.Endpoints = append(a.Endpoints, graph.NewEndpoint(k, a.Nodes[len(a.Endpoints)%3], uint32(1000+len(a.Endpoints)),
			fmt.Sprintf("/topic_%d/ç", len(a.Endpoints)), "a/msg/B", "RIHS01_x", q))
	}
	for i := range 4 {
		add(qos.Profile{Reliability: qos.Reliability(i), Durability: qos.Durability(i), History: qos.History(i % 3), Liveliness: qos.Liveliness(i)})
	}
	add(qos.Profile{Depth: 1<<31 - 1, Deadline: time.Nanosecond, Lifespan: qos.Infinite, LivelinessLeaseDuration: 1<<63 - 2})
	return a
}

func TestAnnouncementRoundTrip(t *testing.T) {
	a := everything(t)
	b, err := AppendAnnouncement(nil, a)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseAnnouncement(b, a.Nodes[0].Participant)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, got) {
		t.Errorf("differs (-want +got):\n%s", cmp.Diff(a, got))
	}
	// Of another process the same bytes are a lie: the GIDs do not fit.
	if _, err := ParseAnnouncement(b, graph.NewID()); err == nil || !strings.Contains(err.Error(), "is not that of its token") {
		t.Errorf("ParseAnnouncement as another process: %v", err)
	}
}

// TestNewerAnnouncement reads what a newer program of the same version may
// write: more fields in the head and in records, more after the last record,
// more flags, reserved bytes in use.
func TestNewerAnnouncement(t *testing.T) {
	b := unhex(t, talkerBytes)
	head, node, endpoint := b[:48], b[48:70], b[70:]
	var n []byte
	n = append(append(n, head...), 0xaa, 0xbb)
	le.PutUint32(n[4:], 0xffffffff)
	le.PutUint32(n[36:], 50)
	at := len(n)
	n = append(append(n, node...), 0xcc)
	le.PutUint32(n[at:], 23)
	at = len(n)
	n = append(append(n, endpoint...), 0xdd, 0xee, 0xff)
	le.PutUint32(n[at:], uint32(len(endpoint)+3))
	n[at+17] = 0x77
	n = append(n, 0x99)
	a, err := ParseAnnouncement(n, talker)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(talkerAnnouncement(), a); d != "" {
		t.Errorf("differs (-want +got):\n%s", d)
	}
}

func TestParseAnnouncementRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		at   int
		put  string
		want string
	}{
		{"version", 0, "02000000", "protocol version 2, this one version 1"},
		{"domain", 32, "000000ff", "domain 4278190080 is out of range"},
		{"records in the head", 36, "2f000000", "records start at 47, not between 48 and"},
		{"records behind the end", 36, "ffffffff", "records start at 4294967295"},
		{"too many nodes", 40, "01000100", "65537 nodes, MaxNodes is 65536"},
		{"too many endpoints", 44, "ffffffff", "4294967295 endpoints, MaxEndpoints"},
		{"counts that do not fit", 44, "00000100", "1 nodes and 65536 endpoints do not fit in 190 bytes"},
		{"node too short", 48, "01000000", "at byte 48: record of 1 bytes, not 17 to 190"},
		{"node too long", 48, "bf000000", "record of 191 bytes, not 17 to 190"},
		{"node cut by its record", 48, "15000000", "6 bytes are wanted, 5 are left"},
		{"empty namespace", 59, "0000", "at byte 59: namespace is empty"},
		{"control character", 64, "1b", "node name has the control character 0x1b"},
		{"node index", 74, "01000000", "at byte 74: node 1 of 1"},
		{"id twice", 78, "00000000", "entity id 0 is used twice"},
		{"kind node", 82, "01", "unknown kind 1"},
		{"kind", 82, "06", "unknown kind 6"},
		{"reliability", 83, "00", "unknown reliability policy 0"},
		{"durability", 84, "05", "unknown durability policy 5"},
		{"history", 85, "ff", "unknown history policy 255"},
		{"liveliness gap", 86, "02", "unknown liveliness policy 2"},
		{"depth", 90, "ffffffff", "depth 4294967295"},
		{"deadline", 94, "ffffffffffffffff", "-1"},
		{"other depth", 90, "08000000", "is not that of its token"},
		{"gid", 118, "00", "GID 00."},
		{"name length", 134, "ffff", "name has 65535 bytes, MaxText is 1024"},
		{"name over the end", 134, "0004", "1024 bytes are wanted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := unhex(t, talkerBytes)
			copy(b[c.at:], unhex(t, c.put))
			a, err := ParseAnnouncement(b, talker)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("ParseAnnouncement = %v, %v; want %q", a, err, c.want)
			}
			var pe *ParseError
			var ve *VersionError
			if !errors.As(err, &pe) && !errors.As(err, &ve) {
				t.Errorf("error is a %T", err)
			}
		})
	}
}

func TestAppendAnnouncementRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		bend func(a *Announcement)
		want string
	}{
		{"domain", func(a *Announcement) { a.Domain = -1 }, "domain -1"},
		{"long name", func(a *Announcement) { a.Endpoints[0].Name = "/" + strings.Repeat("x", MaxText) }, "limit MaxText = 1024"},
		{"empty hash", func(a *Announcement) { a.Endpoints[0].Hash = "" }, "is empty"},
		{"line end", func(a *Announcement) { a.Nodes[0].Name = "a\n" }, "control character"},
		{"no such node", func(a *Announcement) { a.Endpoints[0].Node.Name = "other" }, "its node is not announced"},
		{"node twice", func(a *Announcement) { a.Nodes = append(a.Nodes, a.Nodes[0]) }, "id 0 is used twice"},
		{"id twice", func(a *Announcement) { a.Endpoints[0].ID = 0 }, "id 0 is used twice"},
		{"policy", func(a *Announcement) { a.Endpoints[0].QoS.History = 9 }, "unknown policy"},
		{"depth", func(a *Announcement) { a.Endpoints[0].QoS.Depth = 1 << 31 }, "out of range"},
		{"kind", func(a *Announcement) { a.Endpoints[0].Kind = graph.KindNode }, "no endpoint"},
		{"many", func(a *Announcement) { a.Nodes = make([]graph.Node, MaxNodes+1) }, "MaxNodes = 65536"},
	} {
		a := talkerAnnouncement()
		c.bend(a)
		if _, err := AppendAnnouncement(nil, a); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.name, err, c.want)
		}
	}
}

func TestPoliciesHaveTheNumbersOfRMW(t *testing.T) {
	w, err := wireQoS(qos.Profile{Reliability: qos.BestEffort, Durability: qos.TransientLocal, History: qos.KeepAll, Liveliness: qos.ManualByTopic})
	if err != nil || w.reliability != 2 || w.durability != 1 || w.history != 2 || w.liveliness != 3 || w.depth != 0 {
		t.Errorf("wireQoS = %+v, %v", w, err)
	}
}

func FuzzParseAnnouncement(f *testing.F) {
	f.Add(unhex(f, talkerBytes))
	f.Add(unhex(f, talkerBytes)[:70])
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := parseMended(b)
		if err != nil {
			return
		}
		again, err := AppendAnnouncement(nil, a)
		if err != nil {
			t.Fatalf("AppendAnnouncement of %+v: %v", a, err)
		}
		got, err := ParseAnnouncement(again, talker)
		if err != nil || !reflect.DeepEqual(a, got) {
			t.Fatalf("not the same after a round trip: %v\n%s", err, cmp.Diff(a, got))
		}
	})
}

// parseMended puts right the GIDs that a fuzzer cannot guess.
func parseMended(b []byte) (*Announcement, error) {
	b = append([]byte(nil), b...)
	for range 100 {
		a, err := ParseAnnouncement(b, talker)
		var pe *ParseError
		if !errors.As(err, &pe) {
			return a, err
		}
		_, right, ok := strings.Cut(pe.Why, "is not that of its token, ")
		if !ok {
			return nil, err
		}
		gid, err := hex.DecodeString(strings.ReplaceAll(right, ".", ""))
		if err != nil {
			return nil, err
		}
		copy(b[pe.At:], gid)
	}
	return nil, errors.New("too many endpoints")
}

// benchAnnouncement is a process with 20 endpoints.
func benchAnnouncement() *Announcement {
	a := talkerAnnouncement()
	for i := range 19 {
		a.Endpoints = append(a.Endpoints, graph.NewEndpoint(graph.KindSubscription, a.Nodes[0], uint32(10+i), fmt.Sprintf("/topic_%d", i),
			"std_msgs/msg/String", stringHash, qos.Default()))
	}
	return a
}

func BenchmarkParseAnnouncement20(b *testing.B) {
	raw, err := AppendAnnouncement(nil, benchAnnouncement())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseAnnouncement(raw, talker); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendAnnouncement20(b *testing.B) {
	a := benchAnnouncement()
	var raw []byte
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if raw, err = AppendAnnouncement(raw[:0], a); err != nil {
			b.Fatal(err)
		}
	}
}
