package tagus

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/tagus-ros/tagus/internal/exec"
	"github.com/tagus-ros/tagus/internal/transport"
	"github.com/tagus-ros/tagus/internal/wake"
)

// Executor runs the callbacks of its nodes one at a time on one operating-system
// thread, which is the thread that waits for them: a message costs one wake-up.
// Each domain has a default one.
type Executor struct {
	d      *Domain
	ex     *exec.Executor
	area   *wake.Area
	offset uint64 // of area in the inbox
}

// executorSummaryWords gives an executor 32,768 leaves: pairs of a publisher and
// one of its subscriptions.
const executorSummaryWords = 8

// ExecutorOption sets something about an [Executor].
type ExecutorOption func(*executorConfig) error

type executorConfig struct {
	cpu     int
	spin    time.Duration
	extra   bool
	workers int
	nice    int
	real    int
}

// WithPinnedCPU binds the executor's thread to processor cpu, from 0.
func WithPinnedCPU(cpu int) ExecutorOption {
	return func(c *executorConfig) error {
		if cpu < 0 {
			return fmt.Errorf("processor %d: want 0 or more", cpu)
		}
		c.cpu = cpu
		return nil
	}
}

// WithBusyPoll makes the executor look for work for up to d before it sleeps. A
// message that comes within d costs no system call on either side; the
// processor is busy meanwhile.
func WithBusyPoll(d time.Duration) ExecutorOption {
	return func(c *executorConfig) error {
		if d < 0 {
			return fmt.Errorf("busy poll of %v: want 0 or more", d)
		}
		c.spin = d
		return nil
	}
}

// WithExtraProcs raises GOMAXPROCS by one while the executor spins, so that its
// thread finds a processor of the Go runtime when it returns from a wait though
// computing goroutines hold all others. It is off by default, since it changes a
// setting of the whole program.
func WithExtraProcs() ExecutorOption {
	return func(c *executorConfig) error {
		c.extra = true
		return nil
	}
}

// WithRealTimePriority runs the executor's thread, while it spins, under the real-time
// policy SCHED_FIFO with priority p, 1 to 99. It takes a privilege: where the system
// refuses, Spin says so. Threads and processes that callbacks start do not inherit it. A
// callback that computes for long takes its processor from everybody else. Linux only.
func WithRealTimePriority(p int) ExecutorOption {
	return func(c *executorConfig) error {
		if p < 1 || p > 99 {
			return fmt.Errorf("real-time priority %d: want 1 to 99", p)
		}
		c.real = p
		return nil
	}
}

// WithNice gives the executor's thread, while it spins, niceness n, -20 (most favoured) to
// 19. Below 0 it takes a privilege: where the system refuses, Spin says so. Linux only.
func WithNice(n int) ExecutorOption {
	return func(c *executorConfig) error {
		if n < -20 || n > 19 {
			return fmt.Errorf("niceness %d: want -20 to 19", n)
		}
		c.nice = n
		return nil
	}
}

// WithWorkers lets the executor run callbacks of groups (see [CallbackGroup]) on up to n
// goroutines beside its thread. Each has a thread of its own, made when there is something
// to do for it; they end with Spin. A callback that panics there ends the program.
func WithWorkers(n int) ExecutorOption {
	return func(c *executorConfig) error {
		if n < 0 {
			return fmt.Errorf("%d workers: want 0 or more", n)
		}
		c.workers = n
		return nil
	}
}

