package lifecycle_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/lifecycle"
	"github.com/tagus-ros/tagus/msgs/std_msgs"
	"github.com/tagus-ros/tagus/qos"
)

// TestChangeInsideCallback: the callbacks of managed entities can change the state of their own node, with their context or without.
func TestChangeInsideCallback(t *testing.T) {
	for _, name := range []string{"its context", "another context"} {
		for _, entity := range []string{"timer", "subscription", "latched subscription"} {
			t.Run(entity+"/"+name, func(t *testing.T) {
				d := join(t, t.TempDir())
				spin(t, d)
				var during atomic.Int32
				n := managed(t, d, lifecycle.Callbacks{Deactivate: func(context.Context, lifecycle.State) error {
					during.Add(1)
					return nil
				}})
				done := make(chan error, 100)
				var rounds atomic.Int32
				round := func(ctx context.Context) {
					if name == "another context" {
						ctx = context.Background()
					}
					if rounds.Add(1) > 3 {
						return
					}
					if err := n.Deactivate(ctx); err != nil {
						done <- err
						return
					}
					if n.State() != lifecycle.Inactive {
						t.Error(n.State())
					}
					done <- n.Activate(ctx)
				}
				switch entity {
				case "timer":
					_, err := n.NewTimer(time.Millisecond, func(ctx context.Context, _ tagus.TimerInfo) { round(ctx) })
					must(t, err)
				default:
					q := qos.Default()
					if entity == "latched subscription" {
						q.Durability = qos.TransientLocal
					}
					pub, err := tagus.NewPublisher[std_msgs.Int64](plain(t, d), "topic", q)
					must(t, err)
					sub, err := lifecycle.NewSubscription(n, "topic", q, func(ctx context.Context, _ *tagus.Sample[std_msgs.Int64]) { round(ctx) })
					must(t, err)
					must(t, sub.WaitForPublishers(soon(t), 1))
					feed, err := plain(t, d).NewTimer(time.Millisecond, func(context.Context, tagus.TimerInfo) { pub.Publish(&std_msgs.Int64{}) })
					must(t, err)
					defer feed.Stop()
				}
				must(t, n.Configure(soon(t)))
				must(t, n.Activate(soon(t)))
				for range 3 {
					must(t, got(t, "change inside", done))
				}
				if during.Load() != 3 {
					t.Errorf("Deactivate ran %d times", during.Load())
				}
				must(t, n.Close())
			})
		}
	}
}

// TestLeftBehindContext: a goroutine that a callback left behind is not that callback, though it has its context.
func TestLeftBehindContext(t *testing.T) {
	d := join(t, t.TempDir())
	spin(t, d)
	var busy atomic.Bool
	n := managed(t, d, lifecycle.Callbacks{Deactivate: func(context.Context, lifecycle.State) error {
		if busy.Load() {
			t.Error("Deactivate beside a callback")
		}
		return nil
	}})
	once, done := sync.Once{}, make(chan error, 1)
	_, err := n.NewTimer(time.Millisecond, func(ctx context.Context, _ tagus.TimerInfo) {
		busy.Store(true)
		once.Do(func() {
			began := make(chan struct{})
			go func() {
				close(began)
				done <- n.Deactivate(ctx)
			}()
			<-began
			time.Sleep(5 * time.Millisecond) // the callback takes its time
		})
		busy.Store(false)
	})
	must(t, err)
	must(t, n.Configure(soon(t)))
	must(t, n.Activate(soon(t)))
	must(t, got(t, "deactivate", done))
}

// A deactivation whose callbacks do not end goes back to active when its context ends; a shutdown goes on.
func TestStuckCallback(t *testing.T) {
	d := join(t, t.TempDir())
	spin(t, d)
	down := make(chan struct{})
	n := managed(t, d, lifecycle.Callbacks{Shutdown: func(context.Context, lifecycle.State) error {
		close(down)
		return nil
	}})
	hold, inside := make(chan struct{}), make(chan struct{}, 100)
	_, err := n.NewTimer(time.Millisecond, func(context.Context, tagus.TimerInfo) {
		select {
		case inside <- struct{}{}:
		default:
		}
		<-hold
	})
	must(t, err)
	must(t, n.Configure(soon(t)))
	must(t, n.Activate(soon(t)))
	got(t, "tick", inside)
	short := func() context.Context { return within(t, 5*time.Millisecond) }
	if err := n.Deactivate(short()); !errors.Is(err, context.DeadlineExceeded) || n.State() != lifecycle.Active {
		t.Error(err, n.State())
	}
	must(t, n.Shutdown(short()))
	got(t, "Shutdown callback", down)
	close(hold)
	must(t, n.Close())
}

