// Package notify has two events for "something changed, look again": [Event] for goroutines of one process and [Word] for
// threads of several processes that share memory.
//
// Both keep the same contract. A notification without a waiter is kept for the next wait (sticky); several of those are one
// (coalescing); each is consumed by one wait. What was written before Notify is visible after the wait that consumed the
// notification, or the one into which it coalesced. A wait that ends for another reason, by its context or its deadline,
// has consumed nothing. When the last notifier is gone, all waits fail with [ErrClosed], now and for ever; a notification
// that nobody has consumed by then is gone. Nothing is allocated per notification or wait in steady state.
//
// A channel of capacity one does nearly the same. The events here cost a fraction of it while nobody sleeps, keep a
// deadline without an allocation, and have an end.
//
// It must not import anything of this module but internal/futex and internal/clock.
package notify

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// ErrClosed means that the last notifier is gone.
var ErrClosed = errors.New("notify: closed")

// ErrDeadline is returned by waits whose deadline passed. It is a timeout: errors.Is(ErrDeadline, context.DeadlineExceeded).
var ErrDeadline error = deadlineError{}

type deadlineError struct{}

func (deadlineError) Error() string        { return "notify: deadline passed" }
func (deadlineError) Timeout() bool        { return true }
func (deadlineError) Temporary() bool      { return true }
func (deadlineError) Is(target error) bool { return target == context.DeadlineExceeded }

// The state of an Event: unset, set, closed, or a number of waiters in units of oneWaiter.
const (
	unset     = 0
	set       = 1
	closed    = 2
	oneWaiter = 4
)

// maxTokens is the capacity of an event's channel, and so the number of goroutines that may wait for one event without ever
// blocking a notifier. Its elements have no size, so it takes no memory.
const maxTokens = 1 << 20

// Event is a sticky, coalescing notification between goroutines. The zero value is ready for use. Any number of goroutines
// may notify and wait, up to a million at a time. It must not be copied after first use.
//
// The state says what is the case; the channel only parks goroutines. A notifier that finds waiters takes one off the count
// and sends one token; so the goroutines that are about to receive are always as many as the count and the tokens together,
// and no token belongs to a particular one of them.
type Event struct {
	state     atomic.Uint32
	tokens    atomic.Pointer[chan struct{}] // made by the first waiter
	notifiers atomic.Int64

	mu     sync.Mutex
	timers []*time.Timer // idle ones, kept for the next deadlines
}

// Notify wakes one waiter, or is kept for the next one. It never blocks and fails only with ErrClosed.
func (e *Event) Notify() error {
	for {
		s := e.state.Load()
		switch s {
		case unset, set:
			// Written also when it is set already: the wait that consumes the notification must see what this caller wrote,
			// and for that it must find a write of this caller's.
			if e.state.CompareAndSwap(s, set) {
				return nil
			}
		case closed:
			return ErrClosed
		default:
			if e.state.CompareAndSwap(s, s-oneWaiter) {
				*e.tokens.Load() <- struct{}{}
				return nil
			}
		}
	}
}

// Wait returns nil when it consumed a notification; one that is kept is consumed even if ctx has ended. Otherwise it returns
// ErrClosed, or ctx.Err() once ctx has ended.
func (e *Event) Wait(ctx context.Context) error {
	if e.state.CompareAndSwap(set, unset) {
		return nil
	}
	return e.wait(ctx, time.Time{})
}

// WaitUntil is Wait with a deadline instead of a context: it returns ErrDeadline at the deadline, never before it. A
// notification that is kept is consumed even if the deadline has passed. The zero time is no deadline.
func (e *Event) WaitUntil(deadline time.Time) error {
	if e.state.CompareAndSwap(set, unset) {
		return nil
	}
	return e.wait(context.Background(), deadline)
}

// wait registers the caller as a waiter and parks it.
func (e *Event) wait(ctx context.Context, deadline time.Time) error {
	tokens := e.channel()
	for {
		s := e.state.Load()
		if s == closed {
			return ErrClosed
		}
		if s == set {
			if e.state.CompareAndSwap(set, unset) {
				return nil
			}
			continue
		}
		if e.state.CompareAndSwap(s, s+oneWaiter) {
			break
		}
	}
	done := ctx.Done()
	if done == nil && deadline.IsZero() {
		<-tokens
	} else if err := e.sleep(ctx, done, deadline, tokens); err != nil {
		if e.cancel() {
			return err
		}
		<-tokens // the count is down already, so there is a token that would be lost
	}
	if e.state.Load() == closed {
		return ErrClosed
	}
	return nil
}

// cancel takes the caller off the count of waiters, unless that was done already for the sake of a token.
func (e *Event) cancel() bool {
	for {
		s := e.state.Load()
		if s < oneWaiter {
			return false
		}
		if e.state.CompareAndSwap(s, s-oneWaiter) {
			return true
		}
	}
}

// sleep returns nil when it received a token.
func (e *Event) sleep(ctx context.Context, done <-chan struct{}, deadline time.Time, tokens chan struct{}) error {
	if deadline.IsZero() {
		select {
		case <-tokens:
			return nil
		case <-done:
			return ctx.Err()
		}
	}
	t := e.startTimer(time.Until(deadline))
	var err error
	select {
	case <-tokens:
	case <-done:
		err = ctx.Err()
	case <-t.C:
		err = ErrDeadline
	}
	e.stopTimer(t)
	return err
}

// Close ends the event: all waits fail with ErrClosed from now on. More calls do nothing.
func (e *Event) Close() error {
	for {
		s := e.state.Load()
		if s == closed {
			return nil
		}
		if e.state.CompareAndSwap(s, closed) {
			for ; s >= oneWaiter; s -= oneWaiter {
				*e.tokens.Load() <- struct{}{}
			}
			return nil
		}
	}
}

func (e *Event) channel() chan struct{} {
	if c := e.tokens.Load(); c != nil {
		return *c
	}
	c := make(chan struct{}, maxTokens)
	e.tokens.CompareAndSwap(nil, &c)
	return *e.tokens.Load()
}

func (e *Event) startTimer(d time.Duration) *time.Timer {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := len(e.timers)
	if n == 0 {
		return time.NewTimer(d)
	}
	t := e.timers[n-1]
	e.timers = e.timers[:n-1]
	t.Reset(d)
	return t
}

func (e *Event) stopTimer(t *time.Timer) {
	t.Stop() // leaves nothing in t.C
	e.mu.Lock()
	e.timers = append(e.timers, t)
	e.mu.Unlock()
}
