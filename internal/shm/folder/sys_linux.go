package folder

import (
	"bytes"
	"io/fs"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tagus-ros/tagus/graph"
)

// retry repeats a system call that a signal interrupted.
func retry(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

// openName opens an announcement file for reading without an allocation.
// O_NONBLOCK because somebody may have put a pipe in its place.
func openName(dirfd int, name *fileName) (int, error) {
	for {
		fd, _, e := unix.Syscall6(unix.SYS_OPENAT, uintptr(dirfd), uintptr(unsafe.Pointer(name)),
			unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0, 0, 0)
		switch e {
		case 0:
			return int(fd), nil
		case unix.EINTR:
		default:
			return -1, e
		}
	}
}

// pread fills b from off as far as the file goes.
func pread(fd int, b []byte, off int64) (n int, err error) {
	for n < len(b) {
		k, err := unix.Pread(fd, b[n:], off+int64(n))
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return n, err
		}
		if k == 0 {
			break
		}
		n += k
	}
	return n, nil
}

func pwrite(fd int, b []byte, off int64) error {
	if writeHook != nil {
		writeHook(b, off)
	}
	for len(b) > 0 {
		k, err := unix.Pwrite(fd, b, off)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		b, off = b[k:], off+int64(k)
	}
	return nil
}

// writeHook, where a test has set it, is told of every write.
var writeHook func(b []byte, off int64)

// wholeFile is the lock that means life.
func wholeFile() unix.Flock_t { return unix.Flock_t{Type: unix.F_WRLCK, Whence: unix.SEEK_SET} }

// lockLife takes the lock for the open file description behind fd. It fails
// with EAGAIN if another one has it. Only an open-file-description lock will
// do: a POSIX lock goes with any close of the file in the process, and one of
// flock may go through file systems to others' notions of it.
func lockLife(fd int) error {
	return retry(func() error {
		lk := wholeFile()
		return unix.FcntlFlock(uintptr(fd), unix.F_OFD_SETLK, &lk)
	})
}

// lockHeld asks whether some open file description has the lock. Asking does
// not take it, so those who ask never see each other.
func lockHeld(fd int) (bool, error) {
	for {
		lk := wholeFile()
		switch err := unix.FcntlFlock(uintptr(fd), unix.F_OFD_GETLK, &lk); err {
		case nil:
			return lk.Type != unix.F_UNLCK, nil
		case unix.EINTR:
		default:
			return false, err
		}
	}
}

func fstat(fd int) (st unix.Stat_t, err error) {
	err = retry(func() error { return unix.Fstat(fd, &st) })
	return st, err
}

func lstatat(dirfd int, name string) (st unix.Stat_t, err error) {
	err = retry(func() error { return unix.Fstatat(dirfd, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	return st, err
}

func unlinkat(dirfd int, name string) error {
	err := retry(func() error { return unix.Unlinkat(dirfd, name, 0) })
	if err == unix.ENOENT {
		return nil
	}
	return err
}

// throughProc names a file in an open folder by an absolute path of bounded
// length (a socket's address has room for 107 bytes).
func throughProc(dirfd int, name string) string {
	return "/proc/self/fd/" + strconv.Itoa(dirfd) + "/" + name
}

func fileMode(st *unix.Stat_t) fs.FileMode {
	m := fs.FileMode(st.Mode & 0o777)
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		m |= fs.ModeDir
	case unix.S_IFLNK:
		m |= fs.ModeSymlink
	case unix.S_IFIFO:
		m |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		m |= fs.ModeSocket
	case unix.S_IFCHR:
		m |= fs.ModeDevice | fs.ModeCharDevice
	case unix.S_IFBLK:
		m |= fs.ModeDevice
	}
	if st.Mode&unix.S_ISVTX != 0 {
		m |= fs.ModeSticky
	}
	return m
}

// strangerUID tells whether uid is the number that the kernel shows for users
// who have none in this user namespace.
func strangerUID(uid int) bool {
	overflow := 65534
	if b, err := os.ReadFile("/proc/sys/kernel/overflowuid"); err == nil {
		if n, err := strconv.Atoi(string(bytes.TrimSpace(b))); err == nil {
			overflow = n
		}
	}
	if uid != overflow {
		return false
	}
	m, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return false
	}
	f := bytes.Fields(m)
	whole := len(f) == 3 && string(f[0]) == "0" && string(f[2]) == "4294967295"
	return !whole
}

// eachName calls visit with the name of every entry of a folder except "." and
// "..". The bytes are valid during the call only.
func eachName(fd int, buf []byte, visit func(name []byte)) error {
	for {
		n, err := unix.Getdents(fd, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		if n <= 0 {
			return nil
		}
		// struct linux_dirent64: u64 inode, i64 offset, u16 record length,
		// u8 type, name with a NUL.
		for b := buf[:n]; len(b) >= 19; {
			size := int(*(*uint16)(unsafe.Pointer(&b[16])))
			if size < 19 || size > len(b) {
				break
			}
			name := b[19:size]
			if i := bytes.IndexByte(name, 0); i >= 0 {
				name = name[:i]
			}
			if s := string(name); s != "." && s != ".." {
				visit(name)
			}
			b = b[size:]
		}
	}
}

func pathOf(folder string, id graph.ID) string { return folder + "/" + fileOf(id) }
