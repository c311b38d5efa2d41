package folder

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/tagus-ros/tagus/graph"
)

// Folder is an open domain folder. All methods may be called by any goroutine.
type Folder struct {
	path string

	mu  sync.Mutex // guards cur; held for no system call but a stat and an open in Check
	cur *dir       // nil after Close
}

// dir is one open folder; a Folder gets another when the path leads elsewhere.
type dir struct {
	fd       int
	dev, ino uint64
	refs     atomic.Int64
}

func (d *dir) done() {
	if d.refs.Add(-1) == 0 {
		unix.Close(d.fd)
	}
}

// Open opens the folder at an absolute path, which it makes, mode 0700, if it
// does not exist. The folder above it must exist, unless it is the default one
// of [Path], which is made as well. Neither may be a symbolic link.
//
// The folder must belong to this user (effective uid), with mode 0700. The
// one above it must belong to this user or to root and be writable by nobody
// else, or have the sticky bit; the default one must be ours with mode 0700.
//
// The error is a *[FolderError], a *[FullError] or a *[LimitError].
func Open(path string) (*Folder, error) {
	if !filepath.IsAbs(path) || filepath.Clean(path) == "/" {
		return nil, &FolderError{Path: path, Op: "open", Code: CodePath, UID: os.Geteuid(), Own: -1, Hint: "it must be absolute and not the root"}
	}
	f := &Folder{path: filepath.Clean(path)}
	d, err := openDir(f.path, filepath.Dir(f.path) == defaultBase())
	if err != nil {
		return nil, err
	}
	f.cur = d
	return f, nil
}

// Path returns the folder's path.
func (f *Folder) Path() string { return f.path }

// Close gives the folder up. Members and connections are not closed by it.
func (f *Folder) Close() error {
	f.mu.Lock()
	d := f.cur
	f.cur = nil
	f.mu.Unlock()
	if d != nil {
		d.done()
	}
	return nil
}

// use returns the present folder, to be given back with done.
func (f *Folder) use() (*dir, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cur == nil {
		return nil, ErrClosed
	}
	f.cur.refs.Add(1)
	return f.cur, nil
}

// Check looks whether the path still leads to this folder. If it does not, the
// folder is opened anew, and made with the one above it if they are gone;
// changed is then true and everything learnt from List and Read is void.
func (f *Folder) Check() (changed bool, err error) {
	d, err := f.use()
	if err != nil {
		return false, err
	}
	defer d.done()
	if st, err := lstatat(unix.AT_FDCWD, f.path); err == nil && uint64(st.Dev) == d.dev && st.Ino == d.ino {
		return false, nil
	}
	n, err := openDir(f.path, true)
	if err != nil {
		return false, err
	}
	f.mu.Lock()
	switch {
	case f.cur == nil:
		err = ErrClosed
	case f.cur == d:
		f.cur, n = n, d
		changed = true
	default: // another Check was faster
		changed = f.cur.dev == n.dev && f.cur.ino == n.ino
	}
	f.mu.Unlock()
	n.done()
	return changed, err
}

