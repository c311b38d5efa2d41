package notify

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// event is what Event and Word have in common. Every test in this file runs on both.
type event interface {
	signal
	WaitUntil(deadline time.Time) error
	Close() error
}

func newWord(t testing.TB) *Word {
	w, err := NewWord(new(uint32))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Release)
	return w
}

func both(t *testing.T, test func(t *testing.T, e event)) {
	t.Run("Event", func(t *testing.T) { test(t, new(Event)) })
	t.Run("Word", func(t *testing.T) { test(t, newWord(t)) })
}

var (
	background = context.Background()
	longPast   = time.Now().Add(-time.Hour)
)

func want(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestStickyAndCoalescing(t *testing.T) {
	both(t, func(t *testing.T, e event) {
		want(t, "nothing yet", e.WaitUntil(longPast), ErrDeadline)
		for range 5 {
			want(t, "Notify", e.Notify(), nil)
		}
		want(t, "kept notification", e.Wait(background), nil)
		want(t, "the other four", e.WaitUntil(longPast), ErrDeadline)
	})
}

func TestKeptNotificationBeatsDeadlineAndContext(t *testing.T) {
	both(t, func(t *testing.T, e event) {
		ended, cancel := context.WithCancel(background)
		cancel()
		e.Notify()
		want(t, "deadline passed, notified", e.WaitUntil(longPast), nil)
		e.Notify()
		want(t, "context ended, notified", e.Wait(ended), nil)
		want(t, "context ended", e.Wait(ended), context.Canceled)
		want(t, "deadline passed", e.WaitUntil(longPast), context.DeadlineExceeded)
		e.Notify()
		want(t, "after failed waits", e.Wait(background), nil)
	})
}

func TestWakes(t *testing.T) {
	both(t, func(t *testing.T, e event) {
		ctx, cancel := context.WithCancel(background)
		defer cancel()
		for _, wait := range []func() error{
			func() error { return e.Wait(background) },
			func() error { return e.Wait(ctx) },
			func() error { return e.WaitUntil(time.Time{}) },
			func() error { return e.WaitUntil(time.Now().Add(time.Minute)) },
		} {
			for range 200 {
				got := make(chan error)
				go func() { got <- wait() }()
				e.Notify()
				if err := within(t, got); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// within receives from got, or ends the test.
func within(t *testing.T, got <-chan error) error {
	t.Helper()
	select {
	case err := <-got:
		return err
	case <-time.After(20 * time.Second):
		t.Fatal("still waiting after 20 s")
		return nil
	}
}

func TestContextEndsWaits(t *testing.T) {
	both(t, func(t *testing.T, e event) {
		for range 200 {
			// Two contexts at a time, so that the end of one leaves the waits of the other alone.
			a, cancelA := context.WithCancel(background)
			b, cancelB := context.WithCancel(background)
			gotA, gotB := make(chan error, 2), make(chan error, 2)
			for range 2 {
				go func() { gotA <- e.Wait(a) }()
				go func() { gotB <- e.Wait(b) }()
			}
			cancelA()
			want(t, "wait", within(t, gotA), context.Canceled)
			want(t, "wait", within(t, gotA), context.Canceled)
			if len(gotB) != 0 {
				t.Fatal("ended by the wrong context:", <-gotB)
			}
			cancelB()
			want(t, "wait", within(t, gotB), context.Canceled)
			want(t, "wait", within(t, gotB), context.Canceled)
		}
		e.Notify()
		want(t, "after cancelled waits", e.Wait(background), nil)
	})
}

func TestNeverEarly(t *testing.T) {
	both(t, func(t *testing.T, e event) {
		for range 200 {
			deadline := time.Now().Add(time.Duration(rand.IntN(1500)) * time.Microsecond)
			want(t, "wait", e.WaitUntil(deadline), ErrDeadline)
			if early := time.Until(deadline); early > 0 {
				t.Fatalf("returned %v before the deadline", early)
			}
		}
	})
}

func TestClose(t *testing.T) {
	both(t, func(t *testing.T, e event) {
		ctx, cancel := context.WithCancel(background)
		defer cancel()
		got := make(chan error)
		const waiters = 9
		for i := range waiters {
			go func() {
				switch i % 3 {
				case 0:
					got <- e.Wait(background)
				case 1:
					got <- e.Wait(ctx)
				case 2:
					got <- e.WaitUntil(time.Now().Add(time.Minute))
				}
			}()
		}
		e.Close()
		e.Close()
		for range waiters {
			want(t, "waiter", within(t, got), ErrClosed)
		}
		want(t, "Notify", e.Notify(), ErrClosed)
		want(t, "Wait", e.Wait(background), ErrClosed)
		want(t, "WaitUntil", e.WaitUntil(longPast), ErrClosed)
	})
}

func TestCloseDropsKeptNotification(t *testing.T) {
	both(t, func(t *testing.T, e event) {
		e.Notify()
		e.Close()
		want(t, "Wait", e.Wait(background), ErrClosed)
	})
}

func TestLastNotifierCloses(t *testing.T) {
	var e Event
	a, b := e.NewNotifier(), e.NewNotifier()
	got := make(chan error)
	go func() { got <- e.Wait(background) }()
	a.Close()
	a.Close()
	want(t, "Notify of a closed end", a.Notify(), ErrClosed)
	want(t, "Notify of an open end", b.Notify(), nil)
	want(t, "wait", within(t, got), nil)
	go func() { got <- e.Wait(background) }()
	b.Close()
	want(t, "wait after the last end", within(t, got), ErrClosed)
}

// TestHandsOver checks under the race detector that what was written before Notify may be read after the wait.
func TestHandsOver(t *testing.T) {
	both(t, func(t *testing.T, there event) {
		var back Event
		x := 0
		done := make(chan error, 1)
		go func() {
			for i := range 10_000 {
				if err := there.Wait(background); err != nil {
					done <- err
					return
				}
				if x != i+1 {
					done <- errors.New("old value read")
					return
				}
				back.Notify()
			}
			done <- nil
		}()
		for range 10_000 {
			x++
			there.Notify()
			if err := back.WaitUntil(time.Now().Add(20 * time.Second)); err != nil {
				t.Fatal(err, <-done)
			}
		}
		if err := within(t, done); err != nil {
			t.Fatal(err)
		}
	})
}

// TestCancelledWaitsNeitherLoseNorSwallow lets one notifier count its notifications, each sent only after the one before was
// consumed, while waiters give up again and again, by deadline and by context, as near as possible to the notification.
func TestCancelledWaitsNeitherLoseNorSwallow(t *testing.T) {
	giveUps := int64(100_000)
	if testing.Short() {
		giveUps = 5_000
	}
	both(t, func(t *testing.T, e event) {
		var gaveUp, consumed, sent atomic.Int64
		var ack Event
		var wg sync.WaitGroup
		end := make(chan struct{})
		wg.Go(func() {
			for gaveUp.Load() < giveUps {
				for range rand.IntN(300) { // let the waiters get to different places
					consumed.Load()
				}
				n := sent.Add(1)
				e.Notify()
				for consumed.Load() < n {
					if err := ack.WaitUntil(time.Now().Add(20 * time.Second)); err != nil {
						t.Errorf("notification %d: not consumed: %v", n, err)
						close(end)
						return
					}
				}
				if c := consumed.Load(); c != n {
					t.Errorf("%d notifications, %d consumed", n, c)
				}
			}
			close(end)
		})
		ended := func() bool {
			select {
			case <-end:
				return true
			default:
				return false
			}
		}
		after := func(err error) {
			if err == nil {
				consumed.Add(1)
				ack.Notify()
				return
			}
			if !errors.Is(err, ErrDeadline) && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			gaveUp.Add(1)
		}
		for range 2 {
			wg.Go(func() {
				for !ended() {
					after(e.WaitUntil(time.Now().Add(time.Duration(rand.IntN(20)) * time.Microsecond)))
				}
			})
			wg.Go(func() {
				for !ended() {
					ctx, cancel := context.WithCancel(background)
					go cancel()
					after(e.Wait(ctx))
				}
			})
		}
		wg.Wait()
		if err := e.WaitUntil(longPast); !errors.Is(err, ErrDeadline) {
			t.Errorf("one notification too many: %v", err)
		}
		t.Logf("%d waits given up, %d notifications consumed", gaveUp.Load(), consumed.Load())
	})
}

// late is a context that has ended, and notifies e when it is first looked at: after the waiter is registered, before it sleeps.
type late struct {
	context.Context
	e event
}

func (l *late) Done() <-chan struct{} {
	if l.e != nil {
		l.e.Notify()
		l.e = nil
	}
	return l.Context.Done()
}

// TestNotificationAndEndTogether: when a notification was handed to a waiter whose context has ended as well, the waiter has it or
// the next one does, but not both.
func TestNotificationAndEndTogether(t *testing.T) {
	ended, cancel := context.WithCancel(background)
	cancel()
	both(t, func(t *testing.T, e event) {
		for range 200 {
			n := 0
			if err := e.Wait(&late{ended, e}); err == nil {
				n++
			}
			for e.WaitUntil(longPast) == nil {
				n++
			}
			if n != 1 {
				t.Fatalf("consumed %d times", n)
			}
		}
	})
}

// TestManyWaiters lets many goroutines consume what many others send, one at a time each, so that all must be consumed.
func TestManyWaiters(t *testing.T) {
	both(t, func(t *testing.T, e event) {
		const each, senders = 2_000, 4
		var tickets atomic.Int64 // sent and not yet taken
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for {
					err := e.Wait(background)
					if err != nil {
						return
					}
					if tickets.Swap(0) == 0 {
						continue // coalesced into one that came before
					}
				}
			})
		}
		var send sync.WaitGroup
		for range senders {
			send.Go(func() {
				for range each {
					tickets.Add(1)
					e.Notify()
				}
			})
		}
		send.Wait()
		deadline := time.Now().Add(20 * time.Second)
		for tickets.Load() != 0 && time.Now().Before(deadline) {
			time.Sleep(time.Millisecond)
		}
		if n := tickets.Load(); n != 0 {
			t.Errorf("%d left: the last notification was lost", n)
		}
		e.Close()
		wg.Wait()
	})
}

func TestNoAllocations(t *testing.T) {
	both(t, func(t *testing.T, e event) {
		ctx, cancel := context.WithCancel(background)
		defer cancel()
		check := func(what string, f func()) {
			t.Helper()
			f()
			if n := testing.AllocsPerRun(200, f); n != 0 {
				t.Errorf("%s: %v allocations", what, n)
			}
		}
		check("sticky", func() { e.Notify(); e.Wait(background) })
		check("deadline", func() { e.WaitUntil(time.Now().Add(50 * time.Microsecond)) })
		check("deadline passed", func() { e.WaitUntil(longPast) })

		var there Event
		var wg sync.WaitGroup
		wg.Go(func() {
			for there.Wait(background) == nil {
				e.Notify()
			}
		})
		check("wake", func() { there.Notify(); e.Wait(background) })
		check("wake with context", func() { there.Notify(); e.Wait(ctx) })
		check("wake with deadline", func() { there.Notify(); e.WaitUntil(time.Now().Add(time.Minute)) })
		there.Close()
		wg.Wait()
	})
}
