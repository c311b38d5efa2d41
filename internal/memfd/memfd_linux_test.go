package memfd

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func create(t testing.TB, size int64) *File {
	t.Helper()
	f, err := Create("tagus-test", size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func readOnly(t testing.TB, f *File) int {
	t.Helper()
	fd, err := f.ReadOnly()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	return fd
}

func mapped(t testing.TB, fd int, size int64, writable bool) []byte {
	t.Helper()
	b, err := Map(fd, size, writable)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { Unmap(b) })
	return b
}

func TestSizeIsFinal(t *testing.T) {
	f := create(t, 1<<20)
	for _, size := range []int64{0, 4096, 2 << 20} {
		if err := unix.Ftruncate(f.FD(), size); err == nil {
			t.Errorf("the file could be resized to %d", size)
		}
	}
	if _, err := unix.FcntlInt(uintptr(f.FD()), unix.F_ADD_SEALS, unix.F_SEAL_WRITE); err == nil {
		t.Error("a further seal could be added")
	}
	if size, err := Check(f.FD(), 1, 1<<30); err != nil || size != 1<<20 {
		t.Errorf("Check: %d, %v", size, err)
	}
}

func TestModeAndFlags(t *testing.T) {
	old := unix.Umask(0)
	defer unix.Umask(old)
	f := create(t, 4096)
	var st unix.Stat_t
	if err := unix.Fstat(f.FD(), &st); err != nil {
		t.Fatal(err)
	}
	if got := st.Mode & 0o7777; got != 0o400 {
		t.Errorf("mode %o, want 400", got)
	}
	for _, fd := range []int{f.FD(), readOnly(t, f)} {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
			t.Errorf("descriptor flags %#x, %v: not closed on exec", flags, err)
		}
	}
}

func TestReadOnlyCannotBeMappedWritable(t *testing.T) {
	f := create(t, 8192)
	ro := readOnly(t, f)
	if b, err := Map(ro, 8192, true); !errors.Is(err, unix.EACCES) {
		t.Errorf("mapped %d bytes writable, error %v", len(b), err)
	}
	view := mapped(t, ro, 8192, false)
	if err := unix.Mprotect(view, unix.PROT_READ|unix.PROT_WRITE); err == nil {
		t.Error("the mapping could be made writable")
	}
	mem := mapped(t, f.FD(), 8192, true)
	copy(mem[5000:], "hello")
	if got := string(view[5000:5005]); got != "hello" {
		t.Errorf("the read-only mapping shows %q", got)
	}
}

func TestCommitAndPunchAreExact(t *testing.T) {
	f := create(t, 64<<20)
	mem := mapped(t, f.FD(), f.Size(), true)
	want := func(n int64) {
		t.Helper()
		var st unix.Stat_t
		if err := unix.Fstat(f.FD(), &st); err != nil {
			t.Fatal(err)
		}
		if got := st.Blocks * 512; got != n {
			t.Errorf("the file holds %d bytes, want %d", got, n)
		}
	}
	want(0)
	n := int64(2*mostAtOnce + 64<<10)
	if err := Commit(f.FD(), 1<<20, n); err != nil {
		t.Fatal(err)
	}
	want(n)
	mem[1<<20], mem[1<<20+n-1] = 1, 1
	want(n)
	if err := Punch(f.FD(), 1<<20, n); err != nil {
		t.Fatal(err)
	}
	want(0)
	if mem[1<<20] != 0 {
		t.Error("a punched range kept its contents")
	}
}

func TestCommitOutsideTheFile(t *testing.T) {
	f := create(t, 1<<20)
	for _, r := range [][2]int64{{1 << 20, 4096}, {0, 2 << 20}, {-4096, 4096}} {
		var e *Error
		if err := Commit(f.FD(), r[0], r[1]); !errors.As(err, &e) || e.Op != "commit" {
			t.Errorf("commit of %d bytes at %d: %v", r[1], r[0], err)
		}
	}
}

