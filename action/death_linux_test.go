package action_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/action"
)

// lease is within what time the end of a process is known to the others. It is a lock of
// the system that ends with the process, so it is known at once; the rest is the load of the
// machine.
const lease = 5 * time.Second

// child is one side of an action in a process of its own, until its standard input ends.
func child(what string) error {
	d, err := tagus.Join(tagus.WithDir(os.Getenv("TAGUS_TEST_DIR")), tagus.WithDomainID(7))
	if err != nil {
		return err
	}
	defer d.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	n, err := d.NewNode(what)
	if err != nil {
		return err
	}
	switch what {
	case "server":
		_, err := action.NewServer[fib](n, "fibonacci", handlers{Execute: func(ctx context.Context, g *serverGoal) (*result, error) {
			if g.Goal().Order >= 0 {
				return fibonacci(ctx, g)
			}
			fmt.Println("begun")
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		if err != nil {
			return err
		}
		fmt.Println("ready")
		return d.Spin(ctx)
	case "client":
		c, err := action.NewClient[fib](n, "fibonacci")
		if err != nil {
			return err
		}
		if err := c.WaitForServer(ctx); err != nil {
			return err
		}
		g, err := c.SendGoal(ctx, &goal{Order: -1})
		if err != nil {
			return err
		}
		fmt.Println("sent", g.ID())
		_, _, err = g.Result(ctx)
		return err
	}
	return fmt.Errorf("no child called %q", what)
}

// process is a child that runs.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	said *bufio.Scanner
	in   io.Closer
}

func start(t *testing.T, dir, what string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+what, "TAGUS_TEST_DIR="+dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{t, cmd, bufio.NewScanner(out), in}
	t.Cleanup(p.kill)
	return p
}

// line is the rest of the next line of output, which begins with word.
func (p *process) line(word string) string {
	p.t.Helper()
	if !p.said.Scan() {
		p.t.Fatalf("the child ended before it said %q", word)
	}
	rest, ok := strings.CutPrefix(p.said.Text(), word)
	if !ok {
		p.t.Fatalf("the child said %q, want %q", p.said.Text(), word)
	}
	return strings.TrimSpace(rest)
}

// kill ends the child by SIGKILL.
func (p *process) kill() {
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	p.in.Close()
	p.cmd = nil
}

func TestTwoProcesses(t *testing.T) {
	dir := t.TempDir()
	p := start(t, dir, "server")
	p.line("ready")
	c := connect(t, join2(t, dir))
	for i := int32(1); i < 50; i++ {
		g := send(t, c, i)
		said := int32(0)
		for range g.Feedback(soon(t)) {
			said++
		}
		if r := ends(t, g, action.StatusSucceeded); len(r.Sequence) != int(i)+1 || said != i-1 && c.Stats().FeedbackLost+c.Stats().FeedbackDropped == 0 {
			t.Fatalf("%d: %d numbers, %d messages, %+v", i, len(r.Sequence), said, c.Stats())
		}
	}
	g := send(t, c, -1)
	p.line("begun")
	if err := g.Cancel(soon(t)); err != nil {
		t.Fatal(err)
	}
	ends(t, g, action.StatusCanceled)
}

func join2(t *testing.T, dir string) *tagus.Domain {
	t.Helper()
	d := join(t, dir)
	spin(t, d)
	return d
}

// The server is killed: what waits for it ends, and says why. The next server is found.
func TestServerIsKilled(t *testing.T) {
	dir := t.TempDir()
	d := join2(t, dir)
	c, err := action.NewClient[fib](node(t, d, "client"), "fibonacci")
	if err != nil {
		t.Fatal(err)
	}
	for round := range 5 {
		p := start(t, dir, "server")
		p.line("ready")
		if err := c.WaitForServer(soon(t)); err != nil {
			t.Fatal(err)
		}
		goals := []*clientGoal{send(t, c, -1), send(t, c, -1)}
		p.line("begun")
		p.line("begun")
		fed := make(chan struct{})
		go func() {
			defer close(fed)
			for range goals[0].Feedback(context.Background()) {
			}
		}()
		p.kill()
		dead := time.Now()
		for _, g := range goals {
			if _, _, err := g.Result(within(t, lease)); !errors.Is(err, tagus.ErrServerDied) {
				t.Fatalf("round %d, after %v: %v", round, time.Since(dead), err)
			}
			if st := g.Status(); st != action.StatusUnknown {
				t.Errorf("it is %v", st)
			}
		}
		<-fed
		until(t, "the server is gone", func() bool { return !c.Available() })
		// The parts of a dead server go one after another.
		if err := goals[0].Cancel(soon(t)); !errors.Is(err, tagus.ErrNoServer) && !errors.Is(err, tagus.ErrServerDied) {
			t.Errorf("cancel: %v", err)
		}
		if _, err := c.SendGoal(soon(t), &goal{}); !errors.Is(err, tagus.ErrNoServer) {
			t.Errorf("send: %v", err)
		}
		if st := c.Stats(); st.Goals != 0 {
			t.Errorf("%+v", st)
		}
	}
}

// Clients are killed: the server knows, forgets them, and serves others.
func TestClientIsKilled(t *testing.T) {
	dir := t.TempDir()
	d := join2(t, dir)
	begun, causes := make(chan *serverGoal, 1), make(chan error, 1)
	s := serve(t, d, wait(begun, causes))
	for round := range 5 {
		p := start(t, dir, "client")
		id := p.line("sent")
		g := <-begun
		if g.ID().String() != id {
			t.Fatalf("goal %v, sent %s", g.ID(), id)
		}
		until(t, "the client has asked", func() bool { return s.Stats().Asked == 1 })
		p.kill()
		select {
		case <-g.ClientGone():
		case <-time.After(lease):
			t.Fatalf("round %d: the server does not know that the client is gone", round)
		}
		until(t, "nobody waits for the result", func() bool { return s.Stats().Asked == 0 })
		c := connect(t, d)
		if err := c.CancelGoal(soon(t), g.ID()); err != nil {
			t.Fatal(err)
		}
		<-causes
		until(t, "the goal has ended", func() bool { return g.Status() == action.StatusCanceled })
		next := send(t, c, 3)
		<-begun
		if err := next.Cancel(soon(t)); err != nil {
			t.Fatal(err)
		}
		<-causes
		ends(t, next, action.StatusCanceled)
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
