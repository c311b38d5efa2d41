package notify

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/tagus-ros/tagus/internal/clock"
	"github.com/tagus-ros/tagus/internal/futex"
)

// A word in memory holds three bits and, above them, a count that changes whenever sleepers are woken. Every value is a valid
// state: a process that scribbles over the word can cause wake-ups without cause, or withhold its own, and no more.
const (
	wordSet     = 1 << iota // a notification is kept
	wordWaiting             // somebody may sleep, or be about to
	wordClosed              // for ever
	wordCount               // the lowest bit of the count
)

// Word is one process's view of an event that lives in a 32-bit word of memory, usually shared between processes: [Event]'s twin
// with the same contract, for threads that sleep in the kernel. All processes that map the word may notify and wait.
//
// A notification wakes all sleepers and the first to come consumes it, so that a process killed on its way cannot take a
// notification with it. There is no count of notifiers, since a killed process would never be taken off: whoever learns that
// the last one is gone calls Close.
//
// On systems without futex the word works within one process.
type Word struct {
	state  *atomic.Uint32
	cancel futex.Canceler
	poke   func() // w.disturb, made once
}

// NewWord makes a view of the word at addr, which must be a multiple of 4. A word of value zero is a fresh event. The memory must stay mapped until
// Release has returned and no other method is running.
func NewWord(addr *uint32) (*Word, error) {
	if addr == nil || uintptr(unsafe.Pointer(addr))%4 != 0 {
		return nil, fmt.Errorf("notify: word at address %p: want a multiple of 4", addr)
	}
	w := &Word{state: (*atomic.Uint32)(unsafe.Pointer(addr))}
	w.poke = w.disturb
	return w, nil
}

// Notify wakes whoever waits, or is kept for the next wait. It never blocks, makes a system call only if somebody waits, and
// fails only with ErrClosed.
func (w *Word) Notify() error {
	for {
		s := w.state.Load()
		if s&wordClosed != 0 {
			return ErrClosed
		}
		if s&wordWaiting == 0 {
			// Written also when it is set already, for the same reason as in Event.Notify.
			if w.state.CompareAndSwap(s, s|wordSet) {
				return nil
			}
			continue
		}
		// The count makes this value new, so that nobody falls asleep on an earlier one that looks the same.
		n := (s | wordSet) + wordCount
		if !w.state.CompareAndSwap(s, n) {
			continue
		}
		futex.Wake(w.state, -1)
		// Now all who slept are awake, and the bit can go. Not earlier: if this process dies before it wakes them, the
		// next notification must find the bit. If somebody was faster, the bit stays, which costs the next notifier a
		// system call at most.
		w.state.CompareAndSwap(n, n&^wordWaiting)
		return nil
	}
}

// Wait returns nil when it consumed a notification; one that is kept is consumed even if ctx has ended. Otherwise it returns
// ErrClosed, or ctx.Err() once ctx has ended. It blocks the thread, not only the goroutine. Waits with the same context over and over
// allocate nothing; the first one with a context that can end allocates a registration, which lasts until Release.
func (w *Word) Wait(ctx context.Context) error {
	if done, err := w.consume(); done {
		return err
	}
	watch := w.cancel.Begin(ctx, w.poke)
	err := w.sleep(ctx, -1)
	watch.End()
	return err
}

// WaitUntil is Wait with a deadline instead of a context: it returns ErrDeadline at the deadline, never before it. A
// notification that is kept is consumed even if the deadline has passed. The zero time is no deadline.
func (w *Word) WaitUntil(deadline time.Time) error {
	if done, err := w.consume(); done {
		return err
	}
	due := int64(-1)
	if !deadline.IsZero() {
		due = clock.MonoOf(deadline)
	}
	return w.sleep(context.Background(), due)
}

// consume ends a wait if a notification is kept or the event is closed.
func (w *Word) consume() (done bool, err error) {
	for {
		s := w.state.Load()
		if s&wordClosed != 0 {
			return true, ErrClosed
		}
		if s&wordSet == 0 {
			return false, nil
		}
		if w.state.CompareAndSwap(s, s&^wordSet) {
			return true, nil
		}
	}
}

func (w *Word) sleep(ctx context.Context, due int64) error {
	for {
		if done, err := w.consume(); done {
			return err
		}
		s := w.state.Or(wordWaiting) | wordWaiting
		if s&(wordSet|wordClosed) != 0 {
			continue
		}
		// Looked at after the bit is set: either disturb finds the bit, or ctx has ended here.
		if err := ctx.Err(); err != nil {
			return err
		}
		if futex.Wait(w.state, s, due) == futex.TimedOut {
			// The kernel's clock may be a fraction of a microsecond ahead of ours.
			for clock.Mono() < due {
			}
			if done, err := w.consume(); done {
				return err
			}
			return ErrDeadline
		}
	}
}

// disturb makes all sleepers look at their contexts. The count changes, so that one just about to sleep does not.
func (w *Word) disturb() {
	for {
		s := w.state.Load()
		if s&wordWaiting == 0 {
			return
		}
		if w.state.CompareAndSwap(s, s+wordCount) {
			futex.Wake(w.state, -1)
			return
		}
	}
}

// Close ends the event in all processes: all waits fail with ErrClosed from now on. More calls do nothing.
func (w *Word) Close() error {
	if w.state.Or(wordClosed)&wordWaiting != 0 {
		futex.Wake(w.state, -1)
	}
	return nil
}

// Release ends this view's use of the memory, except by calls that are running. It changes nothing for others.
func (w *Word) Release() { w.cancel.Release() }
