// Package report writes what a run of the benchmark found: tables for people, one JSON object for programs, and the result files of
// the iRobot benchmark.
//
// It prints figures that others measured and computes nothing but sums and shares. It must not import the root package, a transport
// or the runner.
package report

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tagus-ros/tagus/internal/bench/machine"
	"github.com/tagus-ros/tagus/internal/bench/record"
)

// Result is one run. Its JSON form is the object that "bench run --json" writes; what has no key there is for tables and files.
type Result struct {
	Machine   machine.Facts `json:"machine"`
	Topology  []string      `json:"topology"`
	DurationS float64       `json:"duration_s"` // from the first timer's start to the last's stop
	Processes []Process     `json:"processes"`
	Topics    []Topic       `json:"topics"`
	Total     Total         `json:"total"`

	Slow     []Slow   `json:"-"`
	SlowMore int      `json:"-"` // slow messages beyond those that were kept
	Notes    []string `json:"-"` // what else must be said: not counted, ended early, publications that failed
}

// Process is what one process used in the steady state, from one second after all pairs had matched until publishing stopped.
type Process struct {
	Name              string   `json:"name"`
	CPUPercent        *float64 `json:"cpu_percent"` // of one CPU
	MinorFaults       *int64   `json:"minor_faults"`
	HeapAllocs        *int64   `json:"heap_allocs"` // objects
	GCCycles          *int64   `json:"gc_cycles"`
	VoluntarySwitches *int64   `json:"voluntary_switches"`
	OwnSyscalls       *int64   `json:"own_syscalls"` // calls made by tagus itself
	Syscalls          *int64   `json:"syscalls"`     // all calls of the process
	Madvise           *int64   `json:"madvise"`
	PayloadCopied     *int64   `json:"payload_bytes_copied"`
	RSS               *int64   `json:"rss_kb"`
	PSS               *int64   `json:"pss_kb"`

	Published, Received int64         `json:"-"` // messages in the steady state
	Steady              time.Duration `json:"-"`
	ForcedSwitches      *int64        `json:"-"`
	Again               *int64        `json:"-"` // calls that failed with EAGAIN
	GCPause             time.Duration `json:"-"` // of all collections together
	Resources           []Resource    `json:"-"`
	Events              []Event       `json:"-"`
}

// Topic is what one subscription received over the whole run. Times are microseconds from the start of publish to the callback.
type Topic struct {
	Node      string  `json:"node"`
	Topic     string  `json:"topic"`
	Size      int     `json:"size"` // payload bytes
	Received  int     `json:"received"`
	Lost      int     `json:"lost"`
	Late      int     `json:"late"`
	TooLate   int     `json:"too_late"`
	Mean      float64 `json:"mean_us"` // over all received messages
	SD        float64 `json:"sd_us"`
	Min       float64 `json:"min_us"`
	Max       float64 `json:"max_us"`
	P50       float64 `json:"p50_us"`
	P99       float64 `json:"p99_us"`
	P999      float64 `json:"p999_us"`
	MAD       float64 `json:"mad_us"`
	Path      string  `json:"path"`      // intra, shm, zenoh; joined by + when messages took several; "" when none came
	Ownership string  `json:"ownership"` // copy, owned, loaned; joined by + when publishers differ
	Take      string  `json:"take"`      // lent, copy
	Touch     string  `json:"touch"`     // none, line, all

	Process   int            `json:"-"` // index of the receiving process
	Tool      record.Summary `json:"-"` // without the messages that came too late, as the iRobot benchmark computes it
	Frequency float64        `json:"-"` // of the publishers together, Hz
	Duration  time.Duration  `json:"-"`
	Repeated  int            `json:"-"` // messages that came twice or out of order
}

// Total is all subscriptions together.
type Total struct {
	Received int     `json:"received"`
	Lost     int     `json:"lost"`
	Late     int     `json:"late"`
	TooLate  int     `json:"too_late"`
	Mean     float64 `json:"mean_us"`      // over all received messages
	ToolMean float64 `json:"tool_mean_us"` // the iRobot benchmark's: each topic's mean without too-late messages, weighted by received
	SD       float64 `json:"sd_us"`
	Min      float64 `json:"min_us"`
	Max      float64 `json:"max_us"`
	P50      float64 `json:"p50_us"`
	P99      float64 `json:"p99_us"`
	P999     float64 `json:"p999_us"`
	MAD      float64 `json:"mad_us"`
}

// Slow is one message that took longer than record.SlowNanos, in words.
type Slow struct {
	AtMS          float64 // since the start of the run
	Process       int
	Topic, Node   string
	Number        uint32
	LatencyMicros float64
	Cause         record.Cause
	Why           string
}

// Resource is one line of resources.txt. Sizes are KiB.
type Resource struct {
	MS         int64
	CPUPercent float64 // of all CPUs, since the start, as the iRobot benchmark has it
	Arena      int64   // Go heap
	InUse      int64   // of it in objects
	MMap       int64   // payload memory of tagus that is committed
	RSS, VSZ   int64
}

// Event is one line of events.txt.
type Event struct {
	MS     int64
	Caller string
	Code   EventCode
	Text   string
}

// EventCode numbers events as the iRobot benchmark does.
type EventCode int

// The events that occur here.
const (
	EventDiscovery EventCode = 0
	EventLate      EventCode = 1
	EventTooLate   EventCode = 2
	EventLost      EventCode = 3
)

// SetStats fills in what a summary knows.
func (t *Topic) SetStats(s record.Summary) {
	t.Received = s.N
	t.Mean, t.SD, t.Min, t.Max, t.P50, t.P99, t.P999, t.MAD = s.Mean, s.SD, s.Min, s.Max, s.P50, s.P99, s.P999, s.MAD
}

// Sum computes the total of topics; all is the summary of all samples together.
func Sum(topics []Topic, all record.Summary) Total {
	t := Total{Mean: all.Mean, SD: all.SD, Min: all.Min, Max: all.Max, P50: all.P50, P99: all.P99, P999: all.P999, MAD: all.MAD}
	var weighted float64
	for i := range topics {
		t.Received += topics[i].Received
		t.Lost += topics[i].Lost
		t.Late += topics[i].Late
		t.TooLate += topics[i].TooLate
		weighted += float64(topics[i].Received) * topics[i].Tool.Mean
	}
	if t.Received > 0 {
		t.ToolMean = weighted / float64(t.Received)
	}
	return t
}

// WriteJSON writes v as indented JSON to a file that appears whole or not at all.
func WriteJSON(file string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return writeWhole(file, append(data, '\n'))
}

func writeWhole(file string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	_, err = f.Write(data)
	if e := f.Chmod(0o644); err == nil {
		err = e
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}
