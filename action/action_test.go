package action_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/action"
	ex "github.com/tagus-ros/tagus/msgs/example_interfaces"
	"github.com/tagus-ros/tagus/msgs/std_msgs"
	"github.com/tagus-ros/tagus/qos"
)

func TestFibonacci(t *testing.T) {
	everywhere(t, func(t *testing.T, sd, cd *tagus.Domain) {
		s := serve(t, sd, handlers{Execute: fibonacci})
		c := connect(t, cd)
		before := time.Now()
		g := send(t, c, 10)
		if d := g.Accepted().Sub(before); d < 0 || d > patience {
			t.Errorf("accepted %v after it was sent", d)
		}
		var said [][]int32
		for f := range g.Feedback(soon(t)) {
			said = append(said, f.Sequence)
		}
		want := []int32{0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55}
		if len(said) != 9 || !slices.Equal(said[0], want[:3]) || !slices.Equal(said[8], want) {
			t.Errorf("feedback %v", said)
		}
		if r := ends(t, g, action.StatusSucceeded); !slices.Equal(r.Sequence, want) {
			t.Errorf("result %v", r)
		}
		until(t, "the goal is listed as succeeded", func() bool {
			l := c.Statuses()
			return len(l) == 1 && l[0].ID == g.ID() && l[0].Status == action.StatusSucceeded && l[0].Accepted.Equal(g.Accepted())
		})
		if st := s.Stats(); st.Accepted != 1 || st.Succeeded != 1 || st.Active != 0 || st.Kept != 1 || st.Asked != 0 {
			t.Errorf("server: %+v", st)
		}
		if st := c.Stats(); st != (action.ClientStats{Feedback: 9}) {
			t.Errorf("client: %+v", st)
		}
	})
}

// What the handlers say becomes the status, and the result is sent in each case.
func TestEnds(t *testing.T) {
	everywhere(t, func(t *testing.T, sd, cd *tagus.Domain) {
		begun := make(chan struct{}, 1)
		s := serve(t, sd, handlers{
			Accept: func(_ context.Context, id action.GoalID, g *goal) error {
				if id.IsZero() || g.Order < 0 {
					return errors.New("negative")
				}
				return nil
			},
			Execute: func(ctx context.Context, g *serverGoal) (*result, error) {
				r := &result{Sequence: []int32{g.Goal().Order}}
				switch g.Goal().Order {
				case 1:
					return nil, nil
				case 2:
					return r, errors.New("two")
				case 3:
					return nil, context.Canceled // nobody canceled it
				}
				begun <- struct{}{}
				<-ctx.Done()
				if g.Goal().Order == 4 {
					return r, nil // it had done its work
				}
				return r, ctx.Err()
			},
		})
		c := connect(t, cd)
		if _, err := c.SendGoal(soon(t), &goal{Order: -1}); !errors.Is(err, action.ErrRejected) {
			t.Errorf("a goal that is not accepted: %v", err)
		}
		for order, want := range map[int32]struct {
			status   action.Status
			sequence []int32
		}{
			1: {action.StatusSucceeded, []int32{}},
			2: {action.StatusAborted, []int32{2}},
			3: {action.StatusAborted, []int32{}},
		} {
			if r := ends(t, send(t, c, order), want.status); !slices.Equal(r.Sequence, want.sequence) {
				t.Errorf("order %d: result %v", order, r)
			}
		}
		for order, want := range map[int32]action.Status{4: action.StatusSucceeded, 5: action.StatusCanceled} {
			g := send(t, c, order)
			<-begun
			if err := g.Cancel(soon(t)); err != nil {
				t.Fatal(err)
			}
			if err := g.Cancel(soon(t)); err != nil {
				t.Errorf("once more: %v", err)
			}
			if r := ends(t, g, want); !slices.Equal(r.Sequence, []int32{order}) {
				t.Errorf("order %d: result %v", order, r)
			}
		}
		st := s.Stats()
		if st.Accepted != 5 || st.Rejected != 1 || st.Succeeded != 2 || st.Aborted != 2 || st.Canceled != 1 {
			t.Errorf("%+v", st)
		}
	})
}

// A goal that ends before its client has the answer, many times in a row.
func TestManyShortGoals(t *testing.T) {
	everywhere(t, func(t *testing.T, sd, cd *tagus.Domain) {
		serve(t, sd, handlers{Execute: func(_ context.Context, g *serverGoal) (*result, error) {
			return &result{Sequence: []int32{g.Goal().Order}}, g.Feedback(&feedback{Sequence: []int32{1}})
		}})
		c := connect(t, cd)
		n := int32(1000)
		if testing.Short() {
			n = 100
		}
		for i := range n {
			g := send(t, c, i)
			said := 0
			for range g.Feedback(soon(t)) {
				said++
			}
			if said != 1 {
				t.Fatalf("goal %d: %d messages", i, said)
			}
			if r := ends(t, g, action.StatusSucceeded); !slices.Equal(r.Sequence, []int32{i}) {
				t.Fatalf("goal %d: result %v", i, r)
			}
		}
	})
}

