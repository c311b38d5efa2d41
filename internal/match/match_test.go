package match

import (
	"strings"
	"testing"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/qos"
)

func endpoint(k graph.Kind, change ...func(*graph.Endpoint)) *graph.Endpoint {
	n := graph.Node{Participant: graph.ID{1}, Namespace: "/", Name: "talker"}
	if k == graph.KindSubscription || k == graph.KindClient {
		n = graph.Node{Participant: graph.ID{2}, Namespace: "/ns", Name: "listener"}
	}
	e := graph.NewEndpoint(k, n, 1, "/chatter", "std_msgs/msg/String", "RIHS01_a", qos.Profile{})
	for _, c := range change {
		c(&e)
	}
	return &e
}

func TestCheck(t *testing.T) {
	domain := func(e *graph.Endpoint) { e.Node.Domain = 7 }
	name := func(e *graph.Endpoint) { e.Name = "/other" }
	typ := func(e *graph.Endpoint) { e.Type = "std_msgs/msg/Bool" }
	hash := func(e *graph.Endpoint) { e.Hash = "RIHS01_b" }
	none := func(e *graph.Endpoint) { e.Hash = HashNotSupported }
	besteffort := func(e *graph.Endpoint) { e.QoS.Reliability = qos.BestEffort }
	latched := func(e *graph.Endpoint) { e.QoS.Durability = qos.TransientLocal }
	pub, sub := graph.KindPublisher, graph.KindSubscription
	srv, cli := graph.KindService, graph.KindClient

	for _, c := range []struct {
		name  string
		a, b  *graph.Endpoint
		codes string
	}{
		{"topic", endpoint(pub), endpoint(sub), ""},
		{"service", endpoint(srv), endpoint(cli), ""},
		{"service with odd QoS", endpoint(srv, besteffort), endpoint(cli, latched), ""},
		{"two publishers", endpoint(pub), endpoint(pub), CodeKind},
		{"two clients", endpoint(cli), endpoint(cli), CodeKind},
		{"publisher and client", endpoint(pub), endpoint(cli), CodeKind},
		{"service and subscription", endpoint(srv), endpoint(sub), CodeKind},
		{"node", endpoint(graph.KindNode), endpoint(sub), CodeKind},
		{"domain hides the rest", endpoint(pub, besteffort), endpoint(sub, domain, name, typ), CodeDomain},
		{"name hides the rest", endpoint(pub, besteffort), endpoint(sub, name, typ), CodeName},
		{"type hides the hash", endpoint(pub), endpoint(sub, typ, hash), CodeTypeName},
		{"type and QoS are two causes", endpoint(pub, besteffort), endpoint(sub, typ, hash), CodeTypeName + " " + qos.CodeReliability},
		{"hash", endpoint(pub), endpoint(sub, hash), CodeTypeHash},
		{"no hash on one side", endpoint(pub, none), endpoint(sub), CodeTypeHashUnknown},
		{"no hash on the other side", endpoint(pub), endpoint(sub, none), CodeTypeHashUnknown},
		{"no hash on either side", endpoint(pub, none), endpoint(sub, none), ""},
		{"service hash", endpoint(srv), endpoint(cli, hash), CodeTypeHash},
		{"reliability", endpoint(pub, besteffort), endpoint(sub), qos.CodeReliability},
		{"stronger offer", endpoint(pub, latched), endpoint(sub, besteffort), ""},
		{"two policies", endpoint(pub, besteffort), endpoint(sub, latched), qos.CodeReliability + " " + qos.CodeDurability},
	} {
		for _, got := range [][]Reason{Check(c.a, c.b), Check(c.b, c.a)} {
			var codes []string
			for _, r := range got {
				codes = append(codes, r.Code)
				if r.Text == "" || r.Fix == "" || r.Code != strings.ToLower(r.Code) || strings.ContainsAny(r.Code, " _") {
					t.Errorf("%s: %+v", c.name, r)
				}
			}
			if got := strings.Join(codes, " "); got != c.codes {
				t.Errorf("%s: %q, want %q", c.name, got, c.codes)
			}
		}
	}
}

// The texts say which side has what, whatever the order of the arguments.
func TestTexts(t *testing.T) {
	for _, c := range []struct {
		change func(*graph.Endpoint)
		want   string
	}{
		{func(e *graph.Endpoint) { e.Hash = "RIHS01_b" },
			"/chatter: the publisher of /talker has hash of std_msgs/msg/String RIHS01_a, the subscription of /ns/listener has RIHS01_b"},
		{func(e *graph.Endpoint) { e.Node.Domain = 7 },
			"/chatter: the publisher of /talker has domain 0, the subscription of /ns/listener has 7"},
		{func(e *graph.Endpoint) { e.Name = "/x" },
			"the publisher of /talker has name /chatter, the subscription of /ns/listener has /x"},
		{func(e *graph.Endpoint) { e.QoS.Durability = qos.TransientLocal },
			"/chatter: the publisher offers durability volatile, the subscription requests transient_local (publisher of /talker, subscription of /ns/listener)"},
	} {
		pub, sub := endpoint(graph.KindPublisher), endpoint(graph.KindSubscription, c.change)
		for _, got := range [][]Reason{Check(pub, sub), Check(sub, pub)} {
			if len(got) != 1 || got[0].Text != c.want {
				t.Errorf("got  %v\nwant %s", got, c.want)
			}
		}
	}
}

func TestCheckDoesNotAllocate(t *testing.T) {
	pub, sub := endpoint(graph.KindPublisher), endpoint(graph.KindSubscription)
	if n := testing.AllocsPerRun(100, func() {
		if Check(pub, sub) != nil {
			t.Fail()
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
