//go:build !linux

package exec

import (
	"errors"
	"runtime"
)

// threadID identifies the calling goroutine, never 0. The executor's goroutine is locked to its thread, so that is as good as
// the thread, for which there is no portable name. It is the number in the first line of a stack trace: slow, and not used
// on hot paths.
func threadID() int64 {
	var buf [64]byte
	text := buf[len("goroutine "):runtime.Stack(buf[:], false)]
	id := int64(0)
	for _, c := range text {
		if c < '0' || c > '9' {
			break
		}
		id = id*10 + int64(c-'0')
	}
	return id
}

type tuned struct{}

// tune refuses to pin: there is no portable way.
func tune(cpu int) (tuned, error) {
	if cpu >= 0 {
		return tuned{}, errors.New("exec: pin thread to a processor: not supported on " + runtime.GOOS)
	}
	return tuned{}, nil
}

func (*tuned) restore() {}
