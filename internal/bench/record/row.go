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

// tooLateRoom is for how many messages that come too late there is room without allocating.
const tooLateRoom = 1024

// Source is what a Row knows of one publisher it hears.
type Source struct {
	late, tooLate int64 // µs
	next          uint32
}

// Row records what one subscription receives. One goroutine at a time may use it.
type Row struct {
	lateness Lateness
	samples  []int64 // ns, in order of arrival
	sources  []Source

	Late     int
	Lost     int // holes in the tracking numbers
	Repeated int // tracking numbers that had been passed already: duplicates or disorder

	tooLateAt []int // indices of the samples that came too late
}

// NewRow makes a row with room for messages of n sources and for samples of them; more grow it, which allocates.
func NewRow(l Lateness, sources, samples int) *Row {
	r := &Row{
		lateness: l, sources: make([]Source, 0, sources),
		samples: make([]int64, samples), tooLateAt: make([]int, 0, tooLateRoom),
	}
	for i := range r.samples {
		r.samples[i] = -1 // touch every page now
	}
	r.samples = r.samples[:0]
	return r
}

// AddSource makes a publisher of the given period known and returns its index. Its tracking numbers start at 0.
func (r *Row) AddSource(period time.Duration) int {
	late, tooLate := r.lateness.Thresholds(period)
	r.sources = append(r.sources, Source{late: late, tooLate: tooLate})
	return len(r.sources) - 1
}

// Add records a message from publisher source (an index from AddSource) that took latency nanoseconds. It
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
		r.tooLateAt = append(r.tooLateAt, len(r.samples)-1)
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

// Data is a row to be sent to another process.
type Data struct {
	Samples   []int64 // ns, in order of arrival
	TooLateAt []int   // indices of the samples that came too late
	Late      int
	Lost      int
	Repeated  int
}

// Data returns what the row holds. The slices are the row's own.
func (r *Row) Data() Data {
	return Data{Samples: r.samples, TooLateAt: r.tooLateAt, Late: r.Late, Lost: r.Lost, Repeated: r.Repeated}
}

// InTime returns a copy of the latencies without those that came too late: what the iRobot benchmark computes its figures from.
func (d *Data) InTime() []int64 {
	out := make([]int64, 0, len(d.Samples))
	from := 0
	for _, i := range d.TooLateAt {
		out = append(out, d.Samples[from:i]...)
		from = i + 1
	}
	return append(out, d.Samples[from:]...)
}
