package bench

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/bench/machine"
	"github.com/tagus-ros/tagus/internal/bench/record"
	"github.com/tagus-ros/tagus/internal/bench/report"
	"github.com/tagus-ros/tagus/internal/bench/topology"
)

// TestMerge joins the findings of two processes, one that publishes and one that hears, and checks what only both together tell.
func TestMerge(t *testing.T) {
	const ms = 1_000_000
	gid := graph.GID{1}
	paths := make([]uint64, 8)
	paths[tagus.PathSHM] = 5
	paths[tagus.PathIntra] = 1
	found := []findings{
		{
			Publishers: []publisherFindings{{Node: "p", Topic: "t", GID: gid, Ownership: "loaned", PeriodNanos: 10 * ms, Overruns: 2, Fallbacks: 1}},
			Started:    1000 * ms, Stopped: 3000 * ms, Published: 200, OwnCalls: ptr(int64(0)), Copied: ptr(int64(7)),
			Usage: &machine.Usage{Wall: time.Second, CPU: ptr(250 * time.Millisecond), Madvise: ptr(int64(0)), HeapAllocs: 3, Collections: 1},
			Calls: []slowCall{{Publisher: 0, Number: 4, Start: 1500 * ms, End: 1503 * ms}}, GCEnds: []int64{1605 * ms}, Failed: 3, FirstError: "no memory",
		},
		{
			Rows: []rowFindings{{
				Node: "s", Topic: "t", Size: 8, Take: "lent", GIDs: []graph.GID{gid}, Paths: paths, First: 1010 * ms, Last: 2990 * ms,
				Lost: 2,
				Data: record.Data{Samples: []int64{1000, 3000, 12 * ms, 2000, 4 * ms, 3 * ms}, TooLateAt: []int{2}, Late: 2, Lost: 1},
			}},
			Started: 1001 * ms, Stopped: 3001 * ms, Received: 190,
			Slow: []record.Slow{
				{Number: 4, Published: 1500 * ms, Received: 1504 * ms},
				{Number: 5, Published: 1600 * ms, Received: 1603 * ms},
				{Number: 6, Published: 1700 * ms, Received: 1712 * ms, Evidence: record.Evidence{Behind: record.Span{Kind: record.Callback, Number: 3}, BehindFor: 11 * ms}},
			},
			Tracked: []trackEvent{
				{At: 1504 * ms, Latency: 4 * ms, Number: 4, Class: record.Late, Lost: 1},
				{At: 1712 * ms, Latency: 12 * ms, Number: 6, Class: record.TooLate},
			},
			Corrupt: 1, Notes: []string{"hello"},
		},
	}
	o := DefaultOptions()
	o.Topologies = []*topology.Topology{{Name: "a"}, {Name: "b"}}
	r := merge(o, found)
	if d := cmp.Diff([]string{"a", "b"}, r.Topology); d != "" || r.DurationS != 2.001 {
		t.Error(d, r.DurationS)
	}
	row := r.Topics[0]
	row.MAD, row.SD, row.Tool.SD, row.Tool.MAD = 0, 0, 0, 0
	want := report.Topic{
		Node: "s", Topic: "t", Size: 8, Received: 6, Lost: 1, Late: 2, TooLate: 1, Mean: 19006.0 / 6, Min: 1, Max: 12000, P50: 3, P99: 12000, P999: 12000,
		Path: "intra+shm", Ownership: "loaned", Take: "lent", Touch: "none", Process: 1, Frequency: 100, Duration: 1980 * time.Millisecond,
		Tool: record.Summary{N: 5, Mean: 7006.0 / 5, Min: 1, Max: 4000, P50: 3, P99: 4000, P999: 4000},
	}
	if d := cmp.Diff(want, row); d != "" {
		t.Error(d)
	}
	if r.Total.Received != 6 || r.Total.ToolMean != 7006.0/5 || r.Total.Mean != 19006.0/6 {
		t.Errorf("%+v", r.Total)
	}
	p := r.Processes[0]
	if *p.CPUPercent != 25 || *p.OwnSyscalls != 0 || *p.PayloadCopied != 7 || *p.Madvise != 0 || p.Syscalls != nil || *p.HeapAllocs != 3 || *p.GCCycles != 1 {
		t.Errorf("%+v", p)
	}
	if p := r.Processes[1]; p.CPUPercent != nil || p.HeapAllocs != nil || p.RSS != nil {
		t.Errorf("counters of a run without a steady state: %+v", p)
	}
	var causes []string
	for _, s := range r.Slow {
		causes = append(causes, string(s.Cause)+": "+s.Why)
	}
	wantCauses := []string{
		"publish: the call of publish took 3.0 ms",
		"collection: 1 collections ended meanwhile or just after",
		"queued: behind the callback for t 3 for 11.0 ms",
	}
	if d := cmp.Diff(wantCauses, causes); d != "" {
		t.Error(d)
	}
	var events []string
	for _, e := range r.Processes[1].Events {
		events = append(events, e.Text)
	}
	wantEvents := []string{"[discovery] all pairs matched", "msg 3 lost.", "msg 4 late. 4000us > 2000us", "msg 6 too late. 12000us > 10000us"}
	if d := cmp.Diff(wantEvents, events); d != "" {
		t.Error(d)
	}
	notes := strings.Join(r.Notes, "\n")
	for _, n := range []string{
		"a: 3 publications failed, the first with: no memory", "a: 1 loans were copied after all", "a: 2 publications were left out",
		"b: 1 messages did not hold", "the subscription itself counts 2 lost messages, the numbers say 1", "b: no counters", "b: hello",
	} {
		if !strings.Contains(notes, n) {
			t.Errorf("no note %q in\n%s", n, notes)
		}
	}
}

