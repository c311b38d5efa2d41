//go:build !linux

package control

import "errors"

// HostClock returns an error: on this system processes do not meet in a folder.
func HostClock() (Clock, error) {
	return Clock{}, errors.New("tell which clock this is: not supported on this system")
}
