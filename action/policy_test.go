package action_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/action"
)

// oneByOne is a server whose goals end when told, and that notes which ran.
type oneByOne struct {
	begun  chan *serverGoal
	finish chan struct{}
	causes chan error

	mu  sync.Mutex
	ran []int32
}

func newOneByOne() *oneByOne {
	return &oneByOne{begun: make(chan *serverGoal, 10), finish: make(chan struct{}), causes: make(chan error, 10)}
}

func (o *oneByOne) execute(ctx context.Context, g *serverGoal) (*result, error) {
	o.mu.Lock()
	o.ran = append(o.ran, g.Goal().Order)
	o.mu.Unlock()
	o.begun <- g
	select {
	case <-o.finish:
		return nil, nil
	case <-ctx.Done():
		o.causes <- context.Cause(ctx)
		return nil, ctx.Err()
	}
}

func TestQueue(t *testing.T) {
	everywhere(t, func(t *testing.T, sd, cd *tagus.Domain) {
		o := newOneByOne()
		s := serve(t, sd, handlers{Execute: o.execute}, action.WithPolicy(action.Queue))
		c := connect(t, cd)
		goals := []*clientGoal{send(t, c, 0), send(t, c, 1), send(t, c, 2), send(t, c, 3)}
		<-o.begun
		status(t, goals[0], action.StatusExecuting)
		status(t, goals[3], action.StatusAccepted)
		if err := goals[2].Cancel(soon(t)); err != nil {
			t.Fatal(err)
		}
		ends(t, goals[2], action.StatusCanceled) // at once, though others are before it
		o.finish <- struct{}{}
		ends(t, goals[0], action.StatusSucceeded)
		<-o.begun
		if err := goals[1].Cancel(soon(t)); err != nil {
			t.Fatal(err)
		}
		ends(t, goals[1], action.StatusCanceled)
		<-o.begun
		o.finish <- struct{}{}
		ends(t, goals[3], action.StatusSucceeded)
		if !slices.Equal(o.ran, []int32{0, 1, 3}) {
			t.Errorf("executed %v", o.ran)
		}
		if st := s.Stats(); st.Active != 0 || st.Succeeded != 2 || st.Canceled != 2 {
			t.Errorf("%+v", st)
		}
	})
}

func TestPreempt(t *testing.T) {
	everywhere(t, func(t *testing.T, sd, cd *tagus.Domain) {
		o := newOneByOne()
		release := make(chan struct{})
		s := serve(t, sd, handlers{Execute: func(ctx context.Context, g *serverGoal) (*result, error) {
			r, err := o.execute(ctx, g)
			if g.Goal().Order == 0 {
				<-release // it takes a while to stop
			}
			return r, err
		}}, action.WithPolicy(action.Preempt))
		c := connect(t, cd)
		goals := []*clientGoal{send(t, c, 0)}
		<-o.begun
		goals = append(goals, send(t, c, 1))
		if err := <-o.causes; !errors.Is(err, action.ErrPreempted) {
			t.Errorf("cause %v", err)
		}
		goals = append(goals, send(t, c, 2))
		ends(t, goals[1], action.StatusAborted) // replaced while it waited
		close(release)
		ends(t, goals[0], action.StatusAborted)
		<-o.begun
		o.finish <- struct{}{}
		ends(t, goals[2], action.StatusSucceeded)
		if !slices.Equal(o.ran, []int32{0, 2}) {
			t.Errorf("executed %v", o.ran)
		}
		if st := s.Stats(); st.Active != 0 {
			t.Errorf("%+v", st)
		}
	})
}

func TestSingle(t *testing.T) {
	everywhere(t, func(t *testing.T, sd, cd *tagus.Domain) {
		o := newOneByOne()
		serve(t, sd, handlers{Execute: o.execute}, action.WithPolicy(action.Single))
		c := connect(t, cd)
		first := send(t, c, 0)
		if _, err := c.SendGoal(soon(t), &goal{Order: 1}); !errors.Is(err, action.ErrRejected) {
			t.Errorf("a second goal: %v", err)
		}
		o.finish <- struct{}{}
		ends(t, first, action.StatusSucceeded)
		second := send(t, c, 2)
		o.finish <- struct{}{}
		ends(t, second, action.StatusSucceeded)
	})
}

func TestGoalLimit(t *testing.T) {
	d := join(t, t.TempDir())
	spin(t, d)
	o := newOneByOne()
	s := serve(t, d, handlers{Execute: o.execute}, action.WithGoalLimit(2))
	c := connect(t, d)
	goals := []*clientGoal{send(t, c, 0), send(t, c, 1)}
	if _, err := c.SendGoal(soon(t), &goal{}); !errors.Is(err, action.ErrRejected) {
		t.Errorf("a third goal: %v", err)
	}
	close(o.finish)
	for _, g := range goals {
		ends(t, g, action.StatusSucceeded)
	}
	ends(t, send(t, c, 2), action.StatusSucceeded)
	if st := s.Stats(); st.Accepted != 3 || st.Rejected != 1 {
		t.Errorf("%+v", st)
	}
}

func TestClientGoals(t *testing.T) {
	d := join(t, t.TempDir())
	spin(t, d)
	stop := make(chan struct{})
	serve(t, d, handlers{Execute: func(context.Context, *serverGoal) (*result, error) {
		<-stop
		return nil, nil
	}})
	c := connect(t, d)
	var goals []*clientGoal
	for i := range int32(action.ClientGoals) {
		goals = append(goals, send(t, c, i))
	}
	var limit *action.LimitError
	if _, err := c.SendGoal(soon(t), &goal{}); !errors.Is(err, tagus.ErrRefused) || !errors.As(err, &limit) || limit.Value != action.ClientGoals {
		t.Errorf("one goal more: %v", err)
	}
	close(stop)
	for _, g := range goals {
		ends(t, g, action.StatusSucceeded)
	}
	ends(t, send(t, c, 1), action.StatusSucceeded)
}

func TestOptions(t *testing.T) {
	d := join(t, t.TempDir())
	spin(t, d)
	n := node(t, d, "server")
	for name, o := range map[string]action.ServerOption{
		"retention": action.WithRetention(-1), "goals": action.WithGoalLimit(0), "results": action.WithResultLimit(0), "policy": action.WithPolicy(9),
	} {
		if _, err := action.NewServer[fib](n, "x", handlers{Execute: fibonacci}, o); err == nil {
			t.Errorf("%s: a bad value is accepted", name)
		}
	}
	if _, err := action.NewServer[fib](n, "x", handlers{}); err == nil {
		t.Error("a server that executes nothing is made")
	}
	if _, err := action.NewServer[fib](n, "x y", handlers{Execute: fibonacci}); err == nil {
		t.Error("a bad name is accepted")
	}
	if _, err := action.NewClient[fib](n, "x", action.WithFeedbackDepth(0)); err == nil {
		t.Error("a bad depth is accepted")
	}
	if _, err := action.NewClient[fib](n, "x y"); err == nil {
		t.Error("a bad name is accepted")
	}
	noneLeft(t, d)
}
