package action_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/action"
)

// A server that closes lets its goals end, and their clients know.
func TestServerCloses(t *testing.T) {
	everywhere(t, func(t *testing.T, sd, cd *tagus.Domain) {
		for _, how := range []string{"server", "node"} {
			t.Run(how, func(t *testing.T) {
				n := node(t, sd, "server")
				testServerCloses(t, n, cd, func(s *server) error {
					if how == "node" {
						return n.Close()
					}
					return s.Close()
				})
			})
		}
	})
	t.Run("domain", func(t *testing.T) {
		dir := t.TempDir()
		sd, cd := join(t, dir), join(t, dir)
		stop := spin(t, sd)
		spin(t, cd)
		testServerCloses(t, node(t, sd, "server"), cd, func(*server) error { stop(); return nil })
	})
}

func testServerCloses(t *testing.T, n *tagus.Node, cd *tagus.Domain, closes func(*server) error) {
	begun, causes := make(chan *serverGoal, 1), make(chan error, 1)
	s, err := action.NewServer[fib](n, "fibonacci", wait(begun, causes), action.WithPolicy(action.Queue))
	if err != nil {
		t.Fatal(err)
	}
	c := connect(t, cd)
	goals := []*clientGoal{send(t, c, 1), send(t, c, 2)}
	sg := <-begun
	until(t, "the results were asked for", func() bool { return s.Stats().Asked == 2 })
	if err := closes(s); err != nil {
		t.Error(err)
	}
	if err := <-causes; !errors.Is(err, action.ErrServerClosed) {
		t.Errorf("cause %v", err)
	}
	if sg.Status() != action.StatusAborted {
		t.Errorf("it is %v", sg.Status())
	}
	select {
	case <-sg.ClientGone():
	default:
		t.Error("the goal knows nothing of its server's end")
	}
	for _, g := range goals {
		ends(t, g, action.StatusAborted)
	}
	until(t, "the server is gone", func() bool { return !c.Available() })
	if _, err := c.SendGoal(soon(t), &goal{}); !errors.Is(err, tagus.ErrNoServer) {
		t.Errorf("a goal for nobody: %v", err)
	}
	if err := c.WaitForServer(within(t, 10*time.Millisecond)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waiting for nobody: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// A client that closes ends its goals on its side; the server goes on.
func TestClientCloses(t *testing.T) {
	for _, how := range []string{"client", "node"} {
		t.Run(how, func(t *testing.T) {
			everywhere(t, func(t *testing.T, sd, cd *tagus.Domain) {
				begun, causes := make(chan *serverGoal, 1), make(chan error, 1)
				s := serve(t, sd, wait(begun, causes))
				n := node(t, cd, "client")
				c, err := action.NewClient[fib](n, "fibonacci")
				if err != nil {
					t.Fatal(err)
				}
				if err := c.WaitForServer(soon(t)); err != nil {
					t.Fatal(err)
				}
				g := send(t, c, 1)
				sg := <-begun
				if how == "client" {
					err = c.Close()
				} else {
					err = n.Close()
				}
				if err != nil {
					t.Error(err)
				}
				if _, _, err := g.Result(soon(t)); !errors.Is(err, tagus.ErrClosed) {
					t.Errorf("the goal: %v", err)
				}
				for range g.Feedback(soon(t)) {
					t.Error("feedback from nowhere")
				}
				if err := g.Cancel(soon(t)); !errors.Is(err, tagus.ErrClosed) {
					t.Errorf("cancel: %v", err)
				}
				if _, err := c.SendGoal(soon(t), &goal{}); !errors.Is(err, tagus.ErrClosed) {
					t.Errorf("another goal: %v", err)
				}
				if err := c.WaitForServer(soon(t)); !errors.Is(err, tagus.ErrClosed) {
					t.Errorf("waiting: %v", err)
				}
				select {
				case <-sg.ClientGone():
				case <-soon(t).Done():
					t.Error("the server does not know that the client is gone")
				}
				if sg.Status() != action.StatusExecuting {
					t.Errorf("it is %v", sg.Status())
				}
				until(t, "nobody waits for the result", func() bool { return s.Stats().Asked == 0 })
				other := connect(t, cd)
				if err := other.CancelGoal(soon(t), g.ID()); err != nil {
					t.Error(err)
				}
				<-causes
			})
		})
	}
}

func TestCancelOrphans(t *testing.T) {
	everywhere(t, func(t *testing.T, sd, cd *tagus.Domain) {
		begun, causes := make(chan *serverGoal, 2), make(chan error, 2)
		s := serve(t, sd, wait(begun, causes), action.WithCancelOrphans())
		c, other := connect(t, cd), connect(t, cd)
		send(t, c, 1)
		orphan := <-begun
		kept := send(t, other, 2)
		<-begun
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-causes; !errors.Is(err, tagus.ErrClientGone) {
			t.Errorf("cause %v", err)
		}
		until(t, "it is canceled", func() bool { return orphan.Status() == action.StatusCanceled })
		if err := kept.Cancel(soon(t)); err != nil {
			t.Fatal(err)
		}
		ends(t, kept, action.StatusCanceled)
		if st := s.Stats(); st.Canceled != 2 {
			t.Errorf("%+v", st)
		}
	})
}

// Calls end with their context, and say so.
func TestContexts(t *testing.T) {
	everywhere(t, func(t *testing.T, sd, cd *tagus.Domain) {
		begun, causes := make(chan *serverGoal, 1), make(chan error, 1)
		accept := make(chan struct{})
		h := wait(begun, causes)
		h.Accept = func(_ context.Context, _ action.GoalID, g *goal) error {
			if g.Order < 0 {
				<-accept
			}
			return nil
		}
		h.Cancel = func(context.Context, *serverGoal) error {
			<-accept
			return nil
		}
		serve(t, sd, h)
		c := connect(t, cd)
		ways := []struct {
			ctx  func() context.Context
			want []error
		}{
			{func() context.Context { return within(t, 20*time.Millisecond) }, []error{tagus.ErrTimeout, context.DeadlineExceeded}},
			{func() context.Context {
				ctx, cancel := context.WithCancel(context.Background())
				time.AfterFunc(20*time.Millisecond, cancel)
				return ctx
			}, []error{context.Canceled}},
		}

		g := send(t, c, 1)
		<-begun
		for _, way := range ways {
			if _, _, err := g.Result(way.ctx()); !isEnd(err, way.want...) {
				t.Errorf("result: %v", err)
			}
			for range g.Feedback(way.ctx()) {
				t.Error("feedback from nowhere")
			}
			if err := g.Cancel(way.ctx()); !isEnd(err, way.want...) {
				t.Errorf("cancel: %v", err)
			}
		}
		accept <- struct{}{} // both requests were sent; the second is about a goal that is being canceled
		<-causes
		ends(t, g, action.StatusCanceled)

		for _, way := range ways {
			_, err := c.SendGoal(way.ctx(), &goal{Order: -1})
			var where *action.Error
			if !isEnd(err, way.want...) || !errors.As(err, &where) || where.Goal.IsZero() {
				t.Errorf("send: %v", err)
			}
		}
		if st := c.Stats(); st.Goals != 0 {
			t.Errorf("%+v", st)
		}
		close(accept)
		<-begun // they were taken after all
		<-begun
		if _, err := c.CancelAll(soon(t)); err != nil {
			t.Error(err)
		}
		<-causes
		<-causes
	})
}
