package machine

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/tagus-ros/tagus/internal/clock"
)

// Counts are what a process has used up to one moment. Differences of two readings are what it used between.
type Counts struct {
	At                int64         // monotonic nanoseconds
	CPU               time.Duration // user and system time of all threads
	MinorFaults       int64
	VoluntarySwitches int64
	ForcedSwitches    int64
	HeapAllocs        uint64 // objects, tiny ones included
	HeapBytes         uint64 // bytes of these objects
	Collections       uint64
	PauseTotal        time.Duration // of all collections
	Calls             SyscallCounts
}

// Usage is the difference of two readings. Pointers are nil where this system does not count.
type Usage struct {
	Wall              time.Duration
	CPU               *time.Duration
	MinorFaults       *int64
	VoluntarySwitches *int64
	ForcedSwitches    *int64
	HeapAllocs        uint64
	HeapBytes         uint64
	Collections       uint64
	PauseTotal        time.Duration
	Syscalls          *int64 // all system calls of the process
	Madvise           *int64
	Again             *int64 // system calls that failed with EAGAIN
	RSS, PSS          *int64 // KiB, at the end
}

// Counter reads the counters of this process. It keeps its buffers, so that a second reading allocates nothing; one goroutine at
// a time may use it.
type Counter struct {
	heap  runtime.MemStats
	gc    debug.GCStats
	sizes [3]metrics.Sample
	calls *SyscallCounter // nil: not counted
	files procFiles
}

// NewCounter prepares for readings. calls may be nil.
func NewCounter(calls *SyscallCounter) *Counter {
	c := &Counter{calls: calls}
	for i, name := range []string{"objects", "unused", "free"} {
		c.sizes[i].Name = "/memory/classes/heap/" + name + ":bytes"
	}
	c.gc.Pause = make([]time.Duration, 0, 1024) // the runtime wants twice what it remembers, and some
	c.gc.PauseEnd = make([]time.Time, 0, 512)
	c.files.open()
	c.Read() // take what the first reading allocates
	c.Heap()
	return c
}

// Read takes all counters. It stops the world for some ten microseconds: runtime/metrics would not, but it learns of small objects only
// when a processor has used up a span of them, and here single objects matter.
func (c *Counter) Read() Counts {
	out := Counts{At: clock.Mono()}
	runtime.ReadMemStats(&c.heap)
	out.HeapAllocs, out.HeapBytes = c.heap.Mallocs, c.heap.TotalAlloc
	out.Collections, out.PauseTotal = uint64(c.heap.NumGC), time.Duration(c.heap.PauseTotalNs)
	readUsage(&out)
	if c.calls != nil {
		out.Calls = c.calls.Read()
	}
	return out
}

// Light reads the time and the CPU time only. It is cheap.
func (c *Counter) Light() Counts {
	out := Counts{At: clock.Mono()}
	readUsage(&out)
	return out
}

// CollectionEnds appends when the newest collections ended, in monotonic nanoseconds, to ends; those not after since are left
// out. The runtime remembers 256.
func (c *Counter) CollectionEnds(ends []int64, since int64) []int64 {
	debug.ReadGCStats(&c.gc)
	shift := clock.Wall() - clock.Mono()
	for i := len(c.gc.PauseEnd) - 1; i >= 0; i-- {
		if at := c.gc.PauseEnd[i].UnixNano() - shift; at > since {
			ends = append(ends, at)
		}
	}
	return ends
}

// Between condenses what happened from a to b. RSS and PSS are read now.
func (c *Counter) Between(a, b Counts) Usage {
	u := Usage{
		Wall: time.Duration(b.At - a.At), HeapAllocs: b.HeapAllocs - a.HeapAllocs, HeapBytes: b.HeapBytes - a.HeapBytes,
		Collections: b.Collections - a.Collections, PauseTotal: b.PauseTotal - a.PauseTotal,
	}
	if hasUsage {
		u.CPU = ptr(b.CPU - a.CPU)
		u.MinorFaults = ptr(b.MinorFaults - a.MinorFaults)
		u.VoluntarySwitches = ptr(b.VoluntarySwitches - a.VoluntarySwitches)
		u.ForcedSwitches = ptr(b.ForcedSwitches - a.ForcedSwitches)
	}
	if c.calls != nil {
		u.Syscalls = ptr(b.Calls.All - a.Calls.All)
		u.Madvise = ptr(b.Calls.Madvise - a.Calls.Madvise)
		u.Again = ptr(b.Calls.Again - a.Calls.Again)
	}
	if m := c.Memory(); m.OK {
		u.RSS = &m.RSS
		u.PSS = pss()
	}
	return u
}

// Memory is how much memory the process has, in KiB.
type Memory struct {
	RSS, VSZ int64
	OK       bool
}

// Memory reads the size of this process. It allocates nothing.
func (c *Counter) Memory() Memory { return c.files.memory() }

// Heap returns what the Go heap has from the system and what of it objects use, in KiB. It allocates nothing.
func (c *Counter) Heap() (arena, inUse int64) {
	metrics.Read(c.sizes[:])
	objects, unused, free := c.sizes[0].Value.Uint64(), c.sizes[1].Value.Uint64(), c.sizes[2].Value.Uint64()
	return int64(objects+unused+free) / 1024, int64(objects) / 1024
}

// SyscallCounts are system calls of this process since its SyscallCounter was made.
type SyscallCounts struct{ All, Madvise, Again int64 }

func ptr[T any](v T) *T { return &v }
