package record

import "time"

// Lateness says which messages the iRobot benchmark calls late and too late: those over the smaller of a share of the
// publisher's period and an absolute bound.
type Lateness struct {
	LatePercent    int // of the period
	LateMicros     int
	TooLatePercent int
	TooLateMicros  int
}

// DefaultLateness is what the iRobot benchmark takes when no option says otherwise.
func DefaultLateness() Lateness {
	return Lateness{LatePercent: 20, LateMicros: 5000, TooLatePercent: 100, TooLateMicros: 50000}
}

// Thresholds returns the bounds for a period in whole microseconds, as the tool computes them.
func (l Lateness) Thresholds(period time.Duration) (late, tooLate int64) {
	p := period.Microseconds()
	return min(int64(l.LateMicros), int64(l.LatePercent)*p/100), min(int64(l.TooLateMicros), int64(l.TooLatePercent)*p/100)
}

// Class is the tool's verdict on one message.
type Class uint8

// The classes. A message that is too late is not late as well.
const (
	OnTime Class = iota
	Late
	TooLate
)

// Source is what a Row knows of one publisher it hears.
type Source struct {
	late, tooLate int64 // µs
	next          uint32
}

// Row records what one subscription receives. One goroutine at a time may use it.
type Row struct {
	samples []int64 // ns, in order of arrival
	sources []Source

	Late       int
	TooLate    int
	Lost       int // holes in the tracking numbers
	Repeated   int // tracking numbers that had been passed already: duplicates or disorder
	tooLateSum int64
}

// NewRow makes a row for publishers of the given periods, with room for n samples; more grow it, which allocates. Tracking
// numbers of each publisher start at 0.
func NewRow(periods []time.Duration, l Lateness, n int) *Row {
	r := &Row{samples: make([]int64, n), sources: make([]Source, len(periods))}
	for i := range r.samples {
		r.samples[i] = -1 // touch every page now
	}
	r.samples = r.samples[:0]
	for i, p := range periods {
		r.sources[i].late, r.sources[i].tooLate = l.Thresholds(p)
	}
	return r
}

// Add records a message from publisher source (an index into the periods given to NewRow) that took latency nanoseconds. It
// returns the class and how many messages before it are missing. A negative latency, which two clock readings of two
// processes can give, counts as 0.
func (r *Row) Add(source int, number uint32, latency int64) (c Class, lost int) {
	latency = max(latency, 0)
	s := &r.sources[source]
	switch d := int32(number - s.next); {
	case d == 0:
		s.next++
	case d > 0:
		lost = int(d)
		r.Lost += lost
		s.next = number + 1
	default:
		r.Repeated++
	}
	r.samples = append(r.samples, latency)
	switch micros := latency / 1000; {
	case micros > s.tooLate:
		r.TooLate++
		r.tooLateSum += latency
		c = TooLate
	case micros > s.late:
		r.Late++
		c = Late
	}
	return c, lost
}

// Received is the number of messages so far.
func (r *Row) Received() int { return len(r.samples) }

// Next is the tracking number that publisher source should send next: how many of its messages are accounted for.
func (r *Row) Next(source int) uint32 { return r.sources[source].next }

// EndOf tells the row that publisher source published n messages in all; those after the last one received are lost.
func (r *Row) EndOf(source int, n uint32) {
	s := &r.sources[source]
	if d := int32(n - s.next); d > 0 {
		r.Lost += int(d)
		s.next = n
	}
}

// Samples are all latencies in nanoseconds. The slice is the row's own.
func (r *Row) Samples() []int64 { return r.samples }

// ToolMean is the mean in microseconds as the iRobot benchmark computes it: without the messages that came too late.
func (r *Row) ToolMean() float64 {
	n := len(r.samples) - r.TooLate
	if n == 0 {
		return 0
	}
	var sum int64
	for _, s := range r.samples {
		sum += s
	}
	return us(float64(sum-r.tooLateSum) / float64(n))
}
