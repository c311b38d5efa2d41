package folder

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/tagus-ros/tagus/graph"
)

// Member is this process's place in a folder: its announcement file with the
// lock that means life, and its control socket. All methods may be called by
// any goroutine; Accept by one at a time.
type Member struct {
	f  *Folder
	id graph.ID

	mu     sync.Mutex // guards what follows; no socket is used and nothing is waited for under it
	file   *announcement
	body   []byte // as last accepted, for the day the file has to be remade
	sock   *listener
	closed bool

	backOff backOff // of Accept
}

// announcement is one announcement file of ours, locked.
type announcement struct {
	dir  *dir // the folder it was made in
	fd   int
	ino  uint64
	cur  header // the newest copy
	slot int    // where its header is, 0 or 1
}

// Join makes the announcement file and the control socket of id, whose most
// significant byte must not be zero. Others see a starting process until both
// are there and the body from then on. What processes that have died left in
// the folder is removed.
//
// The body is copied. The error is a *[FolderError], *[FullError] or
// *[LimitError]; nothing is then left in the folder.
func (f *Folder) Join(id graph.ID, body []byte) (*Member, error) {
	if id[15] == 0 {
		return nil, fmt.Errorf("join folder %s: participant id %s is too small: its most significant byte is zero", f.path, id)
	}
	if err := checkBody(pathOf(f.path, id), body); err != nil {
		return nil, err
	}
	d, err := f.use()
	if err != nil {
		return nil, err
	}
	defer d.done()
	a, err := f.create(d, id, StateStarting, 1, body)
	if err != nil {
		return nil, err
	}
	m := &Member{f: f, id: id, file: a, body: append([]byte(nil), body...)}
	if m.sock, err = f.listen(d, id); err == nil {
		err = f.put(a, id, StateUp, body)
	}
	if err != nil {
		m.Close()
		return nil, err
	}
	f.sweep(d)
	return m, nil
}

// ID returns the participant id.
func (m *Member) ID() graph.ID { return m.id }

// Write announces another body and returns its version. When it returns an
// error, a *[FullError] for example, the old content stays what others read.
// The body is copied.
//
// Whatever this process reads from the folder after Write, it reads after all
// others can see the new body.
func (m *Member) Write(body []byte) (version uint64, err error) {
	if err := checkBody(pathOf(m.f.path, m.id), body); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return 0, ErrClosed
	}
	if err := m.f.put(m.file, m.id, StateUp, body); err != nil {
		return 0, err
	}
	m.body = append(m.body[:0], body...)
	return m.file.cur.version, nil
}

// Check looks whether the folder, the file, its content and the socket are
// still what this process made, and makes anew what is not. It is meant to run
// every two seconds. If remade is true, others may have missed this process
// and it may have missed others: look at all of them again.
//
// An error means that something is missing and could not be made; the next
// Check tries again.
func (m *Member) Check() (remade bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false, ErrClosed
	}
	if _, err := m.f.Check(); err != nil {
		return false, err
	}
	d, err := m.f.use()
	if err != nil {
		return false, err
	}
	defer d.done()
	switch {
	case !named(d, fileOf(m.id), m.file.ino):
		if err := m.remakeFile(d); err != nil {
			return false, err
		}
		remade = true
	case !m.file.intact(m.body):
		if err := m.f.put(m.file, m.id, StateUp, m.body); err != nil {
			return false, err
		}
		remade = true
	}
	if !named(d, sockOf(m.id), m.sock.ino) {
		// The name may be taken by what is left of our own old socket.
		if err := unlinkat(d.fd, sockOf(m.id)); err != nil {
			return remade, systemError("remove", pathOf(m.f.path, m.id)+sockSuffix, d.fd, 0, err)
		}
		l, err := m.f.listen(d, m.id)
		if err != nil {
			return remade, err
		}
		m.sock, l = l, m.sock
		l.close()
		remade = true
	}
	return remade, nil
}