// openDir opens and checks the folder and the one above it.
func openDir(path string, makeAbove bool) (*dir, error) {
	above, err := openAbove(filepath.Dir(path), makeAbove)
	if err != nil {
		return nil, err
	}
	defer unix.Close(above)
	fd, err := openOrMake(above, filepath.Base(path), path, unix.O_RDONLY, true)
	if err != nil {
		return nil, err
	}
	st, err := fstat(fd)
	if err == nil {
		err = ownFolder(path, &st)
	} else {
		err = systemError("check", path, -1, 0, err)
	}
	if err == nil {
		err = procLeadsTo(fd, path, &st)
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	d := &dir{fd: fd, dev: uint64(st.Dev), ino: st.Ino}
	d.refs.Store(1)
	return d, nil
}

// openAbove opens the folder that holds the domain folders.
func openAbove(path string, mayMake bool) (int, error) {
	fd, err := openOrMake(unix.AT_FDCWD, path, path, unix.O_PATH, mayMake)
	if err != nil {
		return -1, err
	}
	st, err := fstat(fd)
	if err == nil {
		err = aboveFolder(path, &st)
	} else {
		err = systemError("check", path, -1, 0, err)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// openOrMake opens a folder, which is made with mode 0700 if it is missing.
func openOrMake(at int, name, path string, how int, mayMake bool) (int, error) {
	for try := 0; ; try++ {
		fd := -1
		err := retry(func() (err error) {
			fd, err = unix.Openat(at, name, how|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
			return err
		})
		if err == nil {
			return fd, nil
		}
		// A few rounds, because somebody may make or remove it meanwhile.
		if err != unix.ENOENT || try == 10 {
			return -1, explain("open", path, err)
		}
		if !mayMake {
			return -1, &FolderError{Path: path, Op: "open", Code: CodeMissing, UID: os.Geteuid(), Own: -1,
				Hint: "make it first (mkdir -m 700) or correct " + DirVariable}
		}
		err = retry(func() error { return unix.Mkdirat(at, name, 0o700) })
		switch {
		case err == nil:
			// The umask may have taken bits away from the owner.
			unix.Fchmodat(at, name, 0o700, 0)
		case err == unix.EEXIST:
		case isFull(err):
			return -1, fullAbove(path, err)
		default:
			return -1, explain("make", path, err)
		}
	}
}

func fullAbove(path string, err error) error {
	fd, oerr := unix.Open(filepath.Dir(path), unix.O_PATH|unix.O_CLOEXEC, 0)
	if oerr != nil {
		return explain("make", path, err)
	}
	defer unix.Close(fd)
	return newFull(path, fd, 0, err)
}

// explain finds out why a folder could not be opened or made: it names the
// first part of the path that is missing or in the way.
func explain(op, path string, err error) error {
	e := &FolderError{Path: path, Op: op, Code: CodeIO, UID: os.Geteuid(), Own: -1, Err: err}
	var st unix.Stat_t
	switch err {
	case unix.EMFILE, unix.ENFILE:
		return descriptorLimit(op+" "+path, err)
	case unix.ENOTDIR, unix.ELOOP:
		for p := path; p != "/"; p = filepath.Dir(p) {
			if unix.Lstat(p, &st) != nil {
				continue // something above it is in the way
			}
			if st.Mode&unix.S_IFMT == unix.S_IFDIR {
				break
			}
			e.Path, e.Own, e.Mode, e.Code, e.Err = p, int(st.Uid), fileMode(&st), CodeNotFolder, nil
			if st.Mode&unix.S_IFMT == unix.S_IFLNK {
				e.Code = CodeSymlink
				if to, err := os.Readlink(p); err == nil {
					e.Hint = "it points to " + to
				}
			}
			break
		}
	case unix.ENOENT:
		e.Code, e.Err = CodeMissing, nil
		for p := filepath.Dir(path); p != "/"; p = filepath.Dir(p) {
			if unix.Lstat(p, &st) == nil {
				break
			}
			e.Path = p
		}
	case unix.EROFS:
		e.Code, e.Err = CodeReadOnly, nil
	case unix.EACCES, unix.EPERM:
		e.Code, e.Err = CodePermission, nil
		for p := path; p != "/"; p = filepath.Dir(p) {
			if unix.Lstat(p, &st) == nil {
				e.Own, e.Mode = int(st.Uid), fileMode(&st)
				switch {
				case p != path:
					e.Hint = "this is what " + p + " allows"
				case e.Own != e.UID && strangerUID(e.Own):
					e.Code = CodeUserNamespace
				case e.Own != e.UID:
					e.Code = CodeOwner
				}
				break
			}
		}
	}
	return e
}

// ownFolder checks the owner and the mode of a folder that must be ours alone.
func ownFolder(path string, st *unix.Stat_t) error {
	e := &FolderError{Path: path, Op: "check", UID: os.Geteuid(), Own: int(st.Uid), Mode: fileMode(st)}
	switch {
	case e.Own != e.UID && strangerUID(e.Own):
		e.Code = CodeUserNamespace
	case e.Own != e.UID:
		e.Code = CodeOwner
	case e.Mode.Perm() != 0o700:
		e.Code = CodeMode
		e.Hint = "it must be 0700: chmod 700 it if nobody else has used it"
	default:
		return nil
	}
	return e
}

// aboveFolder checks that nobody but us and root can swap the domain folder.
func aboveFolder(path string, st *unix.Stat_t) error {
	if path == defaultBase() {
		return ownFolder(path, st)
	}
	e := &FolderError{Path: path, Op: "check", UID: os.Geteuid(), Own: int(st.Uid), Mode: fileMode(st)}
	switch {
	case e.Own != e.UID && e.Own != 0 && strangerUID(e.Own):
		e.Code = CodeUserNamespace
	case e.Own != e.UID && e.Own != 0:
		e.Code = CodeOwner
	case e.Mode.Perm()&0o022 != 0 && st.Mode&unix.S_ISVTX == 0:
		e.Code = CodeMode
		e.Hint = "others can write to it: chmod go-w it, or set the sticky bit"
	default:
		return nil
	}
	return e
}

// procLeadsTo checks that /proc/self/fd works: files get their names and
// sockets are reached through it.
func procLeadsTo(fd int, path string, want *unix.Stat_t) error {
	var st unix.Stat_t
	err := retry(func() error { return unix.Stat(throughProc(fd, "."), &st) })
	if err == nil && st.Dev == want.Dev && st.Ino == want.Ino {
		return nil
	}
	return &FolderError{Path: path, Op: "open", Code: CodeUnsupported, UID: os.Geteuid(), Own: -1,
		Hint: "/proc/self/fd does not lead to open files; mount a proc file system of this PID namespace at /proc", Err: err}
}

// listBuffers are for getdents; one holds about 500 names.
var listBuffers = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}

// List returns the ids of all announcement files in the folder, in no order.
// Whether their owners live is told by Read and Alive. Files with other names
// are left alone.
func (f *Folder) List() ([]graph.ID, error) { return f.AppendList(nil) }

// AppendList is List for callers who keep the slice.
func (f *Folder) AppendList(ids []graph.ID) ([]graph.ID, error) {
	err := f.each(func(name []byte) {
		if id, ok := parseName(name); ok {
			ids = append(ids, id)
		}
	})
	return ids, err
}

func (f *Folder) each(visit func(name []byte)) error {
	d, err := f.use()
	if err != nil {
		return err
	}
	defer d.done()
	// A descriptor of its own, since the position belongs to it.
	fd := -1
	err = retry(func() (err error) {
		fd, err = unix.Openat(d.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		return err
	})
	if err == unix.ENOENT {
		return nil // the folder was removed; Check makes it anew
	}
	if err != nil {
		return systemError("list", f.path, -1, 0, err)
	}
	defer unix.Close(fd)
	buf := listBuffers.Get().(*[]byte)
	defer listBuffers.Put(buf)
	if err := eachName(fd, *buf, visit); err != nil {
		return systemError("list", f.path, -1, 0, err)
	}
	return nil
}
