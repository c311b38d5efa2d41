// Package exec runs callbacks: one loop on one locked operating-system thread that sleeps on a [wake.Area], so that a message
// costs one wake-up and no hop between goroutines.
//
// Each turn of the loop looks which sources were signalled, runs at most one due timer and at most one ready task, and
// sleeps only if there was neither. Timers and tasks take turns, tasks among themselves are served first in first out, and
// of several due timers the one due longest runs first: none can starve another.
//
// The files: exec.go says what an executor is, spin.go is the loop, some.go
// runs it for less than for ever, source.go knows what a leaf of the area stands for,
// group.go runs tasks on workers, call.go brings work of other goroutines onto the thread, timer.go keeps rates, yield.go gets along with the runtime's
// scheduler, thread_*.go is about the thread.
//
// It knows nothing of topics, transports and messages and must not import anything of this module but internal/wake,
// internal/futex and internal/clock.
package exec

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tagus-ros/tagus/internal/futex"
	"github.com/tagus-ros/tagus/internal/wake"
)

var (
	// ErrSpinning is returned by Spin while another Spin of the same executor runs.
	ErrSpinning = errors.New("exec: executor is spinning already")
	// ErrNoArea is returned by New without an area.
	ErrNoArea = errors.New("exec: executor needs an area to sleep on")
)

// LimitError says that a limit of an executor was reached.
type LimitError struct {
	Limit string // name of the limit
	Value int    // its value
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("exec: limit %q of %d reached", e.Limit, e.Value)
}

// Options are the settings of an executor.
type Options struct {
	// Area is what the executor sleeps on. The executor is its one owner; the caller keeps its memory mapped until the
	// last Spin has returned. Required.
	Area *wake.Area

	// Spin is how long the executor looks for work without sleeping before it sleeps. It trades a core for latency: a
	// signal within this time costs no system call on either side. Zero or negative: sleep at once.
	Spin time.Duration

	// CPU is the one processor that the thread may use while it spins; negative: any. Note that 0 is a processor. Pinning
	// works on Linux only; elsewhere Spin fails.
	CPU int

	// Nice is the niceness of the thread while it spins, -20 (most favoured) to 19; 0: as it is. Values below 0 need a
	// privilege. Linux only.
	Nice int

	// RealTime is the thread's priority under SCHED_FIFO while it spins, 1 to 99; 0: no real-time scheduling. It needs a
	// privilege. Threads and processes made by the thread do not inherit it. A callback that computes for long under it
	// takes its processor from everybody else. Linux only.
	RealTime int

	// Workers is how many goroutines, each with a thread of its own, run the tasks of groups beside the executor's thread while it
	// spins; 0: the thread runs them. The options about the thread do not hold for them. A panic on a worker ends the program.
	Workers int

	// ExtraProc raises GOMAXPROCS by one while the executor spins. A thread that wakes up needs one of the Go runtime's
	// processors, and the runtime keeps none back: if as many goroutines compute as there are processors, it waits for
	// up to a time slice of 10 ms. Changing GOMAXPROCS is a setting of the whole process and stops it for a moment; the
	// runtime then no longer follows changes of the CPU limit by itself.
	ExtraProc bool
}

// Executor is one loop. Make it with New; all methods may be called from any goroutine unless they say otherwise.
type Executor struct {
	area  *wake.Area
	opts  Options
	visit func(leaf int) // e.poll, made once so that a turn allocates nothing

	owner sync.Mutex   // who holds it is "the executor's thread": Spin for as long as it runs, or a caller of Do between two Spins
	tid   atomic.Int64 // thread of the owner, 0: none

	pool    pool
	calls   calls
	sources sources
	cancel  futex.Canceler // of Spin

	// What follows belongs to the owner.

	first, last *Entry // the ready tasks, oldest first
	timers      timerHeap
	yield       yielder
	idleSince   int64 // 0: the last turn found work
	restedAt    int64 // when the thread last fell asleep, until the next turn has dealt with it; else 0
	count       Stats

	stats published
}

// New makes an executor. Nothing runs before Spin.
func New(o Options) (*Executor, error) {
	if o.Area == nil {
		return nil, ErrNoArea
	}
	e := &Executor{area: o.Area, opts: o}
	e.visit = e.poll
	e.pool.init(o.Workers)
	e.sources.init(o.Area.Leaves())
	return e, nil
}

// Task is something with callbacks to run.
type Task interface {
	// Run runs at most one callback, on the executor's thread, and reports whether there is more to run; if so the task
	// goes to the back of the queue. The context is the one given to Spin. A task that was closed while it was in the
	// queue is still run once and must return false then.
	Run(ctx context.Context) (more bool)
}

// Entry is a task's place in the queue. It is part of the task's owner, so that queueing allocates nothing. Set Task once,
// before the first Ready; an Entry must not be copied after that, nor be used with a second executor.
type Entry struct {
	Task Task

	next   *Entry
	queued bool

	// Of a task in a group, guarded by the pool's mutex; tid is the thread that runs it, or 0.
	busy, again bool
	tid         atomic.Int64
}

// Ready puts a task at the back of the queue, unless it is in it. Only the executor's thread may call it: from Poll, Run, a
// timer or Do.
func (e *Executor) Ready(q *Entry) {
	if q.queued {
		return
	}
	q.queued = true
	if e.last == nil {
		e.first = q
	} else {
		e.last.next = q
	}
	e.last = q
}

// pop takes the oldest ready task, or nil.
func (e *Executor) pop() *Entry {
	q := e.first
	if q == nil {
		return nil
	}
	e.first = q.next
	if e.first == nil {
		e.last = nil
	}
	q.next, q.queued = nil, false
	return q
}

// OnThread reports whether the caller runs on the executor's thread, that is inside one of its callbacks. It costs a system
// call and is not for hot paths.
func (e *Executor) OnThread() bool {
	tid := e.tid.Load()
	return tid != 0 && tid == threadID()
}
