// Package wake is what an executor sleeps on: a word, a sleeping flag and a two-level bitmap that says which of many
// thousand sources have something to offer.
//
// Any number of processes signal, one thread sleeps. A signal costs three atomic operations while the sleeper is awake and
// one system call more when it sleeps; finding what was signalled costs the same for ten sources as for ten thousand.
//
// The memory is the caller's, usually a mapped memfd that peers map as well. Peers may write anything there: a value read
// from it is never used as an index, and the worst that garbage does is to wake the sleeper for nothing. Byte layout (words
// in the byte order of the host, offsets in bytes):
//
//	0     u32  word      counts signals; the futex
//	4     u32  sleeping  1 while the owner sleeps or is about to; written by the owner alone
//	8     u32  poked     1 after a signal that has no leaf
//	12         reserved, 0
//	64    u64  summary[S], bit i of word s: leaf word 64*s+i may have a bit set
//	64+8S padding up to a multiple of 64
//	      u64  leaves[64*S], bit i of word w: leaf 64*w+i was signalled
//
// The word and the flag share a cache line, since whoever adds to the one then reads the other.
//
// It must not import anything of this module but internal/futex and internal/clock.
package wake

import (
	"context"
	"fmt"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/tagus-ros/tagus/internal/clock"
	"github.com/tagus-ros/tagus/internal/futex"
)

const (
	// MaxSummaryWords is the largest number of summary words of an area: 64 summary words stand for 262,144 leaves.
	MaxSummaryWords = 64

	line     = 64
	wordBits = 64
)

// AreaSize returns the bytes that an area with so many summary words takes, a multiple of 64. The number must be from 1 to
// [MaxSummaryWords].
func AreaSize(summaryWords int) int {
	return line + summarySize(summaryWords) + summaryWords*wordBits*8
}

// Leaves returns how many leaves an area with so many summary words has.
func Leaves(summaryWords int) int { return summaryWords * wordBits * wordBits }

func summarySize(summaryWords int) int { return (summaryWords*8 + line - 1) &^ (line - 1) }

// header is the first line of an area.
type header struct {
	word     atomic.Uint32
	sleeping atomic.Uint32
	poked    atomic.Uint32
}

// Area is one process's view of an area. The owner is the one thread, or one goroutine at a time, that calls Wait, WaitContext, Spin
// and Take; everybody may call Signal, Poke and Ready.
type Area struct {
	head    *header
	summary []atomic.Uint64
	leaves  []atomic.Uint64

	sleeps uint64 // of the owner
	cancel futex.Canceler
	poke   func() // a.Poke, made once
}

// NewArea makes a view of mem, which must be at least AreaSize(summaryWords) bytes long and start at a multiple of 64. The
// contents are taken as they are: fresh memory must be zero. Whoever unmaps mem must have
// called Release and ended all other use of the area before.
func NewArea(mem []byte, summaryWords int) (*Area, error) {
	if summaryWords < 1 || summaryWords > MaxSummaryWords {
		return nil, fmt.Errorf("wake: area with %d summary words: want 1 to %d", summaryWords, MaxSummaryWords)
	}
	if need := AreaSize(summaryWords); len(mem) < need {
		return nil, fmt.Errorf("wake: area with %d summary words in %d bytes: want %d", summaryWords, len(mem), need)
	}
	base := unsafe.Pointer(unsafe.SliceData(mem))
	if uintptr(base)%line != 0 {
		return nil, fmt.Errorf("wake: area at address %#x: want a multiple of %d", uintptr(base), line)
	}
	a := &Area{
		head:    (*header)(base),
		summary: unsafe.Slice((*atomic.Uint64)(unsafe.Add(base, line)), summaryWords),
		leaves: unsafe.Slice((*atomic.Uint64)(unsafe.Add(base, line+summarySize(summaryWords))),
			summaryWords*wordBits),
	}
	a.poke = a.Poke
	return a, nil
}

// NewHeapArea makes an area in fresh heap memory, for use within one process.
func NewHeapArea(summaryWords int) (*Area, error) {
	if summaryWords < 1 || summaryWords > MaxSummaryWords {
		return NewArea(nil, summaryWords)
	}
	// A slice of words is aligned to 8; one line more than needed leaves room to align it to a line.
	words := make([]uint64, (AreaSize(summaryWords)+line)/8)
	mem := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*8)
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(mem))) % line
	return NewArea(mem[skip:], summaryWords)
}

// Leaves returns the number of leaves: valid ones are 0 to Leaves()-1.
func (a *Area) Leaves() int { return len(a.leaves) * wordBits }