// A count of zero and no count at all must stay apart on their way from the worker.
func TestFramesKeepNull(t *testing.T) {
	var b strings.Builder
	if err := writeFrame(&b, frameDone, findings{OwnCalls: ptr(int64(0)), Usage: &machine.Usage{Madvise: ptr(int64(0))}}); err != nil {
		t.Fatal(err)
	}
	kind, body, err := readFrame(strings.NewReader(b.String()))
	if err != nil || kind != frameDone {
		t.Fatal(kind, err)
	}
	f, err := decode[findings](body)
	if err != nil || f.OwnCalls == nil || f.Usage.Madvise == nil || f.Copied != nil || f.Usage.Syscalls != nil {
		t.Errorf("%+v %v", f, err)
	}
	if _, _, err := readFrame(strings.NewReader("S\xff\xff\xff\xff")); err == nil || !strings.Contains(err.Error(), "limit") {
		t.Error("a frame of 4 GB:", err)
	}
	if _, _, err := readFrame(strings.NewReader(b.String()[:b.Len()-1])); err == nil {
		t.Error("half a frame was read")
	}
}

func TestPlan(t *testing.T) {
	a := &topology.Topology{Name: "a", Nodes: []topology.Node{
		{Name: "x", Publishers: []topology.Publisher{{Topic: "t", Period: 10 * time.Millisecond}, {Topic: "u", Period: time.Second}}},
		{Name: "y", Publishers: []topology.Publisher{{Topic: "t", Period: 20 * time.Millisecond}}, Subscribers: []topology.Subscriber{{Topic: "u"}}},
	}}
	b := &topology.Topology{Name: "b", Nodes: []topology.Node{
		{Name: "z", Subscribers: []topology.Subscriber{{Topic: "nothing"}, {Topic: "t"}, {Topic: "t"}}},
	}}
	run := []*topology.Topology{a, b}
	p := newPlan(run, 0, time.Second)
	if d := cmp.Diff([]int{2, 1, 2}, p.subsOf); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([][]pubKey{{{0, 1}}}, p.pubsOf); d != "" {
		t.Error(d)
	}
	p = newPlan(run, 1, time.Second)
	if d := cmp.Diff([][]pubKey{nil, {{0, 0}, {0, 2}}, {{0, 0}, {0, 2}}}, p.pubsOf); d != "" || len(p.subsOf) != 0 {
		t.Error(d, p.subsOf)
	}
	if p.samples[0] != 0 || p.samples[1] < 150 || p.samples[1] > 800 {
		t.Error(p.samples)
	}
}

func TestTypes(t *testing.T) {
	for _, i := range AllTypes() {
		if !strings.HasPrefix(i.ROS, "irobot_interfaces_plugin/msg/Stamped") {
			t.Error(i)
		}
		// The ROS name is the snake-case name in camel case.
		camel := strings.ToLower(i.ROS[strings.LastIndex(i.ROS, "/")+1:])
		if camel != strings.ReplaceAll(i.Name, "_", "") {
			t.Errorf("%s is %s", i.Name, i.ROS)
		}
		if i.Vector != (i.Size == 0) {
			t.Error(i)
		}
	}
	sizes := map[string]int{"stamped10b": 10, "stamped1mb": 1_000_000, "stamped600kb": 600_000, "stamped4_int32": 16, "stamped_int64": 8, "stamped12_float32": 48, "stamped_vector": 77}
	for name, size := range sizes {
		if got := PayloadSize(&topology.Publisher{Type: name, Size: 77}); got != size {
			t.Errorf("%s has %d bytes, want %d", name, got, size)
		}
	}
	if typ, ok := Types("stamped_vector"); !ok || !typ.Vector {
		t.Error(typ, ok)
	}
	if _, ok := Types("stamped3mb"); ok {
		t.Error("a type that nobody made")
	}
}
