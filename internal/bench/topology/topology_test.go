package topology

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tagus-ros/tagus/qos"
)

func types(name string) (Type, bool) {
	return Type{Vector: name == vector}, strings.HasPrefix(name, "stamped")
}

func TestParseReadsEveryKey(t *testing.T) {
	text := `{"nodes": [
	{"node_name": "a", "node_namespace": "/robot/", "executor_id": 3, "number": 2,
	 "publishers": [{"topic_name": "t", "msg_type": "stamped_vector", "freq_hz": 250, "msg_size": 77, "msg_pass_by": "loaned_msg",
	   "qos_history": "keep_last", "qos_depth": 4, "qos_reliability": "best_effort", "qos_durability": "transient_local",
	   "qos_liveliness": "automatic", "qos_deadline": "default", "qos_lifespan": 1500, "qos_liveliness_lease_duration": "default",
	   "qos_avoid_ros_namespace_conventions": "false"}],
	 "clients": [], "servers": [], "action_clients": [], "action_servers": []},
	{"node_name": "b", "subscribers": [{"topic_name": "/robot_1/t", "msg_type": "stamped_vector", "msg_pass_by": "unique_ptr", "qos_reliability": "best_effort"}]},
	{"node_name": "c", "publishers": [{"topic_name": "u", "msg_type": "stamped10b", "period_ms": 0.5}], "subscribers": [{"topic_name": "u", "msg_type": "stamped10b"}]}
	]}`
	got, warnings, err := Parse("dir/x.json", []byte(text), Options{Types: types, Strict: true})
	if err != nil || len(warnings) != 0 {
		t.Fatal(err, warnings)
	}
	pub := Publisher{Topic: "t", Type: "stamped_vector", Period: 4 * time.Millisecond, Size: 77, Pass: Loaned, QoS: qos.Profile{
		Depth: 4, Reliability: qos.BestEffort, Durability: qos.TransientLocal, Lifespan: 1500 * time.Millisecond}}
	want := &Topology{Name: "x", File: "dir/x.json", Nodes: []Node{
		{Name: "a_1", Namespace: "/robot_1", Executor: 3, Publishers: []Publisher{pub}},
		{Name: "a_2", Namespace: "/robot_2", Executor: 3, Publishers: []Publisher{pub}},
		{Name: "b", Subscribers: []Subscriber{{Topic: "/robot_1/t", Type: "stamped_vector", Pass: Owned, QoS: qos.Profile{Reliability: qos.BestEffort}}}},
		{Name: "c", Publishers: []Publisher{{Topic: "u", Type: "stamped10b", Period: 500 * time.Microsecond, Pass: Owned}},
			Subscribers: []Subscriber{{Topic: "u", Type: "stamped10b", Pass: Copy}}},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	pairs := Pairs([]*Topology{got})
	if d := cmp.Diff([]Pair{{0, 0, 0, 0, 2, 0}, {0, 3, 0, 0, 3, 0}}, pairs); d != "" {
		t.Error(d)
	}
}

// Each refusal must say which file, which line, which node, which field, and what is wrong.
func TestRefusals(t *testing.T) {
	const pub = `{"topic_name": "t", "msg_type": "stamped10b", %}`
	node := func(body string) string { return "{\"nodes\": [\n{\"node_name\": \"n\",\n" + body + "}]}" }
	for name, c := range map[string]struct {
		text  string
		line  int
		node  string
		field string
		says  string
	}{
		"empty":             {"", 1, "", "", "not JSON"},
		"not JSON":          {"{\n\n\"nodes\": [}", 3, "", "", "not JSON"},
		"cut":               {`{"nodes": [`, 1, "", "", "not JSON"},
		"two values":        {"{\"nodes\": []}\n{}", 2, "", "", "not JSON"},
		"a list":            {"[]", 1, "", "", "must be an object"},
		"no nodes":          {"{}", 1, "", "nodes", "no nodes"},
		"empty nodes":       {`{"nodes": []}`, 1, "", "nodes", "no nodes"},
		"nodes no list":     {`{"nodes": 3}`, 1, "", "nodes", "must be a list, is a number"},
		"node no object":    {"{\"nodes\": [\n7]}", 2, "", "nodes[0]", "must be an object, is a number"},
		"no name":           {`{"nodes": [{}]}`, 1, "", "nodes[0].node_name", "missing"},
		"name no text":      {`{"nodes": [{"node_name": null}]}`, 1, "", "nodes[0].node_name", "must be a string, is null"},
		"rate 0":            {node(`"publishers": [` + strings.Replace(pub, "%", "\n\"freq_hz\": 0", 1) + `]`), 4, "n", "publishers[0].freq_hz", "above 0"},
		"rate negative":     {node(`"publishers": [` + strings.Replace(pub, "%", `"freq_hz": -3`, 1) + `]`), 3, "n", "publishers[0].freq_hz", "-3"},
		"rate text":         {node(`"publishers": [` + strings.Replace(pub, "%", `"freq_hz": "9"`, 1) + `]`), 3, "n", "publishers[0].freq_hz", "must be a number, is a string"},
		"rate huge":         {node(`"publishers": [` + strings.Replace(pub, "%", `"freq_hz": 1e400`, 1) + `]`), 3, "n", "publishers[0].freq_hz", "usable number"},
		"rate too high":     {node(`"publishers": [` + strings.Replace(pub, "%", `"freq_hz": 1e9`, 1) + `]`), 3, "n", "publishers[0].freq_hz", "range"},
		"period 0":          {node(`"publishers": [` + strings.Replace(pub, "%", `"period_ms": 0`, 1) + `]`), 3, "n", "publishers[0].period_ms", "above 0"},
		"no rate":           {node(`"publishers": [{"topic_name": "t", "msg_type": "stamped10b"}]`), 3, "n", "publishers[0].period_ms", "needs period_ms or freq_hz"},
		"unknown type":      {node("\"subscribers\": [{\"topic_name\": \"t\",\n\"msg_type\": \"Twist\"}]"), 4, "n", "subscribers[0].msg_type", `unknown type "Twist"`},
		"no type":           {node(`"subscribers": [{"topic_name": "t"}]`), 3, "n", "subscribers[0].msg_type", "missing"},
		"no topic":          {node(`"subscribers": [{"msg_type": "stamped10b"}]`), 3, "n", "subscribers[0].topic_name", "missing"},
		"subscriber number": {node(`"subscribers": [1]`), 3, "n", "subscribers[0]", "must be an object"},
		"pass by":           {node(`"subscribers": [{"topic_name": "t", "msg_type": "stamped10b", "msg_pass_by": "mail"}]`), 3, "n", "subscribers[0].msg_pass_by", `"mail"`},
		"history":           {node(`"subscribers": [{"topic_name": "t", "msg_type": "stamped10b", "qos_history": "some"}]`), 3, "n", "subscribers[0].qos_history", "some"},
		"depth":             {node(`"subscribers": [{"topic_name": "t", "msg_type": "stamped10b", "qos_depth": 2.5}]`), 3, "n", "subscribers[0].qos_depth", "2.5"},
		"deadline":          {node(`"subscribers": [{"topic_name": "t", "msg_type": "stamped10b", "qos_deadline": true}]`), 3, "n", "subscribers[0].qos_deadline", "milliseconds"},
		"conventions":       {node(`"subscribers": [{"topic_name": "t", "msg_type": "stamped10b", "qos_avoid_ros_namespace_conventions": "true"}]`), 3, "n", "subscribers[0].qos_avoid_ros_namespace_conventions", "true"},
		"size":              {node(`"publishers": [{"topic_name": "t", "msg_type": "stamped_vector", "period_ms": 1, "msg_size": -1}]`), 3, "n", "publishers[0].msg_size", "-1"},
		"copies":            {node(`"number": 1000000000`), 3, "n", "number", "1e+09"},
		"services":          {node(`"servers": [{"service_name": "s", "srv_type": "stamped10b"}]`), 3, "n", "servers", "does not run services yet"},
		"clients":           {node(`"clients": [{}]`), 3, "n", "clients", "does not run service clients yet"},
		"actions":           {node(`"action_servers": [{}]`), 3, "n", "action_servers", "does not run action servers yet"},
		"twice":             {node("\"executor_id\": 1,\n\"executor_id\": 2"), 4, "n", "executor_id", "twice"},
	} {
		if name == "twice" {
			c.node, c.field = "", "nodes[0].executor_id" // found before the node's name is read
		}
		_, _, err := Parse("f.json", []byte(c.text), Options{Types: types})
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: got %v", name, err)
			continue
		}
		if e.File != "f.json" || e.Line != c.line || e.Node != c.node || e.Field != c.field || !strings.Contains(e.Text, c.says) {
			t.Errorf("%s: got %#v", name, *e)
		}
	}
}

func TestUnknownKeys(t *testing.T) {
	text := `{"nodes": [{"node_name": "n", "colour": 1,
"subscribers": [{"topic_name": "t", "msg_type": "stamped10b", "qos_dept": 3}]}], "version": 2}`
	_, warnings, err := Parse("f.json", []byte(text), Options{Types: types})
	want := []string{
		`topology f.json:2: version: unknown key, ignored`,
		`topology f.json:2: node n: subscribers[0].qos_dept: unknown key, ignored`,
		`topology f.json:1: node n: colour: unknown key, ignored`,
	}
	if err != nil || !cmp.Equal(want, warnings) {
		t.Error(err, cmp.Diff(want, warnings))
	}
	_, _, err = Parse("f.json", []byte(text), Options{Types: types, Strict: true})
	if err == nil || !strings.Contains(err.Error(), "version: unknown key") {
		t.Error("strict:", err)
	}
}

func TestCheckFindsTwoTypesAcrossFiles(t *testing.T) {
	a := &Topology{Name: "a", File: "a.json", Nodes: []Node{{Name: "p", Namespace: "/x", Publishers: []Publisher{{Topic: "t", Type: "stamped10b"}}}}}
	b := &Topology{Name: "b", File: "b.json", Nodes: []Node{{Name: "s", Subscribers: []Subscriber{{Topic: "/x/t", Type: "stamped1mb"}}}}}
	_, err := Check([]*Topology{a, b})
	want := "topology b.json: node s: subscribers[0].msg_type: topic /x/t has type stamped1mb here and stamped10b at node /x/p of a.json"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %v", err, want)
	}
	b.Nodes[0].Subscribers[0].Topic = "t"
	warnings, err := Check([]*Topology{a, b})
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "nobody publishes /t") {
		t.Error(err, warnings)
	}
	b.Nodes[0].Subscribers[0] = Subscriber{Topic: "/x/t", Type: "stamped10b", QoS: qos.Profile{Durability: qos.TransientLocal}}
	warnings, err = Check([]*Topology{a, b})
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "durability") || len(Pairs([]*Topology{a, b})) != 0 {
		t.Error(err, warnings)
	}
}

