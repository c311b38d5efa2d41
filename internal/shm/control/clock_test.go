//go:build linux

package control

import "testing"

func TestMonotonicOffset(t *testing.T) {
	for text, want := range map[string]int64{
		"monotonic           0         0\nboottime            0         0\n": 0,
		"monotonic         -12       345\nboottime            7         8\n": -12e9 + 345,
		"7 99 0\n1 86400 1\n": 86400e9 + 1,
		"monotonic x 0\n":     0,
		"":                    0,
	} {
		if got := monotonicOffset([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestHostClock(t *testing.T) {
	a, err := HostClock()
	if err != nil {
		t.Fatal(err)
	}
	if b, err := HostClock(); err != nil || a != b || a.Boot == [16]byte{} {
		t.Errorf("HostClock = %v, then %v, %v", a, b, err)
	}
}
