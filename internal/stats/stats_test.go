package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"pgregory.net/rapid"
)

func TestBuckets(t *testing.T) {
	if got := unsafe.Sizeof(Histogram{}); got > 17<<10 {
		t.Errorf("a histogram holds %d bytes", got)
	}
	next := uint64(0)
	for i := range bucketCount {
		start := bucketStart(i)
		if start != next {
			t.Fatalf("bucket %d begins at %d, the one before ends at %d", i, start, next)
		}
		next = bucketStart(i + 1)
		if width := next - start; width > 1 && width*subBuckets > start {
			t.Fatalf("bucket %d from %d is %d wide", i, start, width)
		}
		if bucketOf(start) != i || bucketOf(next-1) != i {
			t.Fatalf("bucket %d: its first value is in %d, its last in %d", i, bucketOf(start), bucketOf(next-1))
		}
	}
	for _, v := range []uint64{1 << rangeBits, math.MaxInt64, math.MaxUint64} {
		if bucketOf(v) != bucketCount-1 {
			t.Errorf("%d is in bucket %d", v, bucketOf(v))
		}
	}
}

// exact computes the same figures from the values themselves.
func exact(values []int64) Summary {
	slices.Sort(values)
	n := len(values)
	median := func(v []int64) float64 { return float64(v[(len(v)-1)/2]+v[len(v)/2]) / 2 }
	var sum, square float64
	for _, v := range values {
		sum += float64(v)
	}
	mean := sum / float64(n)
	deviations := make([]int64, n)
	for i, v := range values {
		square += (float64(v) - mean) * (float64(v) - mean)
		deviations[i] = int64(math.Abs(float64(v) - median(values)))
	}
	slices.Sort(deviations)
	at := func(q float64) time.Duration { return time.Duration(values[max(int(math.Ceil(q*float64(n)))-1, 0)]) }
	return Summary{
		Count: uint64(n), Mean: time.Duration(mean), SD: time.Duration(math.Sqrt(square / float64(n))), Min: time.Duration(values[0]), Max: time.Duration(values[n-1]),
		P50: at(0.5), P90: at(0.9), P99: at(0.99), P999: at(0.999), MAD: time.Duration(median(deviations)),
	}
}

func near(got, want time.Duration, share, slack float64) bool {
	return math.Abs(float64(got-want)) <= share*math.Abs(float64(want))+slack
}

// Against the values themselves and against HdrHistogram with three digits.
func TestSummary(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for name, draw := range map[string]func() int64{
		"uniform":     func() int64 { return r.Int64N(1_000_000) },
		"normal":      func() int64 { return int64(50_000 + 5_000*r.NormFloat64()) },
		"exponential": func() int64 { return int64(20_000 * r.ExpFloat64()) },
		"two peaks":   func() int64 { return []int64{40_000, 2_000_000}[r.IntN(2)] + r.Int64N(10_000) },
		"small":       func() int64 { return r.Int64N(20) },
	} {
		var h Histogram
		other := hdr.New(1, 1<<40, 3)
		values := make([]int64, 100_000)
		for i := range values {
			values[i] = draw()
			h.Record(values[i])
			other.RecordValue(values[i])
		}
		got, want := h.Summary(), exact(values)
		if got.Count != want.Count || got.Min != want.Min || got.Max != want.Max || !near(got.Mean, want.Mean, 0, 1) {
			t.Errorf("%s: what should be exact is not\n got %+v\nwant %+v", name, got, want)
		}
		for figure, pair := range map[string][2]time.Duration{
			"sd": {got.SD, want.SD}, "p50": {got.P50, want.P50}, "p90": {got.P90, want.P90}, "p99": {got.P99, want.P99}, "p999": {got.P999, want.P999},
			"p50 by HdrHistogram": {got.P50, time.Duration(other.ValueAtQuantile(50))}, "p999 by HdrHistogram": {got.P999, time.Duration(other.ValueAtQuantile(99.9))},
			"sd by HdrHistogram": {got.SD, time.Duration(other.StdDev())},
		} {
			if name == "two peaks" && strings.HasPrefix(figure, "p50") {
				continue // the median falls into the gap between the peaks
			}
			if !near(pair[0], pair[1], 1.0/64, 1) {
				t.Errorf("%s: %s is %v, want %v", name, figure, pair[0], pair[1])
			}
		}
		if name != "two peaks" && !near(got.MAD, want.MAD, 1.0/64, float64(want.P50)/64+1) {
			t.Errorf("%s: MAD is %v, want %v", name, got.MAD, want.MAD)
		}
	}
}

func TestEdges(t *testing.T) {
	var h Histogram
	if got := h.Summary(); got != (Summary{}) {
		t.Errorf("empty: %+v", got)
	}
	h.Record(123_456)
	v := time.Duration(123_456)
	if got := h.Summary(); got != (Summary{Count: 1, Mean: v, Min: v, Max: v, P50: v, P90: v, P99: v, P999: v}) {
		t.Errorf("one value: %+v", got)
	}
	var wide Histogram
	wide.Record(-5)
	wide.Record(math.MaxInt64)
	if got := wide.Summary(); got.Count != 2 || got.Min != 0 || got.Max != math.MaxInt64 || got.P999 < 1<<37 {
		t.Errorf("the ends: %+v", got)
	}
}

