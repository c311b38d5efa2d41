package exec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestThreadSettings(t *testing.T) {
	runtime.LockOSThread() // to look at this thread before and after
	defer runtime.UnlockOSThread()
	var before, during, after unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		t.Fatal(err)
	}
	cpu := 0
	for !before.IsSet(cpu) {
		cpu++
	}
	slack := func() int {
		n, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	slackBefore, slackDuring := slack(), 0
	e := newExecutor(t, Options{CPU: cpu})
	ctx, cancel := context.WithCancel(context.Background())
	e.NewTimer(time.Microsecond, func(context.Context, time.Duration) {
		if err := unix.SchedGetaffinity(0, &during); err != nil {
			t.Error(err)
		}
		slackDuring = slack()
		cancel()
	})
	if err := e.Spin(ctx); err != nil {
		t.Fatal(err)
	}
	if during.Count() != 1 || !during.IsSet(cpu) {
		t.Errorf("%d processors while spinning, want 1", during.Count())
	}
	if slackDuring != 1 {
		t.Errorf("timer slack %d ns while spinning, want 1", slackDuring)
	}
	if err := unix.SchedGetaffinity(0, &after); err != nil {
		t.Fatal(err)
	}
	if after != before {
		t.Error("processors not given back")
	}
	if n := slack(); n != slackBefore {
		t.Errorf("timer slack %d ns after, %d before", n, slackBefore)
	}
}

func TestPinningRefused(t *testing.T) {
	e := newExecutor(t, Options{CPU: 1 << 20})
	e.NewTimer(time.Microsecond, func(context.Context, time.Duration) { t.Error("callback") })
	if err := e.Spin(context.Background()); err == nil {
		t.Error("no error for a processor that does not exist")
	}
	ran := false
	e.Call(func() { ran = true })
	if !ran {
		t.Error("executor is stuck")
	}
}

// TestIdleDoesNotWake looks at an executor with many sources and a timer far away: no turn, no system call, and the kernel
// has not put its thread on a processor.
func TestIdleDoesNotWake(t *testing.T) {
	e := newExecutor(t, Options{CPU: -1})
	for range 200 {
		if _, err := e.Attach(newCounter(e)); err != nil {
			t.Fatal(err)
		}
	}
	e.NewTimer(time.Hour, func(context.Context, time.Duration) {})
	spin(t, e)
	asleep(t, e)
	tid := e.tid.Load()
	switches := func() []byte {
		text, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/status", tid))
		if err != nil {
			t.Fatal(err)
		}
		return text[bytes.Index(text, []byte("voluntary_ctxt_switches")):]
	}
	stats, before := e.Stats(), switches()
	time.Sleep(300 * time.Millisecond) // nothing happens: there is no event to wait for
	if now := e.Stats(); now != stats {
		t.Errorf("woke: %+v, before %+v", now, stats)
	}
	if now := switches(); !bytes.Equal(now, before) {
		t.Errorf("thread ran:\n%s\nbefore\n%s", now, before)
	}
}

func TestPriorities(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, o := range []Options{{CPU: -1, Nice: -3}, {CPU: -1, RealTime: 7}} {
		before, err := unix.SchedGetAttr(0, 0)
		if err != nil {
			t.Fatal(err)
		}
		e := newExecutor(t, o)
		ctx, cancel := context.WithCancel(context.Background())
		var during *unix.SchedAttr
		e.NewTimer(time.Microsecond, func(context.Context, time.Duration) {
			during, err = unix.SchedGetAttr(0, 0)
			cancel()
		})
		if err := e.Spin(ctx); err != nil {
			if errors.Is(err, unix.EPERM) {
				t.Skip(err)
			}
			t.Fatal(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		if o.RealTime != 0 && (during.Policy != unix.SCHED_FIFO || during.Priority != 7 ||
			during.Flags&unix.SCHED_FLAG_RESET_ON_FORK == 0) {
			t.Errorf("with %+v: %+v", o, during)
		}
		if o.Nice != 0 && during.Nice != -3 {
			t.Errorf("with %+v: %+v", o, during)
		}
		after, err := unix.SchedGetAttr(0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if after.Policy != before.Policy || after.Nice != before.Nice || after.Priority != before.Priority {
			t.Errorf("not given back: %+v, before %+v", after, before)
		}
	}
	e := newExecutor(t, Options{CPU: -1, RealTime: 1000})
	if err := e.Spin(context.Background()); err == nil {
		t.Error("no error for a priority that does not exist")
	}
}

// TestSoakTimer is the 1 kHz timer for 30 s: 30,000 calls to one in a thousand. It needs a machine that is not busy otherwise.
func TestSoakTimer(t *testing.T) {
	if os.Getenv("TAGUS_SOAK") == "" {
		t.Skip("set TAGUS_SOAK to run it")
	}
	for period, want := range map[time.Duration]int64{
		time.Millisecond:       30_000,
		500 * time.Microsecond: 60_000,
		250 * time.Microsecond: 120_000,
	} {
		e := newExecutor(t, Options{CPU: -1})
		calls := int64(0)
		tm, err := e.NewTimer(period, func(context.Context, time.Duration) { calls++ })
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		if err := e.Spin(ctx); err != nil {
			t.Fatal(err)
		}
		cancel()
		if calls < want-want/1000 || calls > want+want/1000 {
			t.Errorf("%v: %d calls, %d overruns, want %d calls", period, calls, tm.Overruns(), want)
		}
		s := e.Stats()
		t.Logf("%v: %d calls, %d overruns, late %v on average, %v at most", period, calls, tm.Overruns(),
			s.LateTotal/time.Duration(calls), s.LateMax)
	}
}
