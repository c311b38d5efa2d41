package roslog

import (
	"os"

	"golang.org/x/sys/unix"
)

// ready says whether f takes a piece without making the writer wait. Where that cannot be known it says so: files always do.
func ready(f *os.File) bool {
	fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLOUT}}
	n, err := unix.Poll(fds, 0)
	return err != nil || n > 0
}
