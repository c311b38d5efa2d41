package exec

import (
	"sync"
	"sync/atomic"
)

// Source is what a leaf of the area stands for: typically the receiving end of one connection.
type Source interface {
	// Poll runs on the executor's thread after the leaf was signalled, once for any number of signals. It takes what is
	// there and calls Ready for what has callbacks to run; it runs none itself. It must not block, and should be prepared
	// to find nothing.
	Poll()
}

const chunkSize = 64

// sources maps leaves to sources. The thread reads it without a lock; attaching and detaching lock.
type sources struct {
	limit  int
	chunks []atomic.Pointer[chunk] // made on first use

	mu   sync.Mutex
	next int   // never used leaf
	free []int // detached leaves; the last one is used first, which keeps the bitmap dense
}

type chunk [chunkSize]atomic.Pointer[attached]

// attached is a source with the lock that tells Detach when its Poll is over. A lock for each source, not one for all: who
// detaches a source may hold locks that another source's Poll waits for.
type attached struct {
	source  Source
	polling sync.Mutex
	gone    atomic.Bool
}

func (s *sources) init(limit int) {
	s.limit = limit
	s.chunks = make([]atomic.Pointer[chunk], limit/chunkSize)
}

// Attach gives s a leaf of the area. From its return on a signal of that leaf leads to a Poll, if the executor spins or when
// it does next. The error is a *LimitError when all leaves are in use.
func (e *Executor) Attach(s Source) (leaf int, err error) {
	t := &e.sources
	t.mu.Lock()
	defer t.mu.Unlock()
	switch n := len(t.free); {
	case n > 0:
		leaf = t.free[n-1]
		t.free = t.free[:n-1]
	case t.next < t.limit:
		leaf = t.next
		t.next++
	default:
		return 0, &LimitError{Limit: "sources of one executor", Value: t.limit}
	}
	c := t.chunks[leaf/chunkSize].Load()
	if c == nil {
		c = new(chunk)
		t.chunks[leaf/chunkSize].Store(c)
	}
	c[leaf%chunkSize].Store(&attached{source: s})
	return leaf, nil
}

// Detach takes the leaf back. After it returned the source's Poll is not running and will not be called; called from inside
// that Poll, or elsewhere on the executor's thread, that holds from the end of the running Poll on. The leaf may then be
// given to another source, which late signals of peers reach as polls that find nothing. Leaves that are not attached are
// ignored.
func (e *Executor) Detach(leaf int) {
	t := &e.sources
	if uint(leaf) >= uint(t.limit) {
		return
	}
	c := t.chunks[leaf/chunkSize].Load()
	if c == nil {
		return
	}
	at := c[leaf%chunkSize].Swap(nil)
	if at == nil {
		return
	}
	at.gone.Store(true)
	if !e.OnThread() {
		at.polling.Lock() // waits for the end of a running Poll
		_ = at            // nothing to do inside
		at.polling.Unlock()
	}
	t.mu.Lock()
	t.free = append(t.free, leaf)
	t.mu.Unlock()
}

// poll is called for each leaf that was signalled.
func (e *Executor) poll(leaf int) {
	c := e.sources.chunks[leaf/chunkSize].Load()
	if c == nil {
		return // a peer signals what was never attached
	}
	at := c[leaf%chunkSize].Load()
	if at == nil {
		return
	}
	at.polling.Lock()
	defer at.polling.Unlock() // also when Poll panics
	if !at.gone.Load() {
		e.count.Polls++
		at.source.Poll()
	}
}
