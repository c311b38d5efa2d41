package transport

import (
	"context"
	"errors"
	"time"

	"github.com/tagus-ros/tagus/notify"
)

// event is a notify.Event whose waits end with a context or at a deadline, whichever is first.
type event struct{ notify.Event }

var errDeadline = errors.New("deadline")

// wait returns nil after a notification, errDeadline at the deadline, or the
// context's cause. It allocates only if it sleeps with a context that can end.
func (e *event) wait(ctx context.Context, deadline time.Time) error {
	var err error
	if ctx.Done() == nil {
		err = e.WaitUntil(deadline)
	} else {
		both, cancel := context.WithDeadline(ctx, deadline)
		err = e.Wait(both)
		cancel()
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return errDeadline
}

// block waits without end.
func (e *event) block() { _ = e.WaitUntil(time.Time{}) }

// clear forgets a notification.
func (e *event) clear() { _ = e.WaitUntil(time.Unix(1, 0)) }

func (e *event) notify() { _ = e.Notify() }
