package action_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/action"
	ex "github.com/tagus-ros/tagus/msgs/example_interfaces"
)

func Example() {
	dir, err := os.MkdirTemp("", "tagus")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	d, err := tagus.Join(tagus.WithDir(dir))
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	spun := make(chan error)
	go func() { spun <- d.Spin(ctx) }()

	n, err := d.NewNode("counter")
	if err != nil {
		log.Fatal(err)
	}
	_, err = action.NewServer[ex.Fibonacci](n, "fibonacci", action.Handlers[ex.FibonacciGoal, ex.FibonacciResult, ex.FibonacciFeedback]{
		Execute: func(ctx context.Context, g *action.ServerGoal[ex.FibonacciGoal, ex.FibonacciFeedback]) (*ex.FibonacciResult, error) {
			seq := []int32{0, 1}
			for int32(len(seq)) <= g.Goal().Order && ctx.Err() == nil {
				seq = append(seq, seq[len(seq)-1]+seq[len(seq)-2])
				if err := g.Feedback(&ex.FibonacciFeedback{Sequence: seq}); err != nil {
					return nil, err
				}
			}
			return &ex.FibonacciResult{Sequence: seq}, ctx.Err()
		},
	})
	if err != nil {
		log.Fatal(err)
	}

	c, err := action.NewClient[ex.Fibonacci](n, "fibonacci")
	if err != nil {
		log.Fatal(err)
	}
	if err := c.WaitForServer(ctx); err != nil {
		log.Fatal(err)
	}
	g, err := c.SendGoal(ctx, &ex.FibonacciGoal{Order: 4})
	if err != nil {
		log.Fatal(err)
	}
	for f := range g.Feedback(ctx) {
		fmt.Println(f.Sequence)
	}
	result, status, err := g.Result(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(status, result.Sequence)

	stop()
	if err := <-spun; err != nil {
		log.Fatal(err)
	}
	if err := d.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// [0 1 1]
	// [0 1 1 2]
	// [0 1 1 2 3]
	// SUCCEEDED [0 1 1 2 3]
}
