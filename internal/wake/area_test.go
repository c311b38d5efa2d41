package wake

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/tagus-ros/tagus/internal/clock"
	"github.com/tagus-ros/tagus/internal/futex"
)

func newArea(t testing.TB, summaryWords int) *Area {
	t.Helper()
	a, err := NewHeapArea(summaryWords)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func take(a *Area) (leaves []int) {
	a.Take(func(leaf int) { leaves = append(leaves, leaf) })
	slices.Sort(leaves)
	return leaves
}

func TestSizes(t *testing.T) {
	for _, c := range []struct{ summary, size, leaves int }{
		{1, 64 + 64 + 512, 4096},
		{8, 64 + 64 + 4096, 32768},
		{9, 64 + 128 + 9*512, 9 * 4096},
		{64, 64 + 512 + 64*512, 262144},
	} {
		if got := AreaSize(c.summary); got != c.size {
			t.Errorf("AreaSize(%d) = %d, want %d", c.summary, got, c.size)
		}
		if got := Leaves(c.summary); got != c.leaves {
			t.Errorf("Leaves(%d) = %d, want %d", c.summary, got, c.leaves)
		}
	}
}

func TestNewAreaRefuses(t *testing.T) {
	words := make([]uint64, 2000)
	mem := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 8*len(words))
	mem = mem[-uintptr(unsafe.Pointer(&mem[0]))%line:]
	for what, c := range map[string]struct {
		mem     []byte
		summary int
	}{
		"no summary":       {mem, 0},
		"negative summary": {mem, -1},
		"big summary":      {mem, MaxSummaryWords + 1},
		"little memory":    {mem[:AreaSize(1)-1], 1},
		"no memory":        {nil, 1},
		"odd address":      {mem[8:], 1},
	} {
		if _, err := NewArea(c.mem, c.summary); err == nil {
			t.Errorf("%s: accepted", what)
		}
	}
	if _, err := NewArea(mem[:AreaSize(1)], 1); err != nil {
		t.Error(err)
	}
}

// TestLayout pins the bytes that other processes rely on.
func TestLayout(t *testing.T) {
	words := make([]uint64, (AreaSize(8)+line)/8)
	mem := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 8*len(words))
	mem = mem[-uintptr(unsafe.Pointer(&mem[0]))%line:]
	a, err := NewArea(mem, 8)
	if err != nil {
		t.Fatal(err)
	}
	u32 := func(off int) uint32 { return *(*uint32)(unsafe.Pointer(&mem[off])) }
	u64 := func(off int) uint64 { return *(*uint64)(unsafe.Pointer(&mem[off])) }
	const leaf = 2*4096 + 5*64 + 7 // summary word 2, bit 5; leaf word 133, bit 7
	a.Signal(leaf)
	a.Poke()
	if u32(0) != 2 || u32(4) != 0 || u32(8) != 1 {
		t.Errorf("word %d, sleeping %d, poked %d; want 2, 0, 1", u32(0), u32(4), u32(8))
	}
	if got := u64(64 + 2*8); got != 1<<5 {
		t.Errorf("summary word 2 is %#x", got)
	}
	if got := u64(64 + 64 + 133*8); got != 1<<7 {
		t.Errorf("leaf word 133 is %#x", got)
	}
}

func TestSignalAndTake(t *testing.T) {
	for _, summary := range []int{1, 3, 8, 64} {
		a := newArea(t, summary)
		if got := take(a); len(got) != 0 {
			t.Errorf("fresh area has %v", got)
		}
		var want []int
		for range 500 {
			leaf := rand.IntN(a.Leaves())
			if !a.Signal(leaf) {
				t.Fatalf("leaf %d of %d refused", leaf, a.Leaves())
			}
			want = append(want, leaf)
		}
		want = append(want, 0, a.Leaves()-1)
		a.Signal(0)
		a.Signal(a.Leaves() - 1)
		slices.Sort(want)
		want = slices.Compact(want)
		if !a.Ready() {
			t.Error("not ready")
		}
		if got := take(a); !slices.Equal(got, want) {
			t.Errorf("took %v, want %v", got, want)
		}
		if got := take(a); len(got) != 0 || a.Ready() {
			t.Errorf("took %v again", got)
		}
		for _, bad := range []int{-1, a.Leaves(), a.Leaves() + 1, 1 << 40, -1 << 63} {
			if a.Signal(bad) {
				t.Errorf("leaf %d accepted", bad)
			}
		}
		if a.Ready() {
			t.Error("bad leaves left traces")
		}
	}
}

