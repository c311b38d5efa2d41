package exec

import (
	"context"
	"runtime"
	"runtime/debug"
	"sync"
)

// Group is tasks that belong together. On an executor with workers they run beside its thread, on the workers: one at a time, or several if
// the group is reentrant, but never one task on two workers. Without workers they run as any other task, on the thread.
type Group struct {
	e     *Executor
	limit int // tasks that may run at a time

	// What follows is guarded by pool.mu.

	first, last *Entry // the ready tasks, oldest first
	running     int
	next        *Group // in the pool's queue
	queued      bool
}

// NewGroup makes a group.
func (e *Executor) NewGroup(reentrant bool) *Group {
	g := &Group{e: e, limit: 1}
	if reentrant {
		g.limit = max(e.pool.size, 1)
	}
	return g
}

// OnWorkers says whether the tasks run beside the executor's thread.
func (g *Group) OnWorkers() bool { return g.e.pool.size > 0 }

// Executor is the one that the group belongs to.
func (g *Group) Executor() *Executor { return g.e }

// Ready puts a task at the back of the group's queue, unless it is in it; a task that runs is put there when it has ended. As for
// [Executor.Ready], only the executor's thread may call it. The entry must always be given to the same group.
func (g *Group) Ready(q *Entry) {
	p := &g.e.pool
	if p.size == 0 {
		g.e.Ready(q)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case q.busy:
		q.again = true
	case !q.queued:
		g.push(q)
		p.offer(g)
	}
}

func (g *Group) push(q *Entry) {
	q.queued = true
	if g.last == nil {
		g.first = q
	} else {
		g.last.next = q
	}
	g.last = q
}

func (g *Group) pop() *Entry {
	q := g.first
	if g.first = q.next; g.first == nil {
		g.last = nil
	}
	q.next, q.queued = nil, false
	return q
}

// RunsHere says whether the task is being run by the calling goroutine.
func (q *Entry) RunsHere() bool {
	tid := q.tid.Load()
	return tid != 0 && tid == threadID()
}

// pool is the workers of an executor. They exist while it spins, made when there is something to do for them.
type pool struct {
	size int // most workers; 0: there are none

	mu          sync.Mutex
	more        sync.Cond // something was offered, or the pool was shut; on mu
	open        bool      // the executor spins
	ctx         context.Context
	first, last *Group // those with a ready task that may run, oldest first
	alive, idle int    // workers
	threads     map[int64]bool
	all         sync.WaitGroup
	ran         uint64
}

func (p *pool) init(size int) {
	p.size = max(size, 0)
	p.more.L = &p.mu
	p.threads = make(map[int64]bool)
}

// offer puts a group in the queue if one more of its tasks may run, and sees to it that a worker comes. Called under mu.
func (p *pool) offer(g *Group) {
	if g.queued || g.first == nil || g.running >= g.limit {
		return
	}
	g.queued = true
	if p.last == nil {
		p.first = g
	} else {
		p.last.next = g
	}
	p.last = g
	switch {
	case !p.open:
	case p.idle > 0:
		p.more.Signal()
	case p.alive < p.size:
		p.hire()
	}
}

// hire starts a worker. Called under mu.
func (p *pool) hire() {
	p.alive++
	p.all.Add(1)
	go p.work()
}

// start lets workers run tasks with ctx.
func (p *pool) start(ctx context.Context) {
	if p.size == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open, p.ctx = true, ctx
	for g := p.first; g != nil && p.alive < p.size; g = g.next {
		p.hire()
	}
}

// stop ends the workers and waits for what they run.
func (p *pool) stop() {
	p.mu.Lock()
	p.open = false
	p.more.Broadcast()
	p.mu.Unlock()
	p.all.Wait()
}

// work is a worker. It keeps to one thread, by which a task knows whether it runs here.
func (p *pool) work() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer p.all.Done()
	// As on the executor's thread, a write into memory that is lent is a panic.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	tid := threadID()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.threads[tid] = true
	defer func() {
		delete(p.threads, tid)
		if p.alive--; p.open && p.first != nil { // a task has ended this goroutine
			p.hire()
		}
	}()
	for p.open {
		g := p.first
		if g == nil {
			p.idle++
			p.more.Wait()
			p.idle--
			continue
		}
		if p.first = g.next; p.first == nil {
			p.last = nil
		}
		g.next, g.queued = nil, false
		q := g.pop()
		p.run(g, q, tid)
	}
}

// run runs a task. Called under mu, which it lets go meanwhile.
func (p *pool) run(g *Group, q *Entry, tid int64) {
	q.busy = true
	g.running++
	p.offer(g)
	ctx := p.ctx
	p.ran++
	p.mu.Unlock()
	q.tid.Store(tid)
	more := false
	defer func() { // also when the task panics, which ends the program, or its goroutine
		q.tid.Store(0)
		p.mu.Lock()
		q.busy = false
		g.running--
		if more || q.again {
			q.again = false
			g.push(q)
		}
		p.offer(g)
	}()
	more = q.Task.Run(ctx)
}

// some runs each task that is ready in a group now once, on the calling goroutine; for SpinSome.
func (p *pool) some(ctx context.Context) (ran int) {
	if p.size == 0 {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ctx = ctx
	var ready []*Entry
	var of []*Group
	for p.first != nil {
		g := p.first
		if p.first = g.next; p.first == nil {
			p.last = nil
		}
		g.next, g.queued = nil, false
		for g.first != nil {
			ready, of = append(ready, g.pop()), append(of, g)
		}
	}
	done := ctx.Done()
	for i, q := range ready {
		if ended(done) {
			of[i].push(q)
			p.offer(of[i])
			continue
		}
		p.run(of[i], q, threadID())
		ran++
	}
	return ran
}

// Inside says whether the caller runs on the executor's thread or on one of its workers, that is inside a callback.
func (e *Executor) Inside() bool {
	if e.OnThread() {
		return true
	}
	p := &e.pool
	if p.size == 0 {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.threads[threadID()]
}
