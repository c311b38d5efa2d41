//go:build !linux

package machine

import (
	"errors"
	"time"
)

// WakePeer is the word by which Self starts the other end of BareWake.
const WakePeer = "wake-peer"

var errNoWake = errors.New("waking another process by a futex is only measured on Linux")

// BareWake is not measured here.
func BareWake(Self, float64, time.Duration) ([]int64, error) { return nil, errNoWake }

// ServeWake is not measured here.
func ServeWake(int) error { return errNoWake }
