package action_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/action"
	"github.com/tagus-ros/tagus/msgs/action_msgs"
	"github.com/tagus-ros/tagus/msgs/builtin_interfaces"
)

// status waits until the server lists the goal so.
func status(t *testing.T, g *clientGoal, want action.Status) {
	t.Helper()
	until(t, fmt.Sprint("the goal is listed as ", want), func() bool { return g.Status() == want })
}

func TestCancel(t *testing.T) {
	everywhere(t, func(t *testing.T, sd, cd *tagus.Domain) {
		begun, causes, go_ := make(chan *serverGoal, 10), make(chan error, 10), make(chan struct{})
		h := wait(begun, causes)
		var deny atomic.Bool
		h.Cancel = func(_ context.Context, g *serverGoal) error {
			if deny.Load() {
				return errors.New("not now")
			}
			return nil
		}
		execute := h.Execute
		h.Execute = func(ctx context.Context, g *serverGoal) (*result, error) {
			r, err := execute(ctx, g)
			<-go_
			return r, err
		}
		serve(t, sd, h)
		c := connect(t, cd)

		g := send(t, c, 7)
		sg := <-begun
		status(t, g, action.StatusExecuting)
		deny.Store(true)
		if err := g.Cancel(soon(t)); !errors.Is(err, action.ErrCancelRejected) {
			t.Errorf("a request that the handler denies: %v", err)
		}
		if sg.Status() != action.StatusExecuting {
			t.Errorf("it is %v", sg.Status())
		}
		deny.Store(false)
		if err := g.Cancel(soon(t)); err != nil {
			t.Fatal(err)
		}
		if err := <-causes; !errors.Is(err, action.ErrCanceled) {
			t.Errorf("cause %v", err)
		}
		status(t, g, action.StatusCanceling)
		if err := c.CancelGoal(soon(t), g.ID()); !errors.Is(err, action.ErrGoalEnded) {
			t.Errorf("while it is being canceled: %v", err) // as rcl answers
		}
		close(go_)
		if r := ends(t, g, action.StatusCanceled); !slices.Equal(r.Sequence, []int32{7}) {
			t.Errorf("result %v", r)
		}
		if err := c.CancelGoal(soon(t), g.ID()); !errors.Is(err, action.ErrGoalEnded) {
			t.Errorf("after its end: %v", err)
		}
		id := action.NewGoalID()
		err := c.CancelGoal(soon(t), id)
		var where *action.Error
		if !errors.Is(err, action.ErrUnknownGoal) || !errors.As(err, &where) || where.Goal != id || where.Action != "/fibonacci" {
			t.Errorf("an unknown goal: %v", err)
		}
		if ids, err := c.CancelAll(soon(t)); err != nil || len(ids) != 0 {
			t.Errorf("none to cancel: %v %v", ids, err)
		}

		var goals []*clientGoal
		for i := range int32(4) {
			goals = append(goals, send(t, c, i))
			<-begun
			time.Sleep(time.Millisecond) // clocks may be coarse
		}
		ids, err := c.CancelBefore(soon(t), goals[1].Accepted())
		if err != nil || !slices.Equal(ids, []action.GoalID{goals[0].ID(), goals[1].ID()}) {
			t.Errorf("before a time: %v %v", ids, err)
		}
		ends(t, goals[0], action.StatusCanceled)
		ends(t, goals[1], action.StatusCanceled)
		if ids, err := c.CancelAll(soon(t)); err != nil || !slices.Equal(ids, []action.GoalID{goals[2].ID(), goals[3].ID()}) {
			t.Errorf("all: %v %v", ids, err)
		}
		ends(t, goals[2], action.StatusCanceled)
		ends(t, goals[3], action.StatusCanceled)
		for _, when := range []time.Time{{}, time.Unix(0, 0), time.Unix(1<<32, 0)} {
			if _, err := c.CancelBefore(soon(t), when); err == nil {
				t.Errorf("%v is accepted", when)
			}
		}
	})
}

