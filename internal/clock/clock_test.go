package clock

import (
	"math"
	"testing"
	"time"
)

func TestMonoNeverGoesBack(t *testing.T) {
	last := Mono()
	if last <= 0 {
		t.Fatalf("Mono() = %d, want > 0", last)
	}
	for range 100_000 {
		now := Mono()
		if now < last {
			t.Fatalf("went back from %d to %d", last, now)
		}
		last = now
	}
}

func TestMonoOf(t *testing.T) {
	now := time.Now()
	m := Mono()
	if d := MonoOf(now.Add(time.Second)) - m - int64(time.Second); d > 0 || d < -int64(100*time.Millisecond) {
		t.Errorf("now + 1 s is %d ns off", d)
	}
	if got := MonoOf(time.Time{}); got != 0 {
		t.Errorf("long past: %d, want 0", got)
	}
	if got := MonoOf(time.Unix(math.MaxInt32*1000, 0)); got <= m {
		t.Errorf("far future: %d, not after now", got)
	}
}

func TestWall(t *testing.T) {
	before := time.Now().UnixNano()
	w := Wall()
	after := time.Now().UnixNano()
	if w < before || w > after {
		t.Errorf("Wall() = %d, not within [%d, %d]", w, before, after)
	}
}

func TestNoAllocations(t *testing.T) {
	if n := testing.AllocsPerRun(1000, func() { _ = Mono(); _ = Wall() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkMono(b *testing.B) {
	for b.Loop() {
		Mono()
	}
}
