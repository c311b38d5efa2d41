package arena

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
)

func TestCloseWithSlotsInUse(t *testing.T) {
	both(t, func(t *testing.T, c Config) {
		a := newArena(t, c)
		x, y := get(t, a, 1<<20), get(t, a, 200)
		x.Mem()[5] = 42
		inUse := (*ErrInUse)(nil)
		if err := a.Close(); !errors.As(err, &inUse) || inUse.Slots != 2 || inUse.Bytes != 1<<20+256 {
			t.Fatalf("Close: %v", err)
		}
		if _, err := a.Get(1); !errors.Is(err, ErrClosed) {
			t.Errorf("Get after Close: %v", err)
		}
		if _, err := a.Get(3 << 20); !errors.Is(err, ErrClosed) {
			t.Errorf("Get of a new size after Close: %v", err)
		}
		y.Unref()
		if x.View()[5] != 42 {
			t.Error("a slot in use lost its contents")
		}
		if err := a.Close(); !errors.As(err, &inUse) || inUse.Slots != 1 {
			t.Errorf("Close with one slot left: %v", err)
		}
		if a.gone {
			t.Error("unmapped under a slot in use")
		}
		x.Unref()
		if !a.gone {
			t.Error("still mapped after the last release")
		}
		if err := a.Close(); err != nil {
			t.Errorf("Close at last: %v", err)
		}
	})
}

// slow is memory whose giving back takes until it is told to go on.
type slow struct {
	*heap
	punching, goOn chan struct{}
}

func (s *slow) punch(off, n int64) error {
	s.punching <- struct{}{}
	<-s.goOn
	return s.heap.punch(off, n)
}

func TestCloseWaitsForMemoryOnItsWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		back := &slow{newHeap(64<<20, 4096), make(chan struct{}), make(chan struct{})}
		a := newArena(t, Config{Recycle: Off, backing: back})
		s := get(t, a, 1<<20)
		go s.Unref()
		<-back.punching
		closed := make(chan error)
		go func() { closed <- a.Close() }()
		synctest.Wait()
		select {
		case err := <-closed:
			t.Fatalf("did not wait: %v", err)
		default:
		}
		back.goOn <- struct{}{}
		if err := <-closed; err != nil || !a.gone {
			t.Errorf("%v", err)
		}
	})
}

func TestCloseWhileUsed(t *testing.T) {
	for range 50 {
		a := newArena(t, Config{Limit: 4 << 20, Retain: 1 << 20})
		var wg sync.WaitGroup
		begin := make(chan struct{})
		for g := range 4 {
			wg.Go(func() {
				<-begin
				for i := 0; ; i++ {
					n := 100 << (uint(i+g) % 14)
					s, err := a.Get(n)
					if errors.Is(err, ErrClosed) {
						return
					}
					if full := (*ErrArenaFull)(nil); errors.As(err, &full) {
						continue
					}
					if err != nil {
						t.Error(err)
						return
					}
					s.Mem()[n-1] = 1
					s.Unref()
				}
			})
		}
		close(begin)
		for a.Stats().Gets < 20 {
		}
		a.Close()
		wg.Wait()
		if !a.gone {
			t.Fatal("the memory stayed mapped")
		}
	}
}