// The return codes of cancel_goal, as rcl has them.
func TestCancelCodes(t *testing.T) {
	d := join(t, t.TempDir())
	spin(t, d)
	begun := make(chan *serverGoal, 10)
	var round atomic.Pointer[chan struct{}] // closed to abort what is left
	serve(t, d, handlers{
		Cancel: func(_ context.Context, g *serverGoal) error {
			if g.Goal().Order%2 == 1 {
				return errors.New("odd")
			}
			return nil
		},
		Execute: func(ctx context.Context, g *serverGoal) (*result, error) {
			over := *round.Load()
			begun <- g
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-over:
				return nil, errors.New("the round is over")
			}
		},
	})
	c := connect(t, d)
	raw, err := tagus.NewClient[action_msgs.CancelGoal](node(t, d, "raw"), "fibonacci/_action/cancel_goal")
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.WaitForService(soon(t)); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name   string
		orders []int32 // of the goals under way
		id     int     // index of the goal that is named; -1 none, -2 an unknown one
		until  int     // index of the goal whose time is given; -1 none
		code   int8
		hit    []int
	}{
		{"one", []int32{2, 4}, 1, -1, 0, []int{1}},
		{"one that is denied", []int32{1}, 0, -1, 1, nil},
		{"unknown", []int32{2}, -2, -1, 2, nil},
		{"all", []int32{2, 1, 4}, -1, -1, 0, []int{0, 2}},
		{"all are denied", []int32{1, 3}, -1, -1, 1, nil},
		{"all of none", nil, -1, -1, 0, nil},
		{"before", []int32{2, 4, 6}, -1, 1, 0, []int{0, 1}},
		{"before, and one more", []int32{2, 4, 6, 8}, 3, 1, 0, []int{0, 1, 3}},
		{"before, and an unknown one", []int32{2, 4}, -2, 0, 0, []int{0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			over := make(chan struct{})
			round.Store(&over)
			var goals []*clientGoal
			var sent []*serverGoal
			for _, order := range test.orders {
				goals = append(goals, send(t, c, order))
				sent = append(sent, <-begun)
				time.Sleep(time.Millisecond) // clocks may be coarse
			}
			req := &action_msgs.CancelGoalRequest{}
			switch test.id {
			case -1:
			case -2:
				req.GoalInfo.GoalID.UUID = action.NewGoalID()
			default:
				req.GoalInfo.GoalID.UUID = goals[test.id].ID()
			}
			if test.until >= 0 {
				at := sent[test.until].Accepted()
				req.GoalInfo.Stamp = builtin_interfaces.Time{Sec: int32(at.Unix()), Nanosec: uint32(at.Nanosecond())}
			}
			resp, err := raw.Call(soon(t), req)
			if err != nil {
				t.Fatal(err)
			}
			var hit []int
			for _, g := range resp.GoalsCanceling {
				hit = append(hit, slices.IndexFunc(goals, func(c *clientGoal) bool { return c.ID() == g.GoalID.UUID }))
			}
			if resp.ReturnCode != test.code || !slices.Equal(hit, test.hit) {
				t.Errorf("code %d, goals %v, want code %d, goals %v", resp.ReturnCode, hit, test.code, test.hit)
			}
			for i, g := range goals {
				if slices.Contains(test.hit, i) {
					ends(t, g, action.StatusCanceled)
				} else if sent[i].Status() != action.StatusExecuting {
					t.Errorf("goal %d is %v", i, sent[i].Status())
				}
			}
			if len(goals) > 0 && len(test.hit) > 0 {
				req := &action_msgs.CancelGoalRequest{}
				req.GoalInfo.GoalID.UUID = goals[test.hit[0]].ID()
				if resp, err := raw.Call(soon(t), req); err != nil || resp.ReturnCode != 3 {
					t.Errorf("a goal that has ended: %+v %v", resp, err)
				}
			}
			close(over)
			for i, g := range goals {
				if !slices.Contains(test.hit, i) {
					ends(t, g, action.StatusAborted)
				}
			}
		})
	}
}
