package pool

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

func TestLastReleasedIsNextTaken(t *testing.T) {
	p := New(1 << 20)
	var bufs [4][]byte
	for i := range bufs {
		bufs[i] = p.Get(1000)
	}
	for _, i := range []int{2, 0, 3, 1} {
		p.Put(bufs[i])
	}
	for _, i := range []int{1, 3, 0, 2} {
		if b := p.Get(700); &b[0] != &bufs[i][0] {
			t.Fatalf("buffer %d was released last and not the next taken", i)
		}
	}
}

func TestGetGivesLengthAndClass(t *testing.T) {
	p := New(1 << 20)
	for _, n := range []int{0, 1, 128, 129, 100_000} {
		for range 2 { // fresh, then recycled
			b := p.Get(n)
			if len(b) != n || cap(b) != ClassSize(Class(n)) {
				t.Errorf("Get(%d): length %d, capacity %d", n, len(b), cap(b))
			}
			p.Put(b)
		}
	}
}

func TestAboveTheBoundIsPlainMemory(t *testing.T) {
	p := New(3000)
	a, b, c := p.Get(1024), p.Get(1024), p.Get(1024)
	p.Put(a)
	p.Put(b)
	p.Put(c)
	if s := p.Stats(); s.Kept != 2048 || s.Dropped != 1 || s.Misses != 3 {
		t.Errorf("after three buffers of 1024 under a bound of 3000: %+v", s)
	}
	p.Put(p.Get(4096))
	if s := p.Stats(); s.Kept != 2048 || s.Dropped != 2 {
		t.Errorf("a buffer above the bound was kept or drove out others: %+v", s)
	}
}

func TestZeroBoundKeepsNothing(t *testing.T) {
	p := New(0)
	p.Put(p.Get(100))
	if s := p.Stats(); s.Kept != 0 || s.Dropped != 1 {
		t.Errorf("%+v", s)
	}
}

// A pool full of a size that nobody uses any more must make room for the one in
// use, and two sizes that alternate and do not fit together must not empty each other.
func TestStaleClassesMakeRoom(t *testing.T) {
	p := New(64 << 10)
	var old [16][]byte
	for i := range old {
		old[i] = p.Get(4096)
	}
	for _, b := range old {
		p.Put(b)
	}
	big := 48 << 10
	for range stale + 10 {
		p.Put(p.Get(big))
	}
	before := p.Stats()
	for range 100 {
		p.Put(p.Get(big))
	}
	if s := p.Stats(); s.Misses != before.Misses {
		t.Errorf("the size in use is still allocated anew: %d times in 100", s.Misses-before.Misses)
	}

	p = New(64 << 10)
	for range 10 * stale {
		p.Put(p.Get(40 << 10))
		p.Put(p.Get(4096))
		p.Put(p.Get(60 << 10))
	}
	if s := p.Stats(); s.Misses > 10*stale+2 {
		t.Errorf("sizes that do not fit together thrash: %d misses in %d rounds", s.Misses, 10*stale)
	}
}

func TestForeignBuffersAreNotKept(t *testing.T) {
	p := New(1 << 20)
	p.Put(nil)
	p.Put(make([]byte, 1000))
	p.Put(make([]byte, 5, 129))
	if s := p.Stats(); s.Kept != 0 || s.Foreign != 3 {
		t.Errorf("%+v", s)
	}
}

func TestCollectionsDoNotEmptyThePool(t *testing.T) {
	p := New(16 << 20)
	p.Put(p.Get(8 << 20))
	runtime.GC()
	runtime.GC()
	p.Put(p.Get(8 << 20))
	if s := p.Stats(); s.Misses != 1 {
		t.Errorf("%d buffers of 8 MiB were allocated, want 1", s.Misses)
	}
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	p := New(16 << 20)
	for _, n := range []int{100, 4096, 1 << 20} {
		p.Put(p.Get(n))
		if got := testing.AllocsPerRun(1000, func() { p.Put(p.Get(n)) }); got != 0 {
			t.Errorf("%d bytes: %v allocations", n, got)
		}
	}
}

// No buffer is ever handed out twice, and the bound holds at every moment.
func TestPoolModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bound := rapid.Int64Range(0, 1<<18).Draw(t, "bound")
		p := New(bound)
		var held [][]byte
		t.Repeat(map[string]func(*rapid.T){
			"get": func(t *rapid.T) {
				b := p.Get(rapid.IntRange(0, 1<<17).Draw(t, "n"))
				for _, h := range held {
					if unsafe.SliceData(h) == unsafe.SliceData(b) {
						t.Fatal("handed out twice")
					}
				}
				held = append(held, b)
			},
			"put": func(t *rapid.T) {
				if len(held) == 0 {
					t.Skip("nothing to put")
				}
				i := rapid.IntRange(0, len(held)-1).Draw(t, "which")
				p.Put(held[i])
				held = slices.Delete(held, i, i+1)
			},
			"": func(t *rapid.T) {
				kept := int64(0)
				for i := range p.classes {
					for _, b := range p.classes[i].free {
						kept += int64(cap(b))
					}
				}
				if kept != p.Stats().Kept || kept > bound {
					t.Fatalf("keeps %d bytes, counts %d, bound %d", kept, p.Stats().Kept, bound)
				}
			},
		})
	})
}

func TestConcurrentUse(t *testing.T) {
	p := New(1 << 20)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 2000 {
				b := p.Get(64 << (uint(i+g) % 10))
				for j := range b {
					b[j] = byte(g)
				}
				for j := range b {
					if b[j] != byte(g) {
						t.Error("a buffer had two owners")
						return
					}
				}
				p.Put(b)
			}
		})
	}
	wg.Wait()
}

func BenchmarkGetPut(b *testing.B) {
	for _, n := range []int{128, 4096, 1 << 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := New(16 << 20)
			b.ReportAllocs()
			for b.Loop() {
				p.Put(p.Get(n))
			}
		})
	}
}
