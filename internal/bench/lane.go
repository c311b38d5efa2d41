package bench

import (
	"sync/atomic"

	"github.com/tagus-ros/tagus/internal/bench/machine"
	"github.com/tagus-ros/tagus/internal/bench/record"
	"github.com/tagus-ros/tagus/internal/clock"
)

// Room for what is noted of slow messages; more are counted.
const (
	slowRoom    = 4096
	publishRoom = 4096
)

// publishNanos is how long a call of publish may take before it is noted: as evidence for slow messages of other processes.
const publishNanos = 500_000

// watchEvery is how old the watch's last reading may get, in nanoseconds: what it says of a slow message is about no longer stretch. It
// costs three system calls each time.
const watchEvery = int64(250e6)

// lane is what one executor thread records. Only that thread touches it, but for the counters.
type lane struct {
	work  record.Work
	watch *machine.ThreadWatch // made on the thread at its first callback
	at    int64                // of the watch's last reading

	slow     []record.Slow
	slowMore int
	calls    []slowCall
	events   []trackEvent // only with tracking
	more     int          // events without room
	from     int64        // start of the run

	published, received, failed atomic.Int64
	firstError                  atomic.Pointer[string]
	corrupt, foreign            atomic.Int64
}

// slowCall is a publication that took longer than publishNanos.
type slowCall struct {
	Publisher  int
	Number     uint32
	Start, End int64
}

// trackEvent is what the tool writes to events.txt of one message.
type trackEvent struct {
	At, Latency int64
	Row         int
	Number      uint32
	Class       record.Class
	Lost        int
}

const eventRoom = 1 << 16

func newLane(tracking bool) *lane {
	l := &lane{slow: make([]record.Slow, 0, slowRoom), calls: make([]slowCall, 0, publishRoom)}
	if tracking {
		l.events = make([]trackEvent, 0, eventRoom)
	}
	return l
}

// tend keeps the watch's reading fresh. It is called at each publication and each message, and does nothing most of the time.
func (l *lane) tend(now int64) {
	if l.watch == nil {
		l.watch = machine.NewThreadWatch()
		l.at = now
	}
	if now-l.at > watchEvery {
		l.watch.Since()
		l.at = now
	}
}

// look notes a slow message with what this thread and the kernel know about it.
func (l *lane) look(row, source int, number uint32, published, received int64) {
	if len(l.slow) == cap(l.slow) {
		l.slowMore++
		return
	}
	d, since := l.watch.Since()
	l.at = d.At
	s := record.Slow{Row: row, Source: source, Number: number, Published: published, Received: received}
	s.Evidence = record.Evidence{Since: since, RunDelay: d.RunDelay, Steal: d.Steal, Switches: d.Switches, Faults: d.Faults}
	s.Evidence.Behind, s.Evidence.BehindFor = l.work.Behind(published, received)
	l.slow = append(l.slow, s)
	l.work.Add(record.Span{Kind: record.Look, Entity: int32(row), Number: number, Start: received, End: clock.Mono()})
}

// fail counts a publication that was refused, and keeps the first reason.
func (l *lane) fail(err error) {
	l.failed.Add(1)
	if l.firstError.Load() == nil {
		s := err.Error()
		l.firstError.CompareAndSwap(nil, &s)
	}
}

// track notes an event of the tool.
func (l *lane) track(e trackEvent) {
	switch {
	case l.events == nil:
	case len(l.events) == cap(l.events):
		l.more++
	default:
		l.events = append(l.events, e)
	}
}
