package arena

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/tagus-ros/tagus/internal/invariants"
	"github.com/tagus-ros/tagus/internal/pool"
	"pgregory.net/rapid"
)

// plenty is a machine that bounds nothing.
var plenty = &host{root: "/nonexistent"}

func newArena(t testing.TB, c Config) *Arena {
	t.Helper()
	if c.host == nil {
		c.host = plenty
	}
	a, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Errorf("at the end: %v", err)
		}
	})
	return a
}

func get(t testing.TB, a *Arena, n int) *Slot {
	t.Helper()
	s, err := a.Get(n)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fill takes slots of n bytes until the arena refuses, and returns them and the refusal.
func fill(t testing.TB, a *Arena, n int) ([]*Slot, *ErrArenaFull) {
	t.Helper()
	var slots []*Slot
	for {
		s, err := a.Get(n)
		if err == nil {
			slots = append(slots, s)
			continue
		}
		full := (*ErrArenaFull)(nil)
		if !errors.As(err, &full) {
			t.Fatal(err)
		}
		return slots, full
	}
}

func unref(slots ...*Slot) {
	for _, s := range slots {
		s.Unref()
	}
}

func both(t *testing.T, test func(t *testing.T, c Config)) {
	t.Run("shared", func(t *testing.T) { test(t, Config{}) })
	t.Run("heap", func(t *testing.T) { test(t, Config{Heap: true}) })
}

func TestOrderOfReuse(t *testing.T) {
	both(t, func(t *testing.T, c Config) {
		for _, order := range []struct {
			recycle Recycle
			want    []int
		}{
			{LIFO, []int{2, 1, 4, 0, 3}},
			{FIFO, []int{3, 0, 4, 1, 2}},
		} {
			c.Recycle = order.recycle
			a := newArena(t, c)
			for _, n := range []int{200, 5000, 1 << 20} {
				// Chunks of small slots are used up, so that no other slot is free.
				slots := []*Slot{get(t, a, n)}
				for c := slots[0].chunk.class; len(slots) < 5 || c.free > 0; {
					slots = append(slots, get(t, a, n))
				}
				rest := slots[5:]
				for _, i := range []int{3, 0, 4, 1, 2} {
					slots[i].Unref()
				}
				for _, i := range order.want {
					if s := get(t, a, n); s != slots[i] {
						t.Fatalf("%v, size %d: got the slot at %d, want the one at %d", order.recycle, n, s.Offset(), slots[i].Offset())
					}
				}
				unref(slots[:5]...)
				unref(rest...)
			}
		}
	})
}

func TestOffKeepsNothing(t *testing.T) {
	both(t, func(t *testing.T, c Config) {
		for _, c := range []Config{{Heap: c.Heap, Recycle: Off}, {Heap: c.Heap, Retain: KeepNothing}} {
			a := newArena(t, c)
			for _, n := range []int{200, 5000, 1 << 20} {
				x, y := get(t, a, n), get(t, a, n)
				unref(x, y)
				if s := a.Stats(); s.Committed != 0 || s.Free != 0 || s.Slots != 0 {
					t.Errorf("size %d: after the release %+v", n, s)
				}
			}
		}
	})
}

func TestSlotShape(t *testing.T) {
	both(t, func(t *testing.T, c Config) {
		a := newArena(t, c)
		var slots []*Slot
		for _, n := range []int{-1, 0, 1, 100, 129, 4095, 4097, 60_000, 1 << 20, 1<<20 + 64, 20 << 20} {
			s := get(t, a, n)
			slots = append(slots, s)
			n = max(n, 0)
			class := pool.ClassSize(pool.Class(n))
			if m, v := s.Mem(), s.View(); len(m) != n || cap(m) != class || len(v) != n || cap(v) != class || s.Cap() != class {
				t.Errorf("%d bytes: memory %d of %d, view %d of %d, capacity %d, want %d of %d",
					n, len(m), cap(m), len(v), cap(v), s.Cap(), n, class)
			}
			align := int64(64)
			if s.Cap() >= 4096 {
				align = 4096
			}
			if at := int64(uintptr(unsafe.Pointer(unsafe.SliceData(s.Mem())))); at%align != 0 || s.Offset()%align != 0 {
				t.Errorf("%d bytes: lies at %#x, offset %d, want multiples of %d", n, at, s.Offset(), align)
			}
			full, view := s.Mem()[:s.Cap()], s.View()[:s.Cap()]
			for i := range full {
				full[i] = byte(i * len(slots))
			}
			if !slices.Equal(full, view) {
				t.Errorf("%d bytes: the view shows something else", n)
			}
			if s.Refs() != 1 {
				t.Errorf("%d references at first", s.Refs())
			}
		}
		unref(slots...)
	})
	if size := unsafe.Sizeof(Slot{}); size != 64 {
		t.Errorf("a Slot has %d bytes: neighbours share cache lines", size)
	}
}

// Pages of 64 KiB exist on arm64.
func TestLargePages(t *testing.T) {
	const page = 64 << 10
	a := newArena(t, Config{Limit: 64 << 20, backing: newHeap(256<<20, page)})
	var slots []*Slot
	for n := 1; n < 4<<20; n = n*3/2 + 1 {
		s := get(t, a, n)
		if s.Cap() >= 4096 && s.Offset()%4096 != 0 || s.Offset()%64 != 0 {
			t.Errorf("%d bytes: offset %d", n, s.Offset())
		}
		slots = append(slots, s)
	}
	if s := a.Stats(); s.Committed%page != 0 {
		t.Errorf("%d bytes committed", s.Committed)
	}
	unref(slots...)
}

func TestReferences(t *testing.T) {
	a := newArena(t, Config{})
	s := get(t, a, 1000)
	s.Ref()
	s.Ref()
	s.Unref()
	s.Unref()
	if got := a.Stats().Slots; got != 1 {
		t.Fatalf("with one reference left %d slots are in use", got)
	}
	s.Unref()
	if got := a.Stats().Slots; got != 0 {
		t.Errorf("without references %d slots are in use", got)
	}
}

func TestMisuseIsNoticed(t *testing.T) {
	a := newArena(t, Config{})
	s := get(t, a, 1000)
	s.Unref()
	for i, wrong := range []func(){s.Unref, s.Ref, s.Unref} {
		func() {
			defer func() {
				if p := recover(); (p != nil) != invariants.Enabled {
					t.Errorf("misuse %d: panic %v in an invariants build: %v", i, p, invariants.Enabled)
				}
			}()
			if i == 2 {
				s.refs.Store(0)
			}
			wrong()
		}()
	}
	if got := a.Stats().Misuse; got != 3 {
		t.Errorf("%d cases of misuse counted, want 3", got)
	}
	x, y := get(t, a, 1000), get(t, a, 1000)
	if x == y {
		t.Error("misuse made a slot free twice")
	}
	unref(x, y)
}

func TestWriteAfterRelease(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("only invariants builds notice")
	}
	a := newArena(t, Config{})
	s := get(t, a, 1000)
	m := s.Mem()
	s.Unref()
	m[7] = 1
	func() {
		defer func() {
			if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), "byte 7") {
				t.Errorf("not noticed: %v", p)
			}
		}()
		a.Get(1000)
	}()
	s.refs.Store(1) // it was taken out of the list
	s.Unref()
}