// A kernel that lets signals interrupt a commit, and undoes it, gets smaller pieces.
func TestInterruptedCommit(t *testing.T) {
	const off, n = 1 << 20, 10<<20 + 4096
	next, calls := int64(off), 0
	err := commit(7, off, n, func(fd int, mode uint32, at, part int64) error {
		calls++
		if fd != 7 || mode != 0 || at != next || part <= 0 || at+part > off+n {
			t.Fatalf("call %d: fallocate(%d, %d, %d, %d), want the range from %d on", calls, fd, mode, at, part, next)
		}
		if part > 200<<10 || calls%3 == 0 {
			return unix.EINTR
		}
		next += part
		return nil
	})
	if err != nil || next != off+n {
		t.Errorf("ended at %d after %d calls: %v", next-off, calls, err)
	}
	err = commit(7, off, n, func(int, uint32, int64, int64) error { return unix.ENOSPC })
	var e *Error
	if !errors.As(err, &e) || e.Limit == "" || e.Size != n || !errors.Is(err, unix.ENOSPC) {
		t.Errorf("without memory: %v", err)
	}
}

func TestCommitUnderSignals(t *testing.T) {
	f := create(t, 128<<20)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	pid, tid := unix.Getpid(), unix.Gettid()
	var done atomic.Bool
	sent := make(chan int)
	go func() {
		n := 0
		for !done.Load() {
			unix.Tgkill(pid, tid, unix.SIGURG)
			n++
			for start := time.Now(); time.Since(start) < 200*time.Microsecond; {
			}
		}
		sent <- n
	}()
	err := Commit(f.FD(), 0, f.Size())
	done.Store(true)
	t.Logf("%d signals", <-sent)
	if err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if unix.Fstat(f.FD(), &st); st.Blocks*512 != f.Size() {
		t.Errorf("%d bytes committed, want %d", st.Blocks*512, f.Size())
	}
}

func TestCheckRefusesLies(t *testing.T) {
	const size = 1 << 20
	own := func(fd int, err error) int {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(fd) })
		return fd
	}
	memfd := func(seal int) int {
		fd := own(unix.MemfdCreate("lie", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING))
		if err := unix.Ftruncate(fd, size); err != nil {
			t.Fatal(err)
		}
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seal); err != nil {
			t.Fatal(err)
		}
		return fd
	}
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	own(pipe[0], nil)
	own(pipe[1], nil)
	ordinary := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(ordinary, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	proc := own(unix.Open("/proc/self/maps", unix.O_RDONLY|unix.O_CLOEXEC, 0))
	good := create(t, size)
	const closed = 1 << 29

	for _, c := range []struct {
		name string
		fd   int
		want []Problem
	}{
		{"pipe", pipe[0], []Problem{NotRegular}},
		{"socket", own(unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET, 0)), []Problem{NotRegular}},
		{"folder", own(unix.Open(t.TempDir(), unix.O_RDONLY, 0)), []Problem{NotRegular}},
		{"device", own(unix.Open("/dev/zero", unix.O_RDONLY, 0)), []Problem{NotRegular}},
		{"file on disk", own(unix.Open(ordinary, unix.O_RDWR, 0)), []Problem{NotMemory, NotSealed}}, // the folder may lie on a tmpfs
		{"file of procfs", proc, []Problem{NotMemory}},
		{"unsealed", memfd(0), []Problem{NotSealed}},
		{"sealed against growing only", memfd(unix.F_SEAL_GROW), []Problem{NotSealed}},
		{"sealed against shrinking only", memfd(unix.F_SEAL_SHRINK), []Problem{NotSealed}},
		{"path only", own(unix.Open("/proc/self/fd/"+itoa(good.FD()), unix.O_PATH, 0)), []Problem{NotSealed}},
		{"closed", closed, []Problem{Unreadable}},
		{"negative", -1, []Problem{Unreadable}},
		{"too small", create(t, 4096).FD(), []Problem{BadSize}},
		{"too large", create(t, 1<<40).FD(), []Problem{BadSize}},
	} {
		_, err := Check(c.fd, size, 4*size)
		var e *CheckError
		if !errors.As(err, &e) {
			t.Errorf("%s: error %v", c.name, err)
			continue
		}
		ok := false
		for _, p := range c.want {
			ok = ok || e.Problem == p
		}
		if !ok || !strings.Contains(err.Error(), string(e.Problem)) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}

	// A file that was cut before it was sealed is smaller than its owner says.
	cut := memfd(0)
	if err := unix.Ftruncate(cut, 100); err != nil {
		t.Fatal(err)
	}
	if _, err := unix.FcntlInt(uintptr(cut), unix.F_ADD_SEALS, seals); err != nil {
		t.Fatal(err)
	}
	var e *CheckError
	if _, err := Check(cut, size, size); !errors.As(err, &e) || e.Problem != BadSize || e.Size != 100 {
		t.Errorf("truncated file: %v", err)
	}

	if _, err := CheckReadOnly(good.FD(), size, size); !errors.As(err, &e) || e.Problem != NotReadOnly {
		t.Errorf("a writable descriptor passes for a read-only one: %v", err)
	}
	if got, err := CheckReadOnly(readOnly(t, good), size, size); err != nil || got != size {
		t.Errorf("a good descriptor is refused: %d, %v", got, err)
	}
	if _, err := CheckReadOnly(pipe[0], size, size); !errors.As(err, &e) || e.Problem != NotRegular {
		t.Errorf("pipe for reading: %v", err)
	}
	if _, err := CheckReadOnly(closed, size, size); !errors.As(err, &e) || e.Problem != Unreadable {
		t.Errorf("closed descriptor for reading: %v", err)
	}
}

