package lifecycle

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// TestGate opens and closes a gate under many who want to pass: nobody is inside when drain has returned, and everybody who was let in is
// counted out.
func TestGate(t *testing.T) {
	g := newGate()
	var inside, passed, refused atomic.Int64
	var wg sync.WaitGroup
	end := make(chan struct{})
	for i := range 4 {
		wg.Go(func() {
			enter, leave := g.enter, g.leave
			if i%2 == 0 {
				enter, leave = g.enterCallback, g.leaveCallback
			}
			for {
				select {
				case <-end:
					return
				default:
				}
				if !enter() {
					refused.Add(1)
					runtime.Gosched()
					continue
				}
				inside.Add(1)
				passed.Add(1)
				inside.Add(-1)
				leave()
				runtime.Gosched()
			}
		})
	}
	for range 500 {
		before := passed.Load()
		g.set(true)
		for passed.Load() == before {
			runtime.Gosched()
		}
		g.set(false)
		if err := g.drain(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		still := passed.Load()
		if n := inside.Load(); n != 0 {
			t.Fatalf("%d are inside the drained gate", n)
		}
		for r := refused.Load(); refused.Load() < r+4; {
			runtime.Gosched()
		}
		if passed.Load() != still {
			t.Fatal("a closed gate let somebody in")
		}
	}
	close(end)
	wg.Wait()
	if w, c := g.word.Load(), g.calls.Load(); w != 0 || c != 0 {
		t.Errorf("in the end word %d, calls %d", w, c)
	}
}

func TestDrainEndsWithContext(t *testing.T) {
	g := newGate()
	g.set(true)
	g.enter()
	g.enterCallback()
	g.set(false)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := g.drain(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	g.leave()
	if err := g.drain(t.Context(), 1); err != nil {
		t.Error(err)
	}
	g.leaveCallback()
	if err := g.drain(t.Context(), 0); err != nil {
		t.Error(err)
	}
}

func BenchmarkGate(b *testing.B) {
	g := newGate()
	g.set(true)
	for range b.N {
		g.enter()
		g.leave()
	}
}
