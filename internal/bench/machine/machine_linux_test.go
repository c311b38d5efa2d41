package machine

import (
	"os/exec"
	"runtime"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestBareWake(t *testing.T) {
	ns, err := BareWake(self, 500, 300*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if len(ns) < 75 || len(ns) > 150 {
		t.Error(len(ns), "wakes")
	}
	for _, x := range ns {
		if x > int64(time.Second) {
			t.Fatal("a wake took", x)
		}
	}
}

func TestBareWakeSaysThatThePeerFailed(t *testing.T) {
	if _, err := BareWake(func(...string) *exec.Cmd { return self("nonsense", "x") }, 100, 10*time.Millisecond); err == nil {
		t.Error("no error")
	}
}

func TestUsageCountsPageFaults(t *testing.T) {
	c := NewCounter(nil)
	const pages = 300
	a := c.Read()
	mem, err := unix.Mmap(-1, 0, pages*4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(mem)
	_ = unix.Madvise(mem, unix.MADV_NOHUGEPAGE) // not every kernel has huge pages
	for i := 0; i < len(mem); i += 4096 {
		mem[i] = 1
	}
	u := c.Between(a, c.Read())
	if *u.MinorFaults < pages || *u.RSS <= 0 {
		t.Errorf("%d faults, %d KiB", *u.MinorFaults, *u.RSS)
	}
	if u.PSS == nil || *u.PSS <= 0 {
		t.Error("no PSS")
	}
	if m := c.Memory(); m.VSZ < m.RSS || m.RSS < 1000 {
		t.Errorf("%+v", m)
	}
}

func TestSyscallCounter(t *testing.T) {
	calls, err := NewSyscallCounter()
	if err != nil {
		t.Skip(err)
	}
	defer calls.Close()
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_NONBLOCK|unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	page, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	const each, workers = 500, 4
	before := calls.Read()
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			runtime.LockOSThread() // a thread of its own, mostly a new one
			buf := make([]byte, 1)
			for range each {
				unix.Read(pipe[0], buf)
				unix.Madvise(page, unix.MADV_NORMAL)
				unix.Getppid()
			}
		})
	}
	wg.Wait()
	d := calls.Read()
	n := int64(each * workers)
	if again := d.Again - before.Again; again < n || again > n+n/4 {
		t.Errorf("%d calls failed with EAGAIN, want %d", again, n)
	}
	if m := d.Madvise - before.Madvise; m < n || m > n+10 {
		t.Errorf("%d calls of madvise, want %d", m, n)
	}
	if all := d.All - before.All; all < 3*n || all > 3*n+n/2 {
		t.Errorf("%d calls, want %d", all, 3*n)
	}
	if a := testing.AllocsPerRun(10, func() { calls.Read() }); a != 0 {
		t.Error(a, "allocations a reading")
	}
}

func TestReadDetachedOrRefused(t *testing.T) {
	if text, err := readDetached("events/raw_syscalls/sys_enter/id"); err == nil && text == "" {
		t.Error("empty")
	} else if err != nil {
		t.Skip(err)
	}
}

func TestThreadWatch(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	w := NewThreadWatch()
	defer w.Close()
	mem, err := unix.Mmap(-1, 0, 100*4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(mem)
	_ = unix.Madvise(mem, unix.MADV_NOHUGEPAGE)
	w.Since()
	for i := 0; i < len(mem); i += 4096 {
		mem[i] = 1
	}
	d, from := w.Since()
	if d.Faults < 100 || from <= 0 || d.At < from {
		t.Errorf("%+v from %d", d, from)
	}
	if a := testing.AllocsPerRun(100, func() { w.Since() }); a != 0 {
		t.Error(a, "allocations a look")
	}
}
