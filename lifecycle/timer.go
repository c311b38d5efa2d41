package lifecycle

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/tagus-ros/tagus"
)

// Timer calls a function at a fixed rate while its node is active.
type Timer struct {
	n      *Node
	period time.Duration
	fn     func(context.Context, tagus.TimerInfo)
	opts   []tagus.TimerOption

	mu     sync.Mutex
	t      *tagus.Timer // of the last activation
	on     bool
	closed bool
}

// NewTimer makes a managed timer: fn is called every period while the node is active, first one period after the activation, on the node's
// executor. Each activation begins a new grid of points in time, and a new count of overruns. For a timer that works in every state use the
// embedded Node.
func (n *Node) NewTimer(period time.Duration, fn func(context.Context, tagus.TimerInfo), opts ...tagus.TimerOption) (*Timer, error) {
	t := &Timer{n: n, period: period, fn: fn, opts: opts}
	err := error(nil)
	if period <= 0 {
		err = fmt.Errorf("period %v: want more than 0", period)
	} else {
		err = n.add(t)
	}
	if err != nil {
		t.Stop()
		return nil, &tagus.EndpointError{Kind: "timer", Name: n.FullyQualifiedName(), Op: "new", Err: err}
	}
	return t, nil
}

func (t *Timer) tick(ctx context.Context, info tagus.TimerInfo) {
	if !t.n.gate.enterCallback() {
		return
	}
	defer t.n.gate.leaveCallback()
	t.fn(ctx, info)
}

func (t *Timer) arm() {}

func (t *Timer) resume() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.on || t.closed {
		return nil
	}
	inner, err := t.n.Node.NewTimer(t.period, t.tick, t.opts...)
	if err != nil {
		return err
	}
	t.t, t.on = inner, true
	return nil
}

func (t *Timer) pause() {
	t.mu.Lock()
	t.on = false
	inner := t.t
	t.mu.Unlock()
	if inner != nil {
		inner.Stop()
	}
}

// Stop ends the timer for good and waits for a call that is running, unless it is called from inside a callback of the same executor.
func (t *Timer) Stop() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.pause()
	t.n.remove(t)
}

// Close is Stop.
func (t *Timer) Close() error {
	t.Stop()
	return nil
}
