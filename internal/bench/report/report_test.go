package report

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tagus-ros/tagus/internal/bench/machine"
	"github.com/tagus-ros/tagus/internal/bench/record"
)

func ptr[T any](v T) *T { return &v }

func sample() *Result {
	a := Topic{Node: "lyon", Topic: "amazon", Size: 36, Received: 501, Lost: 1, Late: 11, TooLate: 2, Mean: 40.26, SD: 1, Min: 2, Max: 3, P50: 4, P99: 5, P999: 6, MAD: 7,
		Path: "shm", Ownership: "copy", Take: "lent", Touch: "none", Frequency: 100, Duration: 5 * time.Second, Tool: record.Summary{Mean: 20.04, SD: 10.5, Min: 2, Max: 2.5}}
	b := Topic{Node: "a_node_with_a_long_name", Topic: "danube", Size: 8, Ownership: "owned", Take: "lent", Touch: "none", Process: 1, Frequency: 1000.0 / 3}
	r := &Result{
		Machine:  machine.Facts{CPUs: 2, Kernel: "Linux 6", HotCopy1MiB: ptr(15.0)},
		Topology: []string{"x", "y"}, DurationS: 5,
		Processes: []Process{
			{Name: "x", CPUPercent: ptr(12.34), MinorFaults: ptr(int64(0)), HeapAllocs: ptr(int64(5)), OwnSyscalls: ptr(int64(1000)), Published: 500, Received: 250, Steady: 4 * time.Second,
				Resources: []Resource{{1000, 6.1234567, 1, 2, 3, 4, 5}}, Events: []Event{{0, "SYSTEM", EventDiscovery, "[discovery] all pairs matched"}, {31, "amazon->lyon", EventLate, "msg 3 late. 4300us > 2000us"}}},
			{Name: "y"},
		},
		Topics: []Topic{a, b},
		Slow:   []Slow{{AtMS: 12.34, Process: 0, Topic: "amazon", Node: "lyon", Number: 3, LatencyMicros: 4300, Cause: record.CauseQueued, Why: "behind x for 4 ms"}},
		Notes:  []string{"something"},
	}
	r.Total = Sum(r.Topics, record.Summary{Mean: 40.26})
	return r
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for _, csv := range []bool{false, true} {
		folder, err := WriteFiles(dir, sample(), 0, csv, []Setting{{"ipc", "off"}, {"duration_sec", "5"}})
		if err != nil || folder != filepath.Join(dir, "x_log") {
			t.Fatal(folder, err)
		}
		for name, want := range map[string][2]string{
			"latency_all.txt": {
				"node           topic          size[b]   received[#]    late[#]   too_late[#]    lost[#]   mean[us]  sd[us]    min[us]   max[us]   freq[hz]  duration[s] p50[us]   p99[us]   p99.9[us] mad[us]   mean_all[us] path   ownership  take  touch\n" +
					"lyon           amazon         36        501            11        2              1         20.0      10.5      2.0       2.5       100       5           4.0       5.0       6.0       7.0       40.3         shm    copy       lent  none\n",
				"node,topic,size[b],received[#],late[#],too_late[#],lost[#],mean[us],sd[us],min[us],max[us],freq[hz],duration[s],p50[us],p99[us],p99.9[us],mad[us],mean_all[us],path,ownership,take,touch\n" +
					"lyon,amazon,36,501,11,2,1,20.0,10.5,2.0,2.5,100,5,4.0,5.0,6.0,7.0,40.3,shm,copy,lent,none\n",
			},
			"latency_total.txt": {
				"received[#]    mean[us]  late[#]   late[%]   too_late[#]    too_late[%]    lost[#]   lost[%]   mean_all[us]\n" +
					"501            20.0      11        2.196     2              0.3992         1         0.1992    40.3\n",
				"received[#],mean[us],late[#],late[%],too_late[#],too_late[%],lost[#],lost[%],mean_all[us]\n501,20.0,11,2.196,2,0.3992,1,0.1992,40.3\n",
			},
			"resources.txt": {
				"time[ms]       cpu[%]    arena[KB]      in_use[KB]     mmap[KB]       rss[KB]        vsz[KB]\n" +
					"0              0         0              0              0              0              0\n" +
					"1000           6.1235    1              2              3              4              5\n",
				"time[ms],cpu[%],arena[KB],in_use[KB],mmap[KB],rss[KB],vsz[KB]\n0,0,0,0,0,0,0\n1000,6.1235,1,2,3,4,5\n",
			},
			"events.txt": {
				"Time[ms]    Caller                   Code  Description\n" +
					"0           SYSTEM                   0     [discovery] all pairs matched\n" +
					"31          amazon->lyon             1     msg 3 late. 4300us > 2000us\n",
				"Time[ms],Caller,Code,Description\n0,SYSTEM,0,[discovery] all pairs matched\n31,amazon->lyon,1,msg 3 late. 4300us > 2000us\n",
			},
			"slow.txt": {
				"Time[ms]    Caller                   number    latency[us]  cause        evidence\n" +
					"12.3        amazon->lyon             3         4300.0       queued       behind x for 4 ms\n",
				"Time[ms],Caller,number,latency[us],cause,evidence\n12.3,amazon->lyon,3,4300.0,queued,behind x for 4 ms\n",
			},
			"metadata.txt": {"ipc: off\nduration_sec: 5\n", "ipc: off\nduration_sec: 5\n"},
		} {
			got, err := os.ReadFile(filepath.Join(folder, name))
			which := 0
			if csv {
				which = 1
			}
			if d := cmp.Diff(want[which], string(got)); d != "" || err != nil {
				t.Errorf("%s, csv %v: %v\n%s", name, csv, err, d)
			}
		}
	}
	entries, err := os.ReadDir(filepath.Join(dir, "x_log"))
	if err != nil || len(entries) != 6 {
		t.Error("the folder holds", entries, err)
	}
	if _, err := WriteFiles(dir, sample(), 1, false, nil); err != nil {
		t.Error("a process that received nothing:", err)
	}
}

