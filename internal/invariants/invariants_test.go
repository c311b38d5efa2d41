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
	b := make([]byte, 1000)
	if at, ok := Intact(b); ok || at != 0 {
		t.Errorf("not yet poisoned: %d, %v", at, ok)
	}
	Poison(b)
	if _, ok := Intact(b); !ok {
		t.Error("poisoned memory is not intact")
	}
	panics(t, "", func() { MustBeIntact(b, "slot") })
	b[777] = 0
	if at, ok := Intact(b); ok || at != 777 {
		t.Errorf("byte 777 was changed: %d, %v", at, ok)
	}
	panics(t, "slot 3 was written to after it was released: byte 777 of 1000 is 0x00", func() { MustBeIntact(b, "slot 3") })
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