// remakeFile links a new file and only then gives up the old one: whoever
// still has the old one open must not find its lock free before the name
// leads elsewhere.
func (m *Member) remakeFile(d *dir) error {
	a, err := m.f.create(d, m.id, StateUp, m.file.cur.version+1, m.body)
	if errors.Is(err, unix.EEXIST) {
		// Some file took the name. It is ours to use unless somebody holds it.
		if err := m.f.removeForeign(d, m.id, m.file); err != nil {
			return err
		}
		a, err = m.f.create(d, m.id, StateUp, m.file.cur.version+1, m.body)
	}
	if err != nil {
		return err
	}
	m.file.close()
	m.file = a
	return nil
}

// Close removes the socket, then the file, and gives up the lock. Connections
// stay. It may be called more than once.
func (m *Member) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil
	}
	m.closed = true
	a := m.file
	var errs []error
	if m.sock != nil {
		// Names that lead to something else by now are not ours.
		if named(a.dir, sockOf(m.id), m.sock.ino) {
			errs = append(errs, unlinkat(a.dir.fd, sockOf(m.id)))
		}
		m.sock.close()
	}
	if named(a.dir, fileOf(m.id), a.ino) {
		errs = append(errs, unlinkat(a.dir.fd, fileOf(m.id)))
	}
	a.close()
	if err := errors.Join(errs...); err != nil {
		return systemError("remove", pathOf(m.f.path, m.id), -1, 0, err)
	}
	return nil
}

func checkBody(path string, body []byte) error {
	if len(body) > MaxBody {
		return &LimitError{Op: "announce in " + path, Limit: "MaxBody", Value: MaxBody,
			Hint: fmt.Sprintf("the announcement has %d bytes", len(body))}
	}
	return nil
}

// named tells whether name leads to the file of that inode number.
func named(d *dir, name string, ino uint64) bool {
	st, err := lstatat(d.fd, name)
	return err == nil && st.Ino == ino
}

// create makes an announcement file: unnamed, filled and locked before it gets
// its name, so that nobody ever sees half of it.
func (f *Folder) create(d *dir, id graph.ID, state State, version uint64, body []byte) (*announcement, error) {
	path := pathOf(f.path, id)
	fd := -1
	err := retry(func() (err error) {
		fd, err = unix.Openat(d.fd, ".", unix.O_RDWR|unix.O_TMPFILE|unix.O_CLOEXEC, 0o600)
		return err
	})
	if err == unix.ENOENT {
		// The folder has been removed.
		return nil, &FolderError{Path: f.path, Op: "announce", Code: CodeMissing, UID: os.Geteuid(), Own: -1}
	}
	if err != nil {
		return nil, systemError("announce", path, d.fd, firstFileSize, err)
	}
	d.refs.Add(1)
	a := &announcement{dir: d, fd: fd, slot: 1}
	a.cur.version = version - 1
	fail := func(err error) (*announcement, error) {
		a.close()
		return nil, err
	}
	// The umask may have taken bits away from the owner.
	if err := retry(func() error { return unix.Fchmod(fd, 0o600) }); err != nil {
		return fail(systemError("announce", path, fd, 0, err))
	}
	st, err := fstat(fd)
	if err != nil {
		return fail(systemError("announce", path, fd, 0, err))
	}
	a.ino = st.Ino
	if err := reserve(fd, 0, firstFileSize); err != nil {
		return fail(systemError("announce", path, fd, firstFileSize, err))
	}
	if err := f.put(a, id, state, body); err != nil {
		return fail(err)
	}
	if err := lockLife(fd); err != nil {
		return fail(systemError("lock", path, fd, 0, err))
	}
	err = retry(func() error {
		return unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), d.fd, fileOf(id), unix.AT_SYMLINK_FOLLOW)
	})
	switch {
	case err == nil:
		return a, nil
	case err == unix.EEXIST:
		return fail(&FolderError{Path: path, Op: "announce", Code: CodeExists, UID: os.Geteuid(), Own: -1, Err: err})
	case err == unix.ENOENT:
		return fail(&FolderError{Path: f.path, Op: "announce", Code: CodeMissing, UID: os.Geteuid(), Own: -1})
	}
	return fail(systemError("announce", path, fd, 0, err))
}

// reserve takes room so that writing cannot fail for want of it. File systems
// that cannot reserve say so only when written to.
func reserve(fd int, off, n int64) error {
	err := retry(func() error { return unix.Fallocate(fd, 0, off, n) })
	if err == unix.EOPNOTSUPP {
		return nil
	}
	return err
}

