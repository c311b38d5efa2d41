//go:build !linux

package memfd

import "errors"

// File is a memory file of this process. This system has none.
type File struct{}

// Create always fails here.
func Create(name string, size int64) (*File, error) {
	return nil, &Error{Op: "create", Name: name, Size: size, Err: errors.ErrUnsupported}
}

// FD returns -1.
func (f *File) FD() int { return -1 }

// Size returns 0.
func (f *File) Size() int64 { return 0 }

// ReadOnly always fails here.
func (f *File) ReadOnly() (int, error) { return -1, unsupported("open read-only") }

// Close does nothing.
func (f *File) Close() error { return nil }

// Map always fails here.
func Map(fd int, size int64, writable bool) ([]byte, error) { return nil, unsupported("map") }

// Unmap always fails here.
func Unmap(b []byte) error { return unsupported("unmap") }

// Check always fails here.
func Check(fd int, minSize, maxSize int64) (int64, error) {
	return 0, &CheckError{FD: fd, Problem: Unreadable, Err: errors.ErrUnsupported}
}

// CheckReadOnly always fails here.
func CheckReadOnly(fd int, minSize, maxSize int64) (int64, error) {
	return Check(fd, minSize, maxSize)
}

// Commit always fails here.
func Commit(fd int, off, n int64) error { return unsupported("commit") }

// Punch always fails here.
func Punch(fd int, off, n int64) error { return unsupported("punch") }

func unsupported(op string) error {
	return &Error{Op: op, Name: "none", Err: errors.ErrUnsupported}
}
