package exec

import (
	"bytes"
	"context"
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
