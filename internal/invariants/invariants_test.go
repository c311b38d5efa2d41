package invariants

import (
	"strings"
	"testing"
)

func panics(t *testing.T, want string, fn func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got, _ := recover().(string); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("panic %q, want %q", got, want)
		}
	}()
	fn()
}

func TestPoison(t *testing.T) {
	for _, n := range []int{0, 1, 1000, 4095, 4096, 4097, 3*4096 + 5} {
		whole := make([]byte, n+2)
		b := whole[1 : n+1]
		if at, ok := Intact(b); ok != (n == 0) || at != 0 {
			t.Errorf("%d bytes, not yet poisoned: %d, %v", n, at, ok)
		}
		Poison(b)
		if at, ok := Intact(b); !ok || at != 0 {
			t.Errorf("%d poisoned bytes: %d, %v", n, at, ok)
		}
		if whole[0] != 0 || whole[n+1] != 0 {
			t.Errorf("%d bytes: a neighbour was poisoned", n)
		}
		for _, change := range []int{0, 1, 4095, 4096, 2*4096 + 7, n - 1} {
			if change < 0 || change >= n {
				continue
			}
			b[change]++
			if at, ok := Intact(b); ok || at != change {
				t.Errorf("%d bytes, byte %d was changed: %d, %v", n, change, at, ok)
			}
			b[change]--
		}
	}
	b := make([]byte, 1000)
	Poison(b)
	panics(t, "", func() { MustBeIntact(b, "slot") })
	b[777] = 0
	panics(t, "slot 3 was written to after it was released: byte 777 of 1000 is 0x00", func() { MustBeIntact(b, "slot 3") })
}

func BenchmarkPoison(b *testing.B) {
	mem := make([]byte, 20<<20)
	b.SetBytes(int64(len(mem)))
	for b.Loop() {
		Poison(mem)
	}
}

func BenchmarkIntact(b *testing.B) {
	mem := make([]byte, 20<<20)
	Poison(mem)
	b.SetBytes(int64(len(mem)))
	for b.Loop() {
		Intact(mem)
	}
}

func TestSum(t *testing.T) {
	b := []byte("a message that was given away")
	sum := Sum(b)
	panics(t, "", func() { MustBeUnchanged(b, sum, "m") })
	b[3]++
	panics(t, "m was written to after it was given away", func() { MustBeUnchanged(b, sum, "m") })
}

func TestMust(t *testing.T) {
	panics(t, "", func() { Must(true, "x") })
	panics(t, "two owners", func() { Must(false, "two owners") })
}
