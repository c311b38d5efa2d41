package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Plain states.
var (
	// ErrUnsupported is returned by everything in this package on systems
	// other than Linux.
	ErrUnsupported = errors.New("meeting in a folder is not supported on this system")
	// ErrClosed is returned by operations on something that was closed.
	ErrClosed = errors.New("closed")
	// ErrGone means that no announcement file of that id is in the folder.
	ErrGone = errors.New("no such process in the folder")
	// ErrDead means that the process has died; what it left in the folder
	// has been removed.
	ErrDead = errors.New("process has died")
	// ErrBacklog means that a process does not accept control connections at
	// the moment: its backlog is full. It may be frozen.
	ErrBacklog = errors.New("control socket's backlog is full")
	// ErrNotListening means that a living process has no control socket at
	// the moment: it is starting or remaking it.
	ErrNotListening = errors.New("process lives but does not listen")
	// ErrPeerClosed is returned by Send when the other side has closed.
	ErrPeerClosed = errors.New("peer has closed the control connection")
)

// Code says in one word what is wrong with a folder, for those who decide on
// it or print it as a finding.
type Code string

// What can be wrong with a folder.
const (
	CodeMissing       Code = "folder-missing"        // it, or the folder above it, does not exist
	CodeOwner         Code = "folder-owner"          // it belongs to another user
	CodeMode          Code = "folder-mode"           // group or others may use it, or the owner may not
	CodeSymlink       Code = "folder-symlink"        // it is a symbolic link
	CodeNotFolder     Code = "folder-not-a-folder"   // something else stands in its place
	CodeReadOnly      Code = "folder-read-only"      // its file system is mounted read-only
	CodePermission    Code = "folder-permission"     // the system refuses access
	CodeUserNamespace Code = "folder-user-namespace" // its owner does not exist in this user namespace
	CodeUnsupported   Code = "folder-unsupported"    // its file system or the system lacks something
	CodePath          Code = "folder-path"           // the path itself is no good
	CodeExists        Code = "folder-id-taken"       // a file of this id exists already
	CodeIO            Code = "folder-io"             // any other error of the system
)

// FolderError says what is wrong with a folder or a file in it.
type FolderError struct {
	Path string      // the folder or file
	Op   string      // what was tried: "open", "make", "check", "announce", ...
	Code Code        // what is wrong
	UID  int         // user of this process
	Own  int         // owner of Path; -1 where it does not matter
	Mode fs.FileMode // mode of Path; 0 where it does not matter
	Hint string      // more about it, or what to do; may be empty
	Err  error       // the system's error; may be nil
}

func (e *FolderError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "folder %s: %s: ", e.Path, e.Op)
	switch e.Code {
	case CodeMissing:
		b.WriteString("does not exist")
	case CodeOwner:
		fmt.Fprintf(&b, "owned by uid %d, this process runs as uid %d", e.Own, e.UID)
	case CodeMode:
		fmt.Fprintf(&b, "mode %04o (owner uid %d)", modeBits(e.Mode), e.Own)
	case CodeSymlink:
		fmt.Fprintf(&b, "is a symbolic link (owner uid %d)", e.Own)
	case CodeNotFolder:
		fmt.Fprintf(&b, "is not a folder but a %s (owner uid %d)", kindOf(e.Mode), e.Own)
	case CodeReadOnly:
		b.WriteString("file system is read-only")
	case CodePermission:
		b.WriteString("permission denied")
		if e.Own >= 0 {
			fmt.Fprintf(&b, " (owner uid %d, mode %04o, this process runs as uid %d)", e.Own, modeBits(e.Mode), e.UID)
		}
	case CodeUserNamespace:
		fmt.Fprintf(&b, "its owner has no uid in this user namespace (shown as %d), so it cannot be told from a stranger", e.Own)
	case CodeUnsupported:
		b.WriteString("not supported here")
	case CodePath:
		b.WriteString("bad path")
	case CodeExists:
		b.WriteString("a file of this id exists already and another process holds it")
	default:
		b.WriteString("input/output error")
	}
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