func TestUniqueAndSplit(t *testing.T) {
	run := []*Topology{{Name: "a"}, {Name: "a_2"}, {Name: "a"}, {Name: "b"}}
	Unique(run)
	var names []string
	for _, r := range run {
		names = append(names, r.Name)
	}
	if d := cmp.Diff([]string{"a", "a_2", "a_3", "b"}, names); d != "" {
		t.Error(d)
	}
	seed, _ := Find("seed5")
	a, b := seed.Split()
	if len(a.Nodes) != 5 || len(b.Nodes) != 1 || b.Nodes[0].Name != "sub_node_mp" || a.Name != "seed5_a" {
		t.Error(a, b)
	}
	mont, _ := Find("mont_blanc")
	a, b = mont.Split()
	if len(a.Nodes)+len(b.Nodes) != 20 || len(a.Nodes) < 8 || len(b.Nodes) < 5 || len(Pairs([]*Topology{a, b})) != len(Pairs([]*Topology{mont})) {
		t.Error(len(a.Nodes), len(b.Nodes))
	}
}

func TestBuiltinsEqualTheFiles(t *testing.T) {
	dir := os.Getenv("TAGUS_IROBOT_DIR")
	if dir == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("TAGUS_IROBOT_DIR must name the folder with the iRobot topologies")
		}
		t.Skip("TAGUS_IROBOT_DIR is not set")
	}
	compared := 0
	for _, b := range Builtins() {
		if b.File == "" {
			continue
		}
		file, warnings, err := Load(filepath.Join(dir, b.File), Options{Types: types, Strict: true})
		if err != nil || len(warnings) > 0 {
			t.Errorf("%s: %v %v", b.Name, err, warnings)
			continue
		}
		if d := cmp.Diff(file.Nodes, b.Topology().Nodes); d != "" {
			t.Errorf("%s (-file +built in):\n%s", b.Name, d)
		}
		compared++
	}
	if compared < 14 {
		t.Errorf("compared only %d", compared)
	}
	for _, f := range []string{"action_100kb.json", "cli_srv_architecture.json"} {
		if _, _, err := Load(filepath.Join(dir, f), Options{Types: types}); err == nil || !strings.Contains(err.Error(), "yet") {
			t.Errorf("%s: %v", f, err)
		}
	}
}

