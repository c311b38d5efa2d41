package wire

import (
	"fmt"
	"time"
)

// Timestamp is a moment by a session's hybrid clock. Two are ordered by time, then by ID.
type Timestamp struct {
	Time uint64 // seconds since 1970 in the upper 32 bits, binary fraction in the lower
	ID   ID     // whose clock it is; the zero ID means "no timestamp"
}

// IsZero reports whether t is no timestamp.
func (t *Timestamp) IsZero() bool { return t.ID.IsZero() }

// Compare gives -1, 0 or 1 as t is before, equal to or after u.
func (t *Timestamp) Compare(u *Timestamp) int {
	switch {
	case t.Time < u.Time:
		return -1
	case t.Time > u.Time:
		return 1
	}
	for i := 15; i >= 0; i-- {
		switch {
		case t.ID[i] < u.ID[i]:
			return -1
		case t.ID[i] > u.ID[i]:
			return 1
		}
	}
	return 0
}

// AsTime converts to a time.Time; the fraction is rounded to nanoseconds.
func (t Timestamp) AsTime() time.Time {
	return time.Unix(int64(t.Time>>32), int64((t.Time&0xffffffff)*1e9>>32))
}

// String gives RFC 3339 time and ID.
func (t Timestamp) String() string {
	if t.IsZero() {
		return "none"
	}
	return fmt.Sprintf("%s/%s", t.AsTime().UTC().Format(time.RFC3339Nano), t.ID)
}

// NTP64 converts nanoseconds since 1970 to the fixed-point form of Timestamp.Time.
func NTP64(unixNano int64) uint64 {
	s, ns := uint64(unixNano)/1e9, uint64(unixNano)%1e9
	return s<<32 | ns<<32/1e9
}

func (t *Timestamp) append(dst []byte) []byte {
	dst = AppendUint(dst, t.Time)
	return t.ID.append(append(dst, byte(t.ID.Len())))
}

func (t *Timestamp) decode(r *Reader) {
	t.Time = r.Uint("timestamp: time")
	t.ID = r.readID(r.Bounded(16, "timestamp: id"), "timestamp: id")
}
