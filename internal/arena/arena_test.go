package arena

import "testing"

func TestLastReleasedIsNextTaken(t *testing.T) {
	a := newArena(t, Config{})
	for _, n := range []int{200, 5000, 1 << 20} {
		slots := make([]*Slot, 5)
		for i := range slots {
			slots[i] = get(t, a, n)
		}
		for _, i := range []int{3, 0, 4, 1, 2} {
			slots[i].Unref()
		}
		for _, i := range []int{2, 1, 4, 0, 3} {
			if s := get(t, a, n); s != slots[i] {
				t.Fatalf("size %d: got the slot at %d, want the one at %d", n, s.Offset(), slots[i].Offset())
			}
		}
	}
}

func newArena(t testing.TB, c Config) *Arena {
	t.Helper()
	a, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func get(t testing.TB, a *Arena, n int) *Slot {
	t.Helper()
	s, err := a.Get(n)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
