package exec

import (
	"testing"
	"time"
)

const us = int64(time.Microsecond)

func TestYieldRule(t *testing.T) {
	var y yielder
	now := int64(0)
	quick := func() bool { now = y.next(); return y.yielded(now, now+20*us) }
	slow := func() bool { now = y.next(); return y.yielded(now, now+1100*us) }

	if quick() {
		t.Error("20 µs are slow")
	}
	if got := y.next() - (now + 20*us); got != 5000*us {
		t.Errorf("next yield %d ns after the last, want 5 ms", got)
	}
	// Two slow ones, or three that are not in a row, change nothing.
	for _, f := range []func() bool{slow, slow, quick, slow, slow, quick} {
		f()
		if d := y.next() - y.last; d != 5000*us {
			t.Fatalf("next yield after %d ns, want 5 ms", d)
		}
	}
	// Three in a row: a pause of 2 s, and then one more chance.
	for range 3 {
		if !slow() {
			t.Error("1.1 ms are not slow")
		}
	}
	if d := y.next() - y.last; d != int64(2*time.Second) {
		t.Errorf("next yield after %d ns, want 2 s", d)
	}
	quick()
	if d := y.next() - y.last; d != 5000*us {
		t.Errorf("after the pause: next yield after %d ns, want 5 ms", d)
	}
}

func TestNoYieldAfterLongSleeps(t *testing.T) {
	var y yielder
	y.yielded(0, 0)
	y.slept(1000*us, 2000*us)
	if n := y.next(); n != 5000*us {
		t.Errorf("short sleep: next yield at %d", n)
	}
	y.slept(1000*us, 11_000*us)
	if n := y.next(); n != 16_000*us {
		t.Errorf("long sleep: next yield at %d, want 5 ms after its end", n)
	}
}
