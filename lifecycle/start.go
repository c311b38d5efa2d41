package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tagus-ros/tagus"
)

// Retry says what to do about changes that fail.
type Retry struct {
	// Attempts is how often a transition is tried in a row; 0: without end.
	Attempts int
	// Delay is the wait after the first failure; 0: 1 s. It doubles with each further one.
	Delay time.Duration
	// MaxDelay bounds the wait; 0: 30 s, or Delay where that is more.
	MaxDelay time.Duration
}

// pause gives the wait after so many failures in a row, at least 1.
func (r Retry) pause(failures int) time.Duration {
	d := r.Delay
	if d <= 0 {
		d = time.Second
	}
	most := r.MaxDelay
	if most <= 0 {
		most = max(d, 30*time.Second)
	}
	for ; failures > 1 && d < most; failures-- {
		d += min(d, most-d)
	}
	return min(d, most)
}

// Reach brings the node to a primary state, by as many transitions as that takes, from whatever state it is in, and returns nil when it is
// there. What fails is tried again. Whatever else changes the node meanwhile counts too: Reach goes on from where the node is. It ends
// with an error when a transition has failed for the last time (that of the last attempt), when the node is finalized and should not be
// ([ErrFinalized]), when the node is closed, or when ctx ends.
func (n *Node) Reach(ctx context.Context, goal State, r Retry) error {
	if !goal.Primary() {
		return n.fail("reach "+goal.String(), errors.New("not a state that a node stays in"))
	}
	failures := 0
	var last State // that the failures were in
	for {
		s, err := n.WaitFor(ctx, Unconfigured, Inactive, Active, Finalized)
		if err != nil || s == goal {
			return err
		}
		e, ok := toward(s, goal)
		if !ok {
			return n.fail("reach "+goal.String(), ErrFinalized)
		}
		err = n.Change(ctx, e.Transition)
		if there, _ := e.Goal.EdgeLabelled(success); err == nil && there.Goal == goal {
			return nil // wherever others have brought the node since
		}
		var change *ChangeError
		var busy *BusyError
		var moved *UnavailableError
		switch {
		case err == nil:
			continue
		case errors.As(err, &busy), errors.As(err, &moved):
			continue // somebody else was quicker
		case errors.Is(err, tagus.ErrClosed):
			return err
		case ctx.Err() != nil:
			return n.fail("reach "+goal.String(), fmt.Errorf("%w; the last attempt: %w", ctx.Err(), err))
		}
		if s != last {
			failures, last = 0, s
		}
		if failures++; r.Attempts > 0 && failures >= r.Attempts {
			return n.fail("reach "+goal.String(), fmt.Errorf("%d attempts: %w", failures, err))
		}
		if !errors.As(err, &change) || change.State == Finalized {
			continue
		}
		n.Logger().Warn("a change of state failed and is tried again", "goal", goal.String(), "attempt", failures, "wait", r.pause(failures), "err", err)
		if err := n.sleep(ctx, r.pause(failures), change.State); err != nil {
			return err
		}
	}
}

// sleep waits for d while the node is in s.
func (n *Node) sleep(ctx context.Context, d time.Duration, s State) error {
	now, changed := n.look()
	if now != s {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-changed:
	case <-ctx.Done():
		return n.fail("wait for another attempt", ctx.Err())
	}
	return nil
}

// Autostart has the node brought to a state, usually [Active], in the background, as [Node.Reach] does, until it was there once or the node
// closes. It returns at once; call it when everything is made that the callbacks use. That the state cannot be reached goes to the log.
func (n *Node) Autostart(goal State, r Retry) error {
	n.mu.Lock()
	closing := n.closing
	if !closing {
		n.work.Add(1)
	}
	n.mu.Unlock()
	if closing {
		return n.fail("autostart", tagus.ErrClosed)
	}
	go func() {
		defer n.work.Done()
		if err := n.Reach(n.ctx, goal, r); err != nil && n.ctx.Err() == nil {
			n.Logger().Error("the automatic start failed", "goal", goal.String(), "err", err)
		}
	}()
	return nil
}
