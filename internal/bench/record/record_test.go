package record

import (
	"math"
	"math/rand"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSummariseKnownNumbers(t *testing.T) {
	var ns []int64
	for i := 1; i <= 1000; i++ {
		ns = append(ns, int64(i)*1000)
	}
	rand.Shuffle(len(ns), func(i, j int) { ns[i], ns[j] = ns[j], ns[i] })
	got := Summarise(ns)
	got.SD = math.Round(got.SD*1000) / 1000
	want := Summary{N: 1000, Mean: 500.5, SD: 288.675, Min: 1, Max: 1000, P50: 500, P99: 990, P999: 999, MAD: 250}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(Summary{}, Summarise(nil)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(Summary{N: 1, Mean: 7, Min: 7, Max: 7, P50: 7, P99: 7, P999: 7}, Summarise([]int64{7000})); d != "" {
		t.Error(d)
	}
}

// The quantiles agree with their definition by counting, whatever the samples.
func TestQuantilesByCounting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ns := rapid.SliceOfN(rapid.Int64Range(0, 1e6), 1, 300).Draw(t, "ns")
		before := slices.Clone(ns)
		s := Summarise(ns)
		for q, got := range map[float64]float64{0.5: s.P50, 0.99: s.P99, 0.999: s.P999} {
			atMost, below := 0, 0
			for _, x := range before {
				if float64(x)/1000 <= got {
					atMost++
				}
				if float64(x)/1000 < got {
					below++
				}
			}
			need := q * float64(len(before))
			if float64(atMost) < need || float64(below) >= need {
				t.Fatalf("quantile %v is %v, but %d of %d are at most that and %d below", q, got, atMost, len(before), below)
			}
		}
		if s.Min > s.P50 || s.P50 > s.P99 || s.P99 > s.P999 || s.P999 > s.Max || s.Mean < s.Min || s.Mean > s.Max+1e-9 {
			t.Fatalf("out of order: %+v", s)
		}
	})
}

func TestRowClassesAndLosses(t *testing.T) {
	// 10 ms: late above 2,000 µs, too late above 10,000. 1 s: late above 5,000 µs, too late above 50,000.
	r := NewRow(DefaultLateness(), 2, 4)
	r.AddSource(10 * time.Millisecond)
	r.AddSource(time.Second)
	type step struct {
		source int
		number uint32
		micros int64
		class  Class
		lost   int
	}
	for i, s := range []step{
		{0, 0, 2000, OnTime, 0},
		{0, 1, 2001, Late, 0},
		{1, 2, 10_001, Late, 2},
		{0, 5, 10_001, TooLate, 3},
		{1, 3, 50_001, TooLate, 0},
		{0, 5, 1, OnTime, 0}, // a repeat
		{0, 6, -3, OnTime, 0},
	} {
		c, lost := r.Add(s.source, s.number, s.micros*1000)
		if c != s.class || lost != s.lost {
			t.Errorf("step %d: class %d, lost %d", i, c, lost)
		}
	}
	r.EndOf(0, 10)
	r.EndOf(1, 4)
	type counts struct{ Received, Late, TooLate, Lost, Repeated int }
	if d := cmp.Diff(counts{7, 2, 2, 5 + 3, 1}, counts{r.Received(), r.Late, len(r.Data().TooLateAt), r.Lost, r.Repeated}); d != "" {
		t.Error(d)
	}
	data := r.Data()
	if d := cmp.Diff([]int64{2_000_000, 2_001_000, 10_001_000, 1000, 0}, data.InTime()); d != "" {
		t.Error(d)
	}
	if got, want := Mean(data.Samples), (2000+2001+10001+10001+50001+1+0)/7.0; math.Abs(got-want) > 1e-9 {
		t.Errorf("mean %v, want %v", got, want)
	}
}

func TestRowRefusesNothingAtTheWrap(t *testing.T) {
	r := NewRow(DefaultLateness(), 0, 0)
	r.AddSource(time.Second)
	r.sources[0].next = math.MaxUint32
	r.Add(0, math.MaxUint32, 1)
	r.Add(0, 1, 1)
	if r.Lost != 1 || r.Repeated != 0 {
		t.Error(r.Lost, r.Repeated)
	}
}

func TestRecordingAllocatesNothing(t *testing.T) {
	r := NewRow(DefaultLateness(), 1, 2000)
	r.AddSource(time.Millisecond)
	var w Work
	n := uint32(0)
	if a := testing.AllocsPerRun(1000, func() {
		r.Add(0, n, 5000)
		w.Add(Span{Start: int64(n), End: int64(n) + 1})
		w.Behind(int64(n), int64(n)+1)
		n++
	}); a != 0 {
		t.Error(a, "allocations a message")
	}
}

func TestWorkFindsTheLongestOverlap(t *testing.T) {
	var w Work
	for i := int64(0); i < 1000; i++ {
		w.Add(Span{Entity: int32(i), Start: i * 10, End: i*10 + 5})
	}
	w.Add(Span{Entity: 7777, Start: 10_000, End: 10_900})
	w.Add(Span{Entity: 8888, Start: 10_900, End: 11_000})
	s, o := w.Behind(10_100, 10_950)
	if s.Entity != 7777 || o != 800 {
		t.Error(s, o)
	}
	if s, o := w.Behind(9_972, 9_990); s.Entity != 998 || o != 5 {
		t.Error(s, o)
	}
	if _, o := w.Behind(20_000, 30_000); o != 0 {
		t.Error("overlap of", o)
	}
	if _, o := w.Behind(0, 100); o != 0 {
		t.Error("forgotten work found again")
	}
}

func TestCauses(t *testing.T) {
	const ms = 1_000_000
	for want, e := range map[Cause]Evidence{
		CauseSteal:      {Steal: 10 * ms, RunDelay: 9 * ms},
		CausePreemption: {RunDelay: 3 * ms, Behind: Span{Entity: 1}, BehindFor: 3 * ms},
		CausePublish:    {Publish: 3 * ms, Behind: Span{Entity: 1}, BehindFor: 3 * ms},
		CauseQueued:     {BehindFor: 2 * ms, Collections: 1},
		CauseCollection: {BehindFor: ms, Collections: 1, Faults: 3000},
		CauseFaults:     {Faults: 3000, Switches: 1},
		CauseUnknown:    {Faults: 10},
	} {
		s := Slow{Published: 100 * ms, Received: 104 * ms, Evidence: e}
		if got, text := s.Cause(func(Span) string { return "x" }); got != want {
			t.Errorf("%+v: %s (%s), want %s", e, got, text, want)
		}
	}
	s := Slow{Published: 100 * ms, Received: 104 * ms, Evidence: Evidence{Behind: Span{Entity: 4}, BehindFor: 3 * ms}}
	if _, text := s.Cause(func(s Span) string { return "tagus 3" }); text != "behind tagus 3 for 3.0 ms" {
		t.Error(text)
	}
}