func (e *FolderError) Unwrap() error { return e.Err }

// Is reports whether target is a FolderError of the same code, with an equal
// path where target has one.
func (e *FolderError) Is(target error) bool {
	t, ok := target.(*FolderError)
	return ok && t.Code == e.Code && (t.Path == "" || t.Path == e.Path)
}

// modeBits is the mode as ls and chmod write it.
func modeBits(m fs.FileMode) uint32 {
	b := uint32(m.Perm())
	if m&fs.ModeSticky != 0 {
		b |= 0o1000
	}
	return b
}

func kindOf(m fs.FileMode) string {
	switch {
	case m.IsRegular():
		return "file"
	case m&fs.ModeSymlink != 0:
		return "symbolic link"
	case m&fs.ModeNamedPipe != 0:
		return "pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	case m&fs.ModeDevice != 0:
		return "device"
	case m.IsDir():
		return "folder"
	}
	return "thing of unknown kind"
}

// FullError says that a file system has no room.
type FullError struct {
	Path       string // file or folder that was to be written
	FileSystem string // type and mount point, as "tmpfs mounted at /dev/shm"
	Wanted     int64  // bytes; 0 when a new name was all that was wanted
	Free       int64  // bytes free for this user; -1 unknown
	NoInodes   bool   // bytes may be free but no more files can be made
	Err        error
}

func (e *FullError) Error() string {
	what := fmt.Sprintf("wanted %d bytes, %d free", e.Wanted, e.Free)
	if e.NoInodes {
		what = "it has no room for another file (no free inodes)"
	}
	return fmt.Sprintf("%s: %s is full: %s: %v", e.Path, e.FileSystem, what, e.Err)
}

func (e *FullError) Unwrap() error { return e.Err }

// CorruptError says that an announcement file of a living process cannot be
// believed. Nothing is removed because of it.
type CorruptError struct {
	Path string
	What string
}

func (e *CorruptError) Error() string { return "announcement " + e.Path + ": corrupt: " + e.What }

// VersionError says that an announcement file has a layout this program does
// not know.
type VersionError struct {
	Path         string
	Ours, Theirs uint32
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("announcement %s: file layout %d, this program knows layout %d", e.Path, e.Theirs, e.Ours)
}

// LimitError names a limit that was reached and its value.
type LimitError struct {
	Op    string // what was tried
	Limit string // name of the limit, as RLIMIT_NOFILE
	Value int64  // its value; -1 unknown
	Hint  string // may be empty
	Err   error  // may be nil
}

func (e *LimitError) Error() string {
	s := fmt.Sprintf("%s: limit %s = %d reached", e.Op, e.Limit, e.Value)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *LimitError) Unwrap() error { return e.Err }

// PeerError says that the process at the other end of a control connection is
// not one of ours.
type PeerError struct {
	Path     string // control socket
	PID      int    // as this process's PID namespace shows it; 0 where it has none
	UID, GID int    // user and group of the peer
	Want     int    // user it should have
	Overflow bool   // UID stands for a user who has none in this user namespace
}

func (e *PeerError) Error() string {
	if e.Overflow {
		return fmt.Sprintf("control socket %s: refused: peer's user has no uid in this user namespace (shown as %d)", e.Path, e.UID)
	}
	return fmt.Sprintf("control socket %s: refused: peer runs as uid %d (pid %d), this process as uid %d", e.Path, e.UID, e.PID, e.Want)
}

// SocketError says which control socket could not be used and why. Err is one
// of [ErrBacklog], [ErrNotListening], [ErrGone], [ErrDead], a context's error
// or the system's.
type SocketError struct {
	Path string
	Op   string
	Err  error
}

func (e *SocketError) Error() string {
	return "control socket " + e.Path + ": " + e.Op + ": " + e.Err.Error()
}
func (e *SocketError) Unwrap() error { return e.Err }