func itoa(fd int) string { return strings.TrimPrefix(fdName(fd), "descriptor ") }

func TestMapRefusesBadSizes(t *testing.T) {
	f := create(t, 4096)
	for _, size := range []int64{0, -1} {
		if _, err := Map(f.FD(), size, false); !errors.Is(err, unix.EINVAL) {
			t.Errorf("size %d: %v", size, err)
		}
	}
	if _, err := Create("none", 0); !errors.Is(err, unix.EINVAL) {
		t.Errorf("Create of no bytes: %v", err)
	}
}

func TestLimitsAreNamed(t *testing.T) {
	lower := func(which int, to uint64) (restore func()) {
		t.Helper()
		var old unix.Rlimit
		if err := unix.Getrlimit(which, &old); err != nil {
			t.Fatal(err)
		}
		if err := unix.Setrlimit(which, &unix.Rlimit{Cur: to, Max: old.Max}); err != nil {
			t.Fatal(err)
		}
		return func() {
			if err := unix.Setrlimit(which, &old); err != nil {
				t.Fatal(err)
			}
		}
	}
	f := create(t, 4096)
	restore := lower(unix.RLIMIT_NOFILE, 0)
	_, errCreate := Create("x", 4096)
	_, errOpen := f.ReadOnly()
	restore()
	for _, err := range []error{errCreate, errOpen} {
		var e *Error
		if !errors.As(err, &e) || !errors.Is(err, unix.EMFILE) || !strings.Contains(e.Limit, "RLIMIT_NOFILE = 0") {
			t.Errorf("without descriptors: %v", err)
		}
	}

	restore = lower(unix.RLIMIT_FSIZE, 1<<20)
	_, err := Create("x", 2<<20)
	restore()
	var e *Error
	if !errors.As(err, &e) || !strings.Contains(e.Limit, "RLIMIT_FSIZE = 1048576") {
		t.Errorf("beyond the file size limit: %v", err)
	}

	restore = lower(unix.RLIMIT_AS, 1<<30)
	_, err = Map(f.FD(), 1<<40, false)
	restore()
	if !errors.As(err, &e) || !strings.Contains(e.Limit, "RLIMIT_AS") {
		t.Errorf("beyond the address space: %v", err)
	}
}

func TestCloseTwice(t *testing.T) {
	f := create(t, 4096)
	if err := errors.Join(f.Close(), f.Close()); err != nil {
		t.Error(err)
	}
}

func BenchmarkCommitPunch1MiB(b *testing.B) {
	f := create(b, 1<<20)
	for b.Loop() {
		if err := Commit(f.FD(), 0, 1<<20); err != nil {
			b.Fatal(err)
		}
		if err := Punch(f.FD(), 0, 1<<20); err != nil {
			b.Fatal(err)
		}
	}
}