func TestSteadyStateAllocatesAndCommitsNothing(t *testing.T) {
	both(t, func(t *testing.T, c Config) {
		a := newArena(t, c)
		sizes := []int{100, 1000, 4096, 64 << 10, 1 << 20, 8 << 20}
		for _, n := range sizes {
			get(t, a, n).Unref()
		}
		before := a.Stats()
		rounds := 1000
		if invariants.Enabled {
			rounds = 5
		}
		for _, n := range sizes {
			got := testing.AllocsPerRun(rounds, func() {
				s, _ := a.Get(n)
				s.Ref()
				s.Mem()[n-1] = s.View()[0]
				s.Unref()
				s.Unref()
			})
			if got != 0 {
				t.Errorf("%d bytes: %v allocations", n, got)
			}
		}
		after := a.Stats()
		if after.Commits != before.Commits || after.Committed != before.Committed {
			t.Errorf("before %+v, after %+v", before, after)
		}
		if want := before.Gets + uint64((rounds+1)*len(sizes)); after.Gets != want {
			t.Errorf("%d gets counted, want %d", after.Gets, want)
		}
	})
}

func TestFullNamesTheLimit(t *testing.T) {
	both(t, func(t *testing.T, c Config) {
		c.Limit = 8 << 20
		a := newArena(t, c)
		slots, full := fill(t, a, 1<<20)
		if len(slots) != 8 {
			t.Errorf("8 MiB gave %d slots of 1 MiB", len(slots))
		}
		if full.Wanted != 1<<20 || full.Free != 0 || full.Limit != 8<<20 || full.LimitName != LimitShm {
			t.Errorf("%+v", full)
		}
		full.Topic = "/camera/image"
		for _, part := range []string{"/camera/image", "1048576", "free 0", "TAGUS_SHM_MAX_BYTES = 8388608"} {
			if !strings.Contains(full.Error(), part) {
				t.Errorf("%q does not say %q", full, part)
			}
		}
		slots[3].Unref()
		slots[3] = get(t, a, 1<<20) // one came back, so one can be had
		if got := a.Stats().Failures; got != 1 {
			t.Errorf("%d failures counted", got)
		}
		unref(slots...)

		_, err := a.Get(9 << 20)
		if !errors.As(err, &full) || full.Limit != 8<<20 || full.Free != 8<<20 {
			t.Errorf("more than the limit: %v", err)
		}
		_, err = a.Get(pool.MaxSize + 1)
		if !errors.As(err, &full) || full.LimitName != LimitClass {
			t.Errorf("more than any class: %v", err)
		}
	})
}

