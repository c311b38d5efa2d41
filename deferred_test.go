package tagus_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tagus-ros/tagus"
	ex "github.com/tagus-ros/tagus/msgs/example_interfaces"
	"github.com/tagus-ros/tagus/qos"
)

type addRequest = tagus.Request[ex.AddTwoIntsRequest, ex.AddTwoIntsResponse]

// deferred makes a service that hands on its requests, and a client of it.
func deferred(t *testing.T, sd, cd *tagus.Domain, depth int) (*tagus.DeferredService[ex.AddTwoIntsRequest, ex.AddTwoIntsResponse], <-chan *addRequest, *tagus.Client[ex.AddTwoIntsRequest, ex.AddTwoIntsResponse]) {
	t.Helper()
	requests := make(chan *addRequest, depth)
	s, err := tagus.NewDeferredService[ex.AddTwoInts](node(t, sd, "server"), "add", func(_ context.Context, r *addRequest) { requests <- r }, tagus.WithServiceQoS(qos.ServicesDefault().WithDepth(depth)))
	if err != nil {
		t.Fatal(err)
	}
	return s, requests, adder(t, cd, "client")
}

func adder(t *testing.T, d *tagus.Domain, name string) *tagus.Client[ex.AddTwoIntsRequest, ex.AddTwoIntsResponse] {
	t.Helper()
	c, err := tagus.NewClient[ex.AddTwoInts](node(t, d, name), "add")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.WaitForService(within(t, 5*time.Second)); err != nil {
		t.Fatal(err)
	}
	return c
}

// Answers come later, from other goroutines and in another order.
func TestDeferredAnswers(t *testing.T) {
	for _, s := range setups {
		t.Run(s.name, func(t *testing.T) {
			sd, cd := s.make(t)
			srv, requests, client := deferred(t, sd, cd, 100)
			var wg sync.WaitGroup
			for i := range int64(100) {
				wg.Add(1)
				go func() {
					defer wg.Done()
					resp, err := client.Call(within(t, 20*time.Second), &ex.AddTwoIntsRequest{A: i, B: 1})
					var failed *tagus.ServiceError
					switch {
					case i%10 == 3:
						if !errors.As(err, &failed) || failed.Text != "three" {
							t.Errorf("%d: %v", i, err)
						}
					case err != nil || resp.Sum != i+1:
						t.Errorf("%d: %v %v", i, resp, err)
					}
				}()
			}
			var all []*addRequest
			for range 100 {
				all = append(all, <-requests)
			}
			if st := srv.Stats(); st.Open != 100 || st.Requests != 100 {
				t.Errorf("%+v", st)
			}
			for i := range all {
				go func() {
					r := all[len(all)-1-i]
					var err error
					if r.Msg.A%10 == 3 {
						err = r.Fail(errors.New("three"))
					} else {
						err = r.Respond(&ex.AddTwoIntsResponse{Sum: r.Msg.A + r.Msg.B})
					}
					if err != nil {
						t.Error(err)
					}
					if err := r.Respond(&ex.AddTwoIntsResponse{}); !errors.Is(err, tagus.ErrAnswered) {
						t.Errorf("once more: %v", err)
					}
				}()
			}
			wg.Wait()
			if st := srv.Stats(); st.Open != 0 || st.Failed != 10 || st.Undelivered != 0 {
				t.Errorf("%+v", st)
			}
		})
	}
}

// A client that goes takes its requests with it; one that stays does not notice.
func TestDeferredClientGoes(t *testing.T) {
	for _, s := range setups {
		t.Run(s.name, func(t *testing.T) {
			sd, cd := s.make(t)
			srv, requests, client := deferred(t, sd, cd, 100)
			other := adder(t, cd, "other")
			answers := make(chan error, 3)
			for i, c := range []*tagus.Client[ex.AddTwoIntsRequest, ex.AddTwoIntsResponse]{client, client, other} {
				go func() {
					_, err := c.Call(within(t, 20*time.Second), &ex.AddTwoIntsRequest{A: int64(i)})
					answers <- err
				}()
			}
			all := []*addRequest{<-requests, <-requests, <-requests}
			if err := client.Close(); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the third waits for its answer
				if err := <-answers; !errors.Is(err, tagus.ErrClosed) {
					t.Errorf("a call of the client that closed: %v", err)
				}
			}
			gone := 0
			for _, r := range all {
				want := error(nil)
				if r.Msg.A != 2 {
					gone++
					want = tagus.ErrClientGone
					select {
					case <-r.Gone():
					case <-time.After(5 * time.Second):
						t.Error("the client is not said to be gone")
					}
				}
				if err := r.Respond(&ex.AddTwoIntsResponse{}); !errors.Is(err, want) {
					t.Errorf("respond: %v, want %v", err, want)
				}
			}
			if err := <-answers; err != nil {
				t.Errorf("the client that stays: %v", err)
			}
			if st := srv.Stats(); gone != 2 || st.Open != 0 || st.Undelivered != 2 {
				t.Errorf("%d gone, %+v", gone, st)
			}
		})
	}
}

