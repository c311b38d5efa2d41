package exec

import (
	"runtime"
	"sync"
)

// procs makes reading and writing GOMAXPROCS one step, among executors at least.
var procs sync.Mutex

// addProc changes GOMAXPROCS by n.
func addProc(n int) {
	procs.Lock()
	defer procs.Unlock()
	runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0)+n, 1))
}
