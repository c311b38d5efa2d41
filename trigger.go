package tagus

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/tagus-ros/tagus/internal/exec"
)

// trigger runs a function on an executor when it is fired, from any goroutine and without
// allocating. Firing it several times before the function begins makes it run once.
type trigger struct {
	e     *Executor
	group *exec.Group // or nil
	leaf  int
	entry exec.Entry
	fn    func(context.Context)

	fired   atomic.Bool
	running sync.Mutex // held while the function runs

	mu     sync.Mutex // between firing and closing: the executor's memory may be gone after that
	closed bool
}

func (g *trigger) open(e *Executor, group *exec.Group, fn func(context.Context)) (err error) {
	g.e, g.group, g.fn = e, group, fn
	g.entry.Task = g
	g.leaf, err = e.ex.Attach(g)
	return err
}

func (g *trigger) fire() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.fired.Store(true)
		g.e.area.Signal(g.leaf)
	}
}

// Poll is for the executor.
func (g *trigger) Poll() { ready(g.e, g.group, &g.entry) }

// Run is for the executor.
func (g *trigger) Run(ctx context.Context) (more bool) {
	g.running.Lock()
	defer g.running.Unlock()
	if g.fired.Swap(false) && !g.isClosed() {
		g.fn(ctx)
	}
	return false
}

func (g *trigger) isClosed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed
}

// close ends it: no run begins after that. It does not wait for one that goes on.
func (g *trigger) close() {
	g.mu.Lock()
	was := g.closed
	g.closed = true
	g.mu.Unlock()
	if !was {
		g.e.ex.Detach(g.leaf)
	}
}

// await waits for the end of a run, unless it is called from that or another callback on
// the same thread.
func (g *trigger) await() {
	if !inside(g.e, g.group, &g.entry) {
		g.running.Lock()
		_ = g // nothing to do inside
		g.running.Unlock()
	}
}

// GuardCondition brings work of any goroutine to a node's executor: each Trigger makes the
// callback run once more, but triggers that come before it has begun go together.
type GuardCondition struct {
	n *Node
	t trigger
}

// GuardConditionOption sets something about a [GuardCondition].
type GuardConditionOption interface{ guard(*guardConfig) }

type guardConfig struct{ group *CallbackGroup }

// NewGuardCondition makes a guard condition whose fn runs on the node's executor.
func (n *Node) NewGuardCondition(fn func(context.Context), opts ...GuardConditionOption) (*GuardCondition, error) {
	var c guardConfig
	for _, o := range opts {
		o.guard(&c)
	}
	g := &GuardCondition{n: n}
	group, err := c.group.of(n.executor)
	if err == nil {
		err = g.t.open(n.executor, group, fn)
	}
	if err == nil {
		if err = n.Adopt(g); err != nil {
			g.t.close()
		}
	}
	if err != nil {
		return nil, &EndpointError{"guard condition", n.FullyQualifiedName(), "new", err}
	}
	return g, nil
}

// Trigger makes the callback run. It neither waits nor allocates, and may be called from
// anywhere; after Close it does nothing.
func (g *GuardCondition) Trigger() { g.t.fire() }

// Close ends it: no callback begins after it returned. It waits for one that runs, unless
// it is called from a callback of the same executor. It is idempotent.
func (g *GuardCondition) Close() error {
	g.t.close()
	g.t.await()
	g.n.Disown(g)
	return nil
}
