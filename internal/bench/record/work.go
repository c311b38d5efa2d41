package record

// Kind is what a thread did in a Span.
type Kind uint8

// What the benchmark's threads do.
const (
	Callback Kind = iota // the subscription's callback
	Publish              // writing the payload and publishing
	Look                 // the benchmark looking for the cause of a slow message
)

// Span is a stretch of work on one executor thread.
type Span struct {
	Kind       Kind
	Entity     int32  // which subscription or publisher
	Number     uint32 // tracking number of the message
	Start, End int64  // monotonic nanoseconds
}

// workSpans is how far back a Work remembers. At 3,000 publications and as many callbacks a second this is over 40 ms.
const workSpans = 256

// Work remembers what one executor thread did last. Only that thread may use it.
type Work struct {
	ring [workSpans]Span
	n    uint64
}

// Add appends a span.
func (w *Work) Add(s Span) {
	w.ring[w.n%workSpans] = s
	w.n++
}

// Behind returns the span that covers most of the time from start to end, and how much of it in nanoseconds; overlap is 0 when
// the thread did nothing that was noted.
func (w *Work) Behind(start, end int64) (s Span, overlap int64) {
	for i := uint64(0); i < min(w.n, workSpans); i++ {
		c := w.ring[(w.n-1-i)%workSpans]
		if c.End <= start {
			break // older spans ended earlier still
		}
		if o := min(c.End, end) - max(c.Start, start); o > overlap {
			s, overlap = c, o
		}
	}
	return s, overlap
}
