package memfd

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"golang.org/x/sys/unix"
)

const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW

// One fallocate fills at most mostAtOnce. The kernel undoes a call that a signal
// interrupts, so a huge one could start over for ever; after an interruption
// the pieces become smaller, down to leastAtOnce.
const (
	mostAtOnce  = 4 << 20
	leastAtOnce = 64 << 10
)

// File is a memory file of this process, open for reading and writing.
type File struct {
	fd   int
	name string
	size int64
}

// Create makes a memory file of size bytes, all of them holes: sealed against
// shrinking, growing and further seals, closed on exec, mode 0400 (so that an
// accidental reopening for writing fails). name shows in /proc/<pid>/maps and
// may have up to 249 bytes. The caller closes the file.
func Create(name string, size int64) (*File, error) {
	fail := func(op string, err error) error {
		return &Error{Op: op, Name: name, Size: size, Limit: limitOf(err), Err: err}
	}
	if size <= 0 {
		return nil, fail("create", unix.EINVAL)
	}
	// Beyond this limit the kernel does not only refuse, it sends a signal that ends the process.
	var most unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &most); err == nil && uint64(size) > most.Cur {
		return nil, &Error{Op: "create", Name: name, Size: size, Err: unix.EFBIG,
			Limit: fmt.Sprintf("file size, RLIMIT_FSIZE = %d", most.Cur)}
	}
	const flags = unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	fd, err := unix.MemfdCreate(name, flags|unix.MFD_NOEXEC_SEAL)
	if errors.Is(err, unix.EINVAL) { // kernels before 6.3 do not know the flag
		fd, err = unix.MemfdCreate(name, flags)
	}
	if err != nil {
		return nil, fail("create", err)
	}
	f := &File{fd: fd, name: name, size: size}
	op := "set size"
	if err = retry(func() error { return unix.Ftruncate(fd, size) }); err == nil {
		op = "set mode"
		err = unix.Fchmod(fd, 0o400)
	}
	if err == nil {
		op = "seal"
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals|unix.F_SEAL_SEAL)
	}
	if err != nil {
		f.Close()
		return nil, fail(op, err)
	}
	return f, nil
}

// FD returns the descriptor, which may be handed to a peer that is to write. It
// stays the File's.
func (f *File) FD() int { return f.fd }

// Size returns the size in bytes.
func (f *File) Size() int64 { return f.size }

