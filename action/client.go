package action

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/msgs/action_msgs"
	"github.com/tagus-ros/tagus/msgs/builtin_interfaces"
	"github.com/tagus-ros/tagus/rosidl"
)

// ClientGoals is how many goals of one client can be under way; one more is refused.
const ClientGoals = 256

// Client sends goals to an action server and follows them. It needs no executor: its
// calls may also be made from callbacks. It is safe for concurrent use.
type Client[G, R, F any] struct {
	send *tagus.Client[rosidl.SendGoalRequest[G], rosidl.SendGoalResponse]
	t    *tracker[R, F]
}

// NewClient makes a client; the name is expanded as ROS 2 does. The type argument is the
// generated marker of the action; the other ones follow from it.
func NewClient[A rosidl.Action[G, R, F], G, R, F any](n *tagus.Node, name string, opts ...ClientOption) (*Client[G, R, F], error) {
	var marker A
	return NewClientOf(n, name, marker.ROSAction(), opts...)
}

// NewClientOf is [NewClient] for an action that is known by its support.
func NewClientOf[G, R, F any](n *tagus.Node, name string, sup *rosidl.ActionSupport[G, R, F], opts ...ClientOption) (*Client[G, R, F], error) {
	t := newTracker[R, F](n, name, sup.Feedback)
	c := &Client[G, R, F]{t: t}
	o := clientOptions{feedback: DefaultFeedbackDepth}
	for _, opt := range opts {
		if err := opt(&o); err != nil {
			return nil, t.fail("new", GoalID{}, err)
		}
	}
	t.depth = o.feedback
	err := t.open(sup.GetResult, sup.FeedbackMessage)
	if err == nil {
		c.send, err = tagus.NewClientOf(n, name+partSendGoal, sup.SendGoal)
	}
	if err == nil {
		err = n.Adopt(c)
	}
	if err != nil {
		_ = c.Close() // err says why
		return nil, t.fail("new", GoalID{}, err)
	}
	return c, nil
}

// Name is the fully qualified name of the action.
func (c *Client[G, R, F]) Name() string { return c.t.name }

// Available reports whether a goal would reach a server now.
func (c *Client[G, R, F]) Available() bool { return c.send.Available() && c.t.available() }

// WaitForServer returns when a server is there with all that belongs to it: the first goal
// after it works, and none of its feedback is missed. It returns ctx's error when that
// ends first.
func (c *Client[G, R, F]) WaitForServer(ctx context.Context) error {
	for {
		err := c.send.WaitForService(ctx)
		if err == nil {
			err = c.t.wait(ctx)
		}
		if err != nil {
			return c.t.fail("wait for the server", GoalID{}, err)
		}
		if c.Available() { // the first part is still there
			return nil
		}
	}
}

// SendGoal sends a goal, which stays the caller's, and returns when the server has taken
// it. Errors, told apart by errors.Is: tagus.ErrNoServer (at once), tagus.ErrServerDied,
// tagus.ErrTimeout, context.Canceled, tagus.ErrRefused (a limit was reached; nothing was
// sent), [ErrRejected], tagus.ErrClosed. When ctx ended first the server may take the goal
// all the same; the [*Error] has its id, to cancel it by.
func (c *Client[G, R, F]) SendGoal(ctx context.Context, goal *G) (*ClientGoal[R, F], error) {
	id := NewGoalID()
	if !c.Available() {
		if c.t.isClosed() {
			return nil, c.t.fail("send goal", id, tagus.ErrClosed)
		}
		return nil, c.t.fail("send goal", id, tagus.ErrNoServer)
	}
	// Feedback may come before the answer, so the goal is known before it is sent.
	g, err := c.t.add(id)
	if err != nil {
		return nil, c.t.fail("send goal", id, err)
	}
	resp, err := c.send.Call(ctx, &rosidl.SendGoalRequest[G]{GoalID: id, Goal: *goal})
	if err == nil && !resp.Accepted {
		err = ErrRejected
	}
	if err != nil {
		c.t.remove(g)
		return nil, c.t.fail("send goal", id, err)
	}
	c.t.follow(g, time.Unix(int64(resp.Stamp.Sec), int64(resp.Stamp.Nanosec)))
	return g, nil
}

// CancelGoal asks the server to cancel a goal, also one of another client. Errors, besides
// those of [tagus.Client.Call]: [ErrCancelRejected], [ErrUnknownGoal], [ErrGoalEnded].
func (c *Client[G, R, F]) CancelGoal(ctx context.Context, id GoalID) error {
	return c.t.cancelOne(ctx, id)
}

