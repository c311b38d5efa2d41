package exec

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// calls is the work that other goroutines want done on the executor's thread.
type calls struct {
	some atomic.Bool // queue is not empty; lets a turn pass without the lock

	mu       sync.Mutex
	queue    []func()
	head     int // of queue
	spinning bool
}

// pop takes the oldest function, or nil.
func (c *calls) pop() func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.head == len(c.queue) {
		return nil
	}
	fn := c.queue[c.head]
	c.queue[c.head] = nil
	c.head++
	if c.head == len(c.queue) {
		c.queue, c.head = c.queue[:0], 0
		c.some.Store(false)
	}
	return fn
}

func (c *calls) len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.queue) - c.head
}

// Do runs fn on the executor's thread, with all that belongs to that thread at its disposal. On that thread fn runs at once,
// inside Do. Elsewhere it runs soon, between two callbacks, and Do does not wait for it; functions given by one goroutine
// run in the order of their calls. While nobody spins, fn runs in the calling goroutine (or another one that is in Do),
// which stands in for the thread.
func (e *Executor) Do(fn func()) {
	if e.OnThread() {
		fn()
		return
	}
	c := &e.calls
	c.mu.Lock()
	c.queue = append(c.queue, fn)
	c.some.Store(true)
	spinning := c.spinning
	if spinning {
		e.area.Poke() // under the lock: Spin does not return meanwhile, and the memory stays mapped
	}
	c.mu.Unlock()
	if !spinning {
		e.standIn()
	}
}

// Call is Do, and returns when fn has returned. From outside it waits for the callback that is running.
func (e *Executor) Call(fn func()) {
	if e.OnThread() {
		fn()
		return
	}
	done := make(chan struct{})
	e.Do(func() {
		defer close(done)
		fn()
	})
	<-done
}

// standIn runs what is queued while nobody spins. If another goroutine is the owner at the moment, that one looks again after
// it has ceased to be.
func (e *Executor) standIn() {
	for e.calls.some.Load() && e.owner.TryLock() {
		e.beOwner()
		func() {
			defer e.endOwner() // also when a function panics
			e.runCalls()
		}()
	}
}

// beOwner makes this goroutine the executor's thread; e.owner must be held.
func (e *Executor) beOwner() {
	runtime.LockOSThread()
	e.tid.Store(threadID())
}

func (e *Executor) endOwner() {
	e.tid.Store(0)
	runtime.UnlockOSThread()
	e.owner.Unlock()
}

// runCalls runs everything that is queued now; what is added meanwhile has to wait for the next time, so that a flood of
// calls does not keep callbacks from running. Only the owner calls it.
func (e *Executor) runCalls() {
	for range e.calls.len() {
		fn := e.calls.pop()
		if fn == nil {
			return
		}
		e.count.Calls++
		fn()
	}
}