// ReadOnly opens the file once more, for reading only, and returns the new
// descriptor, which the caller closes. A mapping made from it is never writable.
func (f *File) ReadOnly() (fd int, err error) {
	err = retry(func() (err error) {
		fd, err = unix.Open("/proc/self/fd/"+strconv.Itoa(f.fd), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return -1, &Error{Op: "open read-only through /proc/self/fd", Name: f.name, Limit: limitOf(err), Err: err}
	}
	return fd, nil
}

// Close closes the descriptor of the file. Mappings stay.
func (f *File) Close() error {
	if f.fd < 0 {
		return nil
	}
	err := unix.Close(f.fd)
	f.fd = -1
	if err != nil {
		return &Error{Op: "close", Name: f.name, Err: err}
	}
	return nil
}

// Map maps the first size bytes of fd, shared, for reading or for reading and
// writing. The mapping does not need the descriptor to stay open. The caller
// unmaps exactly the slice it got.
func Map(fd int, size int64, writable bool) ([]byte, error) {
	if size <= 0 || size > math.MaxInt {
		return nil, &Error{Op: "map", Name: fdName(fd), Size: size, Err: unix.EINVAL}
	}
	prot := unix.PROT_READ
	if writable {
		prot |= unix.PROT_WRITE
	}
	b, err := unix.Mmap(fd, 0, int(size), prot, unix.MAP_SHARED|unix.MAP_NORESERVE)
	if err != nil {
		limit := ""
		if errors.Is(err, unix.ENOMEM) {
			limit = "address space (RLIMIT_AS) or number of mappings (vm.max_map_count)"
		}
		return nil, &Error{Op: "map", Name: fdName(fd), Size: size, Limit: limit, Err: err}
	}
	return b, nil
}

// Unmap ends a mapping of Map. Nothing may read or write it afterwards.
func Unmap(b []byte) error {
	if err := unix.Munmap(b); err != nil {
		return &Error{Op: "unmap", Name: "mapping", Size: int64(len(b)), Err: err}
	}
	return nil
}

// Check examines a descriptor from somebody else before it is mapped: it must
// be a regular file on a memory file system, sealed against shrinking and
// growing, of minSize to maxSize bytes. It returns the size, which cannot
// change any more. A refusal is a *CheckError. fd stays the caller's.
//
// Sealed does not mean filled: who can write the file can still punch holes,
// which read as zeros.
func Check(fd int, minSize, maxSize int64) (size int64, err error) {
	var st unix.Stat_t
	if err := retry(func() error { return unix.Fstat(fd, &st) }); err != nil {
		return 0, &CheckError{FD: fd, Problem: Unreadable, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return 0, &CheckError{FD: fd, Problem: NotRegular}
	}
	var fs unix.Statfs_t
	if err := retry(func() error { return unix.Fstatfs(fd, &fs) }); err != nil {
		return 0, &CheckError{FD: fd, Problem: Unreadable, Err: err}
	}
	if int64(fs.Type) != unix.TMPFS_MAGIC { // huge-page files, too, are refused: they have rules of their own
		return 0, &CheckError{FD: fd, Problem: NotMemory}
	}
	have, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil || have&seals != seals {
		return 0, &CheckError{FD: fd, Problem: NotSealed}
	}
	if st.Size < minSize || st.Size > maxSize {
		return 0, &CheckError{FD: fd, Problem: BadSize, Size: st.Size, Min: minSize, Max: maxSize}
	}
	return st.Size, nil
}

// CheckReadOnly is Check for memory that a peer was to hand out for reading: a
// descriptor that could be mapped writable is refused as well.
func CheckReadOnly(fd int, minSize, maxSize int64) (size int64, err error) {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		return 0, &CheckError{FD: fd, Problem: Unreadable, Err: err}
	}
	size, err = Check(fd, minSize, maxSize)
	if err == nil && flags&unix.O_ACCMODE != unix.O_RDONLY {
		return 0, &CheckError{FD: fd, Problem: NotReadOnly}
	}
	return size, err
}

// Commit fills the holes in n bytes from off with pages, so that touching them
// can no longer fail. On an error (ENOSPC and ENOMEM mean that the system has
// no memory to give) none of the range is promised, and the caller should Punch it.
func Commit(fd int, off, n int64) error {
	return commit(fd, off, n, unix.Fallocate)
}

func commit(fd int, off, n int64, fallocate func(fd int, mode uint32, off, n int64) error) error {
	piece := int64(mostAtOnce)
	for done := int64(0); done < n; {
		part := min(piece, n-done)
		switch err := fallocate(fd, 0, off+done, part); err {
		case nil:
			done += part
		case unix.EINTR:
			piece = max(piece/2, leastAtOnce)
		default:
			limit := ""
			if err == unix.ENOSPC || err == unix.ENOMEM {
				limit = "memory of the system"
			}
			return &Error{Op: "commit", Name: fdName(fd), Size: n, Limit: limit, Err: err}
		}
	}
	return nil
}

// Punch gives the pages of n bytes from off back to the system, for every
// process that maps them; the range then reads as zeros. off and n should be
// multiples of the page size.
func Punch(fd int, off, n int64) error {
	const mode = unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE
	if err := retry(func() error { return unix.Fallocate(fd, mode, off, n) }); err != nil {
		return &Error{Op: "punch", Name: fdName(fd), Size: n, Err: err}
	}
	return nil
}

func fdName(fd int) string { return "descriptor " + strconv.Itoa(fd) }

// limitOf names the limit behind an error of opening a descriptor.
func limitOf(err error) string {
	switch {
	case errors.Is(err, unix.EMFILE):
		var most unix.Rlimit
		if unix.Getrlimit(unix.RLIMIT_NOFILE, &most) == nil {
			return fmt.Sprintf("open files of the process, RLIMIT_NOFILE = %d", most.Cur)
		}
		return "open files of the process, RLIMIT_NOFILE"
	case errors.Is(err, unix.ENFILE):
		return "open files of the system, fs.file-max"
	}
	return ""
}

func retry(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}
