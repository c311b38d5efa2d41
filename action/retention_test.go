package action_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/action"
	"github.com/tagus-ros/tagus/rosidl"
)

// asker asks for results as a client that was started later does.
func asker(t *testing.T, d *tagus.Domain) *tagus.Client[rosidl.GetResultRequest, rosidl.GetResultResponse[result]] {
	t.Helper()
	c, err := tagus.NewClientOf(node(t, d, "asker"), "fibonacci/_action/get_result", fib{}.ROSAction().GetResult)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.WaitForService(soon(t)); err != nil {
		t.Fatal(err)
	}
	return c
}

// The time for which a result is kept counts from the end of the goal.
func TestRetention(t *testing.T) {
	everywhere(t, func(t *testing.T, sd, cd *tagus.Domain) {
		const keep = 500 * time.Millisecond
		returned := make(chan time.Time, 2)
		s := serve(t, sd, handlers{Execute: func(_ context.Context, g *serverGoal) (*result, error) {
			time.Sleep(time.Duration(g.Goal().Order) * keep / 2) // longer than results are kept
			returned <- time.Now()
			return &result{Sequence: []int32{1, 2}}, nil
		}}, action.WithRetention(keep))
		c := connect(t, cd)
		late := asker(t, cd)
		g, next := send(t, c, 4), send(t, c, 5)
		ends(t, g, action.StatusSucceeded)
		resp, err := late.Call(soon(t), &rosidl.GetResultRequest{GoalID: g.ID()})
		if err != nil || action.Status(resp.Status) != action.StatusSucceeded || !slices.Equal(resp.Result.Sequence, []int32{1, 2}) {
			t.Errorf("after the end: %+v %v", resp, err)
		}
		ends(t, next, action.StatusSucceeded)
		for left := 1; left >= 0; left-- {
			end := <-returned
			until(t, "the result is forgotten", func() bool { return s.Stats().Kept <= left })
			if d := time.Since(end); d < keep || d > keep+5*time.Second {
				t.Errorf("a result was forgotten %v after the end", d)
			}
		}
		resp, err = late.Call(soon(t), &rosidl.GetResultRequest{GoalID: g.ID()})
		if err != nil || action.Status(resp.Status) != action.StatusUnknown || len(resp.Result.Sequence) != 0 {
			t.Errorf("afterwards: %+v %v", resp, err)
		}
	})
}

// Without retention those get the result who asked before the end.
func TestNoRetention(t *testing.T) {
	d := join(t, t.TempDir())
	spin(t, d)
	finish := make(chan struct{})
	s := serve(t, d, handlers{Execute: func(context.Context, *serverGoal) (*result, error) {
		<-finish
		return &result{Sequence: []int32{1}}, nil
	}}, action.WithRetention(0))
	c := connect(t, d)
	g := send(t, c, 1)
	until(t, "the client has asked", func() bool { return s.Stats().Asked == 1 })
	close(finish)
	ends(t, g, action.StatusSucceeded)
	if st := s.Stats(); st.Kept != 0 {
		t.Errorf("%+v", st)
	}
	until(t, "a goal that is over too soon", func() bool {
		_, _, err := send(t, c, 1).Result(soon(t))
		return errors.Is(err, action.ErrUnknownGoal)
	})
}

func TestResultLimit(t *testing.T) {
	d := join(t, t.TempDir())
	spin(t, d)
	s := serve(t, d, handlers{Execute: fibonacci}, action.WithResultLimit(3), action.WithRetention(time.Hour))
	c := connect(t, d)
	late := asker(t, d)
	var goals []*clientGoal
	for i := range int32(5) {
		goals = append(goals, send(t, c, i))
		ends(t, goals[i], action.StatusSucceeded)
	}
	if st := s.Stats(); st.Kept != 3 || st.Evicted != 2 {
		t.Errorf("%+v", st)
	}
	for i, g := range goals {
		resp, err := late.Call(soon(t), &rosidl.GetResultRequest{GoalID: g.ID()})
		if err != nil || (action.Status(resp.Status) == action.StatusSucceeded) != (i >= 2) {
			t.Errorf("goal %d: %+v %v", i, resp, err)
		}
	}
}

// A goal of an id that is known is not taken again, whether it is under way or has ended.
func TestTwins(t *testing.T) {
	d := join(t, t.TempDir())
	spin(t, d)
	finish := make(chan struct{})
	serve(t, d, handlers{Execute: func(context.Context, *serverGoal) (*result, error) {
		<-finish
		return nil, nil
	}})
	c := connect(t, d)
	g := send(t, c, 1)
	raw, err := tagus.NewClientOf(node(t, d, "raw"), "fibonacci/_action/send_goal", fib{}.ROSAction().SendGoal)
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.WaitForService(soon(t)); err != nil {
		t.Fatal(err)
	}
	again := func(when string) {
		resp, err := raw.Call(soon(t), &rosidl.SendGoalRequest[goal]{GoalID: g.ID()})
		if err != nil || resp.Accepted {
			t.Errorf("%s: %+v %v", when, resp, err)
		}
	}
	again("under way")
	close(finish)
	ends(t, g, action.StatusSucceeded)
	again("ended")
}

// However many results are kept, a status message lists the newest of them.
func TestListedResults(t *testing.T) {
	d := join(t, t.TempDir())
	spin(t, d)
	s := serve(t, d, handlers{Execute: fibonacci})
	c := connect(t, d)
	var g *clientGoal
	for range 2 * action.ListedResults {
		g = send(t, c, 1)
		ends(t, g, action.StatusSucceeded)
	}
	until(t, "the last is listed last", func() bool {
		l := c.Statuses()
		return l[len(l)-1].ID == g.ID() && l[len(l)-1].Status == action.StatusSucceeded
	})
	if l := c.Statuses(); len(l) != action.ListedResults || s.Stats().Kept != 2*action.ListedResults {
		t.Errorf("%d of %d are listed", len(l), s.Stats().Kept)
	}
}

// Clients that ask for the result of a long goal and go are forgotten before it ends.
func TestAskersThatGo(t *testing.T) {
	d := join(t, t.TempDir())
	spin(t, d)
	begun, causes := make(chan *serverGoal, 1), make(chan error, 1)
	s := serve(t, d, wait(begun, causes))
	c := connect(t, d)
	g := send(t, c, 1)
	for range 100 {
		late := asker(t, d)
		if _, err := late.Call(within(t, time.Millisecond), &rosidl.GetResultRequest{GoalID: g.ID()}); !errors.Is(err, tagus.ErrTimeout) {
			t.Fatal(err)
		}
		if err := late.Close(); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "only the client's own request is open", func() bool { return s.Stats().Asked == 1 })
	if n := s.Asked(g.ID()); n > 16 {
		t.Errorf("%d requests are remembered", n)
	}
	if err := g.Cancel(soon(t)); err != nil {
		t.Fatal(err)
	}
	ends(t, g, action.StatusCanceled)
}
