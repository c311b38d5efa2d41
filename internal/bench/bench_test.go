package bench

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tagus-ros/tagus/internal/bench/machine"
	"github.com/tagus-ros/tagus/internal/bench/report"
	"github.com/tagus-ros/tagus/internal/bench/topology"
	"github.com/tagus-ros/tagus/qos"
)

// TestMain makes the test binary the helper process that a run starts.
func TestMain(m *testing.M) {
	var err error
	switch os.Getenv("TAGUS_TEST_PEER") {
	case "":
		os.Exit(m.Run())
	case "dies":
		os.Exit(3)
	}
	switch os.Args[1] {
	case WorkerRole:
		err = Serve(os.Stdin, os.Stdout)
	case PongRole:
		err = ServePong(os.Stdin, os.Stdout, os.Args[2:])
	case machine.WakePeer:
		err = machine.ServeWake(3)
	}
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
}

// testEnv starts helpers in a domain folder of the test's own. how is what they are told to be.
func testEnv(t *testing.T, how string) Env {
	t.Helper()
	dir := t.TempDir()
	return Env{Err: io.Discard, Self: func(args ...string) *exec.Cmd {
		cmd := exec.Command(os.Args[0], args...)
		cmd.Env = append(os.Environ(), "TAGUS_TEST_PEER="+how, "TAGUS_DIR="+dir)
		return cmd
	}}
}

// small is a system with every kind of ownership, every kind of type and two executors. Its queues are deep: a machine that stands still for a
// moment must not lose messages here.
func small() *topology.Topology {
	deep := qos.Default().WithDepth(400)
	pub := func(topic, typ string, size int, pass topology.PassBy) topology.Publisher {
		return topology.Publisher{Topic: topic, Type: typ, Period: 5 * time.Millisecond, Size: size, Pass: pass, QoS: deep}
	}
	sub := func(topic, typ string, pass topology.PassBy) topology.Subscriber {
		return topology.Subscriber{Topic: topic, Type: typ, Pass: pass, QoS: deep}
	}
	return &topology.Topology{Name: "small", Nodes: []topology.Node{
		{Name: "talker", Publishers: []topology.Publisher{
			pub("a", "stamped10b", 0, topology.Copy), pub("b", "stamped_vector", 70_000, topology.Owned), pub("c", "stamped100kb", 0, topology.Loaned), pub("d", "stamped_vector", 5000, topology.Loaned),
		}},
		{Name: "relay", Namespace: "/ns", Executor: 1, Publishers: []topology.Publisher{pub("/e", "stamped4_float32", 0, topology.Owned)},
			Subscribers: []topology.Subscriber{sub("/a", "stamped10b", topology.Copy), sub("/b", "stamped_vector", topology.Owned)}},
		{Name: "listener", Subscribers: []topology.Subscriber{
			sub("b", "stamped_vector", topology.Copy), sub("c", "stamped100kb", topology.Copy), sub("d", "stamped_vector", topology.Loaned), sub("e", "stamped4_float32", topology.Copy),
		}},
	}}
}

func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("runs for seconds")
	}
	for name, c := range map[string]struct {
		split, ipc bool
		paths      string
	}{
		"one process, in process":      {false, true, "intra"},
		"one process, shared memory":   {false, false, "shm"},
		"two processes, shared memory": {true, false, "shm"},
	} {
		t.Run(name, func(t *testing.T) {
			o := DefaultOptions()
			o.Duration, o.Sampling, o.InProcess, o.Touch, o.Yardsticks = 1500*time.Millisecond, 200*time.Millisecond, c.ipc, TouchAll, false
			o.Topologies = []*topology.Topology{small()}
			if c.split {
				a, b := small().Split()
				o.Topologies = []*topology.Topology{a, b}
			}
			r, err := Run(context.Background(), testEnv(t, "1"), o)
			if err != nil {
				t.Fatal(err)
			}
			checkRun(t, r, c.paths, len(o.Topologies))
		})
	}
}

func checkRun(t *testing.T, r *report.Result, path string, processes int) {
	t.Helper()
	for _, n := range r.Notes {
		if !strings.Contains(n, "system calls are not counted") && !strings.Contains(n, "overrun") {
			t.Error("note:", n)
		}
	}
	ownership := map[string]string{"/a": "copy", "/b": "owned", "b": "owned", "c": "loaned", "d": "loaned", "e": "owned"}
	sizes := map[string]int{"/a": 10, "/b": 70_000, "b": 70_000, "c": 100_000, "d": 5000, "e": 16}
	if len(r.Topics) != 6 || len(r.Processes) != processes {
		t.Fatalf("%d topics, %d processes", len(r.Topics), len(r.Processes))
	}
	for _, x := range r.Topics {
		if x.Received < 20 || x.Received > int(200*r.DurationS)+2 || x.Lost != 0 || x.Repeated != 0 || x.Path != path || x.Ownership != ownership[x.Topic] || x.Size != sizes[x.Topic] || x.Touch != "all" {
			t.Errorf("%+v", x)
		}
		take := "lent"
		if x.Topic == "/b" {
			take = "copy"
		}
		if x.Take != take || x.Min <= 0 || x.Min > x.P50 || x.P50 > x.P99 || x.P99 > x.Max {
			t.Errorf("%+v", x)
		}
	}
	if r.Topics[0].Node != "/ns/relay" && r.Topics[len(r.Topics)-1].Node != "/ns/relay" {
		t.Error("no node /ns/relay:", r.Topics)
	}
	for _, p := range r.Processes {
		// A machine that is busy lets queues grow, which allocates once; what each message costs shows well above that.
		if p.HeapAllocs == nil || *p.HeapAllocs > 300+(p.Published+p.Received)/5 {
			t.Errorf("%s: heap allocations: %v for %d messages", p.Name, *p.HeapAllocs, p.Published+p.Received)
		}
		if p.Published+p.Received < 20 || p.Steady < 300*time.Millisecond || p.Steady > 5*time.Second {
			t.Errorf("%s: %d published and %d received in %v", p.Name, p.Published, p.Received, p.Steady)
		}
		if len(p.Resources) < 3 || p.OwnSyscalls == nil || p.PayloadCopied == nil {
			t.Errorf("%s: %d samples of resources, %v, %v", p.Name, len(p.Resources), p.OwnSyscalls, p.PayloadCopied)
		}
	}
}

