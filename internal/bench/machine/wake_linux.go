package machine

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tagus-ros/tagus/internal/clock"
	"github.com/tagus-ros/tagus/internal/futex"
	"github.com/tagus-ros/tagus/internal/memfd"
)

// WakePeer is the word by which Self starts the other end of BareWake; the program then calls ServeWake.
const WakePeer = "wake-peer"

// wakePage is what the two ends of BareWake share.
type wakePage struct {
	word    atomic.Uint32 // 1 when the peer is ready, then +1 a wake
	_       [60]byte
	stamp   atomic.Int64 // when the last wake began
	_       [56]byte
	stop    atomic.Uint32
	_       [60]byte
	ready   atomic.Uint32
	_       [60]byte
	n       atomic.Int64
	_       [56]byte
	samples [wakeSamples]int64
}

const (
	wakeSamples = 1 << 15
	wakeBytes   = (int64(unsafe.Sizeof(wakePage{})) + 4095) &^ 4095
)

// BareWake wakes a thread of another process by a futex in shared memory, rate times a second for d, and returns how long it
// took each time from before the wake until the other thread read its clock, in nanoseconds. Nothing is pinned.
func BareWake(self Self, rate float64, d time.Duration) ([]int64, error) {
	rate = min(max(rate, 1), wakeSamples/2/d.Seconds())
	f, err := memfd.Create("tagus-bench-wake", wakeBytes)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	mem, err := memfd.Map(f.FD(), wakeBytes, true)
	if err != nil {
		return nil, err
	}
	page := (*wakePage)(unsafe.Pointer(&mem[0]))
	fd, err := dup(f.FD())
	if err != nil {
		return nil, err
	}
	defer fd.Close()
	cmd := self(WakePeer, strconv.Itoa(3))
	cmd.ExtraFiles = []*os.File{fd}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the peer of the wake measure: %w", err)
	}
	died := make(chan error, 1)
	go func() { died <- cmd.Wait() }()

	end := func() error {
		page.stop.Store(1)
		page.word.Add(1)
		futex.Wake(&page.word, 1)
		return <-died
	}
	deadline := clock.Mono() + int64(10*time.Second)
	for page.ready.Load() == 0 {
		select {
		case err := <-died:
			return nil, fmt.Errorf("the peer of the wake measure ended: %w", err)
		default:
		}
		if clock.Mono() > deadline {
			_ = cmd.Process.Kill() // the error of Wait says what became of it
			return nil, fmt.Errorf("the peer of the wake measure did not start: %w", <-died)
		}
		futex.Wait(&page.ready, 0, clock.Mono()+int64(50*time.Millisecond))
	}
	Ticks([]time.Duration{time.Duration(math.Round(1e9 / rate))}, d, func(int) {
		page.stamp.Store(clock.Mono())
		page.word.Add(1)
		futex.Wake(&page.word, 1)
	})
	if err := end(); err != nil {
		return nil, fmt.Errorf("the peer of the wake measure: %w", err)
	}
	n := min(max(page.n.Load(), 0), wakeSamples)
	out := make([]int64, n)
	copy(out, page.samples[:n])
	return out, memfd.Unmap(mem)
}

// ServeWake is the other end of BareWake: it sleeps on the word in the memory behind descriptor fd and notes how long each wake
// took.
func ServeWake(fd int) error {
	if _, err := memfd.Check(fd, wakeBytes, wakeBytes); err != nil {
		return err
	}
	mem, err := memfd.Map(fd, wakeBytes, true)
	if err != nil {
		return err
	}
	page := (*wakePage)(unsafe.Pointer(&mem[0]))
	parent := os.Getppid()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		last := page.word.Load()
		page.ready.Store(1)
		futex.Wake(&page.ready, 1)
		for page.stop.Load() == 0 {
			for page.word.Load() == last {
				if futex.Wait(&page.word, last, clock.Mono()+int64(time.Second)) == futex.TimedOut && os.Getppid() != parent {
					return // whoever wanted to know is gone
				}
			}
			now := clock.Mono()
			word := page.word.Load()
			if n := page.n.Load(); word == last+1 && n < wakeSamples && page.stop.Load() == 0 {
				page.samples[n] = max(now-page.stamp.Load(), 0)
				page.n.Store(n + 1)
			}
			last = word
		}
	}()
	<-done
	return memfd.Unmap(mem)
}

// dup makes a file of its own for a descriptor, to be handed to a child.
func dup(fd int) (*os.File, error) {
	n, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, os.NewSyscallError("dup", err)
	}
	return os.NewFile(uintptr(n), "memfd"), nil
}
