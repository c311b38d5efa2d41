package lifecycle

import (
	"context"
	"sync/atomic"
)

// gate lets publications and callbacks through while it is open. Closing it has two steps: nobody comes in any more, then the wait until
// those inside are out.
type gate struct {
	word  atomic.Int64  // bit 0: open; the rest counts who is inside
	calls atomic.Int64  // of those inside, callbacks
	left  chan struct{} // somebody left the closed gate; holds one token
}

const (
	gateOpen   = 1
	gateInside = 2
)

func newGate() *gate { return &gate{left: make(chan struct{}, 1)} }

// enter reports whether the caller is inside now; then it must leave.
func (g *gate) enter() bool {
	for {
		w := g.word.Load()
		if w&gateOpen == 0 {
			return false
		}
		if g.word.CompareAndSwap(w, w+gateInside) {
			return true
		}
	}
}

func (g *gate) leave() {
	if g.word.Add(-gateInside)&gateOpen == 0 {
		select {
		case g.left <- struct{}{}:
		default:
		}
	}
}

// enterCallback and leaveCallback are enter and leave for a callback.
func (g *gate) enterCallback() bool {
	if !g.enter() {
		return false
	}
	g.calls.Add(1)
	return true
}

func (g *gate) leaveCallback() {
	g.calls.Add(-1)
	g.leave()
}

// set opens or closes the gate.
func (g *gate) set(open bool) {
	if open {
		g.word.Or(gateOpen)
	} else {
		g.word.And(^gateOpen)
	}
}

// drain returns when no more than own are inside the closed gate: 1 where the caller is in a callback itself, else 0. One goroutine
// drains at a time. It returns ctx's error when that ends first.
func (g *gate) drain(ctx context.Context, own int64) error {
	for g.word.Load()/gateInside > own {
		select {
		case <-g.left:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
