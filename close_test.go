package tagus_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/graph"
	ex "github.com/tagus-ros/tagus/msgs/example_interfaces"
	"github.com/tagus-ros/tagus/msgs/std_msgs"
	"github.com/tagus-ros/tagus/qos"
)

// Close ends what spins, also from a callback, and nothing can be made afterwards.
func TestDomainCloseEndsSpin(t *testing.T) {
	d := join(t, t.TempDir())
	spun := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n := node(t, d, "n")
	go func() { spun <- d.Spin(ctx) }()
	ran := make(chan struct{}, 1)
	if _, err := n.NewTimer(time.Millisecond, func(context.Context, tagus.TimerInfo) {
		select {
		case ran <- struct{}{}:
		default:
		}
	}); err != nil {
		t.Fatal(err)
	}
	next(t, ran, "the timer")
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if err := next(t, spun, "the end of Spin"); err != nil {
		t.Error(err)
	}
	if err := d.Spin(ctx); !errors.Is(err, tagus.ErrClosed) {
		t.Errorf("Spin after Close: %v", err)
	}
	if _, err := tagus.NewExecutor(d); !errors.Is(err, tagus.ErrClosed) {
		t.Errorf("NewExecutor after Close: %v", err)
	}
	if _, err := tagus.NewPullSubscription[std_msgs.String](n, "t", qos.Default()); !errors.Is(err, tagus.ErrClosed) {
		t.Errorf("NewPullSubscription after Close: %v", err)
	}
	if _, err := tagus.NewClient[ex.AddTwoInts](n, "add"); !errors.Is(err, tagus.ErrClosed) {
		t.Errorf("NewClient after Close: %v", err)
	}
}

func TestDomainCloseFromCallback(t *testing.T) {
	d := join(t, t.TempDir())
	if _, err := node(t, d, "n").NewTimer(time.Millisecond, func(context.Context, tagus.TimerInfo) { d.Close() }); err != nil {
		t.Fatal(err)
	}
	spun := make(chan error, 1)
	go func() { spun <- d.Spin(context.Background()) }()
	if err := next(t, spun, "the end of Spin"); err != nil {
		t.Error(err)
	}
}

// A callback of the graph may make endpoints: it is called with no lock held.
func TestGraphCallbackMakesEndpoint(t *testing.T) {
	d := join(t, t.TempDir())
	defer d.Close()
	n := node(t, d, "n")
	made := make(chan error, 16)
	stop := d.Graph().Subscribe(func(e graph.Event) {
		if e.Endpoint.Kind == graph.KindPublisher && e.Endpoint.Name == "/t" {
			_, err := tagus.NewPullSubscription[std_msgs.String](n, "t", qos.Default())
			made <- err
		}
	})
	defer stop()
	if _, err := tagus.NewPublisher[std_msgs.String](n, "t", qos.Default()); err != nil {
		t.Fatal(err)
	}
	if err := next(t, made, "the subscription"); err != nil {
		t.Error(err)
	}
}

// While one goroutine waits, others neither wait for it nor hang at Close.
func TestReceiveTogether(t *testing.T) {
	d := join(t, t.TempDir())
	defer d.Close()
	sub, err := tagus.NewPullSubscription[std_msgs.String](node(t, d, "n"), "t", qos.Default())
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := sub.Receive(context.Background())
		done <- err
	}()
	time.Sleep(10 * time.Millisecond) // most likely it waits by now
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := sub.Receive(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second Receive: %v", err)
	}
	if _, ok := sub.Take(); ok {
		t.Error("took a message that nobody sent")
	}
	if err := sub.Close(); err != nil {
		t.Error(err)
	}
	if err := next(t, done, "the end of Receive"); !errors.Is(err, tagus.ErrClosed) {
		t.Errorf("Receive of a closed subscription: %v", err)
	}
}

func TestEndpointWithoutType(t *testing.T) {
	d := join(t, t.TempDir())
	defer d.Close()
	_, err := tagus.NewSerializedSubscription(node(t, d, "n"), "t", "", "", qos.Default(), func(context.Context, *tagus.Sample[tagus.SerializedMessage]) {})
	if err == nil {
		t.Error("an endpoint without a type was made")
	}
}
