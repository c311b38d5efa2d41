package transport

import (
	"context"
	"sync"
)

// Broadcast wakes everybody who waits for a condition to be looked at again.
// It is for changes of the graph, not for messages: waiting allocates. The
// zero value is ready.
type Broadcast struct {
	mu   sync.Mutex
	ch   chan struct{}
	hook func()
}

// Hook has f called by each Fire. It may run under locks of the path: it notes, pokes or
// posts and does nothing else. It is set before the first Fire.
func (b *Broadcast) Hook(f func()) { b.hook = f }

// Fire makes all waiters look again.
func (b *Broadcast) Fire() {
	b.mu.Lock()
	if b.ch != nil {
		close(b.ch)
		b.ch = nil
	}
	b.mu.Unlock()
	if b.hook != nil {
		b.hook()
	}
}

// Wait returns when done reports true or an error, or with ctx's error.
func (b *Broadcast) Wait(ctx context.Context, done func() (bool, error)) error {
	for {
		b.mu.Lock()
		if b.ch == nil {
			b.ch = make(chan struct{})
		}
		ch := b.ch
		b.mu.Unlock()
		// Looked at after the channel was taken: a change between the two
		// closes that channel.
		if ok, err := done(); ok || err != nil {
			return err
		}
		select {
		case <-ch:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
