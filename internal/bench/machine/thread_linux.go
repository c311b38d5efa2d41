package machine

import (
	"golang.org/x/sys/unix"

	"github.com/tagus-ros/tagus/internal/clock"
)

// ThreadWatch tells what kept one thread from running. It is made and read on that thread.
type ThreadWatch struct {
	sched, stat int // descriptors, -1 where the kernel has no such file
	buf         [512]byte
	last        ThreadCounts
}

// ThreadCounts are what a thread has met up to one moment.
type ThreadCounts struct {
	At       int64 // monotonic nanoseconds
	RunDelay int64 // nanoseconds runnable without a CPU
	Steal    int64 // nanoseconds that the hypervisor took from all CPUs, in steps of 10 ms
	Switches int64 // involuntary
	Faults   int64 // minor page faults
}

// NewThreadWatch makes a watch of the calling thread.
func NewThreadWatch() *ThreadWatch {
	open := func(path string) int {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return -1
		}
		return fd
	}
	w := &ThreadWatch{sched: open("/proc/thread-self/schedstat"), stat: open("/proc/stat")}
	w.Since()
	return w
}

// Since returns what happened since the last call and when that was. Three system calls, no allocation.
func (w *ThreadWatch) Since() (delta ThreadCounts, from int64) {
	now := ThreadCounts{At: clock.Mono()}
	if f := w.fields(w.sched, 0, 2); f[1] > 0 {
		now.RunDelay = f[1]
	}
	if f := w.fields(w.stat, 0, 8); f[7] > 0 {
		now.Steal = f[7] * 10_000_000 // the kernel shows hundredths of a second
	}
	var r unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &r) == nil {
		now.Switches, now.Faults = r.Nivcsw, r.Minflt
	}
	l := w.last
	w.last = now
	return ThreadCounts{
		At: now.At, RunDelay: now.RunDelay - l.RunDelay, Steal: now.Steal - l.Steal,
		Switches: now.Switches - l.Switches, Faults: now.Faults - l.Faults,
	}, l.At
}

// fields reads the first numbers of a file's first line, words left out.
func (w *ThreadWatch) fields(fd int, offset int64, want int) (v [8]int64) {
	if fd < 0 {
		return v
	}
	n, err := unix.Pread(fd, w.buf[:], offset)
	if err != nil {
		return v
	}
	i, in := 0, false
	for _, b := range w.buf[:n] {
		digit := b >= '0' && b <= '9'
		switch {
		case digit:
			v[i] = v[i]*10 + int64(b-'0')
			in = true
		case in:
			in = false
			i++
		}
		if i == want || b == '\n' {
			break
		}
	}
	return v
}

// Close ends the watch.
func (w *ThreadWatch) Close() {
	for _, fd := range []int{w.sched, w.stat} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}
