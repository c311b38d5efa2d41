package action_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/action"
)

// Servers and clients come and go while goals are sent, canceled and preempted: every call
// ends with an answer or says why there is none.
func TestUnderFire(t *testing.T) {
	everywhere(t, func(t *testing.T, sd, cd *tagus.Domain) {
		long := 3 * time.Second
		if testing.Short() {
			long = 500 * time.Millisecond
		}
		over := within(t, long)
		for _, d := range []*tagus.Domain{sd, cd} {
			if err := d.WatchGraph(); err != nil {
				t.Fatal(err)
			}
		}
		sn, cn := node(t, sd, "server"), node(t, cd, "client")
		work := func(wg *sync.WaitGroup, until context.Context, f func()) {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for until.Err() == nil {
					f()
				}
			}()
		}
		// The clients end first: none waits for a server that does not come.
		var servers, clients sync.WaitGroup
		serving, stop := context.WithCancel(context.Background())
		defer stop()
		nap := func(d time.Duration) { time.Sleep(rand.N(d)) }
		policy := 0
		work(&servers, serving, func() {
			s, err := action.NewServer[fib](sn, "fibonacci", handlers{
				Execute: func(ctx context.Context, g *serverGoal) (*result, error) {
					for range g.Goal().Order {
						_ = g.Feedback(&feedback{Sequence: []int32{1}}) // the server may be closing
						select {
						case <-ctx.Done():
							return nil, ctx.Err()
						case <-time.After(rand.N(time.Millisecond)):
						}
					}
					return nil, nil
				},
			}, action.WithPolicy(action.Policy(policy%4)), action.WithRetention(rand.N(100*time.Millisecond)), action.WithCancelOrphans())
			policy++
			if err != nil {
				t.Error(err)
				return
			}
			nap(100 * time.Millisecond)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if st := s.Stats(); st.Active != 0 || st.Accepted != st.Succeeded+st.Canceled+st.Aborted {
				t.Errorf("%+v", st)
			}
		})
		var ended, failed atomic.Int64
		allowed := []error{tagus.ErrNoServer, tagus.ErrServerDied, tagus.ErrClosed, tagus.ErrRefused,
			action.ErrRejected, action.ErrUnknownGoal, action.ErrGoalEnded,
			action.ErrCancelRejected} // the goals ended while they were to be canceled
		check := func(what string, err error) bool {
			if err == nil {
				return true
			}
			failed.Add(1)
			for _, a := range allowed {
				if errors.Is(err, a) {
					return false
				}
			}
			t.Errorf("%s: %v", what, err)
			return false
		}
		for range 3 {
			work(&clients, over, func() {
				c, err := action.NewClient[fib](cn, "fibonacci")
				if err != nil {
					t.Error(err)
					return
				}
				var calls sync.WaitGroup
				for range 3 {
					calls.Add(1)
					go func() {
						defer calls.Done()
						ctx, cancel := context.WithTimeout(context.Background(), patience)
						defer cancel()
						for range 5 {
							if !check("wait", c.WaitForServer(ctx)) {
								return
							}
							g, err := c.SendGoal(ctx, &goal{Order: rand.Int32N(20)})
							if !check("send", err) {
								continue
							}
							switch rand.IntN(4) {
							case 0:
								check("cancel", g.Cancel(ctx))
							case 1:
								_, err := c.CancelAll(ctx)
								check("cancel all", err)
							case 2:
								for range g.Feedback(ctx) {
								}
							}
							if _, _, err := g.Result(ctx); check("result", err) {
								ended.Add(1)
							}
						}
					}()
				}
				if rand.IntN(3) == 0 {
					nap(50 * time.Millisecond)
					if err := c.Close(); err != nil {
						t.Error(err)
					}
				}
				calls.Wait()
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		clients.Wait()
		stop()
		servers.Wait()
		t.Logf("%d goals ended, %d calls said why not", ended.Load(), failed.Load())
		if ended.Load() == 0 {
			t.Error("nothing happened")
		}
		for _, d := range []*tagus.Domain{sd, cd} {
			until(t, "no part is left in the graph", func() bool { return len(action.List(d.Graph())) == 0 })
			noneLeft(t, d)
		}
	})
}
