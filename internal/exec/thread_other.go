//go:build !linux

package exec

import (
	"errors"
	"fmt"
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

// tune refuses what has no portable way.
func tune(o *Options) (tuned, error) {
	if o.CPU >= 0 || o.Nice != 0 || o.RealTime != 0 {
		return tuned{}, fmt.Errorf("exec: processor, niceness and real-time priority of a thread: %w on %s",
			errors.ErrUnsupported, runtime.GOOS)
	}
	return tuned{}, nil
}

func (*tuned) restore() {}
