package folder

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// isFull tells whether err means that there is no room.
func isFull(err error) bool {
	return err == unix.ENOSPC || err == unix.EDQUOT
}

// newFull looks up what can be said about the file system of fd.
func newFull(path string, fd int, wanted int64, err error) *FullError {
	e := &FullError{Path: path, FileSystem: "file system", Wanted: wanted, Free: -1, Err: err}
	var st unix.Statfs_t
	if unix.Fstatfs(fd, &st) == nil {
		e.Free = int64(st.Bavail) * int64(st.Bsize)
		// Some file systems have no fixed number of inodes and say 0 of 0.
		e.NoInodes = st.Files > 0 && st.Ffree == 0
		e.FileSystem = fsType(int64(st.Type)) + " mounted at " + mountPoint(filepath.Dir(path))
	}
	return e
}

// mountPoint goes up from path as long as the device stays the same.
func mountPoint(path string) string {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return path
	}
	for path != "/" {
		var up unix.Stat_t
		if unix.Stat(filepath.Dir(path), &up) != nil || up.Dev != st.Dev {
			break
		}
		path = filepath.Dir(path)
	}
	return path
}

func fsType(t int64) string {
	switch uint32(t) {
	case unix.TMPFS_MAGIC:
		return "tmpfs"
	case unix.EXT4_SUPER_MAGIC:
		return "ext4"
	case unix.OVERLAYFS_SUPER_MAGIC:
		return "overlayfs"
	case unix.XFS_SUPER_MAGIC:
		return "xfs"
	case unix.BTRFS_SUPER_MAGIC:
		return "btrfs"
	case unix.NFS_SUPER_MAGIC:
		return "nfs"
	case unix.RAMFS_MAGIC:
		return "ramfs"
	case unix.FUSE_SUPER_MAGIC:
		return "fuse"
	case unix.V9FS_MAGIC:
		return "9p"
	}
	return fmt.Sprintf("file system of type %#x", uint32(t))
}

// systemError turns an error of the system about path into one that says more.
// fd is any descriptor on the same file system, or -1.
func systemError(op, path string, fd int, wanted int64, err error) error {
	if isFull(err) && fd >= 0 {
		return newFull(path, fd, wanted, err)
	}
	e := &FolderError{Path: path, Op: op, Code: CodeIO, UID: os.Geteuid(), Own: -1, Err: err}
	switch err {
	case unix.EROFS:
		e.Code = CodeReadOnly
	case unix.EACCES, unix.EPERM:
		e.Code = CodePermission
		var st unix.Stat_t
		if unix.Stat(filepath.Dir(path), &st) == nil {
			e.Path, e.Own, e.Mode = filepath.Dir(path), int(st.Uid), fileMode(&st)
		}
	case unix.ENOENT:
		e.Code = CodeMissing
	case unix.EOPNOTSUPP, unix.EISDIR, unix.EINVAL, unix.ENOSYS:
		e.Code = CodeUnsupported
		e.Hint = "the folder must be on a local file system that has unnamed files and locks, best a tmpfs"
	case unix.EMFILE, unix.ENFILE:
		return descriptorLimit(op+" "+path, err)
	}
	return e
}

// descriptorLimit names the limit behind EMFILE and ENFILE.
func descriptorLimit(op string, err error) *LimitError {
	e := &LimitError{Op: op, Limit: "RLIMIT_NOFILE", Value: -1, Err: err}
	if err == unix.ENFILE {
		e.Limit = "fs.file-max"
		return e
	}
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &r) == nil {
		e.Value = int64(r.Cur)
		e.Hint = "open files of this process; raise it with ulimit -n"
	}
	return e
}
