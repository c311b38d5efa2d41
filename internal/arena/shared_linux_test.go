package arena

import (
	"bytes"
	"errors"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"unsafe"

	"github.com/tagus-ros/tagus/internal/memfd"
	"golang.org/x/sys/unix"
)

func TestPeersReadWhatTheOwnerWrote(t *testing.T) {
	a := newArena(t, Config{Limit: 16 << 20})
	fd, size := a.FD()
	if size != 64<<20 {
		t.Errorf("the file has %d bytes, want 4 times the limit", size)
	}
	if got, err := memfd.CheckReadOnly(fd, size, size); err != nil || got != size {
		t.Fatalf("a peer would refuse it: %d, %v", got, err)
	}
	if _, err := memfd.Map(fd, size, true); !errors.Is(err, unix.EACCES) {
		t.Errorf("a peer can map it writable: %v", err)
	}
	peer, err := memfd.Map(fd, size, false)
	if err != nil {
		t.Fatal(err)
	}
	defer memfd.Unmap(peer)
	for _, n := range []int{100, 5000, 1 << 20} {
		s := get(t, a, n)
		for i := range s.Mem() {
			s.Mem()[i] = byte(i * n)
		}
		if !bytes.Equal(peer[s.Offset():s.Offset()+int64(n)], s.Mem()) {
			t.Errorf("size %d: the peer sees something else", n)
		}
		s.Unref()
	}
}

func TestViewCannotBeWritten(t *testing.T) {
	a := newArena(t, Config{})
	s := get(t, a, 5000)
	defer s.Unref()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		fault, ok := recover().(interface{ Addr() uintptr })
		if !ok {
			t.Fatal("no memory fault")
		}
		if !a.Holds(fault.Addr()) {
			t.Errorf("the fault at %#x is not known as the arena's", fault.Addr())
		}
		if here := uintptr(unsafe.Pointer(unsafe.SliceData(s.Mem()))); a.Holds(here) || a.Holds(0) || a.Holds(^uintptr(0)) {
			t.Errorf("other addresses are taken for the arena's")
		}
	}()
	s.View()[17] = 1
}

// faults returns the page faults of this process so far.
func faults(t testing.TB) int64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return u.Minflt + u.Majflt
}

func TestSteadyStateFaultsNothingIn(t *testing.T) {
	a := newArena(t, Config{})
	const n = 1 << 20
	touch := func() {
		s := get(t, a, n)
		for i := 0; i < n; i += 4096 {
			s.Mem()[i]++
			if s.View()[i] == 0 {
				s.Mem()[i]++
			}
		}
		s.Unref()
	}
	touch()
	before := faults(t)
	for range 1000 {
		touch()
	}
	if got := faults(t) - before; got > 100 { // of the runtime; a fresh slot each would be 512,000
		t.Errorf("%d page faults in 1000 rounds", got)
	}
}

// A commit that fails half-way leaves nothing behind.
func TestFailedCommitIsUndone(t *testing.T) {
	b, err := newBacking(6<<20, 6<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	if err := b.commit(0, 12<<20); !errors.Is(err, unix.EPERM) {
		t.Errorf("beyond the end of a sealed file: %v", err)
	}
	if got := occupied(t, &Arena{back: b}); got != 0 {
		t.Errorf("%d bytes stay committed", got)
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	traces := func() (maps, fds int) {
		text, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), "tagus-arena"), len(entries)
	}
	maps, fds := traces()
	for range 20 {
		a, err := New(Config{})
		if err != nil {
			t.Fatal(err)
		}
		get(t, a, 1<<20).Unref()
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if m, f := traces(); m != maps || f != fds {
		t.Errorf("%d mappings and %d descriptors, before %d and %d", m, f, maps, fds)
	}
}

func limited(t *testing.T, which int, to uint64, do func()) {
	t.Helper()
	var old unix.Rlimit
	if err := unix.Getrlimit(which, &old); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(which, &unix.Rlimit{Cur: to, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	do()
	if err := unix.Setrlimit(which, &old); err != nil {
		t.Fatal(err)
	}
}

func TestNewUnderLimits(t *testing.T) {
	var a *Arena
	var err error
	limited(t, unix.RLIMIT_NOFILE, 0, func() { a, err = New(Config{host: plenty}) })
	var e *memfd.Error
	if !errors.As(err, &e) || !strings.Contains(e.Limit, "RLIMIT_NOFILE") {
		t.Errorf("without descriptors: %v", err)
	}
	limited(t, unix.RLIMIT_FSIZE, 1<<20, func() { a, err = New(Config{host: plenty}) })
	if !errors.As(err, &e) || !strings.Contains(e.Limit, "RLIMIT_FSIZE") {
		t.Errorf("without large files: %v", err)
	}

	// With less address space the file is less sparse, and the limit stays.
	var used uint64
	if text, err := os.ReadFile("/proc/self/statm"); err != nil {
		t.Fatal(err)
	} else {
		for _, c := range text {
			if c < '0' {
				break
			}
			used = used*10 + uint64(c-'0')
		}
		used *= uint64(os.Getpagesize())
	}
	const want = 1 << 40
	limited(t, unix.RLIMIT_AS, used+5*want, func() { a, err = New(Config{Limit: want, host: plenty}) })
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if _, size := a.FD(); size != 2*want {
		t.Errorf("the file has %d bytes", size)
	}
	if got, _ := a.Limit(); got != want {
		t.Errorf("limit %d", got)
	}
}