// TestGarbage fills the memory with what a broken peer might write.
func TestGarbage(t *testing.T) {
	a := newArea(t, 3)
	for range 1000 {
		for i := range a.summary {
			a.summary[i].Store(rand.Uint64())
		}
		for i := range a.leaves {
			a.leaves[i].Store(rand.Uint64())
		}
		a.head.poked.Store(rand.Uint32())
		a.head.sleeping.Store(rand.Uint32())
		a.head.word.Store(rand.Uint32())
		a.Wait(clock.Mono())
		a.Take(func(leaf int) {
			if leaf < 0 || leaf >= a.Leaves() {
				t.Fatalf("visited leaf %d of %d", leaf, a.Leaves())
			}
		})
		a.Signal(rand.IntN(a.Leaves()))
	}
}

func TestPokeIsKept(t *testing.T) {
	a := newArea(t, 1)
	a.Poke()
	for range 2 {
		if !a.Wait(-1) {
			t.Error("poke before Wait was lost")
		}
	}
	take(a)
	if a.Wait(0) {
		t.Error("poke outlives Take")
	}
}

func TestDeadline(t *testing.T) {
	a := newArea(t, 1)
	for range 200 {
		deadline := clock.Mono() + rand.Int64N(300_000)
		if a.Wait(deadline) {
			t.Fatal("something is there")
		}
		if early := deadline - clock.Mono(); early > 0 {
			t.Fatalf("%d ns early", early)
		}
	}
	a.Signal(5)
	if !a.Wait(0) {
		t.Error("deadline long past hides a signal")
	}
}

func TestSpin(t *testing.T) {
	a := newArea(t, 1)
	until := clock.Mono() + 100_000
	if a.Spin(until) || clock.Mono() < until {
		t.Error("ended early")
	}
	calls := futex.Calls()
	go a.Signal(3)
	if !a.Spin(clock.Mono() + int64(20*time.Second)) {
		t.Error("signal not seen")
	}
	if now := futex.Calls(); now != calls {
		t.Errorf("system calls while spinning: %+v, before %+v", now, calls)
	}
	if got := take(a); !slices.Equal(got, []int{3}) {
		t.Errorf("took %v", got)
	}
}

// asleep waits until the owner of a is in the kernel or about to be: then each signal wakes.
func asleep(t testing.TB, a *Area) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); a.head.sleeping.Load() == 0; {
		if time.Now().After(deadline) {
			t.Fatal("does not fall asleep")
		}
		time.Sleep(10 * time.Microsecond)
	}
}

// TestSystemCalls counts them: none for an owner that is awake, one on each side for one that sleeps.
func TestSystemCalls(t *testing.T) {
	a := newArea(t, 8)
	before := futex.Calls()
	for i := range 1000 {
		a.Signal(i)
		a.Poke()
		a.Wait(-1)
		take(a)
	}
	if now := futex.Calls(); now != before {
		t.Errorf("awake: %+v, before %+v", now, before)
	}

	const rounds = 100
	var woken atomic.Int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range rounds {
			a.Wait(-1)
			take(a)
			woken.Add(1)
		}
	}()
	for i := range int64(rounds) {
		for woken.Load() != i {
			time.Sleep(10 * time.Microsecond)
		}
		asleep(t, a)
		a.Signal(0)
	}
	<-done
	now := futex.Calls()
	if n := now.Wakes - before.Wakes; n != rounds {
		t.Errorf("%d wake calls for %d sleeps", n, rounds)
	}
	// A signal may come between the flag and the kernel's comparison; that call does not sleep, but it is one.
	if n := now.Waits - before.Waits; n != rounds || a.Sleeps() != rounds {
		t.Errorf("%d wait calls, %d by the area's count, for %d sleeps", n, a.Sleeps(), rounds)
	}
}

