package record

import "fmt"

// SlowNanos is the latency from which on a message is listed with its likely cause.
const SlowNanos = 2_000_000

// Evidence is what is known of the time in which a slow message was on its way. Durations are nanoseconds.
type Evidence struct {
	Since       int64 // start of the stretch that RunDelay, Steal, Switches and Faults cover; it ends at reception
	RunDelay    int64 // the receiving thread was runnable and had no CPU
	Steal       int64 // the hypervisor ran something else; all CPUs together, in steps of 10 ms
	Switches    int64 // involuntary context switches of the receiving thread
	Faults      int64 // page faults of the receiving thread
	Collections int   // collections of the receiving or publishing process that ended meanwhile or within 20 ms after
	Publish     int64 // how long the publisher's own call took
	Behind      Span  // what the receiving thread did most of meanwhile
	BehindFor   int64 // and for how much of the time
}

// Slow is one message that took longer than SlowNanos.
type Slow struct {
	Row, Source         int
	Number              uint32
	Published, Received int64 // monotonic nanoseconds
	Evidence            Evidence
}

// Cause is the likely reason why a message was slow.
type Cause string

// The causes, in the order in which they are looked for.
const (
	CauseSteal      Cause = "steal"
	CausePreemption Cause = "preemption"
	CausePublish    Cause = "publish"
	CauseQueued     Cause = "queued"
	CauseCollection Cause = "collection"
	CauseFaults     Cause = "page faults"
	CauseUnknown    Cause = "unknown"
)

// faultNanos is what a page fault is taken to cost.
const faultNanos = 1000

// Cause names the likely reason and the figures that speak for it. Time spent elsewhere counts when it makes up half of the
// latency. name turns a span into words.
func (s *Slow) Cause(name func(Span) string) (Cause, string) {
	e := &s.Evidence
	half := (s.Received - s.Published) / 2
	ms := func(ns int64) string { return fmt.Sprintf("%.1f ms", float64(ns)/1e6) }
	switch {
	case e.Steal > 0 && e.Steal >= half:
		return CauseSteal, fmt.Sprintf("the hypervisor took %s of the last %s", ms(e.Steal), ms(s.Received-e.Since))
	case e.RunDelay > 0 && e.RunDelay >= half:
		return CausePreemption, fmt.Sprintf("the thread had no CPU for %s of the last %s", ms(e.RunDelay), ms(s.Received-e.Since))
	case e.Publish > 0 && e.Publish >= half:
		return CausePublish, "the call of publish took " + ms(e.Publish)
	case e.BehindFor > 0 && e.BehindFor >= half:
		return CauseQueued, fmt.Sprintf("behind %s for %s", name(e.Behind), ms(e.BehindFor))
	case e.Collections > 0:
		return CauseCollection, fmt.Sprintf("%d collections ended meanwhile or just after", e.Collections)
	case e.Faults > 0 && e.Faults*faultNanos >= half:
		return CauseFaults, fmt.Sprintf("%d page faults", e.Faults)
	case e.Switches > 0:
		return CausePreemption, fmt.Sprintf("%d involuntary switches in the last %s", e.Switches, ms(s.Received-e.Since))
	default:
		return CauseUnknown, ""
	}
}
