// Package memfd makes, checks, maps, fills and empties the anonymous memory
// files that processes share: sealed against shrinking and growing, so that an
// access inside the checked size cannot fall off the end of the file.
//
// A descriptor from ReadOnly cannot be mapped writable. That guards against
// accidents only: another process of the same user, or root, can reopen the
// file for writing through /proc.
//
// Only Linux has such files. Elsewhere everything here returns an error that
// matches errors.ErrUnsupported. The package must import nothing but the
// standard library and golang.org/x/sys.
package memfd

import "fmt"

// Error says which operation on which memory file failed.
type Error struct {
	Op    string // "create", "seal", "map", "commit", …
	Name  string // the name of the file, or its descriptor
	Size  int64  // the bytes it was about, 0 if none
	Limit string // the limit that was reached, with its value if known; "" if it was none
	Err   error  // mostly an errno
}

// Error implements error.
func (e *Error) Error() string {
	s := "memory file " + e.Name + ": " + e.Op
	if e.Size != 0 {
		s += fmt.Sprintf(" of %d bytes", e.Size)
	}
	s += ": " + e.Err.Error()
	if e.Limit != "" {
		s += " (limit: " + e.Limit + ")"
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Problem is what Check found wrong with a descriptor.
type Problem string

// The findings of Check.
const (
	NotRegular  Problem = "not a regular file"
	NotMemory   Problem = "not on a memory file system"
	NotSealed   Problem = "not sealed against shrinking and growing"
	BadSize     Problem = "size out of range"
	NotReadOnly Problem = "writable where read-only was asked for"
	Unreadable  Problem = "cannot be examined"
)

// CheckError is the refusal of a descriptor that came from somebody else.
type CheckError struct {
	FD       int
	Problem  Problem
	Size     int64 // with BadSize: the size of the file, and what was allowed
	Min, Max int64
	Err      error // with Unreadable: the cause
}

// Error implements error.
func (e *CheckError) Error() string {
	s := fmt.Sprintf("descriptor %d refused: %s", e.FD, e.Problem)
	switch e.Problem {
	case BadSize:
		s += fmt.Sprintf(": %d bytes, allowed %d to %d", e.Size, e.Min, e.Max)
	case Unreadable:
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause, if there is one.
func (e *CheckError) Unwrap() error { return e.Err }
