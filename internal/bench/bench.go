// Package bench runs systems of publishers and subscribers as the iRobot benchmark describes them, over tagus, and measures latency
// and cost.
//
// A run has a coordinator and one worker process for each topology. The coordinator (Run) measures the yardsticks, starts the workers,
// lets them begin together, shows progress and merges what they found; a worker (Serve) holds the nodes and nothing else, so that its
// counters are those of a plain program. The worker records in memory that was taken before the run: in the steady state it allocates,
// writes and reads next to nothing besides what the middleware does.
//
// It uses the public API of tagus alone, as any program would, and the clock that all of it shares. It must not reach into
// transports.
package bench

import (
	"fmt"
	"time"

	"github.com/tagus-ros/tagus/internal/bench/record"
	"github.com/tagus-ros/tagus/internal/bench/topology"
)

// Touch says how much of a payload the callback reads. Latency ends before it.
type Touch uint8

// How callbacks treat payloads.
const (
	TouchNone Touch = iota
	TouchLine       // one byte of every cache line
	TouchAll        // every byte; the content is checked
)

var touchNames = [...]string{"none", "line", "all"}

func (t Touch) String() string { return touchNames[t] }

// ParseTouch reads the word for a Touch.
func ParseTouch(s string) (Touch, error) {
	for i, n := range touchNames {
		if s == n {
			return Touch(i), nil
		}
	}
	return 0, fmt.Errorf("touch is %q, want none, line or all", s)
}

// Recyclings are the ways in which payload memory can be used again.
var Recyclings = []string{"lifo", "off", "fifo"}

// Options of one run. Fields are exported for the worker, which gets them over a pipe.
type Options struct {
	Topologies []*topology.Topology // one worker process each
	InProcess  bool                 // in-process delivery
	Duration   time.Duration        // from the start of the timers
	Sampling   time.Duration        // of resources
	Lateness   record.Lateness
	Tracking   bool // events for late, too late and lost messages
	Touch      Touch
	Recycling  string // "lifo", "fifo", "off"
	DomainID   int    // -1: the environment decides
	Yardsticks bool   // measure copies and wakes before and after
	Syscalls   bool   // count system calls where the kernel lets us
	BusyPoll   time.Duration
	ExtraProcs string        // a processor of the Go runtime more for each executor: "on", "off", "auto" (where a process has several)
	Pin        []int         // processor of each executor in turn; empty: none
	MatchLimit time.Duration // how long matching may take
}

// DefaultOptions are the iRobot benchmark's where it has such an option.
func DefaultOptions() Options {
	return Options{
		InProcess: true, Duration: 5 * time.Second, Sampling: time.Second, Lateness: record.DefaultLateness(),
		Recycling: "lifo", DomainID: -1, Yardsticks: true, Syscalls: true, MatchLimit: 30 * time.Second,
	}
}

// steadyAfter is how long after all pairs had matched the counters begin.
const steadyAfter = time.Second
