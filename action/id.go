package action

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
)

// GoalID tells goals apart. Clients choose them at random.
type GoalID [16]byte

// NewGoalID makes a random id, a UUID of version 4.
func NewGoalID() GoalID {
	var id GoalID
	_, _ = rand.Read(id[:]) // never fails
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id
}

// ParseGoalID reads 32 hexadecimal digits, with or without the hyphens of a UUID.
func ParseGoalID(s string) (id GoalID, err error) {
	plain := s
	if len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-' {
		plain = strings.ReplaceAll(s, "-", "")
	}
	b, err := hex.DecodeString(plain)
	if err != nil || len(b) != len(id) {
		return GoalID{}, fmt.Errorf("action: goal id %q: want 32 hexadecimal digits", s)
	}
	return GoalID(b), nil
}

// String gives the 32 hexadecimal digits.
func (id GoalID) String() string { return hex.EncodeToString(id[:]) }

// IsZero reports whether id is all zeros, which in a cancel request means every goal.
func (id GoalID) IsZero() bool { return id == GoalID{} }