// TestClose: Close shuts the node down from every state, once, and so does the end of the domain.
func TestClose(t *testing.T) {
	for _, by := range []string{"node", "base", "domain", "many"} {
		for _, path := range [][]lifecycle.Transition{
			{}, {lifecycle.Configure}, {lifecycle.Configure, lifecycle.Activate}, {lifecycle.Configure, lifecycle.Activate, lifecycle.ActiveShutdown},
		} {
			d := join(t, t.TempDir())
			var downs atomic.Int32
			n := managed(t, d, lifecycle.Callbacks{Shutdown: func(ctx context.Context, _ lifecycle.State) error {
				if ctx.Err() != nil {
					t.Error("the Shutdown callback has no time left:", ctx.Err())
				}
				downs.Add(1)
				return nil
			}})
			latched := qos.Profile{Durability: qos.TransientLocal}
			_, err := lifecycle.NewSubscription(n, "topic", latched, func(context.Context, *tagus.Sample[std_msgs.Int64]) {})
			must(t, err)
			_, err = n.NewTimer(time.Second, nil)
			must(t, err)
			for _, tr := range path {
				must(t, n.Change(soon(t), tr))
			}
			switch by {
			case "node":
				must(t, n.Close())
			case "base":
				must(t, n.Node.Close())
			case "domain":
				must(t, d.Close())
			case "many":
				var wg sync.WaitGroup
				for range 4 {
					wg.Go(func() {
						if err := n.Close(); err != nil {
							t.Error(err)
						}
						if n.State() != lifecycle.Finalized {
							t.Errorf("closed and %v", n.State())
						}
					})
				}
				wg.Wait()
			}
			if n.State() != lifecycle.Finalized || downs.Load() != 1 {
				t.Errorf("closed by %s after %v: %v, Shutdown ran %d times", by, path, n.State(), downs.Load())
			}
			must(t, n.Close())
			if _, err := n.WaitFor(soon(t), lifecycle.Active); !errors.Is(err, tagus.ErrClosed) {
				t.Error(err)
			}
			if err := n.Autostart(lifecycle.Active, lifecycle.Retry{}); !errors.Is(err, tagus.ErrClosed) {
				t.Error(err)
			}
		}
	}
}

// TestCloseInside: Close can be called from the node's own callbacks; whoever else calls it waits for the end.
func TestCloseInside(t *testing.T) {
	for _, where := range []string{"timer", "subscription", "configure", "error", "shutdown"} {
		t.Run(where, func(t *testing.T) {
			d := join(t, t.TempDir())
			spin(t, d)
			var n *lifecycle.Node
			var down atomic.Bool
			closed := make(chan error, 10)
			closing := func(where2 string) func(context.Context, lifecycle.State) error {
				return func(context.Context, lifecycle.State) error {
					if where2 == where {
						closed <- n.Close()
					}
					if where2 == "shutdown" {
						time.Sleep(2 * time.Millisecond)
						down.Store(true)
					}
					return nil
				}
			}
			n = managed(t, d, lifecycle.Callbacks{Configure: closing("configure"), Shutdown: closing("shutdown"),
				Activate: func(context.Context, lifecycle.State) error {
					if where == "error" {
						panic("activate")
					}
					return nil
				},
				Error: func(ctx context.Context, from lifecycle.State, _ error) error { return closing("error")(ctx, from) },
			})
			pub, err := tagus.NewPublisher[std_msgs.Int64](plain(t, d), "topic", qos.Default())
			must(t, err)
			_, err = lifecycle.NewSubscription(n, "topic", qos.Default(), func(context.Context, *tagus.Sample[std_msgs.Int64]) {
				if where == "subscription" {
					closed <- n.Close()
				}
			})
			must(t, err)
			_, err = n.NewTimer(time.Millisecond, func(context.Context, tagus.TimerInfo) {
				if where == "timer" {
					closed <- n.Close()
				}
			})
			must(t, err)
			must(t, pub.WaitForSubscriptions(soon(t), 1))
			n.Configure(soon(t))
			n.Activate(soon(t))
			must(t, pub.Publish(&std_msgs.Int64{}))
			if where == "shutdown" {
				must(t, n.Shutdown(soon(t)))
			}
			must(t, got(t, "close", closed))
			must(t, n.Close())
			if n.State() != lifecycle.Finalized || !down.Load() {
				t.Errorf("%v, shut down: %v", n.State(), down.Load())
			}
		})
	}
}

// TestCloseUnderFire closes nodes while everything happens to them.
func TestCloseUnderFire(t *testing.T) {
	nd, od := setups[1].make(t)
	o := plain(t, od)
	pub, err := tagus.NewPublisher[std_msgs.Int64](o, "topic", qos.Default())
	must(t, err)
	end := make(chan struct{})
	var fire sync.WaitGroup
	fire.Go(func() {
		for {
			select {
			case <-end:
				return
			default:
				pub.Publish(&std_msgs.Int64{})
				time.Sleep(20 * time.Microsecond)
			}
		}
	})
	for range 50 {
		fail := func(context.Context, lifecycle.State) error { return errors.New("not now") }
		n := managed(t, nd, lifecycle.Callbacks{Cleanup: fail})
		for _, q := range []qos.Profile{{}, {Durability: qos.TransientLocal}} {
			_, err = lifecycle.NewSubscription(n, "topic", q, func(ctx context.Context, _ *tagus.Sample[std_msgs.Int64]) { n.Deactivate(ctx) })
			must(t, err)
		}
		_, err = n.NewTimer(100*time.Microsecond, func(ctx context.Context, _ tagus.TimerInfo) { n.Cleanup(ctx) })
		must(t, err)
		must(t, n.Autostart(lifecycle.Active, lifecycle.Retry{Delay: time.Microsecond}))
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				n.Reach(soon(t), lifecycle.Active, lifecycle.Retry{Attempts: 5})
				n.Deactivate(soon(t))
				n.Activate(soon(t))
				n.Close()
			})
		}
		wg.Wait()
		if n.State() != lifecycle.Finalized {
			t.Fatal(n.State())
		}
	}
	close(end)
	fire.Wait()
}
