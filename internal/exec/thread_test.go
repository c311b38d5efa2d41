package exec

import (
	"context"
	"runtime"
	"testing"
	"time"
)

func TestExtraProc(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	e := newExecutor(t, Options{CPU: -1, ExtraProc: true})
	ctx, cancel := context.WithCancel(context.Background())
	during := 0
	e.NewTimer(time.Microsecond, func(context.Context, time.Duration) {
		during = runtime.GOMAXPROCS(0)
		cancel()
	})
	if err := e.Spin(ctx); err != nil {
		t.Fatal(err)
	}
	if during != before+1 {
		t.Errorf("GOMAXPROCS %d while spinning, %d before", during, before)
	}
	if n := runtime.GOMAXPROCS(0); n != before {
		t.Errorf("GOMAXPROCS %d after, %d before", n, before)
	}
}