func TestRunEndsEarly(t *testing.T) {
	if testing.Short() {
		t.Skip("runs for seconds")
	}
	o := DefaultOptions()
	o.Duration, o.Yardsticks, o.Topologies = time.Minute, false, []*topology.Topology{small()}
	env := testEnv(t, "1")
	var progress syncBuffer
	env.Err = &progress
	ctx, cancel := context.WithCancel(context.Background())
	progress.when("published", cancel)
	r, err := Run(ctx, env, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.DurationS < 0.5 || r.DurationS > 30 || r.Total.Received == 0 || r.Total.Lost != 0 {
		t.Errorf("%v s, %+v", r.DurationS, r.Total)
	}
	if !strings.Contains(strings.Join(r.Notes, "\n"), "ended early") {
		t.Error(r.Notes)
	}
}

func TestRunSaysThatAWorkerDied(t *testing.T) {
	o := DefaultOptions()
	o.Yardsticks, o.Topologies = false, []*topology.Topology{small()}
	_, err := Run(context.Background(), testEnv(t, "dies"), o)
	if err == nil || !strings.Contains(err.Error(), "small") {
		t.Error(err)
	}
}

func TestRunPassesOnWhatAWorkerSays(t *testing.T) {
	o := DefaultOptions()
	o.Yardsticks, o.Topologies = false, []*topology.Topology{small()}
	o.Topologies[0].Nodes[0].Name = "no good"
	_, err := Run(context.Background(), testEnv(t, "1"), o)
	if err == nil || !strings.Contains(err.Error(), "process small") || !strings.Contains(err.Error(), "no good") {
		t.Error(err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"no topology":     func(o *Options) { o.Topologies = nil },
		"duration":        func(o *Options) { o.Duration = 0 },
		"sampling period": func(o *Options) { o.Sampling = time.Millisecond },
	} {
		o := DefaultOptions()
		o.Topologies = []*topology.Topology{small()}
		change(&o)
		if _, err := Run(context.Background(), testEnv(t, "dies"), o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestServeRefusesNonsense(t *testing.T) {
	for _, in := range []string{"", "G\x00\x00\x00\x00", "S\x02\x00\x00\x00{}", "S\x04\x00\x00\x00null", "Sxxxx"} {
		if err := Serve(strings.NewReader(in), io.Discard); err == nil {
			t.Errorf("%q was taken for a setup", in)
		}
	}
}

func TestPingpong(t *testing.T) {
	if testing.Short() {
		t.Skip("runs for seconds")
	}
	t.Setenv("TAGUS_DIR", t.TempDir())
	env := testEnv(t, "1")
	self := env.Self
	env.Self = func(args ...string) *exec.Cmd {
		cmd := self(args...)
		cmd.Env = append(cmd.Env, "TAGUS_DIR="+os.Getenv("TAGUS_DIR"))
		return cmd
	}
	r, err := Pingpong(context.Background(), env, PingOptions{Rate: 1000, Duration: 600 * time.Millisecond, DomainID: -1})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Placements {
		if len(p.Ways) != 4 || (p.Name == "same core") != (p.CPUs[0] == p.CPUs[1]) {
			t.Fatalf("%+v", p)
		}
		for _, w := range p.Ways {
			if w.OneWay == nil {
				if w.Note == "" {
					t.Errorf("%s, %s: neither figures nor a note", p.Name, w.Name)
				}
				continue
			}
			if w.Trips%pingBlock != 0 || w.OneWay.P50 <= 0 || w.RoundTrip.P50 < w.OneWay.Min || w.OneWay.Min > w.OneWay.P50 || w.OneWay.P50 > w.OneWay.Max {
				t.Errorf("%s: %+v %+v %+v", p.Name, w, *w.OneWay, *w.RoundTrip)
			}
		}
	}
	if table := r.PingTable(); !strings.Contains(table, "same core  futex") {
		t.Error(table)
	}
}

// syncBuffer collects progress and calls something when a word comes.
type syncBuffer struct {
	b    bytes.Buffer // not embedded: its ReadFrom would pass Write by
	mu   sync.Mutex
	word string
	then func()
}

func (b *syncBuffer) when(word string, then func()) { b.word, b.then = word, then }

func (b *syncBuffer) Write(p []byte) (int, error) {
	if b.then != nil && bytes.Contains(p, []byte(b.word)) {
		b.then()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
