// Command fibonacci serves the action /fibonacci, or sends it a goal. It must not import anything but the public packages of tagus.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os/signal"
	"syscall"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/action"
	ex "github.com/tagus-ros/tagus/msgs/example_interfaces"
)

type (
	goal       = ex.FibonacciGoal
	result     = ex.FibonacciResult
	feedback   = ex.FibonacciFeedback
	serverGoal = action.ServerGoal[goal, feedback]
)

func main() {
	serve := flag.Bool("serve", false, "serve the action instead of sending a goal")
	order := flag.Int("order", 10, "how many numbers to ask for")
	pace := flag.Duration("pace", time.Second, "time that the server takes for a number")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	run := func(ctx context.Context, d *tagus.Domain) error { return send(ctx, d, int32(*order)) }
	if *serve {
		run = func(ctx context.Context, d *tagus.Domain) error { return offer(ctx, d, *pace) }
	}
	d, err := tagus.Join()
	if err != nil {
		log.Fatal(err)
	}
	if err := errors.Join(run(ctx, d), d.Close()); err != nil {
		log.Fatal(err)
	}
}

// offer serves the action until ctx ends.
func offer(ctx context.Context, d *tagus.Domain, pace time.Duration) error {
	n, err := d.NewNode("fibonacci_server")
	if err != nil {
		return err
	}
	_, err = action.NewServer[ex.Fibonacci](n, "fibonacci", action.Handlers[goal, result, feedback]{
		Accept: func(_ context.Context, id action.GoalID, g *goal) error {
			if g.Order < 1 || g.Order > 46 {
				return fmt.Errorf("order %d: want 1 to 46, which fits into 32 bits", g.Order)
			}
			fmt.Println("accepted", id, "of order", g.Order)
			return nil
		},
		Execute: func(ctx context.Context, g *serverGoal) (*result, error) { return count(ctx, g, pace) },
	}, action.WithPolicy(action.Preempt))
	if err != nil {
		return err
	}
	return d.Spin(ctx)
}

// count works on one goal. What it has when it is stopped is the result all the same.
func count(ctx context.Context, g *serverGoal, pace time.Duration) (*result, error) {
	beat := time.NewTicker(pace)
	defer beat.Stop()
	seq := []int32{0, 1}
	for int32(len(seq)) <= g.Goal().Order {
		select {
		case <-beat.C:
		case <-ctx.Done():
			fmt.Println("stopped", g.ID(), "-", context.Cause(ctx))
			return &result{Sequence: seq}, ctx.Err()
		}
		seq = append(seq, seq[len(seq)-1]+seq[len(seq)-2])
		if err := g.Feedback(&feedback{Sequence: seq}); err != nil {
			return nil, err
		}
	}
	fmt.Println("finished", g.ID())
	return &result{Sequence: seq}, nil
}

// send sends a goal and follows it. When ctx ends, the goal is canceled.
func send(ctx context.Context, d *tagus.Domain, order int32) error {
	n, err := d.NewNode("fibonacci_client")
	if err != nil {
		return err
	}
	c, err := action.NewClient[ex.Fibonacci](n, "fibonacci")
	if err != nil {
		return err
	}
	if err := c.WaitForServer(ctx); err != nil {
		return err
	}
	g, err := c.SendGoal(ctx, &goal{Order: order})
	if err != nil {
		return err
	}
	for f := range g.Feedback(ctx) {
		fmt.Println("so far", f.Sequence)
	}
	last, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if ctx.Err() != nil {
		if err := g.Cancel(last); err != nil && !errors.Is(err, action.ErrGoalEnded) {
			return err
		}
	}
	r, status, err := g.Result(last)
	if err != nil {
		return err
	}
	fmt.Println(status, r.Sequence)
	return nil
}
