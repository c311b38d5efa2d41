package arena

import (
	"slices"

	"golang.org/x/sys/unix"
)

// readFile returns the contents of a file, nil if there is none. It is called
// before each commit; os.ReadFile makes three times the system calls.
func readFile(name string) []byte {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	b := make([]byte, 0, 4096)
	for {
		n, err := unix.Read(fd, b[len(b):cap(b)])
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			break
		}
		if b = b[:len(b)+n]; len(b) == cap(b) {
			b = slices.Grow(b, cap(b))
		}
	}
	unix.Close(fd)
	return b
}
