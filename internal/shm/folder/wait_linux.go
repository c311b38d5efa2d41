package folder

import (
	"context"
	"time"

	"github.com/tagus-ros/tagus/graph"
)

// WaitDead waits until a process has died or left, and reaps it. It is for the
// time after a control connection ended: a dying process's sockets close up to
// some milliseconds before its lock is free. The lock is tested after 0, 1, 2,
// 4 ... ms, in the end every second, until the context ends: whoever learns
// that the process lives after all, from a new connection for example, ends
// it.
//
// It returns nil, the context's error, or an error of Alive.
func (f *Folder) WaitDead(ctx context.Context, id graph.ID) error {
	for wait := time.Millisecond; ; wait = min(2*wait, time.Second) {
		alive, err := f.Alive(id)
		if err != nil || !alive {
			return err
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
}
