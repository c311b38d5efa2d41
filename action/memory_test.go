package action_test

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/action"
)

// heap is what is in use after a collection, in bytes.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what pools hold goes with the second
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// 10,000 goals one after another, whose results are kept for a second: neither memory nor
// the time of a goal grows with the number of goals that were.
func TestTenThousandGoals(t *testing.T) {
	everywhere(t, func(t *testing.T, sd, cd *tagus.Domain) {
		n := 10000
		if testing.Short() {
			n = 1500
		}
		s := serve(t, sd, handlers{Execute: func(_ context.Context, g *serverGoal) (*result, error) {
			return &result{Sequence: make([]int32, 100)}, g.Feedback(&feedback{Sequence: []int32{1}})
		}}, action.WithRetention(time.Second))
		c := connect(t, cd)
		ctx := within(t, 2*time.Minute)
		took := make([]time.Duration, 0, n)
		run := func() {
			before := time.Now()
			g, err := c.SendGoal(ctx, &goal{Order: 1})
			if err != nil {
				t.Fatal(err)
			}
			if _, st, err := g.Result(ctx); err != nil || st != action.StatusSucceeded {
				t.Fatal(st, err)
			}
			took = append(took, time.Since(before))
		}
		for range 500 {
			run()
		}
		forgotten := func() { until(t, "all results are forgotten", func() bool { return s.Stats().Kept == 0 }) }
		forgotten()
		goroutines, inUse := runtime.NumGoroutine(), heap()
		took = took[:0]
		kept, used := 0, int64(0)
		for i := range n {
			run()
			if i%1000 == 999 {
				kept, used = max(kept, s.Stats().Kept), max(used, heap()-inUse)
			}
		}
		forgotten()
		grown := heap() - inUse
		// The tenth that was disturbed least, and the best hundred of the last third: the machine
		// has other things to do, but if goals took longer and longer, all of those would.
		quick := func(d []time.Duration) time.Duration { return slices.Sorted(slices.Values(d))[len(d)/10] }
		first, last := quick(took[:100]), quick(took[n-100:])
		for i := n * 2 / 3; i <= n-100; i += 100 {
			last = min(last, quick(took[i:i+100]))
		}
		t.Logf("at most %d kept and %d KB; %d KB afterwards; a goal took %v at first and %v at last", kept, used>>10, grown>>10, first, last)
		if grown > 256<<10 {
			t.Errorf("%d KB more are in use", grown>>10)
		}
		if limit := int64(kept+1000) * 2000; used > limit {
			t.Errorf("%d KB were in use for %d results", used>>10, kept)
		}
		if last > first*4 {
			t.Errorf("a goal took %v at first and %v at last", first, last)
		}
		if g := runtime.NumGoroutine(); g > goroutines+2 {
			t.Errorf("%d goroutines became %d", goroutines, g)
		}
	})
}