func TestBuiltinsAreSound(t *testing.T) {
	seen := map[string]bool{}
	for _, b := range Builtins() {
		top := b.Topology()
		if seen[b.Name] || b.Text == "" || top.Name != b.Name {
			t.Errorf("%+v", b)
		}
		seen[b.Name] = true
		if w, err := Check([]*Topology{top}); err != nil || len(w) > 0 {
			t.Errorf("%s: %v %v", b.Name, err, w)
		}
		for _, n := range top.Nodes {
			for _, s := range n.Subscribers {
				if s.Type == "" {
					t.Errorf("%s: %s hears %s, which nobody says", b.Name, n.Name, s.Topic)
				}
			}
		}
	}
	seed, _ := Find("seed5")
	if r := seed.Rate(); math.Abs(r-1172) > 0.01 {
		t.Error("seed5 publishes at", r)
	}
	var hear []string
	mont, _ := Find("mont_blanc_1mb")
	for _, n := range mont.Nodes {
		for _, p := range n.Publishers {
			if p.Topic == "tagus" && p.Size != 1_000_000 {
				t.Error("tagus has", p.Size)
			}
		}
		for _, s := range n.Subscribers {
			if s.Topic == "tagus" {
				hear = append(hear, n.Name)
			}
		}
	}
	if d := cmp.Diff([]string{"mandalay", "ponce", "geneva"}, hear); d != "" {
		t.Error(d)
	}
}

