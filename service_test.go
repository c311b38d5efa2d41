package tagus_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tagus-ros/tagus"
	ex "github.com/tagus-ros/tagus/msgs/example_interfaces"
	"github.com/tagus-ros/tagus/msgs/std_msgs"
	"github.com/tagus-ros/tagus/qos"
)

func add(_ context.Context, r *ex.AddTwoIntsRequest) (*ex.AddTwoIntsResponse, error) {
	if r.A == 13 {
		return nil, errors.New("no thirteen")
	}
	return &ex.AddTwoIntsResponse{Sum: r.A + r.B}, nil
}

func TestService(t *testing.T) {
	for _, s := range setups {
		t.Run(s.name, func(t *testing.T) {
			sd, cd := s.make(t)
			srv, err := tagus.NewService[ex.AddTwoInts](node(t, sd, "server"), "add", add)
			if err != nil {
				t.Fatal(err)
			}
			cn := node(t, cd, "client")
			client, err := tagus.NewClient[ex.AddTwoInts](cn, "add")
			if err != nil {
				t.Fatal(err)
			}
			if err := client.WaitForService(within(t, 5*time.Second)); err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			for i := range int64(8) {
				wg.Add(1)
				go func() {
					defer wg.Done()
					for k := range int64(50) {
						var resp *ex.AddTwoIntsResponse
						err := tagus.ErrRefused
						for errors.Is(err, tagus.ErrRefused) { // 8 callers, and 10 may wait: never for long
							resp, err = client.Call(within(t, 5*time.Second), &ex.AddTwoIntsRequest{A: 100 * i, B: k})
						}
						if err != nil {
							t.Error(err)
							return
						}
						if want := 100*i + k; resp.Sum != want {
							t.Errorf("sum %d, want %d", resp.Sum, want)
						}
					}
				}()
			}
			wg.Wait()

			var failed *tagus.ServiceError
			if _, err := client.Call(within(t, 5*time.Second), &ex.AddTwoIntsRequest{A: 13}); !errors.As(err, &failed) || failed.Text != "no thirteen" {
				t.Errorf("a failing handler: %v", err)
			}

			// From inside a callback of the client's own domain.
			got := make(chan error, 1)
			pub, err := tagus.NewPublisher[std_msgs.String](cn, "go", qos.Default())
			if err != nil {
				t.Fatal(err)
			}
			if sd != cd { // one executor cannot serve the call that its own callback waits for
				_, err = tagus.NewSubscription(cn, "go", qos.Default(), func(ctx context.Context, _ *tagus.Sample[std_msgs.String]) {
					ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
					defer cancel()
					_, err := client.Call(ctx, &ex.AddTwoIntsRequest{A: 1})
					got <- err
				})
				if err != nil {
					t.Fatal(err)
				}
				if err := pub.WaitForSubscriptions(within(t, time.Second), 1); err != nil {
					t.Fatal(err)
				}
				if err := pub.Publish(&std_msgs.String{}); err != nil {
					t.Fatal(err)
				}
				if err := <-got; err != nil {
					t.Errorf("from a callback: %v", err)
				}
			}

			if err := srv.Close(); err != nil {
				t.Fatal(err)
			}
			ctx := within(t, 5*time.Second)
			for { // until the client knows
				_, err := client.Call(ctx, &ex.AddTwoIntsRequest{})
				if errors.Is(err, tagus.ErrNoServer) {
					break
				}
				if err != nil && !errors.Is(err, tagus.ErrServerDied) {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestCallErrors(t *testing.T) {
	for _, s := range setups {
		t.Run(s.name, func(t *testing.T) {
			sd, cd := s.make(t)
			first := make(chan struct{})
			var hold atomic.Pointer[chan struct{}]
			hold.Store(&first)
			srv, err := tagus.NewService[ex.AddTwoInts](node(t, sd, "server"), "add", func(ctx context.Context, r *ex.AddTwoIntsRequest) (*ex.AddTwoIntsResponse, error) {
				<-*hold.Load()
				return add(ctx, r)
			})
			if err != nil {
				t.Fatal(err)
			}
			client, err := tagus.NewClient[ex.AddTwoInts](node(t, cd, "client"), "add")
			if err != nil {
				t.Fatal(err)
			}
			if err := client.WaitForService(within(t, 5*time.Second)); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			defer cancel()
			if _, err := client.Call(ctx, &ex.AddTwoIntsRequest{}); !errors.Is(err, tagus.ErrTimeout) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a slow server: %v", err)
			}
			// The handler holds one request; ten more fit into the queue.
			refused := 0
			for range 15 {
				ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
				defer cancel()
				if _, err := client.Call(ctx, &ex.AddTwoIntsRequest{}); errors.Is(err, tagus.ErrRefused) {
					refused++
					if !strings.Contains(err.Error(), "/add") {
						t.Errorf("the refusal does not name the service: %v", err)
					}
				}
			}
			if refused != 5 {
				t.Errorf("%d of 15 refused, want 5", refused)
			}
			close(first)
			for err := tagus.ErrRefused; err != nil; { // until the queue has drained
				if _, err = client.Call(within(t, 5*time.Second), &ex.AddTwoIntsRequest{A: 2, B: 2}); err != nil && !errors.Is(err, tagus.ErrRefused) {
					t.Fatalf("after the queue has drained: %v", err)
				}
			}
			served := srv.Stats().Requests
			next := make(chan struct{})
			hold.Store(&next)
			died := make(chan error, 1)
			go func() {
				_, err := client.Call(context.Background(), &ex.AddTwoIntsRequest{})
				died <- err
			}()
			for srv.Stats().Requests == served {
				time.Sleep(time.Millisecond)
			}
			close(next)
			go srv.Close()
			if err := <-died; err != nil && !errors.Is(err, tagus.ErrServerDied) {
				t.Errorf("a server that closes: %v", err)
			}
		})
	}
}
