package lifecycle

import (
	"reflect"
	"runtime"
	"strings"
)

// What waits for the callbacks of a node must not wait for the callback that it is called from. A goroutine cannot be asked which it is,
// but its stack tells: the functions below are on it while a callback runs.

// inEntityCallback reports whether the caller is inside the callback of some managed entity.
func inEntityCallback() bool { return onStack("(*Timer).tick", "]).receive") }

// inTransitionCallback reports whether the caller is inside the callback of some transition.
func inTransitionCallback() bool { return onStack("call") }

var packagePath = reflect.TypeFor[Node]().PkgPath() + "."

// onStack reports whether a function of this package whose name ends so is among the callers.
func onStack(names ...string) bool {
	pcs := make([]uintptr, 64)
	for skip := 2; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs)
		frames := runtime.CallersFrames(pcs[:n])
		for {
			f, more := frames.Next()
			if name, ours := strings.CutPrefix(f.Function, packagePath); ours {
				for _, x := range names {
					if name == x || x[0] == ']' && strings.HasSuffix(name, x) {
						return true
					}
				}
			}
			if !more {
				break
			}
		}
		if n < len(pcs) {
			return false
		}
	}
}