// Signal marks a leaf and wakes the owner if it sleeps. What the caller wrote before is visible to the owner when it visits
// the leaf. It reports whether there is such a leaf; if not, nothing was done.
func (a *Area) Signal(leaf int) bool {
	if uint(leaf) >= uint(len(a.leaves)*wordBits) {
		return false
	}
	w := leaf / wordBits
	// All steps are always taken, even if the leaf was marked already: who marked it may have died before the next step,
	// and an operation that writes is what orders the caller's earlier writes before the owner's visit.
	a.leaves[w].Or(1 << (leaf % wordBits))
	a.summary[w/wordBits].Or(1 << (w % wordBits))
	a.raise()
	return true
}

// Poke wakes the owner without marking a leaf. It is kept until the next Take.
func (a *Area) Poke() {
	a.head.poked.Store(1)
	a.raise()
}

// raise tells the owner that a bit was set. Who sleeps compares the word in the kernel, so either that comparison sees this
// addition, or sleeping was set before it and is seen here.
func (a *Area) raise() {
	a.head.word.Add(1)
	if a.head.sleeping.Load() != 0 {
		futex.Wake(&a.head.word, 1)
	}
}

// Ready reports whether something was signalled or poked since the last Take.
func (a *Area) Ready() bool { return a.signalled() || a.head.poked.Load() != 0 }

func (a *Area) signalled() bool {
	for i := range a.summary {
		if a.summary[i].Load() != 0 {
			return true
		}
	}
	return false
}

// Wait sleeps until something is there (true; at once if so already) or the clock reaches deadline ([clock.Mono],
// nanoseconds; negative: no deadline). It does not return false before the deadline.
//
// The order of its steps is the whole protocol. The word is read and the flag set before the bits are looked at, so a signal
// whose bits this look misses is still to add to the word, and finds the flag set.
func (a *Area) Wait(deadline int64) bool {
	for {
		w := a.head.word.Load()
		a.head.sleeping.Store(1)
		if a.Ready() {
			a.head.sleeping.Store(0)
			return true
		}
		a.sleeps++
		r := futex.Wait(&a.head.word, w, deadline)
		a.head.sleeping.Store(0)
		if a.Ready() {
			return true
		}
		if r == futex.TimedOut {
			// The kernel's clock may be a fraction of a microsecond ahead of ours.
			for clock.Mono() < deadline {
			}
			return a.Ready()
		}
		// A wake-up without cause, or a signaller between its bits and its word whose bits were taken already.
	}
}

// WaitContext is Wait with a context: nil says that something is there, an error that ctx has ended, and which way. If ctx has a
// deadline, that is kept as exactly as Wait keeps it. Calls with the same context over and over allocate nothing; the first
// one with a context that can end allocates a registration, which lasts until Release. The end of a context pokes the area,
// so that a later wait may return at once for nothing.
func (a *Area) WaitContext(ctx context.Context) error {
	if a.Ready() {
		return nil
	}
	deadline := int64(-1)
	if t, ok := ctx.Deadline(); ok {
		deadline = clock.MonoOf(t)
	}
	watch := a.cancel.Begin(ctx, a.poke)
	defer watch.End()
	for {
		if a.signalled() {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if a.head.poked.Load() != 0 {
			return nil
		}
		if !a.Wait(deadline) {
			return context.DeadlineExceeded // ctx may be a moment late to say so
		}
	}
}

// Release ends the view's use of the memory, except by calls that are running: contexts given to WaitContext are forgotten.
func (a *Area) Release() { a.cancel.Release() }

// Spin looks for a signal without sleeping, until something is there (true) or the clock reaches until. While it looks,
// signals need no system call.
func (a *Area) Spin(until int64) bool {
	for {
		// The clock costs as much as a dozen looks.
		for range 16 {
			if a.Ready() {
				return true
			}
		}
		if clock.Mono() >= until {
			return a.Ready()
		}
	}
}

// Take calls visit for each leaf signalled since the last Take, in no particular order, and clears them. A leaf that is
// signalled during the call may be visited now or by the next Take.
func (a *Area) Take(visit func(leaf int)) {
	if a.head.poked.Load() != 0 {
		a.head.poked.Swap(0) // a swap, not a store: it must see the poke that it clears, and what came before
	}
	for s := range a.summary {
		if a.summary[s].Load() == 0 {
			continue // read first: a swap would take the line from the signallers for nothing
		}
		for sum := a.summary[s].Swap(0); sum != 0; sum &= sum - 1 {
			w := s*wordBits + bits.TrailingZeros64(sum)
			for leaves := a.leaves[w].Swap(0); leaves != 0; leaves &= leaves - 1 {
				visit(w*wordBits + bits.TrailingZeros64(leaves))
			}
		}
	}
}

// Sleeps returns how often Wait entered the kernel. Only the owner may call it.
func (a *Area) Sleeps() uint64 { return a.sleeps }

// Asleep reports whether the owner sleeps or is about to. It is for tests and displays: the answer may be old already.
func (a *Area) Asleep() bool { return a.head.sleeping.Load() != 0 }
