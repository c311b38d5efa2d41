package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/tagus-ros/tagus/internal/clock"
)

// queueTask has so many callbacks to run.
type queueTask struct {
	Entry
	name string
	left int
	log  *[]string
	also func()
}

func (q *queueTask) Run(context.Context) bool {
	q.left--
	*q.log = append(*q.log, fmt.Sprint(q.name, q.left))
	if q.also != nil {
		q.also()
	}
	return q.left > 0
}

func TestSpinSome(t *testing.T) {
	e := newExecutor(t, Options{CPU: -1})
	var log []string
	ctx, cancel := context.WithCancel(context.Background())
	some := func(want ...string) {
		t.Helper()
		log = nil
		if n, err := e.SpinSome(ctx); err != nil || n != len(want) || !slices.Equal(log, want) {
			t.Errorf("ran %d %q, %v; want %q", n, log, err, want)
		}
	}
	some() // nothing there: it does not wait
	a, b, c := &queueTask{name: "a", left: 2, log: &log}, &queueTask{name: "b", left: 1, log: &log}, &queueTask{name: "c", left: 1, log: &log}
	for _, q := range []*queueTask{a, b, c} {
		q.Task = q
	}
	b.also = func() { e.Ready(&c.Entry) } // becomes ready meanwhile
	e.Do(func() {
		e.Ready(&a.Entry)
		e.Ready(&b.Entry)
	})
	some("a1", "b0")
	some("a0", "c0")
	some()

	// A timer that has missed calls runs once a time.
	tm, err := e.NewTimer(time.Millisecond, func(context.Context, time.Duration) { log = append(log, "t") })
	if err != nil {
		t.Fatal(err)
	}
	late := clock.Mono() - int64(10*time.Millisecond)
	e.Do(func() { tm.due = late })
	some("t")
	some("t")
	tm.Stop()
	some()

	e.Do(func() {
		a.left = 1
		a.also = cancel
		e.Ready(&a.Entry)
		e.Ready(&b.Entry)
	})
	some("a0") // the context ended
	if _, err := e.SpinSome(ctx); err != nil {
		t.Error(err)
	}

	stop := spin(t, e)
	defer stop()
	if _, err := e.SpinSome(context.Background()); !errors.Is(err, ErrSpinning) {
		t.Errorf("beside Spin: %v", err)
	}
	e.Call(func() {
		if _, err := e.SpinSome(context.Background()); !errors.Is(err, ErrSpinning) {
			t.Errorf("inside a callback: %v", err)
		}
	})
}

func TestSpinUntil(t *testing.T) {
	e := newExecutor(t, Options{CPU: -1})
	n := 0
	tm, err := e.NewTimer(time.Millisecond, func(context.Context, time.Duration) { n++ })
	if err != nil {
		t.Fatal(err)
	}
	defer tm.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := e.SpinUntil(ctx, func() bool { return n == 3 }); err != nil || n != 3 {
		t.Errorf("%d calls, %v", n, err)
	}
	if err := e.SpinUntil(ctx, func() bool { return true }); err != nil || n != 3 {
		t.Errorf("done before it began: %d calls, %v", n, err)
	}
	short, cancel := context.WithTimeout(ctx, 5*time.Millisecond)
	defer cancel()
	if err := e.SpinUntil(short, func() bool { return false }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("never done: %v", err)
	}
	// Something else changed it and says so.
	tm.Stop()
	flag := false
	go e.Do(func() { flag = true })
	if err := e.SpinUntil(ctx, func() bool { return flag }); err != nil {
		t.Error(err)
	}
}

// Cancel does not wait for the call that runs; no further one begins.
func TestCancel(t *testing.T) {
	e := newExecutor(t, Options{CPU: -1})
	defer spin(t, e)()
	calls, began, hold := 0, make(chan struct{}), make(chan struct{})
	tm, err := e.NewTimer(time.Millisecond, func(context.Context, time.Duration) {
		if calls++; calls == 1 {
			close(began)
			<-hold
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	wait(t, began, "the first call")
	tm.Cancel()
	close(hold)
	tm.Stop()
	if e.Call(func() {}); calls != 1 {
		t.Errorf("%d calls", calls)
	}
}
