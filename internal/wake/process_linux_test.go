package wake

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tagus-ros/tagus/internal/clock"
)

// The tests of this file start this test binary again; the variable tells it how many signals to send, "0": without end.
const childEnv = "WAKE_TEST_SIGNALS"

func TestMain(m *testing.M) {
	if n := os.Getenv(childEnv); n != "" {
		if err := signalAll(n); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

const (
	sharedLeaves = 64 // each with a counter behind the area
	sharedSize   = 16384
)

// shared is memory of two processes: an area and for each of some leaves a counter of what was offered there.
type shared struct {
	area    *Area
	counter []atomic.Uint64
}

func mapShared(f *os.File) (*shared, error) {
	mem, err := unix.Mmap(int(f.Fd()), 0, sharedSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	a, err := NewArea(mem, 8)
	if err != nil {
		return nil, err
	}
	counters := mem[AreaSize(8):]
	return &shared{a, unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(&counters[0])), sharedLeaves)}, nil
}

func newShared(t testing.TB) (*shared, *os.File) {
	t.Helper()
	fd, err := unix.MemfdCreate("wake-test", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "memfd")
	t.Cleanup(func() { f.Close() })
	if err := f.Truncate(sharedSize); err != nil {
		t.Fatal(err)
	}
	s, err := mapShared(f)
	if err != nil {
		t.Fatal(err)
	}
	return s, f
}

// leafOf spreads the leaves over the bitmap.
func leafOf(i int) int { return i * 509 % Leaves(8) }

// signalAll is the child: it signals, pauses now and then, and reports at the end what it sent on each leaf.
func signalAll(signals string) error {
	n, err := strconv.Atoi(signals)
	if err != nil {
		return err
	}
	s, err := mapShared(os.NewFile(3, "memfd"))
	if err != nil {
		return err
	}
	for i := 0; n == 0 || i < n; i++ {
		leaf := rand.IntN(sharedLeaves)
		s.counter[leaf].Add(1)
		s.area.Signal(leafOf(leaf))
		if rand.IntN(50) == 0 {
			time.Sleep(time.Microsecond)
		}
	}
	for i := range s.counter {
		if err := binary.Write(os.Stdout, binary.LittleEndian, s.counter[i].Load()); err != nil {
			return err
		}
	}
	return nil
}

func startSignaller(t testing.TB, f *os.File, signals int) (*exec.Cmd, io.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+strconv.Itoa(signals))
	cmd.ExtraFiles = []*os.File{f}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd, out
}

// TestStressBetweenProcesses lets another process signal 200,000 times at random while the owner sleeps whenever it can. The
// last signal of each leaf must arrive.
func TestStressBetweenProcesses(t *testing.T) {
	const signals = 200_000
	s, f := newShared(t)
	index := map[int]int{}
	for i := range sharedLeaves {
		index[leafOf(i)] = i
	}
	cmd, out := startSignaller(t, f, signals)
	var seen [sharedLeaves]uint64
	total := uint64(0)
	for total < signals {
		if !s.area.Wait(clock.Mono() + int64(20*time.Second)) {
			t.Fatalf("lost wake-up after %d of %d", total, signals)
		}
		s.area.Take(func(leaf int) {
			i, ok := index[leaf]
			if !ok {
				t.Fatalf("leaf %d was never signalled", leaf)
			}
			n := s.counter[i].Load()
			total += n - seen[i]
			seen[i] = n
		})
	}
	var sent [sharedLeaves]uint64
	if err := binary.Read(out, binary.LittleEndian, &sent); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if sent != seen {
		t.Errorf("sent %v\nseen %v", sent, seen)
	}
	t.Logf("%d sleeps for %d signals", s.area.Sleeps(), signals)
}

// TestKilledSignaller kills signalling processes at random moments; what a living one signals afterwards must arrive, also on
// the leaf that the killed one was at work on.
func TestKilledSignaller(t *testing.T) {
	rounds := 50
	if testing.Short() {
		rounds = 5
	}
	s, f := newShared(t)
	for round := range rounds {
		cmd, _ := startSignaller(t, f, 0)
		// Consume for a while, so that the child meets an owner that sleeps and wakes.
		kill := clock.Mono() + int64(2*time.Millisecond) + rand.Int64N(int64(2*time.Millisecond))
		for got := false; !got || clock.Mono() < kill; {
			if !s.area.Wait(clock.Mono() + int64(20*time.Second)) {
				t.Fatalf("round %d: nothing comes", round)
			}
			s.area.Take(func(int) { got = true })
		}
		cmd.Process.Kill()
		cmd.Wait()

		left := map[int]bool{}
		done := make(chan bool, 1)
		for i := range sharedLeaves {
			left[leafOf(i)] = true
		}
		go func() {
			for len(left) > 0 {
				if !s.area.Wait(clock.Mono() + int64(20*time.Second)) {
					break
				}
				s.area.Take(func(leaf int) { delete(left, leaf) })
			}
			done <- true
		}()
		for i := range sharedLeaves {
			s.area.Signal(leafOf(i))
		}
		<-done
		if len(left) != 0 {
			t.Fatalf("round %d: deaf leaves %v", round, left)
		}
	}
}
