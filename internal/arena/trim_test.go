package arena

import (
	"testing"
	"testing/synctest"
	"time"
)

// inBubble runs a test in which time passes only while everybody sleeps.
func inBubble(t *testing.T, c Config, test func(t *testing.T, a *Arena)) {
	synctest.Test(t, func(t *testing.T) { test(t, newArena(t, c)) })
}

// pass lets time pass, and what is due then happen.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestOneHugeMessageThenSmallOnes(t *testing.T) {
	inBubble(t, Config{Retain: 16 << 20}, func(t *testing.T, a *Arena) {
		huge := get(t, a, 200_000_000)
		huge.Mem()[0] = 1
		huge.Unref()
		if s := a.Stats(); s.Free < 200_000_000 {
			t.Errorf("given back on release: %+v", s)
		}
		for range 600 {
			get(t, a, 1000).Unref()
			pass(100 * time.Millisecond)
		}
		s := a.Stats()
		if s.Free > s.Retain || s.Committed > s.Retain || occupied(t, a) != s.Committed {
			t.Errorf("after a minute of small messages: %+v, file holds %d", s, occupied(t, a))
		}
		if s.Trims != 1 {
			t.Errorf("%d ranges given back, want the huge one only", s.Trims)
		}
	})
}

func TestTrimTiming(t *testing.T) {
	inBubble(t, Config{Retain: 1 << 20}, func(t *testing.T, a *Arena) {
		x, y := get(t, a, 4<<20), get(t, a, 4<<20)
		x.Unref() // from now on too much is idle
		pass(2 * time.Second)
		y.Unref()
		pass(TrimAfter - 2*time.Second - 1)
		if got := a.Stats().Trims; got != 0 {
			t.Errorf("%d ranges given back too early", got)
		}
		pass(1)
		if got := a.Stats().Trims; got != 1 {
			t.Errorf("%d ranges given back after %v, want the first", got, TrimAfter)
		}
		pass(2*time.Second - 1)
		if got := a.Stats().Trims; got != 1 {
			t.Errorf("the second was given back too early")
		}
		pass(TrimAfter - 2*time.Second + 1)
		if got := a.Stats().Trims; got != 2 {
			t.Errorf("%d ranges given back after twice %v, want both", got, TrimAfter)
		}
	})
}

func TestWhatIsUsedNowAndThenStays(t *testing.T) {
	inBubble(t, Config{Retain: 1 << 20}, func(t *testing.T, a *Arena) {
		for range 60 {
			get(t, a, 8<<20).Unref()
			pass(time.Second)
		}
		if s := a.Stats(); s.Commits != 1 || s.Trims != 0 {
			t.Errorf("a slot used every second was given back: %+v", s)
		}
	})
}

func TestWithinTheBoundNothingIsTrimmed(t *testing.T) {
	inBubble(t, Config{Retain: 16 << 20}, func(t *testing.T, a *Arena) {
		var slots []*Slot
		for range 16 {
			slots = append(slots, get(t, a, 1<<20))
		}
		unref(slots...)
		pass(time.Hour)
		if s := a.Stats(); s.Trims != 0 || s.Free != 16<<20 || a.epoch.Load() != 0 {
			t.Errorf("the timer ran %d times, %+v", a.epoch.Load(), s)
		}
	})
}

// What was used longest ago goes first, and only as much as is too much.
func TestTheHotOnesStay(t *testing.T) {
	inBubble(t, Config{Retain: 4 << 20}, func(t *testing.T, a *Arena) {
		var slots []*Slot
		for range 8 {
			slots = append(slots, get(t, a, 1<<20))
		}
		unref(slots...)
		pass(time.Minute)
		if s := a.Stats(); s.Free != 4<<20 || s.Trims != 4 {
			t.Fatalf("%+v", s)
		}
		for i := 7; i >= 4; i-- {
			s := get(t, a, 1<<20)
			if s != slots[i] {
				t.Errorf("slot %d was released late and given back early", i)
			}
			defer s.Unref()
		}
	})
}

// An idle process must not wake: the timer may not run for what cannot be given back.
func TestNoTimerWithoutWork(t *testing.T) {
	inBubble(t, Config{Retain: 1000}, func(t *testing.T, a *Arena) {
		small := get(t, a, 128) // the rest of its chunk is free and stays
		defer small.Unref()
		get(t, a, 1<<20).Unref()
		pass(time.Hour)
		s := a.Stats()
		if s.Trims != 1 || s.Free <= s.Retain {
			t.Errorf("%+v", s)
		}
		if got := a.epoch.Load(); got > 2 {
			t.Errorf("the timer ran %d times in an idle hour", got)
		}
		if a.armed.Load() {
			t.Error("the timer still runs")
		}
		get(t, a, 1<<20).Unref()
		pass(2 * TrimAfter)
		if got := a.Stats().Trims; got != 2 {
			t.Errorf("%d ranges given back, want 2: the timer did not come back", got)
		}
	})
}

func TestTrimmedRangesServeAnyClass(t *testing.T) {
	inBubble(t, Config{Limit: 32 << 20, Retain: KeepNothing}, func(t *testing.T, a *Arena) {
		for range 3 {
			for _, n := range []int{1 << 20, 100_000, 200, 32 << 20} {
				slots, _ := fill(t, a, n)
				unref(slots...)
			}
		}
		if got := len(a.holes.free); got != 1 {
			t.Errorf("what was given back lies in %d pieces", got)
		}
	})
}

func TestNoTrimAfterClose(t *testing.T) {
	inBubble(t, Config{Retain: 1000}, func(t *testing.T, a *Arena) {
		get(t, a, 1<<20).Unref()
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		pass(time.Minute)
	})
}
