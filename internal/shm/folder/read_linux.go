package folder

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/tagus-ros/tagus/graph"
)

// Between a header and its body another process may write twice; more than a
// few times in a row only if it does nothing else.
const readTries = 100

// Read returns the newest announcement of a living process. The body is read
// only if its version is higher than have, the last one the caller has seen,
// or 0. Nothing is waited for.
//
// Errors: [ErrGone]; [ErrDead] if the owner has died, what it left is then
// removed; *[CorruptError] and *[VersionError] if the owner lives but its file
// cannot be used; *[LimitError], *[FolderError].
func (f *Folder) Read(id graph.ID, have uint64) (Announcement, error) {
	d, err := f.use()
	if err != nil {
		return Announcement{}, err
	}
	defer d.done()
	fd, err := f.openAlive(d, id)
	if err != nil {
		return Announcement{}, err
	}
	a, err := f.readCopies(fd, id, have)
	unix.Close(fd)
	return a, err
}

// Alive tests the lock of a process. A dead one is removed from the folder:
// its socket, then its file, never another name. A process that has no file is
// not alive.
func (f *Folder) Alive(id graph.ID) (bool, error) {
	d, err := f.use()
	if err != nil {
		return false, err
	}
	defer d.done()
	fd, err := f.openAlive(d, id)
	switch err {
	case nil:
		unix.Close(fd)
		return true, nil
	case ErrGone, ErrDead:
		return false, nil
	}
	return false, err
}

// openAlive opens the file of a living process. It reaps a dead one.
func (f *Folder) openAlive(d *dir, id graph.ID) (int, error) {
	name := nameOf(id)
	for try := 0; ; try++ {
		fd, err := openName(d.fd, &name)
		switch err {
		case nil:
		case unix.ENOENT:
			return -1, ErrGone
		case unix.ELOOP:
			return -1, &CorruptError{Path: pathOf(f.path, id), What: "is a symbolic link"}
		case unix.ENXIO:
			return -1, &CorruptError{Path: pathOf(f.path, id), What: "is a socket or device"}
		default:
			return -1, systemError("open", pathOf(f.path, id), -1, 0, err)
		}
		held, err := lockHeld(fd)
		if err != nil {
			unix.Close(fd)
			return -1, systemError("test the lock of", pathOf(f.path, id), -1, 0, err)
		}
		if held {
			return fd, nil
		}
		err = f.reap(d, fd, id)
		unix.Close(fd)
		if err != errReplaced {
			return -1, err
		}
		if try == readTries {
			return -1, &CorruptError{Path: pathOf(f.path, id), What: "changes its identity all the time"}
		}
	}
}

// errReplaced says that a name leads to another file than before.
var errReplaced = errors.New("replaced")

