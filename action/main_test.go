package action_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/action"
	ex "github.com/tagus-ros/tagus/msgs/example_interfaces"
)

// childEnv makes the test binary one side of an action in a process of its own.
const childEnv = "TAGUS_ACTION_TEST_CHILD"

func TestMain(m *testing.M) {
	if what := os.Getenv(childEnv); what != "" {
		if err := child(what); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

type (
	goal       = ex.FibonacciGoal
	result     = ex.FibonacciResult
	feedback   = ex.FibonacciFeedback
	handlers   = action.Handlers[goal, result, feedback]
	serverGoal = action.ServerGoal[goal, feedback]
	clientGoal = action.ClientGoal[result, feedback]
	server     = action.Server[goal, result, feedback]
	client     = action.Client[goal, result, feedback]
)

// patience is for what should come at once.
const patience = 20 * time.Second

func join(t testing.TB, dir string, opts ...tagus.DomainOption) *tagus.Domain {
	t.Helper()
	d, err := tagus.Join(append([]tagus.DomainOption{tagus.WithDir(dir), tagus.WithDomainID(7)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// spin runs the callbacks of d until the test ends, or stop is called, and closes d then.
func spin(t testing.TB, d *tagus.Domain) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- d.Spin(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("spin: %v", err)
		}
		if err := d.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func soon(t testing.TB) context.Context { return within(t, patience) }

func node(t testing.TB, d *tagus.Domain, name string, opts ...tagus.NodeOption) *tagus.Node {
	t.Helper()
	n, err := d.NewNode(name, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// setups are the ways in which a server and a client can be apart.
var setups = []struct {
	name string
	make func(t testing.TB) (server, client *tagus.Domain)
}{
	{"in process", func(t testing.TB) (server, client *tagus.Domain) {
		d := join(t, t.TempDir())
		spin(t, d)
		return d, d
	}},
	{"one process without in-process delivery", func(t testing.TB) (server, client *tagus.Domain) {
		d := join(t, t.TempDir(), tagus.WithInProcess(false))
		spin(t, d)
		return d, d
	}},
	{"two participants", func(t testing.TB) (server, client *tagus.Domain) {
		dir := t.TempDir()
		server, client = join(t, dir), join(t, dir)
		spin(t, server)
		spin(t, client)
		return server, client
	}},
}

func everywhere(t *testing.T, test func(t *testing.T, sd, cd *tagus.Domain)) {
	for _, s := range setups {
		t.Run(s.name, func(t *testing.T) {
			sd, cd := s.make(t)
			test(t, sd, cd)
		})
	}
}

func serve(t testing.TB, d *tagus.Domain, h handlers, opts ...action.ServerOption) *server {
	t.Helper()
	s, err := action.NewServer[ex.Fibonacci](node(t, d, "server"), "fibonacci", h, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func connect(t testing.TB, d *tagus.Domain, opts ...action.ClientOption) *client {
	t.Helper()
	c, err := action.NewClient[ex.Fibonacci](node(t, d, "client"), "fibonacci", opts...)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.WaitForServer(soon(t)); err != nil {
		t.Fatal(err)
	}
	return c
}

func send(t testing.TB, c *client, order int32) *clientGoal {
	t.Helper()
	g, err := c.SendGoal(soon(t), &goal{Order: order})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// ends checks how a goal ends.
func ends(t testing.TB, g *clientGoal, want action.Status) *result {
	t.Helper()
	r, got, err := g.Result(soon(t))
	if err != nil {
		t.Fatal(err)
	}
	if got != want || g.Status() != want {
		t.Fatalf("goal %v ended %v (status %v), want %v", g.ID(), got, g.Status(), want)
	}
	return r
}

// until waits for what has no event of its own.
func until(t testing.TB, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("in vain: ", what)
		}
	}
}

// fibonacci counts up, with feedback for each number.
func fibonacci(ctx context.Context, g *serverGoal) (*result, error) {
	seq := []int32{0, 1}
	for i := int32(1); i < g.Goal().Order; i++ {
		if err := ctx.Err(); err != nil {
			return &result{Sequence: seq}, err
		}
		seq = append(seq, seq[i]+seq[i-1])
		if err := g.Feedback(&feedback{Sequence: seq}); err != nil {
			return nil, err
		}
	}
	return &result{Sequence: seq}, nil
}

// wait works until its context ends. It announces each goal and passes on the cause.
func wait(begun chan<- *serverGoal, causes chan<- error) handlers {
	return handlers{Execute: func(ctx context.Context, g *serverGoal) (*result, error) {
		begun <- g
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return &result{Sequence: []int32{g.Goal().Order}}, ctx.Err()
	}}
}

func isEnd(err error, want ...error) bool {
	for _, w := range want {
		if !errors.Is(err, w) {
			return false
		}
	}
	return true
}

type fib = ex.Fibonacci
