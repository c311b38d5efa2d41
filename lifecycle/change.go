package lifecycle

import (
	"context"
	"errors"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/msgs/lifecycle_msgs"
)

// Configure makes an unconfigured node inactive. See [Node.Change].
func (n *Node) Configure(ctx context.Context) error { return n.Change(ctx, Configure) }

// Activate makes an inactive node active. See [Node.Change].
func (n *Node) Activate(ctx context.Context) error { return n.Change(ctx, Activate) }

// Deactivate makes an active node inactive. When it returned no callback of a managed entity is running and none will, but for the one that
// it is called from, and no message leaves. It waits for those callbacks first; a context that ends meanwhile leaves the node active. See
// [Node.Change].
func (n *Node) Deactivate(ctx context.Context) error { return n.Change(ctx, Deactivate) }

// Cleanup makes an inactive node unconfigured. See [Node.Change].
func (n *Node) Cleanup(ctx context.Context) error { return n.Change(ctx, Cleanup) }

// Change makes a transition that can be asked for: it runs the callback on the calling goroutine and returns nil when the node is in the
// state that the transition is for. Where nothing was changed, or the callback failed, the error is a [*ChangeError]. It may be called
// from the callbacks of managed entities.
func (n *Node) Change(ctx context.Context, t Transition) error {
	if err := ctx.Err(); err != nil {
		return n.refusal(t, err)
	}
	e, err := n.begin(func(s State) (Edge, error) {
		e, ok := s.Edge(t)
		if !ok {
			return e, &UnavailableError{s, t.String()}
		}
		return e, nil
	})
	if err != nil {
		return n.refusal(t, err)
	}
	return n.run(ctx, n.ctx, e)
}

// Shutdown makes the node finalized, from whatever state: it waits for a transition that is under way. A node that is finalized already
// stays so, without an error. See [Node.Change].
func (n *Node) Shutdown(ctx context.Context) error {
	if inTransitionCallback() && !n.State().Primary() {
		return n.Change(ctx, ActiveShutdown) // to wait would be for ever; the refusal says what is under way
	}
	for {
		s, err := n.WaitFor(ctx, Unconfigured, Inactive, Active, Finalized)
		if err != nil || s == Finalized {
			return err
		}
		e, _ := s.EdgeLabelled("shutdown")
		err = n.Change(ctx, e.Transition)
		var busy *BusyError
		var moved *UnavailableError
		if !errors.As(err, &busy) && !errors.As(err, &moved) {
			return err
		}
	}
}

// refusal is the error of a change that did not begin.
func (n *Node) refusal(t Transition, err error) error {
	return &ChangeError{n.FullyQualifiedName(), t, n.State(), err}
}

// begin makes the first step of the transition that pick chooses for the state of the node, unless another one is under way.
func (n *Node) begin(pick func(State) (Edge, error)) (Edge, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.State()
	switch {
	case n.closing:
		return Edge{}, tagus.ErrClosed
	case !s.Primary():
		return Edge{}, &BusyError{n.change, s, n.since}
	}
	e, err := pick(s)
	if err != nil {
		return e, err
	}
	n.change, n.since = e.Transition, time.Now()
	n.step(e)
	return e, nil
}

// step brings the node to the goal of e and tells everybody. Called under mu.
func (n *Node) step(e Edge) {
	on := e.Goal == Active && !n.closing
	if on {
		for _, x := range n.all() {
			x.arm()
		}
	}
	n.state.Store(uint32(e.Goal))
	n.gate.set(on)
	if on {
		for _, x := range n.all() {
			if err := x.resume(); err != nil {
				n.Logger().Error("an entity does not work though its node is active", "err", err)
			}
		}
	}
	err := n.events.Publish(&lifecycle_msgs.TransitionEvent{
		Timestamp:  uint64(n.Clock().Now().UnixNano()),
		Transition: e.message(),
		StartState: e.Start.message(),
		GoalState:  e.Goal.message(),
	})
	if err != nil && !errors.Is(err, tagus.ErrClosed) {
		n.Logger().Error("a transition was not told", "transition", e.Label, "err", err)
	}
	close(n.changed)
	n.changed = make(chan struct{})
}

// run makes the rest of a transition whose first step e is made: the callback and the steps that follow from how it ends. The callback's
// context ends with ctx and with life.
func (n *Node) run(ctx, life context.Context, e Edge) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(life, cancel)()
	if e.Start == Active {
		if err := n.quiet(ctx); err != nil && e.Goal == Deactivating {
			return &ChangeError{n.FullyQualifiedName(), e.Transition, n.end(e.Goal, outcome{failure, err}), err}
		}
		// A shutdown has no way back; its callback must run whatever else does.
	}
	if s, err := n.callback(ctx, life, e.Goal, e.Start, nil); err != nil {
		return &ChangeError{n.FullyQualifiedName(), e.Transition, s, err}
	}
	return nil
}

// quiet waits until no callback or publication runs, but for the callback that this is called from, and stops the entities.
func (n *Node) quiet(ctx context.Context) error {
	own := int64(0)
	if n.gate.calls.Load() > 0 && inEntityCallback() {
		own = 1
	}
	if err := n.gate.drain(ctx, own); err != nil {
		return err
	}
	for _, x := range n.all() {
		x.pause()
	}
	return nil
}

// callback runs the callback of a transition state and makes the step that follows from how it ends, also when it ends its goroutine; after
// an error the same for errorprocessing. It returns the state that this led to and what went wrong.
func (n *Node) callback(ctx, life context.Context, at, from State, cause error) (goal State, err error) {
	o := outcome{fault, errExited}
	defer func() {
		goal, err = n.end(at, o), o.err
		if goal == ErrorProcessing {
			// The caller's context may be what made the callback fail.
			var more error
			goal, more = n.callback(life, life, ErrorProcessing, from, o.err)
			err = errors.Join(err, more)
		}
	}()
	o = call(ctx, n.cb.at(at, cause), from)
	return
}

// end makes the step after a callback and gives its goal.
func (n *Node) end(at State, o outcome) State {
	e, _ := at.EdgeLabelled(o.label)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.step(e)
	return e.Goal
}