// CancelAll asks the server to cancel all goals, of all clients. It returns the goals that
// will be canceled, which may be none. Errors as CancelGoal.
func (c *Client[G, R, F]) CancelAll(ctx context.Context) ([]GoalID, error) {
	return c.t.cancelMany(ctx, builtin_interfaces.Time{})
}

// CancelBefore asks the server to cancel the goals, of all clients, that it took at t or
// before, by its clock. Otherwise it is like CancelAll.
func (c *Client[G, R, F]) CancelBefore(ctx context.Context, t time.Time) ([]GoalID, error) {
	stamp, err := stampFrom(t)
	if err != nil {
		return nil, c.t.fail("cancel goals", GoalID{}, err)
	}
	return c.t.cancelMany(ctx, stamp)
}

// stampFrom refuses what a message cannot hold, and zero, which means all.
func stampFrom(t time.Time) (builtin_interfaces.Time, error) {
	if s := t.Unix(); s < 0 || s > math.MaxInt32 || s == 0 && t.Nanosecond() == 0 {
		return builtin_interfaces.Time{}, fmt.Errorf("time %v: want one after 1970 and before 2038", t)
	}
	return builtin_interfaces.Time{Sec: int32(t.Unix()), Nanosec: uint32(t.Nanosecond())}, nil
}

// Statuses gives the states of the goals that the server listed last, oldest first, also
// of other clients: those under way and the newest of the ended ones. It is empty until a
// server has taken a goal.
func (c *Client[G, R, F]) Statuses() []GoalStatus { return c.t.statuses() }

// GoalStatus is the state of one goal as its server listed it.
type GoalStatus struct {
	ID       GoalID
	Accepted time.Time // by the server's clock
	Status   Status
}

// ClientStats is what a client counted.
type ClientStats struct {
	Goals           int    // under way
	Feedback        uint64 // messages for goals of this client
	FeedbackDropped uint64 // of those, given up since ClientGoal.Feedback was slower
	FeedbackLost    uint64 // messages that did not fit into the subscription's queue
}

// Stats returns the counts so far.
func (c *Client[G, R, F]) Stats() ClientStats { return c.t.stats() }

// Close ends the client; goals under way go on at the server, and end here with
// tagus.ErrClosed. The node's Close does the same. It is idempotent.
func (c *Client[G, R, F]) Close() error {
	var err error
	if c.send != nil {
		err = c.send.Close()
	}
	err = errors.Join(err, c.t.close())
	c.t.n.Disown(c)
	return err
}

// cancelMany cancels goals by time.
func (t *tracker[R, F]) cancelMany(ctx context.Context, stamp builtin_interfaces.Time) ([]GoalID, error) {
	resp, err := t.cancel.Call(ctx, &action_msgs.CancelGoalRequest{GoalInfo: action_msgs.GoalInfo{Stamp: stamp}})
	if err == nil {
		err = codeError(resp.ReturnCode)
	}
	if err != nil {
		return nil, t.fail("cancel goals", GoalID{}, err)
	}
	ids := make([]GoalID, len(resp.GoalsCanceling))
	for i := range ids {
		ids[i] = resp.GoalsCanceling[i].GoalID.UUID
	}
	return ids, nil
}

// cancelOne cancels one goal.
func (t *tracker[R, F]) cancelOne(ctx context.Context, id GoalID) error {
	req := &action_msgs.CancelGoalRequest{}
	req.GoalInfo.GoalID.UUID = id
	resp, err := t.cancel.Call(ctx, req)
	if err == nil {
		err = codeError(resp.ReturnCode)
	}
	if err != nil {
		return t.fail("cancel goal", id, err)
	}
	return nil
}

// codeError is what a return code of a cancel request means.
func codeError(code int8) error {
	switch code {
	case action_msgs.CancelGoalResponseErrorNone:
		return nil
	case action_msgs.CancelGoalResponseErrorRejected:
		return ErrCancelRejected
	case action_msgs.CancelGoalResponseErrorUnknownGoalID:
		return ErrUnknownGoal
	case action_msgs.CancelGoalResponseErrorGoalTerminated:
		return ErrGoalEnded
	}
	return fmt.Errorf("cancel request: the server answered with the unknown code %d", code)
}
