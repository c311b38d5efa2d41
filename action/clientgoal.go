package action

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/rosidl"
)

// ClientGoal is a goal that a client has sent and a server has taken. It is safe for
// concurrent use.
type ClientGoal[R, F any] struct {
	t        *tracker[R, F]
	id       GoalID
	accepted time.Time
	canceled atomic.Bool // a cancel request was granted
	mail     mailbox[F]

	done chan struct{} // closed after the three below were set
	how  outcome[R, F]
}

// ID identifies the goal.
func (g *ClientGoal[R, F]) ID() GoalID { return g.id }

// Accepted is when the server took the goal, by the server's clock.
func (g *ClientGoal[R, F]) Accepted() time.Time { return g.accepted }

// Done is closed when the goal has ended, in whichever way: Result does not wait then.
func (g *ClientGoal[R, F]) Done() <-chan struct{} { return g.done }

// Status says how far the goal is, as far as it is known here: as the result says, else as
// the server listed it last. It does not wait. It is StatusUnknown for a goal that ended
// without a result because its server or its client is gone.
func (g *ClientGoal[R, F]) Status() Status {
	select {
	case <-g.done:
		return g.how.status
	default:
	}
	for _, s := range g.t.statuses() {
		if s.ID == g.id {
			return s.Status
		}
	}
	return StatusAccepted
}

// Result waits until the goal has ended and returns its result, which is read-only and
// the same for each call, and whether it succeeded, was canceled or was aborted. Errors,
// told apart by errors.Is: tagus.ErrServerDied, [ErrUnknownGoal], tagus.ErrClosed: the
// client was closed; tagus.ErrTimeout with context.DeadlineExceeded, context.Canceled.
func (g *ClientGoal[R, F]) Result(ctx context.Context) (*R, Status, error) {
	select {
	case <-g.done:
	default:
		select {
		case <-g.done:
		case <-ctx.Done():
			return nil, StatusUnknown, g.t.fail("wait for the result of goal", g.id, ended(ctx.Err()))
		}
	}
	if g.how.err != nil {
		return nil, StatusUnknown, g.t.fail("wait for the result of goal", g.id, g.how.err)
	}
	return g.how.result, g.how.status, nil
}

// Feedback yields what the server says about the goal until the goal has ended or ctx
// ends; Result tells how. What came before the loop began is yielded too, as far as
// [WithFeedbackDepth] keeps it. Each message is the loop's own. Of several loops each
// message reaches one.
func (g *ClientGoal[R, F]) Feedback(ctx context.Context) iter.Seq[*F] {
	return func(yield func(*F) bool) {
		for ctx.Err() == nil {
			if f := g.mail.take(); f != nil {
				if !yield(f) {
					return
				}
				continue
			}
			select {
			case <-g.mail.bell:
				continue
			default:
			}
			select {
			case <-g.mail.bell:
			case <-ctx.Done():
			case <-g.done:
				// All feedback was put before.
				for f := g.mail.take(); f != nil && ctx.Err() == nil; f = g.mail.take() {
					if !yield(f) {
						return
					}
				}
				return
			}
		}
	}
}

// Cancel asks the server to cancel the goal and returns when that is granted; the goal
// ends when the server has stopped working on it. Once granted it returns nil again.
// Errors, besides those of [tagus.Client.Call]: [ErrCancelRejected], [ErrUnknownGoal],
// [ErrGoalEnded].
func (g *ClientGoal[R, F]) Cancel(ctx context.Context) error {
	if g.canceled.Load() {
		return nil
	}
	if err := g.t.cancelOne(ctx, g.id); err != nil {
		return err
	}
	g.canceled.Store(true)
	return nil
}

// close ends the goal. It is called once.
func (g *ClientGoal[R, F]) close(o outcome[R, F]) {
	g.how = o
	close(g.done)
}

// ended is the error of a wait whose context ended with err.
func ended(err error) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%w: %w", tagus.ErrTimeout, err)
}

// mailbox keeps the newest feedback of one goal for its reader.
type mailbox[F any] struct {
	bell chan struct{} // there may be something

	mu    sync.Mutex
	depth int
	queue []*F
}

func (m *mailbox[F]) init(depth int) {
	m.bell, m.depth = make(chan struct{}, 1), depth
}

// put adds a copy of f. It reports whether that made the oldest go.
func (m *mailbox[F]) put(ts *rosidl.TypeSupport[F], f *F) (dropped bool) {
	m.mu.Lock()
	var own *F
	if dropped = len(m.queue) == m.depth; dropped {
		own = m.queue[0] // its memory is used again
		copy(m.queue, m.queue[1:])
		m.queue = m.queue[:m.depth-1]
	} else {
		own = new(F)
	}
	ts.Copy(own, f)
	m.queue = append(m.queue, own)
	m.mu.Unlock()
	select {
	case m.bell <- struct{}{}:
	default:
	}
	return dropped
}

// take returns the oldest, or nil.
func (m *mailbox[F]) take() *F {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.queue) == 0 {
		return nil
	}
	f := m.queue[0]
	m.queue[0] = nil
	m.queue = m.queue[1:]
	return f
}
