package futex

import (
	"context"
	"sync"
)

// Canceler ends sleeps when a context ends: a thread in a futex cannot watch a channel. It registers with each context once
// and keeps that until another context needs the place, so that waits with the same context over and over allocate nothing.
// The zero value is ready for use.
type Canceler struct {
	mu      sync.Mutex
	watches []*Watch
}

// Watch is a registration with one context.
type Watch struct {
	c     *Canceler
	done  <-chan struct{} // tells contexts apart: unlike a context, a channel can always be compared
	wake  func()
	stop  func() bool
	users int
}

// Begin arranges for wake to be called soon after ctx has ended, unless End came first. Wake must be the same function in
// all calls; it runs in a goroutine of its own and must not use the Canceler. The caller must check ctx once more between
// Begin and falling asleep, as the call may come at any time after Begin. Begin returns nil if ctx never ends.
func (c *Canceler) Begin(ctx context.Context, wake func()) *Watch {
	done := ctx.Done()
	if done == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	free := -1
	for i, w := range c.watches {
		if w.done == done {
			w.users++
			return w
		}
		if w.users == 0 {
			free = i
		}
	}
	w := &Watch{c: c, done: done, wake: wake, users: 1}
	if free >= 0 {
		c.watches[free].drop()
		c.watches[free] = w
	} else {
		c.watches = append(c.watches, w)
	}
	w.stop = context.AfterFunc(ctx, w.fire)
	return w
}

// End says that the sleep for which Begin was called is over. Nil is allowed.
func (w *Watch) End() {
	if w == nil {
		return
	}
	w.c.mu.Lock()
	w.users--
	w.c.mu.Unlock()
}

// Release forgets all contexts. When it returns, wake is not running and will not be called by earlier registrations: the
// memory that it uses may be unmapped.
func (c *Canceler) Release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, w := range c.watches {
		w.drop()
		c.watches[i] = nil
	}
	c.watches = c.watches[:0]
}

// drop ends the registration; the lock is held.
func (w *Watch) drop() {
	w.stop()
	w.wake = nil
}

// fire wakes under the lock, so that drop ends it for certain.
func (w *Watch) fire() {
	w.c.mu.Lock()
	defer w.c.mu.Unlock()
	if w.wake != nil {
		w.wake()
	}
}
