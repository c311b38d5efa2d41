package exec

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// worker is a task of a group that is signalled like an entity.
type worker struct {
	Entry
	e    *Executor
	g    *Group
	leaf int
	left atomic.Int64 // callbacks to run
	run  func(ctx context.Context)
}

func newWorker(t testing.TB, g *Group, run func(context.Context)) *worker {
	t.Helper()
	w := &worker{e: g.Executor(), g: g, run: run}
	w.Task = w
	var err error
	if w.leaf, err = w.e.Attach(w); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *worker) signal(n int) {
	w.left.Add(int64(n))
	w.e.area.Signal(w.leaf)
}

func (w *worker) Poll() { w.g.Ready(&w.Entry) }

func (w *worker) Run(ctx context.Context) bool {
	if w.left.Load() == 0 {
		return false
	}
	w.run(ctx)
	return w.left.Add(-1) > 0
}

// In an exclusive group one task runs at a time, in a reentrant one several do, but no task on two workers.
func TestGroups(t *testing.T) {
	for _, c := range []struct {
		name               string
		workers            int
		reentrant          bool
		overlaps, onThread bool
	}{
		{"exclusive", 4, false, false, false},
		{"reentrant", 4, true, true, false},
		{"exclusive without workers", 0, false, false, true},
		{"reentrant without workers", 0, true, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newExecutor(t, Options{CPU: -1, Workers: c.workers})
			defer spin(t, e)()
			g := e.NewGroup(c.reentrant)
			var now, most, total atomic.Int64
			done := make(chan struct{})
			const tasks, calls = 6, 300
			var all []*worker
			for range tasks {
				var own atomic.Int64
				var w *worker
				w = newWorker(t, g, func(context.Context) {
					if own.Add(1) != 1 {
						t.Error("a task runs twice at a time")
					}
					n := now.Add(1)
					for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
					}
					if e.OnThread() != c.onThread || !e.Inside() || !c.onThread && !w.RunsHere() {
						t.Errorf("on the executor's thread: %v, inside: %v, here: %v", e.OnThread(), e.Inside(), w.RunsHere())
					}
					if total.Load()%16 == 0 {
						time.Sleep(10 * time.Microsecond) // lets others overlap, where they can
					}
					now.Add(-1)
					own.Add(-1)
					if total.Add(1) == tasks*calls {
						close(done)
					}
				})
				all = append(all, w)
			}
			for i := range calls {
				all[i%tasks].signal(tasks)
			}
			wait(t, done, "the last call")
			if overlap := most.Load() > 1; overlap != c.overlaps {
				t.Errorf("%d tasks at a time", most.Load())
			}
			if e.Inside() || all[0].RunsHere() {
				t.Error("inside though outside")
			}
		})
	}
}

// Spin waits for what the workers run, and starts none any more; what is left runs in the next one.
func TestWorkersEndWithSpin(t *testing.T) {
	e := newExecutor(t, Options{CPU: -1, Workers: 2})
	g := e.NewGroup(false)
	var ran atomic.Int64
	began, hold := make(chan context.Context, 10), make(chan struct{})
	w := newWorker(t, g, func(ctx context.Context) {
		began <- ctx
		<-hold
		ran.Add(1)
	})
	w.signal(2)
	time.Sleep(2 * time.Millisecond)
	if ran.Load() != 0 || len(began) != 0 {
		t.Fatal("a task before Spin")
	}
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- e.Spin(ctx) }()
	c := <-began
	cancel()
	<-c.Done()
	select {
	case <-over:
		t.Fatal("Spin returned while a worker runs a task")
	case <-time.After(5 * time.Millisecond):
	}
	close(hold)
	if err := <-over; err != nil {
		t.Error(err)
	}
	if ran.Load() != 1 {
		t.Errorf("%d tasks", ran.Load())
	}
	if n, err := e.SpinSome(context.Background()); n != 1 || err != nil || ran.Load() != 2 {
		t.Errorf("SpinSome ran %d, %v, in all %d", n, err, ran.Load())
	}
}

// A callback that ends its goroutine takes a worker with it, not the work.
func TestWorkerGoexit(t *testing.T) {
	e := newExecutor(t, Options{CPU: -1, Workers: 1})
	defer spin(t, e)()
	g := e.NewGroup(false)
	done := make(chan struct{})
	second := newWorker(t, g, func(context.Context) { close(done) })
	first := newWorker(t, g, func(context.Context) {
		second.signal(1)
		for !second.queuedNow() {
			time.Sleep(time.Millisecond)
		}
		runtime.Goexit()
	})
	first.signal(1)
	wait(t, done, "the task after one that ended its goroutine")
}

func (w *worker) queuedNow() bool {
	w.e.pool.mu.Lock()
	defer w.e.pool.mu.Unlock()
	return w.queued
}

// Tasks that signal each other across groups: no signal is lost.
func TestGroupsLoseNothing(t *testing.T) {
	e := newExecutor(t, Options{CPU: -1, Workers: 3})
	defer spin(t, e)()
	const rounds = 2000
	var wg sync.WaitGroup
	for range 4 {
		a, b := e.NewGroup(false), e.NewGroup(true)
		done := make(chan struct{})
		var ping, pong *worker
		n := 0
		ping = newWorker(t, a, func(context.Context) { pong.signal(1) })
		pong = newWorker(t, b, func(context.Context) {
			if n++; n == rounds {
				close(done)
				return
			}
			ping.signal(1)
		})
		wg.Go(func() { wait(t, done, "the last round") })
		ping.signal(1)
	}
	wg.Wait()
}

func TestGroupAllocates(t *testing.T) {
	e := newExecutor(t, Options{CPU: -1, Workers: 1})
	defer spin(t, e)()
	var n atomic.Int64
	w := newWorker(t, e.NewGroup(false), func(context.Context) { n.Add(1) })
	turn := func() {
		want := n.Load() + 1
		w.signal(1)
		for n.Load() < want {
			runtime.Gosched()
		}
	}
	turn()
	if got := testing.AllocsPerRun(100, turn); got != 0 {
		t.Errorf("%v allocations a task", got)
	}
}