// NewExecutor makes a further executor for nodes made with [WithExecutor].
// [Domain.Spin] runs it, or its own Spin.
func NewExecutor(d *Domain, opts ...ExecutorOption) (*Executor, error) {
	c := executorConfig{cpu: -1}
	for _, o := range opts {
		if err := o(&c); err != nil {
			return nil, fmt.Errorf("tagus: new executor: %w", err)
		}
	}
	e, err := newExecutor(d, c)
	if err != nil {
		return nil, fmt.Errorf("tagus: new executor: %w", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		e.release()
		return nil, fmt.Errorf("tagus: new executor: %w", ErrClosed)
	}
	d.executors = append(d.executors, e)
	return e, nil
}

func newExecutor(d *Domain, c executorConfig) (*Executor, error) {
	area, off, err := d.inbox.Area(executorSummaryWords)
	if err != nil {
		return nil, err
	}
	ex, err := exec.New(exec.Options{Area: area, Spin: c.spin, CPU: c.cpu, ExtraProc: c.extra, Workers: c.workers, Nice: c.nice, RealTime: c.real})
	if err != nil {
		d.inbox.Release(off, executorSummaryWords)
		return nil, err
	}
	return &Executor{d: d, ex: ex, area: area, offset: off}, nil
}

func (e *Executor) release() error {
	e.d.inbox.Release(e.offset, executorSummaryWords)
	return nil
}

// Spin runs callbacks on the calling goroutine, locked to its thread, until ctx
// or the domain ends; then it returns nil and none runs any more. Only one Spin of an
// executor runs at a time.
func (e *Executor) Spin(ctx context.Context) error {
	return e.spin(ctx, "spin", func(ctx context.Context) error {
		if err := e.ex.Spin(ctx); err != nil && ctx.Err() == nil {
			return err
		}
		return nil
	})
}

// SpinUntil is Spin that returns nil when done says so, and ctx's error, or ErrClosed,
// when ctx or the domain ends first. done is asked at the beginning and after each
// callback, on the same goroutine.
func (e *Executor) SpinUntil(ctx context.Context, done func() bool) error {
	return e.spin(ctx, "spin until", func(inner context.Context) error {
		err := e.ex.SpinUntil(inner, done)
		if errors.Is(err, context.Canceled) && ctx.Err() == nil {
			return ErrClosed
		}
		return err
	})
}

// SpinSome runs what is ready now, at most one callback of each entity, and returns how
// many that were; it does not wait. Called again until that is 0 it runs all there is.
// Options about the thread, as WithPinnedCPU, do not hold during it.
func (e *Executor) SpinSome(ctx context.Context) (ran int, err error) {
	err = e.spin(ctx, "spin some", func(ctx context.Context) (err error) {
		ran, err = e.ex.SpinSome(ctx)
		return err
	})
	return ran, err
}

// spin lets run run callbacks, with a context that ends with the domain too.
func (e *Executor) spin(ctx context.Context, op string, run func(context.Context) error) error {
	leave, err := e.d.enterSpin()
	if err != nil {
		return fmt.Errorf("tagus: %s: %w", op, err)
	}
	defer leave()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.d.ending, cancel)()
	// A write into a lent message faults; with this it is reported by the
	// subscription instead of ending the process.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	if err := run(ctx); err != nil {
		return fmt.Errorf("tagus: %s: %w", op, err)
	}
	return nil
}

// station is where a subscription on an executor is woken.
type station struct {
	e     *Executor
	group *exec.Group // or nil
	entry exec.Entry
}

func (s *station) Attach(src transport.Poller) (int, error) { return s.e.ex.Attach(src) }
func (s *station) Detach(leaf int)                          { s.e.ex.Detach(leaf) }
func (s *station) Area() *wake.Area                         { return s.e.area }
func (s *station) Offset() uint64                           { return s.e.offset }
func (s *station) SummaryWords() int                        { return executorSummaryWords }
func (s *station) Ready()                                   { ready(s.e, s.group, &s.entry) }

// inside reports whether the caller is a callback that the end of the entity must not
// wait for: its own or, on the executor's thread, any.
func (s *station) inside() bool { return inside(s.e, s.group, &s.entry) }

// ready puts a task where it is to run. It is called from Poll.
func ready(e *Executor, g *exec.Group, q *exec.Entry) {
	if g != nil {
		g.Ready(q)
		return
	}
	e.ex.Ready(q)
}

func inside(e *Executor, g *exec.Group, q *exec.Entry) bool {
	return q.RunsHere() || g == nil && e.ex.OnThread() || g != nil && !g.OnWorkers() && e.ex.OnThread()
}
