package arena

import (
	"errors"
	"fmt"
)

// ErrClosed is returned by Get after Close.
var ErrClosed = errors.New("arena: closed")

// The limits that ErrArenaFull names; those of a cgroup are followed by its path.
const (
	LimitShm       = "TAGUS_SHM_MAX_BYTES"
	LimitCgroup    = "a quarter of the memory cgroup's limit"
	LimitRAM       = "half of the machine's memory"
	LimitClass     = "largest slot"
	LimitRange     = "address range of the arena"
	LimitHeadroom  = "memory left in the cgroup"
	LimitAvailable = "memory available on the machine"
	LimitSystem    = "memory of the system"
)

// ErrArenaFull says that a slot could not be had, and which limit stands in the
// way. Waiting for slots in use to be released helps unless Wanted exceeds Limit.
type ErrArenaFull struct {
	Topic     string // for whom; filled in by the caller of Get
	Wanted    int64  // bytes asked for
	Free      int64  // bytes that could still be had under the limit
	Limit     int64  // the limit in bytes, 0 if it is not known
	LimitName string // one of the Limit constants
	Err       error  // the system's error, if it refused
}

// Error implements error.
func (e *ErrArenaFull) Error() string {
	s := "shared memory is full"
	if e.Topic != "" {
		s += " for topic " + e.Topic
	}
	s += fmt.Sprintf(": wanted %d bytes, free %d, limit %s", e.Wanted, e.Free, e.LimitName)
	if e.Limit > 0 {
		s += fmt.Sprintf(" = %d", e.Limit)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the system's error, if there is one.
func (e *ErrArenaFull) Unwrap() error { return e.Err }

// ErrInUse is returned by Close while slots are in use. The arena then ends with
// the last Unref.
type ErrInUse struct {
	Slots int
	Bytes int64
}

// Error implements error.
func (e *ErrInUse) Error() string {
	return fmt.Sprintf("arena: closed with %d slots (%d bytes) in use", e.Slots, e.Bytes)
}