func TestLoadNamesTheFile(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "nope.json")
	if _, _, err := Load(missing, Options{Types: types}); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), missing) {
		t.Error(err)
	}
	if _, _, err := Load(t.TempDir(), Options{Types: types}); err == nil || !strings.Contains(err.Error(), "regular") {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"nodes": [{"node_name": "a", "number": 2, "publishers": [{"topic_name": "t", "msg_type": "stamped10b", "freq_hz": 1}]}]}`))
	f.Add([]byte(`{"nodes": [{"node_name": "a", "subscribers": [{"topic_name": "t", "msg_type": "stamped10b", "qos_deadline": 1e300}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		top, _, err := Parse("f", data, Options{Types: types})
		if (top == nil) != (err != nil) {
			t.Fatal(top, err)
		}
		if err != nil {
			return
		}
		for i := range top.Nodes {
			for _, p := range top.Nodes[i].Publishers {
				if p.Period < time.Microsecond {
					t.Fatal(p.Period)
				}
			}
		}
	})
}

// Whatever the mix of rates, a topology that is written and read again is the same.
func TestRateRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64Range(0.01, 10000).Draw(t, "hz")
		text := `{"nodes":[{"node_name":"n","publishers":[{"topic_name":"t","msg_type":"stamped10b","freq_hz":` + strings.TrimSpace(formatFloat(f)) + `}]}]}`
		top, _, err := Parse("f", []byte(text), Options{Types: types, Strict: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := top.Rate(); math.Abs(got-f)/f > 1e-4 {
			t.Fatalf("%v Hz became %v", f, got)
		}
	})
}

func formatFloat(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
