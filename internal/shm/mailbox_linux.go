package shm

import "sync"

// mailbox brings work of other goroutines onto the one that owns the state. Posting
// never blocks and may be done under any lock.
type mailbox struct {
	mu     sync.Mutex
	queue  []func()
	closed bool
	wake   chan struct{} // holds one token while the queue may not be empty
}

func newMailbox() *mailbox { return &mailbox{wake: make(chan struct{}, 1)} }

// post has f run by the owner. It reports whether the owner will still run it.
func (b *mailbox) post(f func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	b.queue = append(b.queue, f)
	select {
	case b.wake <- struct{}{}:
	default:
	}
	return true
}

// run runs what was posted, in order.
func (b *mailbox) run() {
	for {
		b.mu.Lock()
		work := b.queue
		b.queue = nil
		b.mu.Unlock()
		if len(work) == 0 {
			return
		}
		for _, f := range work {
			f()
		}
	}
}

// close runs what is left and takes no more.
func (b *mailbox) close() {
	for {
		b.run()
		b.mu.Lock()
		if len(b.queue) == 0 {
			b.closed = true
			b.mu.Unlock()
			return
		}
		b.mu.Unlock()
	}
}
