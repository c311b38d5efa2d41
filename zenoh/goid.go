package zenoh

import (
	"bytes"
	"runtime"
	"strconv"
)

// goid is the number of the calling goroutine. It serves one purpose: Close
// must not wait for the reading goroutine if it is called on it, by a callback.
func goid() uint64 {
	var buf [64]byte
	s := bytes.TrimPrefix(buf[:runtime.Stack(buf[:], false)], []byte("goroutine "))
	if i := bytes.IndexByte(s, ' '); i > 0 {
		n, _ := strconv.ParseUint(string(s[:i]), 10, 64)
		return n
	}
	return 0
}