// At the limit, memory that is idle in one size serves another.
func TestIdleSizesServeOthers(t *testing.T) {
	both(t, func(t *testing.T, c Config) {
		c.Limit = 16 << 20
		a := newArena(t, c)
		for _, n := range []int{1 << 20, 200, 8 << 20, 16 << 20, 5000, 100_000, 16 << 20, 1000} {
			slots, _ := fill(t, a, n)
			held := int64(0)
			for _, s := range slots {
				held += int64(s.Cap())
			}
			if most := a.limit / slots[0].chunk.class.bytes * slots[0].chunk.class.bytes; held != most {
				t.Errorf("size %d: %d of %d bytes could be had", n, held, most)
			}
			unref(slots...)
		}
		s := a.Stats()
		if s.Reclaims == 0 || s.Committed > a.limit || s.Peak > a.limit {
			t.Errorf("%+v", s)
		}
	})
}

func TestReclaimTakesTheLeastThatIsEnough(t *testing.T) {
	a := newArena(t, Config{Limit: 16 << 20})
	eight, two, one := get(t, a, 8<<20), get(t, a, 2<<20), get(t, a, 1<<20)
	five := get(t, a, 5<<20)
	unref(eight, two, one, five)
	get(t, a, 3<<19).Unref() // wants 1.5 MiB: the slot of 2 MiB is enough
	if s := a.Stats(); s.Reclaims != 1 || s.Committed != 16<<20-2<<20+3<<19 {
		t.Errorf("%+v", s)
	}
	get(t, a, 2<<20).Unref() // half a MiB is uncommitted, so the slot of 1.5 MiB is enough
	if s := a.Stats(); s.Reclaims != 2 || s.GivenBackBytes != 2<<20+3<<19 {
		t.Errorf("%+v", s)
	}
	get(t, a, 12<<20).Unref() // no slot is enough; the largest are
	if s := a.Stats(); s.Reclaims != 4 || s.GivenBackBytes != 2<<20+3<<19+13<<20 {
		t.Errorf("%+v", s)
	}
}

func TestChangingSizes(t *testing.T) {
	run := func(limit int64, rounds int) func(t *testing.T) {
		return func(t *testing.T) {
			a := newArena(t, Config{Limit: limit})
			n := 200
			for range rounds {
				s := get(t, a, n)
				s.Mem()[n-1] = 1
				s.Unref()
				if n = n*21/20 + 1; n > 20<<20 {
					n = 200
				}
			}
			if s := a.Stats(); s.Failures != 0 || s.Gets != uint64(rounds) || s.Peak > limit {
				t.Errorf("%+v", s)
			}
		}
	}
	rounds := 100_000
	if invariants.Enabled {
		rounds = 500 // each round writes and reads the whole slot
	}
	t.Run("ample", run(1<<30, rounds))
	t.Run("tight", run(24<<20, 3000))
}

