package arena

import (
	"errors"
	"sync/atomic"
	"testing"
)

// faulty is memory that fails on demand.
type faulty struct {
	*heap
	room     atomic.Int64 // bytes that can still be committed
	noPunch  atomic.Bool
	onCommit func()
}

var errNoRoom = errors.New("no space left")

func (f *faulty) commit(off, n int64) error {
	if f.onCommit != nil {
		f.onCommit()
	}
	if f.room.Add(-n) < 0 {
		f.room.Add(n)
		return errNoRoom
	}
	return f.heap.commit(off, n)
}

func (f *faulty) punch(off, n int64) error {
	if f.noPunch.Load() {
		return errNoRoom
	}
	f.room.Add(n)
	return f.heap.punch(off, n)
}

func newFaulty(t *testing.T, room int64) (*Arena, *faulty) {
	f := &faulty{heap: newHeap(256<<20, 4096)}
	f.room.Store(room)
	return newArena(t, Config{Limit: 64 << 20, backing: f}), f
}

// The system has less than the limit: an error that says so, nothing lost, and
// traffic goes on once there is room again.
func TestSystemOutOfMemory(t *testing.T) {
	a, f := newFaulty(t, 4<<20)
	slots, full := fill(t, a, 1<<20)
	if len(slots) != 4 || full.LimitName != LimitSystem || !errors.Is(full, errNoRoom) || full.Wanted != 1<<20 {
		t.Errorf("%d slots, then %v", len(slots), full)
	}
	if s := a.Stats(); s.Committed != 4<<20 || s.Failures != 1 {
		t.Errorf("%+v", s)
	}
	f.room.Add(1 << 20)
	slots = append(slots, get(t, a, 1<<20))
	unref(slots...)

	// What is idle makes room here, too.
	big := get(t, a, 5<<20)
	if s := a.Stats(); s.Reclaims != 5 || s.Committed != 5<<20 {
		t.Errorf("%+v", s)
	}
	big.Unref()
}

// A slot that comes back while the system refuses more is good enough.
func TestReleaseWhileGrowing(t *testing.T) {
	a, f := newFaulty(t, 1<<20)
	s := get(t, a, 1<<20)
	times := 0
	f.onCommit = func() {
		if times++; times == 2 { // the last attempt: there was nothing to give back
			s.Unref()
			f.noPunch.Store(true)
		}
	}
	again := get(t, a, 1<<20)
	if again != s || a.Stats().Failures != 0 {
		t.Errorf("another slot, or a failure: %+v", a.Stats())
	}
	again.Unref()
}

func TestSystemTakesNothingBack(t *testing.T) {
	a, f := newFaulty(t, 64<<20)
	f.noPunch.Store(true)
	slots, _ := fill(t, a, 32<<20)
	slots[0].Unref()
	slots[1].Unref()
	full := (*ErrArenaFull)(nil)
	if _, err := a.Get(1 << 20); !errors.As(err, &full) {
		t.Errorf("at the limit: %v", err)
	}
	s := a.Stats()
	if s.PunchErrors == 0 || s.Reclaims != 0 || s.Committed != 64<<20 || s.Free != 64<<20 {
		t.Errorf("%+v", s)
	}
	x, y := get(t, a, 32<<20), get(t, a, 32<<20) // nothing was lost
	unref(x, y)
	f.noPunch.Store(false)
	get(t, a, 1<<20).Unref()
}

func TestNoPlaceForTheRange(t *testing.T) {
	a := newArena(t, Config{Limit: 64 << 20, backing: newHeap(8<<20, 4096)})
	slots, full := fill(t, a, 3<<20)
	if len(slots) != 2 || full.LimitName != LimitRange || full.Free != 2<<20 || full.Limit != 8<<20 {
		t.Errorf("%d slots, then %v", len(slots), full)
	}
	slots[0].Unref()
	get(t, a, 5<<19).Unref() // 2.5 MiB: the idle 3 MiB give way
	slots[1].Unref()
	get(t, a, 8<<20).Unref()
	if s := a.Stats(); s.Failures != 1 || s.Committed != 8<<20 {
		t.Errorf("%+v", s)
	}
}