func TestWaitContext(t *testing.T) {
	a := newArea(t, 1)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := a.WaitContext(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("ended context: %v", err)
	}
	take(a)
	a.Signal(1)
	if err := a.WaitContext(ended); err != nil {
		t.Errorf("signal and ended context: %v", err)
	}
	take(a)
	for range 100 {
		ctx, cancel := context.WithCancel(context.Background())
		go cancel()
		err := a.WaitContext(ctx)
		for err == nil { // the context before poked late
			take(a)
			err = a.WaitContext(ctx)
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("cancelled: %v", err)
		}
		take(a)
	}
	for range 50 {
		deadline := time.Now().Add(time.Duration(rand.IntN(1000)) * time.Microsecond)
		ctx, cancel := context.WithDeadline(context.Background(), deadline)
		err := a.WaitContext(ctx)
		for err == nil { // a context from above poked late
			take(a)
			err = a.WaitContext(ctx)
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("deadline: %v", err)
		}
		if early := time.Until(deadline); early > 0 {
			t.Fatalf("%v early", early)
		}
		cancel()
		take(a)
	}
	ctx, cancel := context.WithCancel(context.Background())
	for i := range 1000 {
		go a.Signal(i)
		if err := a.WaitContext(ctx); err != nil {
			t.Fatal(err)
		}
		for len(take(a)) == 0 { // the contexts above may have poked late
			if err := a.WaitContext(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	a.Release()
	cancel()
}

func TestNoAllocations(t *testing.T) {
	a := newArea(t, 8)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n := 0
	visit := func(int) { n++ }
	f := func() {
		a.Signal(77)
		a.Wait(-1)
		a.Take(visit)
		a.Wait(clock.Mono() + 10_000)
		a.Signal(78)
		a.WaitContext(ctx)
		a.Take(visit)
	}
	f()
	if n := testing.AllocsPerRun(100, f); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestStress lets eight threads signal leaves of their own 100,000 times in all while the owner sleeps whenever it can, with and
// without deadlines. Each thread writes a number before it signals; under the race detector this also shows that the visit
// may read it. After the last signal every number must have been seen: none was lost.
func TestStress(t *testing.T) {
	const threads, each = 8, 12_500
	a := newArea(t, 8)
	var wrote [threads]atomic.Int64
	var seen [threads]int64
	leaves := map[int]int{}
	var wg sync.WaitGroup
	for i := range threads {
		leaf := rand.IntN(a.Leaves() / threads)
		leaf = leaf*threads + i
		leaves[leaf] = i
		wg.Go(func() {
			for n := range int64(each) {
				wrote[i].Store(n + 1)
				a.Signal(leaf)
				if n%64 == 0 {
					time.Sleep(time.Microsecond) // lets the owner fall asleep now and then
				}
			}
		})
	}
	missing := threads
	visit := func(leaf int) {
		i, ok := leaves[leaf]
		if !ok {
			t.Errorf("leaf %d was never signalled", leaf)
			return
		}
		n := wrote[i].Load()
		if n == each && seen[i] != each {
			missing--
		}
		seen[i] = n
	}
	for round := 0; missing > 0; round++ {
		deadline := clock.Mono() + int64(20*time.Second)
		if round%3 == 0 {
			deadline = clock.Mono() + 5_000
		}
		if !a.Wait(deadline) && round%3 != 0 {
			t.Fatalf("lost wake-up: seen %v", seen)
		}
		a.Take(visit)
	}
	wg.Wait()
	t.Logf("%d sleeps for %d signals", a.Sleeps(), threads*each)
}

// TestHandsOver checks under the race detector that a visit may read what was written before the signal.
func TestHandsOver(t *testing.T) {
	a := newArea(t, 1)
	back := newArea(t, 1)
	const rounds = 5000
	x := 0
	go func() {
		for range rounds {
			x++
			a.Signal(9)
			back.Wait(-1)
			take(back)
		}
	}()
	for i := range rounds {
		for {
			if !a.Wait(clock.Mono() + int64(20*time.Second)) {
				t.Fatal("lost wake-up")
			}
			if len(take(a)) != 0 {
				break
			}
		}
		if x != i+1 {
			t.Fatalf("read %d in round %d", x, i)
		}
		back.Signal(1)
	}
}

func BenchmarkSignalAwake(b *testing.B) {
	a := newArea(b, 8)
	visit := func(int) {}
	for b.Loop() {
		a.Signal(1234)
		a.Take(visit)
	}
}

func BenchmarkTakeNothing(b *testing.B) {
	a := newArea(b, 8)
	visit := func(int) {}
	for b.Loop() {
		a.Take(visit)
	}
}