// Slots never overlap, nobody else writes into them, and the counts are exact.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Int64Range(1<<20, 32<<20).Draw(t, "limit")
		recycle := rapid.SampledFrom([]Recycle{LIFO, FIFO, Off}).Draw(t, "recycle")
		a, err := New(Config{Limit: limit, Recycle: recycle, host: plenty})
		if err != nil {
			t.Fatal(err)
		}
		type held struct {
			s    *Slot
			mark byte
		}
		var slots []held
		mark := byte(0)
		ends := func(s *Slot) []byte { m := s.Mem(); return m[:min(len(m), 64)] }
		t.Repeat(map[string]func(*rapid.T){
			"get": func(t *rapid.T) {
				n := rapid.IntRange(1, 8<<20).Draw(t, "n") >> rapid.IntRange(0, 22).Draw(t, "shift")
				s, err := a.Get(n)
				full := (*ErrArenaFull)(nil)
				if errors.As(err, &full) && full.LimitName == LimitShm {
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				for _, h := range slots {
					if s.Offset() < h.s.Offset()+int64(h.s.Cap()) && h.s.Offset() < s.Offset()+int64(s.Cap()) {
						t.Fatal("slots overlap")
					}
				}
				mark++
				for i := range ends(s) {
					ends(s)[i] = mark
				}
				slots = append(slots, held{s, mark})
			},
			"put": func(t *rapid.T) {
				if len(slots) == 0 {
					t.Skip("none")
				}
				i := rapid.IntRange(0, len(slots)-1).Draw(t, "which")
				h := slots[i]
				for _, b := range ends(h.s) {
					if b != h.mark {
						t.Fatal("a slot in use was overwritten")
					}
				}
				h.s.Unref()
				slots = slices.Delete(slots, i, i+1)
			},
			"": func(t *rapid.T) {
				s := a.Stats()
				inUse := int64(0)
				for _, h := range slots {
					inUse += int64(h.s.Cap())
				}
				holes := int64(0)
				for _, h := range a.holes.free {
					holes += h.size
				}
				if s.Slots != len(slots) || s.InUse != inUse || s.InUse+s.Free != s.Committed ||
					s.Committed > limit || s.Committed+holes != a.back.size() || s.Committed != occupied(t, a) {
					t.Fatalf("%d slots of %d bytes, file holds %d, holes %d: %+v", len(slots), inUse, occupied(t, a), holes, s)
				}
			},
		})
		for _, h := range slots {
			h.s.Unref()
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestConcurrentUse(t *testing.T) {
	for _, c := range []Config{
		{Heap: true, Limit: 1 << 30},
		{Heap: true, Limit: 12 << 20},
		{Limit: 12 << 20},
		{Limit: 12 << 20, Recycle: Off},
	} {
		t.Run(fmt.Sprintf("heap=%v/%v/%d", c.Heap, c.Recycle, c.Limit), func(t *testing.T) {
			a := newArena(t, c)
			var wg sync.WaitGroup
			for g := range 8 {
				wg.Go(func() {
					for i := range 300 {
						// 8 slots of at most 1 MiB and half-used chunks of small ones always fit.
						n := 100 << (uint(i*7+g) % 14)
						s, err := a.Get(n)
						if err != nil {
							t.Error(err)
							return
						}
						m := s.Mem()
						m[0], m[n-1] = byte(g), byte(i)
						s.Ref()
						done := make(chan struct{})
						go func() {
							if v := s.View(); v[0] != byte(g) || v[n-1] != byte(i) {
								t.Error("a slot had two owners")
							}
							s.Unref()
							close(done)
						}()
						if i%3 == 0 {
							<-done
						}
						s.Unref()
						<-done
					}
				})
			}
			wg.Wait()
			s := a.Stats()
			if s.Slots != 0 || s.Failures != 0 || s.Misuse != 0 || s.Gets != 8*300 || s.Free != s.Committed {
				t.Errorf("%+v", s)
			}
			if got := occupied(t, a); got != s.Committed {
				t.Errorf("the file holds %d bytes, %d are counted", got, s.Committed)
			}
		})
	}
}
