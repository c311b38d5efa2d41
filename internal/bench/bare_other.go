//go:build !linux

package bench

import (
	"errors"
	"io"
	"os/exec"
	"time"

	"github.com/tagus-ros/tagus/internal/bench/machine"
)

var errOnlyLinux = errors.New("ping-pong is only run on Linux")

// bareEnd is the pinging end without middleware; there is none here.
type bareEnd struct {
	in     io.WriteCloser
	cpu    int
	period time.Duration
	yield  bool
}

func newBareEnd(machine.Self) (*bareEnd, *exec.Cmd, error) { return nil, nil, errOnlyLinux }
func (*bareEnd) end(*exec.Cmd) error                       { return nil }
func (*bareEnd) futexBlock(int, *trips) error              { return errOnlyLinux }
func (*bareEnd) pollBlock(int, *trips) error               { return errOnlyLinux }
func serveBare(pongSetup, []string) (func(), error)        { return nil, errOnlyLinux }