func TestDeferredServiceCloses(t *testing.T) {
	for _, s := range setups {
		t.Run(s.name, func(t *testing.T) {
			sd, cd := s.make(t)
			srv, requests, client := deferred(t, sd, cd, 10)
			answer := make(chan error, 1)
			go func() {
				_, err := client.Call(within(t, 20*time.Second), &ex.AddTwoIntsRequest{})
				answer <- err
			}()
			r := <-requests
			if err := srv.Close(); err != nil {
				t.Fatal(err)
			}
			<-r.Gone()
			if err := r.Respond(&ex.AddTwoIntsResponse{}); !errors.Is(err, tagus.ErrClosed) {
				t.Errorf("respond: %v", err)
			}
			if err := <-answer; !errors.Is(err, tagus.ErrServerDied) {
				t.Errorf("the call: %v", err)
			}
			if err := srv.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// More requests than can be open fail at once, and the error names the limit.
func TestOpenRequests(t *testing.T) {
	d := join(t, t.TempDir())
	spin(t, d)
	srv, requests, client := deferred(t, d, d, tagus.OpenRequests)
	var wg sync.WaitGroup
	for range tagus.OpenRequests / 128 {
		c := adder(t, d, "more")
		for range 128 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				if _, err := c.Call(context.Background(), &ex.AddTwoIntsRequest{}); err != nil {
					t.Error(err)
				}
			}()
		}
	}
	var all []*addRequest
	for range tagus.OpenRequests {
		all = append(all, <-requests)
	}
	var failed *tagus.ServiceError
	_, err := client.Call(within(t, 20*time.Second), &ex.AddTwoIntsRequest{})
	if !errors.As(err, &failed) || !strings.Contains(failed.Text, "open_requests = 4096") {
		t.Errorf("one more: %v", err)
	}
	for _, r := range all {
		if err := r.Respond(&ex.AddTwoIntsResponse{}); err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
	go func() { (<-requests).Respond(&ex.AddTwoIntsResponse{Sum: 1}) }()
	if resp, err := client.Call(within(t, 20*time.Second), &ex.AddTwoIntsRequest{}); err != nil || resp.Sum != 1 {
		t.Errorf("afterwards: %v %v", resp, err)
	}
	if st := srv.Stats(); st.Open != 0 || st.Failed != 1 {
		t.Errorf("%+v", st)
	}
}

type adopted struct{ closed func() }

func (a *adopted) Close() error { a.closed(); return nil }

// What a node adopts is closed before the node's endpoints.
func TestAdopt(t *testing.T) {
	d := join(t, t.TempDir())
	spin(t, d)
	n := node(t, d, "n")
	srv, err := tagus.NewService[ex.AddTwoInts](n, "add", add)
	if err != nil {
		t.Fatal(err)
	}
	closed := 0
	a := &adopted{func() {
		closed++
		if len(d.Graph().Servers(srv.Name())) != 1 {
			t.Error("the service was closed first")
		}
	}}
	b := &adopted{func() { t.Error("it was disowned") }}
	for _, c := range []*adopted{a, b} {
		if err := n.Adopt(c); err != nil {
			t.Fatal(err)
		}
	}
	n.Disown(b)
	if err := n.Close(); err != nil || closed != 1 {
		t.Errorf("%v, closed %d times", err, closed)
	}
	if err := n.Adopt(a); !errors.Is(err, tagus.ErrClosed) {
		t.Errorf("a closed node adopts: %v", err)
	}
}
