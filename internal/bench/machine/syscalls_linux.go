package machine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// SyscallCounter counts the system calls of this process by three kernel events a thread, without stopping the threads: the
// same that "perf stat -e raw_syscalls:sys_enter" does. The kernel counts threads made later with their makers.
type SyscallCounter struct {
	groups [3][]int // descriptors of all, madvise and EAGAIN
	buf    [8]byte
}

// NewSyscallCounter starts to count. The error says what is missing: the kernel's tracing files or the right to use events.
func NewSyscallCounter() (*SyscallCounter, error) {
	enter, err := tracepoint("raw_syscalls/sys_enter")
	if err != nil {
		return nil, err
	}
	exit, err := tracepoint("raw_syscalls/sys_exit")
	if err != nil {
		return nil, err
	}
	c := &SyscallCounter{}
	seen := map[int]bool{}
	for {
		tids, err := threads()
		if err != nil {
			c.Close()
			return nil, err
		}
		fresh := false
		for _, tid := range tids {
			if seen[tid] {
				continue
			}
			seen[tid], fresh = true, true
			if err := c.watch(tid, enter, exit); err != nil {
				c.Close()
				return nil, err
			}
		}
		if !fresh {
			return c, nil // no thread was made while the others were being watched
		}
	}
}

func (c *SyscallCounter) watch(tid int, enter, exit uint64) error {
	events := [...]struct {
		id     uint64
		filter string
	}{
		{enter, ""},
		{enter, "id == " + strconv.Itoa(unix.SYS_MADVISE)},
		{exit, "ret == -" + strconv.Itoa(int(unix.EAGAIN))},
	}
	for i, e := range events {
		attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_TRACEPOINT, Config: e.id, Bits: unix.PerfBitInherit}
		attr.Size = uint32(unsafe.Sizeof(attr))
		fd, err := unix.PerfEventOpen(&attr, tid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if errors.Is(err, unix.ESRCH) {
			return nil // the thread has ended
		}
		if err != nil {
			return fmt.Errorf("perf_event_open: %w (needs root, CAP_PERFMON, or kernel.perf_event_paranoid = -1)", err)
		}
		c.groups[i] = append(c.groups[i], fd)
		if e.filter == "" {
			continue
		}
		text, err := unix.BytePtrFromString(e.filter)
		if err != nil {
			return err
		}
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.PERF_EVENT_IOC_SET_FILTER, uintptr(unsafe.Pointer(text))); errno != 0 {
			return fmt.Errorf("filter %q on system calls: %w", e.filter, errno)
		}
	}
	return nil
}

// Read returns the counts so far. It allocates nothing; its own read calls, one a thread and count, are in the next reading.
func (c *SyscallCounter) Read() SyscallCounts {
	var sums [3]int64
	for i, fds := range c.groups {
		for _, fd := range fds {
			if n, err := unix.Read(fd, c.buf[:]); err == nil && n == len(c.buf) {
				sums[i] += int64(binary.NativeEndian.Uint64(c.buf[:]))
			}
		}
	}
	return SyscallCounts{All: sums[0], Madvise: sums[1], Again: sums[2]}
}

// Close stops counting.
func (c *SyscallCounter) Close() {
	for i, fds := range c.groups {
		for _, fd := range fds {
			unix.Close(fd)
		}
		c.groups[i] = nil
	}
}

func threads() ([]int, error) {
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil, err
	}
	var out []int
	for _, e := range entries {
		if tid, err := strconv.Atoi(e.Name()); err == nil {
			out = append(out, tid)
		}
	}
	return out, nil
}

// tracepoint finds the kernel's number of an event. Where tracefs is not mounted but may be, it looks into a mount of its own that
// nobody else sees and that ends with the look.
func tracepoint(name string) (uint64, error) {
	file := "events/" + name + "/id"
	var first error
	for _, root := range []string{"/sys/kernel/tracing/", "/sys/kernel/debug/tracing/"} {
		text, err := os.ReadFile(root + file)
		if err == nil {
			return strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
		}
		if first == nil {
			first = err
		}
	}
	text, err := readDetached(file)
	if err != nil {
		return 0, fmt.Errorf("the kernel's tracing files cannot be read: %w", first)
	}
	return strconv.ParseUint(strings.TrimSpace(text), 10, 64)
}

func readDetached(file string) (string, error) {
	fs, err := unix.Fsopen("tracefs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return "", err
	}
	defer unix.Close(fs)
	if err := unix.FsconfigCreate(fs); err != nil {
		return "", err
	}
	mount, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(mount)
	fd, err := unix.Openat(mount, file, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	buf := make([]byte, 64)
	n, err := unix.Read(fd, buf)
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}
