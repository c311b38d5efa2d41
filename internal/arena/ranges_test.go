package arena

import (
	"slices"
	"testing"
)

func TestRangesTakeTheSmallestThatFits(t *testing.T) {
	r := ranges{free: []span{{0, 90}, {100, 30}, {200, 40}, {300, 30}}}
	for _, c := range []struct{ size, off int64 }{{30, 100}, {25, 300}, {35, 200}, {60, 0}} {
		if off, ok := r.take(c.size); !ok || off != c.off {
			t.Errorf("%d bytes lie at %d, want %d", c.size, off, c.off)
		}
	}
	if off, ok := r.take(31); ok {
		t.Errorf("31 bytes at %d: no span has them", off)
	}
	if want := []span{{60, 30}, {235, 5}, {325, 5}}; !slices.Equal(r.free, want) {
		t.Errorf("left %v, want %v", r.free, want)
	}
}

func TestRangesJoin(t *testing.T) {
	var r ranges
	for _, off := range []int64{40, 0, 20, 60, 30, 10, 50} {
		r.give(off, 10)
	}
	if want := []span{{0, 70}}; !slices.Equal(r.free, want) {
		t.Errorf("%v, want %v", r.free, want)
	}
}