// Many goals at once, of several clients: feedback and results reach the right ones.
func TestManyGoalsAtOnce(t *testing.T) {
	everywhere(t, func(t *testing.T, sd, cd *tagus.Domain) {
		const clients, each = 3, 60
		var wg sync.WaitGroup
		all := make(chan struct{})
		var begun sync.WaitGroup
		begun.Add(clients * each)
		go func() { begun.Wait(); close(all) }()
		s := serve(t, sd, handlers{Execute: func(_ context.Context, g *serverGoal) (*result, error) {
			begun.Done()
			<-all // all are under way
			r := &result{Sequence: []int32{g.Goal().Order}}
			return r, g.Feedback(&feedback{Sequence: r.Sequence})
		}})
		for i := range int32(clients) {
			n := node(t, cd, fmt.Sprint("client", i))
			c, err := action.NewClient[ex.Fibonacci](n, "fibonacci", action.WithFeedbackDepth(clients*each))
			if err != nil {
				t.Fatal(err)
			}
			if err := c.WaitForServer(soon(t)); err != nil {
				t.Fatal(err)
			}
			for k := range int32(each) {
				wg.Add(1)
				go func() {
					defer wg.Done()
					want := []int32{1000*i + k}
					g, err := c.SendGoal(soon(t), &goal{Order: want[0]})
					if err != nil {
						t.Error(err)
						begun.Done()
						return
					}
					for f := range g.Feedback(soon(t)) {
						if !slices.Equal(f.Sequence, want) {
							t.Errorf("feedback %v, want %v", f.Sequence, want)
						}
					}
					r, st, err := g.Result(soon(t))
					if err != nil || st != action.StatusSucceeded || !slices.Equal(r.Sequence, want) {
						t.Errorf("%v %v %v, want %v", r, st, err, want)
					}
				}()
			}
		}
		wg.Wait()
		if st := s.Stats(); st.Succeeded != clients*each || st.Active != 0 {
			t.Errorf("%+v", st)
		}
	})
}

// A goal that is sent, followed and canceled inside a callback of the client's executor.
func TestInsideCallback(t *testing.T) {
	sd, cd := setups[2].make(t)
	serve(t, sd, handlers{Execute: fibonacci})
	c := connect(t, cd)
	n := node(t, cd, "other")
	got := make(chan error, 1)
	_, err := tagus.NewSubscription(n, "go", qos.Default(), func(ctx context.Context, _ *tagus.Sample[std_msgs.String]) {
		got <- func() error {
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			g, err := c.SendGoal(ctx, &goal{Order: 5})
			if err != nil {
				return err
			}
			said := 0
			for range g.Feedback(ctx) {
				said++
			}
			if _, st, err := g.Result(ctx); err != nil || st != action.StatusSucceeded || said != 4 {
				return fmt.Errorf("%v %w, %d messages", st, err, said)
			}
			return nil
		}()
	})
	if err != nil {
		t.Fatal(err)
	}
	pub, err := tagus.NewPublisher[std_msgs.String](n, "go", qos.Default())
	if err != nil {
		t.Fatal(err)
	}
	if err := pub.Publish(&std_msgs.String{}); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
}

// Feedback that nobody reads is bounded and counted, and the newest is kept.
func TestSlowReaderOfFeedback(t *testing.T) {
	sd, cd := setups[0].make(t)
	serve(t, sd, handlers{Execute: func(_ context.Context, g *serverGoal) (*result, error) {
		for i := range g.Goal().Order {
			if err := g.Feedback(&feedback{Sequence: []int32{i}}); err != nil {
				return nil, err
			}
			time.Sleep(100 * time.Microsecond) // the subscription's own queue is not what is tested
		}
		return nil, nil
	}})
	c := connect(t, cd, action.WithFeedbackDepth(20))
	g := send(t, c, 200)
	ends(t, g, action.StatusSucceeded)
	var said []int32
	for f := range g.Feedback(soon(t)) {
		said = append(said, f.Sequence...)
	}
	st := c.Stats()
	if st.Feedback+st.FeedbackLost != 200 || st.FeedbackDropped != st.Feedback-20 {
		t.Errorf("%+v", st)
	}
	if len(said) != 20 || said[19] != 199 {
		t.Errorf("read %v", said)
	}
}

func TestFeedbackAfterTheEnd(t *testing.T) {
	sd, cd := setups[0].make(t)
	var kept *serverGoal
	serve(t, sd, handlers{Execute: func(_ context.Context, g *serverGoal) (*result, error) {
		kept = g
		return nil, nil
	}})
	c := connect(t, cd)
	ends(t, send(t, c, 1), action.StatusSucceeded)
	err := kept.Feedback(&feedback{})
	var where *action.Error
	if !errors.Is(err, action.ErrGoalEnded) || !errors.As(err, &where) || where.Action != "/fibonacci" || where.Goal != kept.ID() {
		t.Error(err)
	}
}

func TestGoalID(t *testing.T) {
	id := action.NewGoalID()
	if id == action.NewGoalID() || id.IsZero() || id[6]>>4 != 4 || id[8]>>6 != 2 {
		t.Error(id)
	}
	for _, s := range []string{id.String(), fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])} {
		if got, err := action.ParseGoalID(s); err != nil || got != id {
			t.Errorf("%s: %v %v", s, got, err)
		}
	}
	for _, s := range []string{"", "12", id.String() + "0", "g" + id.String()[1:], id.String()[:31] + "-"} {
		if _, err := action.ParseGoalID(s); err == nil {
			t.Errorf("%q is accepted", s)
		}
	}
}

func TestStatusNames(t *testing.T) {
	got := ""
	for s := action.StatusUnknown; s <= action.StatusAborted+1; s++ {
		got += fmt.Sprint(s, s.Final(), " ")
	}
	want := "UNKNOWN false ACCEPTED false EXECUTING false CANCELING false SUCCEEDED true CANCELED true ABORTED true STATUS(7) false "
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
