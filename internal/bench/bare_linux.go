package bench

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tagus-ros/tagus/internal/bench/machine"
	"github.com/tagus-ros/tagus/internal/clock"
	"github.com/tagus-ros/tagus/internal/futex"
	"github.com/tagus-ros/tagus/internal/memfd"
)

// barePage is what the two ends share to ping each other without any middleware.
type barePage struct {
	futex bareWords
	poll  bareWords
	on    atomic.Uint32 // polling is under way
	_     [60]byte
	stop  atomic.Uint32
	_     [60]byte
}

// bareWords are one pair of directions.
type bareWords struct {
	ping    atomic.Uint32 // +1 a ping
	_       [60]byte
	pinged  atomic.Int64 // when
	_       [56]byte
	pong    atomic.Uint32 // +1 an answer
	_       [60]byte
	ponged  atomic.Int64 // when
	forward atomic.Int64 // how long the ping took
	_       [48]byte
}

const barePageBytes = (int64(unsafe.Sizeof(barePage{})) + 4095) &^ 4095

// bareEnd is the pinging end without middleware.
type bareEnd struct {
	page   *barePage
	mem    []byte
	in     io.WriteCloser
	cpu    int
	period time.Duration
	yield  bool // both ends share a processor: polls must let the other run
}

func newBareEnd(self machine.Self) (*bareEnd, *exec.Cmd, error) {
	f, err := memfd.Create("tagus-bench-ping", barePageBytes)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	mem, err := memfd.Map(f.FD(), barePageBytes, true)
	if err != nil {
		return nil, nil, err
	}
	fd, err := unix.FcntlInt(uintptr(f.FD()), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, nil, os.NewSyscallError("dup", err)
	}
	cmd := self(PongRole, "3")
	cmd.ExtraFiles = []*os.File{os.NewFile(uintptr(fd), "memfd")}
	return &bareEnd{mem: mem, page: (*barePage)(unsafe.Pointer(&mem[0]))}, cmd, nil
}

// end stops the answering process.
func (b *bareEnd) end(cmd *exec.Cmd) error {
	b.page.stop.Store(1)
	for _, w := range []*atomic.Uint32{&b.page.futex.ping, &b.page.on} {
		w.Add(1)
		futex.Wake(w, 1)
	}
	b.in.Close()
	err := cmd.Wait()
	for _, f := range cmd.ExtraFiles {
		f.Close()
	}
	return errors.Join(err, memfd.Unmap(b.mem))
}

var errNoAnswer = fmt.Errorf("no answer within %v", pingTimeout)

// onCPU runs fn on a locked thread bound to a processor.
func onCPU(cpu int, fn func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and end with it: it stays bound
		if err := machine.Pin(cpu); err != nil {
			done <- err
			return
		}
		done <- fn()
	}()
	return <-done
}

// futexBlock pings n times by a futex.
func (b *bareEnd) futexBlock(n int, t *trips) error {
	return b.run(n, func() error {
		w := &b.page.futex
		want := w.pong.Load() + 1
		start := clock.Mono()
		w.pinged.Store(start)
		w.ping.Add(1)
		futex.Wake(&w.ping, 1)
		for w.pong.Load() != want {
			if futex.Wait(&w.pong, want-1, start+int64(pingTimeout)) == futex.TimedOut {
				return errNoAnswer
			}
		}
		now := clock.Mono()
		t.add(w.forward.Load(), now-w.ponged.Load(), now-start)
		return nil
	})
}

// pollBlock pings n times by a word that both ends poll.
func (b *bareEnd) pollBlock(n int, t *trips) error {
	b.page.on.Store(1)
	futex.Wake(&b.page.on, 1)
	defer b.page.on.Store(0)
	return b.run(n, func() error {
		w := &b.page.poll
		want := w.pong.Load() + 1
		start := clock.Mono()
		w.pinged.Store(start)
		w.ping.Add(1)
		for i := 1; w.pong.Load() != want; i++ {
			if b.yield {
				schedYield()
			}
			if i%1024 == 0 && clock.Mono() > start+int64(pingTimeout) {
				return errNoAnswer
			}
		}
		now := clock.Mono()
		t.add(w.forward.Load(), now-w.ponged.Load(), now-start)
		return nil
	})
}

// run calls trip n times at the rate on the pinging processor.
func (b *bareEnd) run(n int, trip func() error) error {
	return onCPU(b.cpu, func() error {
		var word atomic.Uint32
		next := clock.Mono()
		for range n {
			next = max(next, clock.Mono()-int64(b.period)) + int64(b.period)
			for clock.Mono() < next {
				futex.Wait(&word, 0, next)
			}
			if err := trip(); err != nil {
				return err
			}
		}
		return nil
	})
}

func schedYield() {
	_, _, _ = unix.Syscall(unix.SYS_SCHED_YIELD, 0, 0, 0) // cannot fail
}

// serveBare answers pings without middleware, on two threads bound to the answering processor.
func serveBare(s pongSetup, args []string) (stop func(), err error) {
	if len(args) != 1 {
		return nil, errors.New("pong needs a descriptor")
	}
	fd, err := strconv.Atoi(args[0])
	if err != nil {
		return nil, err
	}
	if _, err := memfd.Check(fd, barePageBytes, barePageBytes); err != nil {
		return nil, err
	}
	mem, err := memfd.Map(fd, barePageBytes, true)
	if err != nil {
		return nil, err
	}
	page := (*barePage)(unsafe.Pointer(&mem[0]))
	var wg sync.WaitGroup
	for _, serve := range []func(*barePage, bool) error{answerFutex, answerPoll} {
		wg.Go(func() {
			if err := onCPU(s.CPU, func() error { return serve(page, s.Same) }); err != nil {
				fmt.Fprintln(os.Stderr, "answer pings:", err) // the pinging side waits in vain and says so
			}
		})
	}
	return func() {
		page.stop.Store(1)
		for _, w := range []*atomic.Uint32{&page.futex.ping, &page.on} {
			w.Add(1)
			futex.Wake(w, 1)
		}
		wg.Wait()
	}, nil
}

func answerFutex(page *barePage, _ bool) error {
	w := &page.futex
	for last := w.ping.Load(); page.stop.Load() == 0; last++ {
		for w.ping.Load() == last {
			futex.Wait(&w.ping, last, -1)
		}
		w.answer()
		futex.Wake(&w.pong, 1)
	}
	return nil
}

func answerPoll(page *barePage, yield bool) error {
	w := &page.poll
	last := w.ping.Load()
	for page.stop.Load() == 0 {
		if page.on.Load() == 0 {
			futex.Wait(&page.on, 0, -1)
			continue
		}
		if w.ping.Load() == last {
			if yield {
				schedYield()
			}
			continue
		}
		w.answer()
		last++
	}
	return nil
}

func (w *bareWords) answer() {
	now := clock.Mono()
	w.forward.Store(now - w.pinged.Load())
	w.ponged.Store(clock.Mono())
	w.pong.Add(1)
}