// The names with which the iRobot benchmark's own scripts read a line stay apart whatever the names in it.
func TestLongNamesStayApart(t *testing.T) {
	lines := strings.Split(string(latencyAll(sample().Topics, false)), "\n")
	head := strings.Fields(lines[0])
	for _, l := range lines[1 : len(lines)-1] {
		if f := strings.Fields(l); len(f) != len(head) {
			t.Errorf("%d fields for %d columns: %q", len(f), len(head), l)
		}
	}
}

// TestJSONKeys holds the object that programs read: keys may be added by decision, never removed or renamed.
func TestJSONKeys(t *testing.T) {
	file := filepath.Join(t.TempDir(), "r.json")
	if err := WriteJSON(file, sample()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r map[string]any
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	keys := func(v any) string {
		var out []string
		for k := range v.(map[string]any) {
			out = append(out, k)
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	first := func(k string) any { return r[k].([]any)[0] }
	for name, c := range map[string][2]string{
		"result":  {keys(r), "duration_s machine processes topics topology total"},
		"machine": {keys(r["machine"]), "bare_wake_us copy_loop_us cpus hot_copy_1mib_us kernel"},
		"process": {keys(first("processes")), "cpu_percent gc_cycles heap_allocs madvise minor_faults name own_syscalls payload_bytes_copied pss_kb rss_kb syscalls voluntary_switches"},
		"topic":   {keys(first("topics")), "late lost mad_us max_us mean_us min_us node ownership p50_us p999_us p99_us path received sd_us size take too_late topic touch"},
		"total":   {keys(r["total"]), "late lost mad_us max_us mean_us min_us p50_us p999_us p99_us received sd_us too_late tool_mean_us"},
	} {
		if c[0] != c[1] {
			t.Errorf("%s has %s\nwant %s", name, c[0], c[1])
		}
	}
	p := first("processes").(map[string]any)
	if p["syscalls"] != nil || p["minor_faults"] != 0.0 || r["machine"].(map[string]any)["copy_loop_us"] != nil {
		t.Error("null and zero are mixed up:", p, r["machine"])
	}
}

func TestWriteJSONNamesTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "missing", "r.json")
	if err := WriteJSON(file, sample()); err == nil || !strings.Contains(err.Error(), file) {
		t.Error(err)
	}
}

func TestTables(t *testing.T) {
	var b strings.Builder
	if err := WriteTables(&b, sample()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"machine: 2 CPUs, Linux 6; 1 MiB copied hot 15.0 µs, on the topology's timers not measured; bare futex wake not measured",
		"tool's mean", "40.3         20.0", "total",
		"processes in the steady state, 4.0 s",
		"1 messages took over 2 ms", "0.012 s", "amazon 3 -> lyon", "queued", "behind x for 4 ms",
		"note: something",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	perMessage := ""
	for _, l := range strings.Split(b.String(), "\n") {
		if f := strings.Fields(l); len(f) > 1 && f[0] == "x" && f[1] == "500" {
			perMessage = strings.Join(f, " ")
		}
	}
	if perMessage != "x 500 0.000 0.010 - 2.000 - -" {
		t.Errorf("per message: %q\n%s", perMessage, b.String())
	}
	r := sample()
	r.Slow = nil
	if s := SlowTable(r); s != "no message took over 2 ms\n" {
		t.Error(s)
	}
	for range 100 {
		r.Slow = append(r.Slow, sample().Slow[0])
	}
	r.SlowMore = 7
	if s := SlowTable(r); !strings.Contains(s, "107 messages") || !strings.Contains(s, "and 67 more; slow.txt in the result folder lists 100 of them") {
		t.Error(s)
	}
}

func TestCompare(t *testing.T) {
	other := sample()
	other.Topics[0].Mean = 99.9
	var b strings.Builder
	if err := Compare(&b, "recycling", "amazon", []Variant{{"lifo", sample()}, {"off", other}}); err != nil {
		t.Fatal(err)
	}
	want := "topic amazon, µs\n" +
		"node  recycling  received  lost  mean   sd  p50  p99  p99.9  max  MAD\n" +
		"lyon  lifo            501     1  40.3  1.0  4.0  5.0    6.0  3.0  7.0\n" +
		"lyon  off             501     1  99.9  1.0  4.0  5.0    6.0  3.0  7.0\n"
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
}
