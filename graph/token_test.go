package graph

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tagus-ros/tagus/qos"
)

const (
	stringHash = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"
	addHash    = "RIHS01_e118de6bf5eeb66a2491b5bda11202e7b68f198d6f67922cf30364858239c81a"
	zid        = "777f8c1c711983bbb70b6f4055fe0905"

	// The example of the rmw_zenoh conventions: its GID was computed there by rmw_zenoh_cpp's own hash.
	talker = "@ros2_lv/0/0123456789abcdef0123456789abcdef/0/3/MP/%/%/talker/%chatter/std_msgs::msg::dds_::String_/" + stringHash + "/::,7:,:,:,,"
)

func mustID(t testing.TB, s string) ID {
	t.Helper()
	id, err := ParseID(s)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// golden holds tokens written by hand from the conventions, with GIDs from another implementation of XXH3 (Python xxhash 3.x:
// low half, then high half, each little-endian).
func golden(t testing.TB) []struct {
	entity Endpoint
	token  string
	gid    string
} {
	id := mustID(t, zid)
	chatter := Node{Participant: id, Name: "talker", Namespace: "/", Enclave: "/"}
	front := Node{Participant: id, Domain: 42, ID: 5, Namespace: "/front/left", Name: "listener", Enclave: "/"}
	adder := Node{Participant: id, Domain: 2, Namespace: "/", Name: "adder", Enclave: "/"}
	client := Node{Participant: mustID(t, "1"), Namespace: "/", Name: "c", Enclave: "/secure"}
	odd := qos.Profile{
		History: qos.KeepAll, Durability: qos.TransientLocal, Deadline: 250 * time.Millisecond, Lifespan: time.Second,
		Liveliness: qos.ManualByTopic, LivelinessLeaseDuration: 2*time.Second + 5,
	}
	return []struct {
		entity Endpoint
		token  string
		gid    string
	}{
		{Endpoint{Kind: KindNode, Node: chatter, GID: chatter.GID()},
			"@ros2_lv/0/" + zid + "/0/0/NN/%/%/talker", "d8478463b4528348733724ea943eaba7"},
		{NewEndpoint(KindPublisher, chatter, 3, "/chatter", "std_msgs/msg/String", stringHash, qos.Profile{}),
			"@ros2_lv/0/" + zid + "/0/3/MP/%/%/talker/%chatter/std_msgs::msg::dds_::String_/" + stringHash + "/::,10:,:,:,,",
			"76fc8d2a8464582b217db293fc61a271"},
		{NewEndpoint(KindSubscription, front, 9, "/front/scan", "std_msgs/msg/String", stringHash, qos.SensorData()),
			"@ros2_lv/42/" + zid + "/5/9/MS/%/%front%left/listener/%front%scan/std_msgs::msg::dds_::String_/" + stringHash + "/2::,5:,:,:,,",
			"92004c6f0df68405004a7b733818869f"},
		{NewEndpoint(KindService, adder, 7, "/add_two_ints", "example_interfaces/srv/AddTwoInts", addHash, qos.ServicesDefault()),
			"@ros2_lv/2/" + zid + "/0/7/SS/%/%/adder/%add_two_ints/example_interfaces::srv::dds_::AddTwoInts_/" + addHash + "/::,10:,:,:,,",
			"cf332cc6711939c319b293cc9a07f762"},
		{NewEndpoint(KindClient, client, 8, "/add_two_ints", "example_interfaces/srv/AddTwoInts", addHash, odd),
			"@ros2_lv/0/1/0/8/SC/%secure/%/c/%add_two_ints/example_interfaces::srv::dds_::AddTwoInts_/" + addHash + "/:1:2,:0,250000000:1,0:3,2,5",
			"ec9f549c35ab3dd3e9705be9dcf8d4c2"},
	}
}

func TestTokenGolden(t *testing.T) {
	if got := TokenGID(talker).Hex(); got != "cd4d128892173f43f99a74ef799efb1c" {
		t.Errorf("talker: GID %s", got)
	}
	e, err := ParseToken(talker)
	if err != nil {
		t.Fatal(err)
	}
	if e.GID.String() != "cd.4d.12.88.92.17.3f.43.f9.9a.74.ef.79.9e.fb.1c" || e.Kind != KindPublisher || e.ID != 3 || e.QoS.Depth != 7 ||
		e.Name != "/chatter" || e.Type != "std_msgs/msg/String" || e.Hash != stringHash || e.Node.FullName() != "/talker" {
		t.Errorf("talker: %+v", e)
	}
	for _, g := range golden(t) {
		if got := g.entity.Token(); got != g.token {
			t.Errorf("token\n got %s\nwant %s", got, g.token)
		}
		if got := g.entity.GID.Hex(); got != g.gid {
			t.Errorf("%s: GID %s, want %s", g.token, got, g.gid)
		}
		got, err := ParseToken(g.token)
		if err != nil {
			t.Errorf("%s: %v", g.token, err)
		} else if got != g.entity {
			t.Errorf("parse\n got %+v\nwant %+v", got, g.entity)
		}
	}
}

// Other implementations write some parts differently; the GID must be that of their text.
func TestParseTokenForeign(t *testing.T) {
	tail := "/RIHS01_00/::,:,:,:,,"
	for _, c := range []struct{ name, token, topic, typ, hash string }{
		{"no type hash", "@ros2_lv/0/a/0/1/MP/%/%/n/%t/p::msg::dds_::T_/TypeHashNotSupported/::,:,:,:,,", "/t", "p/msg/T", "TypeHashNotSupported"},
		{"plain type", "@ros2_lv/0/a/0/1/MP/%/%/n/%t/some%type" + tail, "/t", "some/type", "RIHS01_00"},
		{"action type", "@ros2_lv/0/a/0/1/SS/%/%/n/%t/p::action::dds_::F_SendGoal_" + tail, "/t", "p/action/F_SendGoal", "RIHS01_00"},
		{"more parts", "@ros2_lv/0/a/0/1/MS/%/%/n/%t/p::msg::dds_::T_" + tail + "/backends:cpu:", "/t", "p/msg/T", "RIHS01_00"},
		{"leading zeros", "@ros2_lv/0/0000a/0/1/MP/%/%/n/%t/p::msg::dds_::T_" + tail, "/t", "p/msg/T", "RIHS01_00"},
	} {
		e, err := ParseToken(c.token)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if e.Name != c.topic || e.Type != c.typ || e.Hash != c.hash {
			t.Errorf("%s: %+v", c.name, e)
		}
		if e.GID != TokenGID(c.token) {
			t.Errorf("%s: the GID is not that of the text", c.name)
		}
	}
}

func TestParseTokenErrors(t *testing.T) {
	good := golden(t)[1].token
	for _, c := range []struct{ token, part string }{
		{"", "part 0"},
		{"/", "part 0"},
		{strings.Repeat("a", MaxTokenLength+1), "length"},
		{"@ros2/0/a/0/0/NN/%/%/n", "prefix"},
		{"@ros2_lv/0/a/0/0/NN/%/%", "parts"},
		{"@ros2_lv/0/a/0/0/NN/%/%/", "part 8"},
		{"@ros2_lv/-1/a/0/0/NN/%/%/n", "domain"},
		{"@ros2_lv/2147483648/a/0/0/NN/%/%/n", "domain"},
		{"@ros2_lv/0/A/0/0/NN/%/%/n", "participant"},
		{"@ros2_lv/0/0/0/0/NN/%/%/n", "participant"},
		{"@ros2_lv/0/" + zid + "0/0/0/NN/%/%/n", "participant"},
		{"@ros2_lv/0/a/x/0/NN/%/%/n", "node id"},
		{"@ros2_lv/0/a/0/4294967296/NN/%/%/n", "entity id"},
		{"@ros2_lv/0/a/0/0/XX/%/%/n", "kind"},
		{"@ros2_lv/0/a/0/0/MP/%/%/n", "parts"},
		{strings.TrimSuffix(good, "/::,10:,:,:,,"), "parts"},
		{strings.TrimSuffix(good, ","), "qos"},
		{strings.Replace(good, "/::,10", "/9::,10", 1), "qos"},
		{strings.Replace(good, "/chatter", "//chatter", 1) + "/", "part 13"},
	} {
		_, err := ParseToken(c.token)
		var te *TokenError
		if !errors.As(err, &te) {
			t.Errorf("%.60q: error %v, want a *TokenError", c.token, err)
		} else if te.Part != c.part {
			t.Errorf("%.60q: part %q, want %q (%v)", c.token, te.Part, c.part, err)
		} else if len(err.Error()) > 600 {
			t.Errorf("%.60q: the error is %d bytes long", c.token, len(err.Error()))
		}
	}
}

func FuzzParseToken(f *testing.F) {
	f.Add(talker)
	for _, g := range golden(f) {
		f.Add(g.token)
	}
	f.Add("@ros2_lv/0/a/0/1/MS/%/%/n/%t/p::msg::dds_::T_/h/4:4:3,0:9223372036,:0,854775807:5,1,9999999999/backends:cpu:")
	f.Fuzz(func(t *testing.T, token string) {
		e, err := ParseToken(token)
		if err != nil {
			if (e != Endpoint{}) {
				t.Fatalf("an error and a value: %+v", e)
			}
			return
		}
		if e.GID != TokenGID(token) {
			t.Fatal("the GID is not that of the text")
		}
		canonical := e.Token()
		again, err := ParseToken(canonical)
		if err != nil {
			t.Fatalf("the canonical form %q cannot be read: %v", canonical, err)
		}
		if again.Token() != canonical {
			t.Fatalf("the canonical form is not stable: %q, %q", canonical, again.Token())
		}
		again.GID = e.GID
		if again != e {
			t.Fatalf("read twice\n%#v\n%#v", e, again)
		}
	})
}

func TestTypeNames(t *testing.T) {
	for ros, dds := range map[string]string{
		"std_msgs/msg/String":                  "std_msgs::msg::dds_::String_",
		"example_interfaces/srv/AddTwoInts":    "example_interfaces::srv::dds_::AddTwoInts_",
		"p/action/Fibonacci_GetResult":         "p::action::dds_::Fibonacci_GetResult_",
		"odd":                                  "odd",
		"a/b":                                  "a/b",
		"a/b/c/d":                              "a/b/c/d",
		"":                                     "",
		"performance_test_msgs/msg/Stamped1mb": "performance_test_msgs::msg::dds_::Stamped1mb_",
	} {
		if got := DDSType(ros); got != dds {
			t.Errorf("DDSType(%q) = %q, want %q", ros, got, dds)
		}
		if got := ROSType(dds); got != ros {
			t.Errorf("ROSType(%q) = %q, want %q", dds, got, ros)
		}
	}
	for _, dds := range []string{"std_msgs::String", "a::b::dds_::C", "a::b::c::dds_::D_", "::dds_::_", "a::b::dds_::c::d_"} {
		if got := ROSType(dds); got != dds && DDSType(got) != dds {
			t.Errorf("ROSType(%q) = %q, which does not lead back", dds, got)
		}
	}
}