// writeFence orders writes to files before the reading of others' files that
// follows, on processors that reorder.
var writeFence atomic.Uint32

// put writes the next version: the body where it does not touch the current
// one, then its header over the older of the two. A crash or an error before
// the end of the header's write leaves the current copy as it was.
func (f *Folder) put(a *announcement, id graph.ID, state State, body []byte) error {
	path := pathOf(f.path, id)
	next := header{
		state:   state,
		version: a.cur.version + 1,
		id:      id,
		offset:  place(a.cur, len(body)),
		length:  uint32(len(body)),
	}
	next.bodySum = bodySum(next.version, body)
	if len(body) > 0 {
		if err := reserve(a.fd, int64(next.offset), int64(len(body))); err != nil {
			return systemError("announce", path, a.fd, int64(len(body)), err)
		}
		if err := pwrite(a.fd, body, int64(next.offset)); err != nil {
			return systemError("announce", path, a.fd, int64(len(body)), err)
		}
	}
	var raw [headerSize]byte
	next.put(&raw)
	slot := 1 - a.slot
	if err := pwrite(a.fd, raw[:], int64(slot*headerSize)); err != nil {
		return systemError("announce", path, a.fd, headerSize, err)
	}
	a.cur, a.slot = next, slot
	writeFence.Add(1)
	return nil
}

// intact tells whether the file still has what was last put into it.
func (a *announcement) intact(body []byte) bool {
	var want, got [headerSize]byte
	a.cur.put(&want)
	if n, err := pread(a.fd, got[:], int64(a.slot*headerSize)); err != nil || n < headerSize || got != want {
		return false
	}
	var chunk [1024]byte
	for off := int64(a.cur.offset); len(body) > 0; {
		n := min(len(body), len(chunk))
		if k, err := pread(a.fd, chunk[:n], off); err != nil || k < n || string(chunk[:n]) != string(body[:n]) {
			return false
		}
		body, off = body[n:], off+int64(n)
	}
	return true
}

func (a *announcement) close() {
	unix.Close(a.fd)
	a.dir.done()
}

// removeForeign unlinks a file that stands under id's name but was not put
// there by the process that owns id, if nobody holds its lock.
func (f *Folder) removeForeign(d *dir, id graph.ID, ours *announcement) error {
	fd, err := f.openAlive(d, id) // removes it if nobody holds the lock
	switch err {
	case ErrGone, ErrDead:
		return nil
	case nil:
		unix.Close(fd)
		return &FolderError{Path: pathOf(f.path, id), Op: "announce", Code: CodeExists, UID: os.Geteuid(), Own: -1}
	}
	return err
}

// sweep removes what the dead have left. It is best effort: what cannot be
// looked at now is looked at when it is read.
func (f *Folder) sweep(d *dir) {
	var files, socks []graph.ID
	f.each(func(name []byte) {
		if id, ok := parseName(name); ok {
			files = append(files, id)
		} else if n := len(name) - len(sockSuffix); n == idLen && string(name[n:]) == sockSuffix {
			if id, ok := parseName(name[:n]); ok {
				socks = append(socks, id)
			}
		}
	})
	for _, id := range files {
		if fd, err := f.openAlive(d, id); err == nil {
			unix.Close(fd)
		}
	}
	for _, id := range socks {
		f.sweepSocket(d, id)
	}
}

// sweepSocket removes a socket without a file if nobody listens to it. Such a
// one is left when the file was removed by hand and its owner then died. An
// owner that remakes both links the file first; so if after a refused connect
// there still is no file, this is no socket being made.
func (f *Folder) sweepSocket(d *dir, id graph.ID) {
	if _, err := lstatat(d.fd, fileOf(id)); err != unix.ENOENT {
		return
	}
	fd, err := newSocket()
	if err != nil {
		return
	}
	err = connect(fd, d, id)
	unix.Close(fd)
	if err != unix.ECONNREFUSED {
		return
	}
	if _, err := lstatat(d.fd, fileOf(id)); err == unix.ENOENT {
		unlinkat(d.fd, sockOf(id))
	}
}
