//go:build !linux

package machine

import "errors"

// SyscallCounter counts the system calls of this process.
type SyscallCounter struct{}

// NewSyscallCounter says that nothing is counted here.
func NewSyscallCounter() (*SyscallCounter, error) {
	return nil, errors.New("system calls are only counted on Linux")
}

// Read returns nothing.
func (*SyscallCounter) Read() SyscallCounts { return SyscallCounts{} }

// Close does nothing.
func (*SyscallCounter) Close() {}
