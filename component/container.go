package component

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/param"
)

// Container is a node that loads and unloads components. It is safe for concurrent use.
type Container struct {
	n        *tagus.Node
	d        *tagus.Domain
	registry *Registry
	more     []tagus.NodeOption

	ctx    context.Context // of factories
	cancel context.CancelFunc
	closed chan struct{} // everything has ended

	mu      sync.Mutex
	closing bool
	work    sync.WaitGroup // loads and unloads; grows under mu while not closing
	last    uint64         // id
	nodes   map[uint64]member
}

// member is a node with its full name.
type member struct {
	Node
	name string
}

// Loaded is a node that a container has loaded.
type Loaded struct {
	ID   uint64 // in the container, from 1, never used again
	Name string // full name
}

// Request says what to load.
type Request struct {
	Type
	Name       string // of the node; empty: the component's own
	Namespace  string // of the node; empty: the component's own
	Parameters map[string]param.Value
}

// Option sets something about a [Container].
type Option func(*Container, *[]tagus.NodeOption)

// WithNodeOptions sets options of the container's own node.
func WithNodeOptions(opts ...tagus.NodeOption) Option {
	return func(_ *Container, own *[]tagus.NodeOption) { *own = append(*own, opts...) }
}

// WithComponentOptions gives options to the nodes of all components, such as the executor that they run on.
func WithComponentOptions(opts ...tagus.NodeOption) Option {
	return func(c *Container, _ *[]tagus.NodeOption) { c.more = append(c.more, opts...) }
}

// NewContainer makes a container of the components in r, or in [Default] if r is nil, with the services ~/_container/load_node,
// ~/_container/unload_node and ~/_container/list_nodes. It closes with its domain, if not before.
func NewContainer(d *tagus.Domain, name string, r *Registry, opts ...Option) (*Container, error) {
	c := &Container{d: d, registry: r, closed: make(chan struct{}), nodes: make(map[uint64]member)}
	if r == nil {
		c.registry = &Default
	}
	var own []tagus.NodeOption
	for _, o := range opts {
		o(c, &own)
	}
	var err error
	if c.n, err = d.NewNode(name, own...); err != nil {
		return nil, err
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	if err = c.serve(); err == nil {
		err = c.n.Adopt(c)
	}
	if err != nil {
		c.cancel()
		c.n.Close()
		return nil, fmt.Errorf("tagus: new container %s: %w", c.n.FullyQualifiedName(), err)
	}
	return c, nil
}

// Node is the container's own node.
func (c *Container) Node() *tagus.Node { return c.n }

// begin counts a load or unload, unless the container is closing.
func (c *Container) begin() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return c.fail("load or unload", tagus.ErrClosed)
	}
	c.work.Add(1)
	return nil
}

func (c *Container) fail(op string, err error) error {
	return &tagus.EndpointError{Kind: "container", Name: c.n.FullyQualifiedName(), Op: op, Err: err}
}

// Load makes a node of a component, on the calling goroutine; any number of loads can be under way. The factory's context ends with ctx and
// when the container closes. Errors: an [*UnknownError], what the factory returned, a panic of the factory, tagus.ErrClosed.
func (c *Container) Load(ctx context.Context, r Request) (Loaded, error) {
	if err := c.begin(); err != nil {
		return Loaded{}, err
	}
	defer c.work.Done()
	l, err := c.load(ctx, r)
	if err != nil {
		return Loaded{}, c.fail("load "+r.Type.String(), err)
	}
	return l, nil
}

func (c *Container) load(ctx context.Context, r Request) (Loaded, error) {
	f, err := c.registry.find(r.Type)
	if err != nil {
		return Loaded{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	n, err := c.make(ctx, f, Options{Domain: c.d, Name: r.Name, Namespace: r.Namespace, Parameters: r.Parameters, More: c.more})
	if err != nil {
		return Loaded{}, err
	}
	c.mu.Lock()
	closing := c.closing
	if !closing {
		c.last++
		c.nodes[c.last] = n
	}
	l := Loaded{c.last, n.name}
	c.mu.Unlock()
	if closing {
		return Loaded{}, errors.Join(tagus.ErrClosed, c.end(n))
	}
	return l, nil
}

// make runs a factory.
func (c *Container) make(ctx context.Context, f Factory, o Options) (m member, err error) {
	defer func() {
		if p := recover(); p != nil {
			c.n.Logger().Error("a component's factory panicked", "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("the factory panicked: %v", p)
		}
	}()
	n, err := f(ctx, o)
	switch {
	case err != nil:
		return member{}, err
	case n == nil:
		return member{}, errors.New("the factory returned neither a node nor an error")
	}
	return member{n, n.FullyQualifiedName()}, nil
}

// end closes a node.
func (c *Container) end(n Node) (err error) {
	defer func() {
		if p := recover(); p != nil {
			c.n.Logger().Error("a component panicked while it was closed", "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("the component panicked while it was closed: %v", p)
		}
	}()
	return n.Close()
}

// NotLoadedError says that a container has no node with such an id.
type NotLoadedError struct{ ID uint64 }

func (e *NotLoadedError) Error() string { return fmt.Sprintf("No node found with unique_id: %d", e.ID) }

// Unload closes a node, on the calling goroutine, and forgets it, also when it does not close well. Errors: a [*NotLoadedError], what the
// node's Close returned, tagus.ErrClosed. It may be called from a callback of that node.
func (c *Container) Unload(id uint64) error {
	if err := c.begin(); err != nil {
		return err
	}
	defer c.work.Done()
	if err := c.unload(id); err != nil {
		return c.fail(fmt.Sprint("unload ", id), err)
	}
	return nil
}

func (c *Container) unload(id uint64) error {
	c.mu.Lock()
	n, ok := c.nodes[id]
	delete(c.nodes, id)
	c.mu.Unlock()
	if !ok {
		return &NotLoadedError{id}
	}
	return c.end(n)
}

// Nodes gives the nodes that are loaded, in the order in which they were.
func (c *Container) Nodes() []Loaded {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []Loaded
	for id, n := range c.nodes {
		out = append(out, Loaded{id, n.name})
	}
	slices.SortFunc(out, func(a, b Loaded) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// Close ends the contexts of factories that run and waits for them, closes all nodes, the one loaded last first, and then the container's own.
// It is idempotent. It must not be called by a factory.
func (c *Container) Close() error {
	c.mu.Lock()
	first := !c.closing
	c.closing = true
	c.mu.Unlock()
	if !first {
		<-c.closed
		return nil
	}
	defer close(c.closed)
	c.cancel()
	c.work.Wait()
	var errs []error
	for _, l := range slices.Backward(c.Nodes()) {
		if err := c.unload(l.ID); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", l.Name, err))
		}
	}
	c.n.Disown(c)
	errs = append(errs, c.n.Close())
	return errors.Join(errs...)
}