// Whatever is recorded, the figures are ordered and inside the range; merging is recording in one.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, 1<<rapid.IntRange(1, 40).Draw(t, "bits")), 1, 200).Draw(t, "values")
		var one, a, b Histogram
		for i, v := range values {
			one.Record(v)
			if i%3 == 0 {
				a.Record(v)
			} else {
				b.Record(v)
			}
		}
		a.Merge(&b)
		got := one.Summary()
		if merged := a.Summary(); merged != got {
			t.Fatalf("merged %+v\nin one %+v", merged, got)
		}
		if !slices.IsSorted([]time.Duration{got.Min, got.P50, got.P90, got.P99, got.P999, got.Max}) {
			t.Fatalf("%+v is not ordered", got)
		}
		if spread := got.Max - got.Min; got.MAD < 0 || got.MAD > spread || got.SD < 0 || got.SD > spread || got.Mean < got.Min || got.Mean > got.Max {
			t.Fatalf("%+v is out of range", got)
		}
	})
}

func TestConcurrent(t *testing.T) {
	var h Histogram
	var d Drops
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := range 5000 {
				h.Record(int64(w*5000 + i))
				d.Add(Expired, 1)
				d.Due(Expired, int64(i+1), 10)
			}
		})
	}
	for range 20 {
		if s := h.Summary(); s.Min > s.Max || s.P50 > s.Max {
			t.Errorf("%+v", s)
		}
		d.ByReason()
	}
	writers.Wait()
	if s := h.Summary(); s.Count != 20_000 || s.Min != 0 || s.Max != 19_999 || s.Mean != 9_999 {
		t.Errorf("%+v", s)
	}
	if d.Count(Expired) != 20_000 {
		t.Error(d.Count(Expired))
	}
}

func TestDrops(t *testing.T) {
	var d Drops
	if d.ByReason() != nil || d.Total() != 0 {
		t.Error("an empty one counts something")
	}
	d.Add(History, 2)
	d.Add(LeaseLimit, 1)
	d.Add(200, 1)
	if m := d.ByReason(); len(m) != 3 || m["history"] != 2 || m["lease-limit"] != 1 || m["malformed"] != 1 || d.Total() != 4 || d.Count(200) != 0 {
		t.Errorf("%v, total %d", m, d.Total())
	}
	seen := map[string]bool{}
	for r := range reasons {
		if w := r.String(); w == "" || seen[w] || w != strings.ToLower(w) || strings.ContainsAny(w, " _") {
			t.Errorf("reason %d has the word %q", r, w)
		} else {
			seen[w] = true
		}
	}
	for i, c := range []struct {
		add uint64
		now time.Duration
		n   uint64
		due bool
	}{
		{0, 1 * time.Second, 2, true}, // the first at once
		{5, 2 * time.Second, 0, false},
		{1, 6 * time.Second, 6, true},
		{0, 20 * time.Second, 0, false}, // nothing new, nothing to say
		{1, 21 * time.Second, 1, true},
	} {
		d.Add(History, c.add)
		if n, due := d.Due(History, int64(c.now), 5*time.Second); n != c.n || due != c.due {
			t.Errorf("step %d: %d, %v, want %d, %v", i, n, due, c.n, c.due)
		}
	}
}

func TestRecordDoesNotAllocate(t *testing.T) {
	h, d := new(Histogram), new(Drops)
	v := int64(1)
	if n := testing.AllocsPerRun(1000, func() {
		h.Record(v)
		d.Add(History, 1)
		v += 977
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkRecord(b *testing.B) {
	h := new(Histogram)
	v := uint64(1)
	for b.Loop() {
		h.Record(int64(v))
		v = (v*1103515245 + 12345) & 0xfffff
	}
}

// HdrHistogram for comparison: two digits, one writer, no reader meanwhile.
func BenchmarkHdrHistogram(b *testing.B) {
	h := hdr.New(1, 1<<rangeBits, 2)
	v := uint64(1)
	for b.Loop() {
		h.RecordValue(int64(v))
		v = (v*1103515245 + 12345) & 0xfffff
	}
	b.ReportMetric(float64(h.ByteSize()), "bytes")
}

// The same behind a mutex, as it would have to be used.
func BenchmarkHdrHistogramLocked(b *testing.B) {
	var mu sync.Mutex
	h := hdr.New(1, 1<<rangeBits, 2)
	v := uint64(1)
	for b.Loop() {
		mu.Lock()
		h.RecordValue(int64(v))
		mu.Unlock()
		v = (v*1103515245 + 12345) & 0xfffff
	}
}

func BenchmarkSummary(b *testing.B) {
	h := new(Histogram)
	r := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		h.Record(int64(50_000 + 5_000*r.NormFloat64()))
	}
	for b.Loop() {
		h.Summary()
	}
}