// reap removes what the owner of the unlocked file fd has left and returns
// ErrDead. It removes nothing if the name leads to another file by now
// (errReplaced: the owner lives and has remade it) or nowhere (ErrGone:
// somebody else has reaped or removed it).
//
// An owner gives up an old file only after the name leads to the new one, so
// the tested file cannot come back under the name between this comparison and
// the unlinking: whoever finds it unlocked and still named finds it dead.
func (f *Folder) reap(d *dir, fd int, id graph.ID) error {
	path := pathOf(f.path, id)
	st, err := fstat(fd)
	if err != nil {
		return systemError("check", path, -1, 0, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		m := fileMode(&st)
		return &CorruptError{Path: path, What: "is not a file but a " + kindOf(m)}
	}
	if ours, err := looksOurs(fd); err != nil || !ours {
		// Somebody's file that happens to have such a name is not removed.
		return &CorruptError{Path: path, What: "is no announcement, and nobody holds it; if it is a leftover, remove it"}
	}
	now, err := lstatat(d.fd, fileOf(id))
	switch {
	case err == unix.ENOENT:
		return ErrGone
	case err != nil:
		return systemError("check", path, -1, 0, err)
	case now.Dev != st.Dev || now.Ino != st.Ino:
		return errReplaced
	}
	if err := unlinkat(d.fd, sockOf(id)); err != nil {
		return systemError("remove", path+sockSuffix, -1, 0, err)
	}
	if err := unlinkat(d.fd, fileOf(id)); err != nil {
		return systemError("remove", path, -1, 0, err)
	}
	return ErrDead
}

// looksOurs tells whether a file may be what is left of an announcement: one
// of its headers starts like one, or there is nothing in it.
func looksOurs(fd int) (bool, error) {
	var raw [bodyStart]byte
	n, err := pread(fd, raw[:], 0)
	le := binary.LittleEndian
	return n == 0 || le.Uint32(raw[:]) == fileMagic || le.Uint32(raw[headerSize:]) == fileMagic, err
}

// readCopies returns the newest valid copy. See docs/shm-protocol.md for why
// a copy that fails is good again at the next look or corrupt for good.
func (f *Folder) readCopies(fd int, id graph.ID, have uint64) (Announcement, error) {
	var before [bodyStart]byte
	for try := 0; try < readTries; try++ {
		var raw [bodyStart]byte
		n, err := pread(fd, raw[:], 0)
		if err != nil {
			return Announcement{}, systemError("read", pathOf(f.path, id), -1, 0, err)
		}
		if n < bodyStart {
			return Announcement{}, &CorruptError{Path: pathOf(f.path, id), What: fmt.Sprintf("has %d bytes, its headers need %d", n, bodyStart)}
		}
		var copies [2]header
		var flaws [2]flaw
		for i := range copies {
			copies[i], flaws[i] = parseHeader(raw[i*headerSize:(i+1)*headerSize], id)
		}
		order := [2]int{0, 1}
		if copies[1].version > copies[0].version {
			order = [2]int{1, 0}
		}
		what := ""
		for _, i := range order {
			if flaws[i] != flawNone {
				continue
			}
			h := &copies[i]
			a := Announcement{ID: id, Version: h.version, State: h.state}
			switch {
			case h.version == have:
				return a, nil
			case h.version < have:
				// The caller knows better: versions never go back.
				if what != "" {
					continue
				}
				what = fmt.Sprintf("the newest good copy has version %d, after version %d was seen", h.version, have)
				continue
			}
			if readHook != nil {
				readHook()
			}
			if a.Body, what, err = readBody(fd, h); err != nil {
				return Announcement{}, systemError("read", pathOf(f.path, id), -1, 0, err)
			}
			if what == "" {
				return a, nil
			}
			// Either the owner has written twice since we read the header, or
			// the copy is damaged: another look tells.
			if raw != before {
				break
			}
		}
		if raw != before {
			before = raw
			continue
		}
		return Announcement{}, f.verdict(id, raw[:], flaws, what)
	}
	return Announcement{}, &CorruptError{Path: pathOf(f.path, id), What: "is rewritten faster than it can be read"}
}

// readBody returns a body, or in one phrase what is wrong with it.
func readBody(fd int, h *header) (body []byte, what string, err error) {
	st, err := fstat(fd)
	if err != nil {
		return nil, "", err
	}
	if uint64(st.Size) < h.offset+uint64(h.length) {
		return nil, fmt.Sprintf("body of %d bytes at %d does not fit in a file of %d bytes", h.length, h.offset, st.Size), nil
	}
	body = make([]byte, h.length)
	n, err := pread(fd, body, int64(h.offset))
	if err != nil {
		return nil, "", err
	}
	if n < len(body) {
		return nil, "file ends within the body", nil
	}
	if checksums && bodySum(h.version, body) != h.bodySum {
		return nil, "body checksum is wrong", nil
	}
	return body, "", nil
}

// verdict describes a file of which no copy is good.
func (f *Folder) verdict(id graph.ID, raw []byte, flaws [2]flaw, what string) error {
	path := pathOf(f.path, id)
	if flaws[0] == flawLayout || flaws[1] == flawLayout {
		i := 0
		if flaws[1] == flawLayout {
			i = headerSize
		}
		return &VersionError{Path: path, Ours: fileLayout, Theirs: uint32(binary.LittleEndian.Uint16(raw[i+4:]))}
	}
	if what != "" {
		return &CorruptError{Path: path, What: what}
	}
	return &CorruptError{Path: path, What: fmt.Sprintf("no copy is good: first: %s; second: %s", flawText[flaws[0]], flawText[flaws[1]])}
}

// readHook, where a test has set it, runs between the reading of a header and
// of its body.
var readHook func()
