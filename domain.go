package tagus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/arena"
	"github.com/tagus-ros/tagus/internal/futex"
	"github.com/tagus-ros/tagus/internal/intra"
	"github.com/tagus-ros/tagus/internal/match"
	"github.com/tagus-ros/tagus/internal/rosargs"
	"github.com/tagus-ros/tagus/internal/shm"
	"github.com/tagus-ros/tagus/internal/transport"
)

// MaxDomainID is the largest domain number.
const MaxDomainID = 232

// Domain is this process's membership in a ROS 2 domain: it owns the memory that
// messages lie in, the paths they take, and the executors that run callbacks.
// (It is what rclcpp calls a context.) It is safe for concurrent use.
type Domain struct {
	id     graph.ID
	number int
	log    *slog.Logger // what the library has to say
	logs   *logs
	args   *rosargs.Args
	graph  *graph.Graph
	arena  *arena.Arena
	inbox  *shm.Inbox
	intra  transport.Transport
	shm    *shm.Path
	inproc bool

	entity atomic.Uint32 // next entity id of this participant
	copied atomic.Uint64 // payload bytes copied by all endpoints, also those closed since

	mu        sync.Mutex
	nodes     []*Node
	executors []*Executor
	local     []graph.Endpoint
	inlets    []*transport.Inlet // until their last sample is back
	deflt     *Executor
	times     *Executor // brings /clock to the nodes; nil until one wants it
	closed    bool
	spins     sync.WaitGroup // threads that run executors

	ending context.Context // ended by Close: every Spin returns
	end    context.CancelFunc

	defined sync.Map // typeID: func() string, the definitions of the types that endpoints here had

	listeners sync.Map // graph.GID: *events, of endpoints here that have handlers

	twins twins

	said       sync.Mutex
	mismatches map[[2]graph.GID]bool // pairs whose mismatch was logged
}

// DomainOption sets something about a Domain at [Join].
type DomainOption func(*domainConfig) error

type domainConfig struct {
	number    int
	numberSet bool
	dir       string
	inproc    bool
	recycling arena.Recycle
	handler   slog.Handler
	log       *slog.Logger
	logs      *logs
	args      *rosargs.Args
}

// WithDomainID chooses the domain, 0 to 232. Without it ROS_DOMAIN_ID decides,
// and 0 where that is not set.
func WithDomainID(id int) DomainOption {
	return func(c *domainConfig) error {
		if id < 0 || id > MaxDomainID {
			return fmt.Errorf("domain id %d: want 0 to %d", id, MaxDomainID)
		}
		c.number, c.numberSet = id, true
		return nil
	}
}

// WithDir chooses the folder in which processes meet, in place of TAGUS_DIR and
// the default /dev/shm/tagus-<uid>. The domain number is appended.
func WithDir(path string) DomainOption {
	return func(c *domainConfig) error {
		c.dir = path
		return nil
	}
}

// WithInProcess turns in-process delivery on (the default) or off. When off,
// messages between endpoints of this process take the shared-memory path.
func WithInProcess(on bool) DomainOption {
	return func(c *domainConfig) error {
		c.inproc = on
		return nil
	}
}

// WithRecycling chooses how payload memory is used again: "lifo" (the default:
// the slot last released is the next taken), "fifo", or "off" (given back to the
// system after every message). The others exist to be measured against.
func WithRecycling(policy string) DomainOption {
	return func(c *domainConfig) error {
		for _, r := range []arena.Recycle{arena.LIFO, arena.FIFO, arena.Off} {
			if policy == r.String() {
				c.recycling = r
				return nil
			}
		}
		return fmt.Errorf("recycling %q: want lifo, fifo or off", policy)
	}
}

// WithLogHandler sends what nodes log, and what the library has to say, to h in place of
// the console. The attribute "logger" has the logger's name, "tagus" for the library.
func WithLogHandler(h slog.Handler) DomainOption {
	return func(c *domainConfig) error {
		c.handler = h
		return nil
	}
}

// Join enters a domain. Errors name the folder, limit or setting that is in the
// way. The caller closes the domain.
func Join(opts ...DomainOption) (*Domain, error) {
	c := domainConfig{inproc: true, args: &rosargs.Args{Enclave: "/"}}
	for _, o := range opts {
		if err := o(&c); err != nil {
			return nil, fmt.Errorf("tagus: join: %w", err)
		}
	}
	l, err := newLogs(c.args, c.handler)
	if err == nil {
		c.logs, c.log = l, l.logger("tagus", nil)
		err = c.environment()
	}
	if err != nil {
		return nil, fmt.Errorf("tagus: join: %w", err)
	}
	d, err := join(&c)
	if err != nil {
		return nil, fmt.Errorf("tagus: join domain %d: %w", c.number, err)
	}
	return d, nil
}

func join(c *domainConfig) (_ *Domain, err error) {
	d := &Domain{id: graph.NewID(), number: c.number, log: c.log, logs: c.logs, args: c.args, inproc: c.inproc, graph: graph.NewDetached(), mismatches: make(map[[2]graph.GID]bool)}
	d.ending, d.end = context.WithCancel(context.Background())
	var undo []func() error
	defer func() {
		if err != nil {
			d.end()
			for i := len(undo) - 1; i >= 0; i-- {
				undo[i]()
			}
		}
	}()
	acfg := arena.ConfigFromEnv(func(msg string) { d.log.Warn(msg) })
	acfg.Recycle = c.recycling
	if d.arena, err = arena.New(acfg); err != nil {
		return nil, err
	}
	undo = append(undo, d.arena.Close)
	if d.inbox, err = shm.NewInbox(); err != nil {
		return nil, err
	}
	undo = append(undo, d.inbox.Close)
	if d.deflt, err = newExecutor(d, executorConfig{cpu: -1}); err != nil {
		return nil, err
	}
	undo = append(undo, d.deflt.release)
	d.executors = []*Executor{d.deflt}
	d.intra = intra.New(func(o *transport.Outlet, in *transport.Inlet) bool {
		return d.inproc && !in.NeedsBytes && d.matches(&o.Endpoint, &in.Endpoint)
	})
	d.shm, err = shm.Join(shm.Config{
		Domain: d.number,
		Dir:    c.dir,
		ID:     d.id,
		Arena:  d.arena,
		Inbox:  d.inbox,
		Graph:  d.graph,
		Log:    d.log,
		Joins: func(o *transport.Outlet, in *transport.Inlet) bool {
			return (!d.inproc || in.NeedsBytes) && d.matches(&o.Endpoint, &in.Endpoint)
		},
		Match:  d.matches,
		Define: d.definition,
	})
	if err != nil {
		return nil, err
	}
	d.watchTwins()
	return d, nil
}

// matches asks the one place of the matching rules, and says why not when the
// two meet on a topic and yet cannot talk.
func (d *Domain) matches(pub, sub *graph.Endpoint) bool {
	if pub.Name != sub.Name || !complementary(pub.Kind, sub.Kind) {
		return false
	}
	reasons := match.Check(pub, sub)
	if len(reasons) == 0 {
		return true
	}
	key := [2]graph.GID{pub.GID, sub.GID}
	d.said.Lock()
	said := d.mismatches[key]
	if len(d.mismatches) >= saidMismatches {
		clear(d.mismatches)
	}
	d.mismatches[key] = true
	d.said.Unlock()
	if said {
		return false
	}
	d.tell(pub.GID, *sub, reasons)
	d.tell(sub.GID, *pub, reasons)
	for _, r := range reasons {
		d.log.Warn("publisher and subscription do not match", "topic", pub.Name, "publisher", pub.Node.FullName(), "subscription", sub.Node.FullName(), "code", r.Code, "why", r.Text, "fix", r.Fix)
	}
	return false
}

func (d *Domain) listen(gid graph.GID, ev *events) { d.listeners.Store(gid, ev) }
func (d *Domain) unlisten(gid graph.GID)           { d.listeners.Delete(gid) }

// tell reports a mismatch to an endpoint here that has handlers.
func (d *Domain) tell(gid graph.GID, other graph.Endpoint, reasons []match.Reason) {
	if ev, ok := d.listeners.Load(gid); ok {
		ev.(*events).mismatch(other, reasons)
	}
}

// complementary reports whether an endpoint of kind from sends to one of kind to.
func complementary(from, to graph.Kind) bool {
	switch from {
	case graph.KindPublisher:
		return to == graph.KindSubscription
	case graph.KindService:
		return to == graph.KindClient
	case graph.KindClient:
		return to == graph.KindService
	}
	return false
}

// saidMismatches bounds how many pairs are remembered as reported.
const saidMismatches = 1024

// ID is the participant id of this process in the domain, new for each Join.
func (d *Domain) ID() graph.ID { return d.id }

// DomainID is the number of the domain.
func (d *Domain) DomainID() int { return d.number }

// Graph is what is known of all nodes and endpoints of the domain. It is complete
// when Join returned; to have it follow changes that concern none of the own
// topics, call WatchGraph.
func (d *Domain) Graph() *graph.Graph { return d.graph }

// WatchGraph makes the graph follow every change in the domain, also of topics
// that nobody here uses. Each change then wakes this process.
func (d *Domain) WatchGraph() error { return d.shm.Watch() }

// DefaultExecutor runs the callbacks of nodes that chose no other.
func (d *Domain) DefaultExecutor() *Executor { return d.deflt }

// Spin runs the callbacks of all executors of the domain until ctx ends: the
// default one on the calling goroutine, the others on goroutines of their own.
// It returns nil when ctx ended, else why an executor could not run.
func (d *Domain) Spin(ctx context.Context) error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return fmt.Errorf("tagus: spin: %w", ErrClosed)
	}
	others := append([]*Executor(nil), d.executors[1:]...)
	d.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, len(others)+1)
	var wg sync.WaitGroup
	for i, e := range others {
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer cancel()
			errs[i] = e.Spin(ctx)
		}()
	}
	errs[len(others)] = d.deflt.Spin(ctx)
	cancel()
	wg.Wait()
	return errors.Join(errs...)
}

// RetainedError says that samples were still retained when a domain was closed.
// Their memory stays valid; the domain can be closed again after their release.
type RetainedError struct {
	Topic   string
	Samples int
}

func (e *RetainedError) Error() string {
	return fmt.Sprintf("%s: %d samples are still retained; release them and close again", e.Topic, e.Samples)
}

// Close closes all nodes, ends every Spin and leaves the domain. What was published
// stays readable for those who have it. It is idempotent. With samples still retained it
// returns a [*RetainedError] for each topic and leaves their memory mapped. Called from a
// callback of the domain it closes the nodes and returns; the rest follows when the
// callback has returned.
func (d *Domain) Close() error {
	d.mu.Lock()
	nodes := slices.Clone(d.nodes) // each takes itself off the list
	d.closed = true
	d.mu.Unlock()
	var errs []error
	for _, n := range nodes {
		errs = append(errs, n.Close())
	}
	if err := d.retained(); err != nil {
		return errors.Join(append(errs, err)...)
	}
	d.mu.Lock()
	executors := d.executors
	d.executors = nil
	if executors != nil && d.times != nil {
		executors = append(executors, d.times)
	}
	d.mu.Unlock()
	if executors == nil {
		return errors.Join(errs...)
	}
	d.end()
	for _, e := range executors {
		if e.ex.Inside() {
			go d.leave(executors)
			return errors.Join(errs...)
		}
	}
	return errors.Join(append(errs, d.leave(executors))...)
}

// enterSpin notes that an executor's thread runs, until leave is called.
func (d *Domain) enterSpin() (leave func(), err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, ErrClosed
	}
	d.spins.Add(1)
	return d.spins.Done, nil
}

// leave gives everything up that threads of executors use, after they have ended.
func (d *Domain) leave(executors []*Executor) error {
	d.spins.Wait()
	var errs []error
	// Slots that come back from now on are not given back to the system: subscriptions
	// elsewhere may still read what was published. The arena's descriptor is handed out
	// until the shared-memory path is closed.
	d.arena.Freeze()
	errs = append(errs, d.shm.Close(), d.intra.Close())
	var inUse *arena.ErrInUse
	if err := d.arena.Close(); !errors.As(err, &inUse) {
		errs = append(errs, err)
	}
	for _, e := range executors {
		errs = append(errs, e.release())
	}
	errs = append(errs, d.inbox.Close())
	d.logs.flush()
	return errors.Join(errs...)
}

// DomainStats is what a process counted in a domain.
type DomainStats struct {
	// Syscalls is how many system calls the library made on the path of messages:
	// waits and wakes of all domains of the process, and memory taken from or given
	// back to the system. Calls of the Go runtime, and those by which processes meet,
	// are not in it.
	Syscalls uint64
	// PayloadCopied is how many payload bytes were copied to publish and to receive.
	PayloadCopied uint64
	// Arena is the shared memory for the payloads that this process publishes.
	Arena ArenaStats
}

// ArenaStats is the state of the payload memory. Sizes are in bytes.
type ArenaStats = arena.Stats

// Stats returns the counts so far.
func (d *Domain) Stats() DomainStats {
	a, f := d.arena.Stats(), futex.Calls()
	return DomainStats{
		Syscalls:      f.Waits + f.Wakes + a.Commits + a.Trims + a.Reclaims,
		PayloadCopied: d.copied.Load(),
		Arena:         a,
	}
}

// retained reports the subscriptions, of nodes that may be closed, whose samples are
// still out.
func (d *Domain) retained() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	for _, in := range d.inlets {
		if n := in.Counts().Leases; n > 0 {
			errs = append(errs, &RetainedError{Topic: in.Endpoint.Name, Samples: n})
		}
	}
	return errors.Join(errs...)
}

// typeID names a type with its exact definition.
type typeID struct{ name, hash string }

func (d *Domain) define(name, hash string, text func() string) {
	d.defined.LoadOrStore(typeID{name, hash}, text)
}

func (d *Domain) definition(name, hash string) (string, bool) {
	f, ok := d.defined.Load(typeID{name, hash})
	if !ok {
		return "", false
	}
	return f.(func() string)(), true
}

// ErrUnknownType says that no process of the domain could tell a definition.
var ErrUnknownType = errors.New("no process of the domain tells the definition of the type")

// Definition gets the text of the definition of a type from whichever process of the
// domain has an endpoint of it, this one included: the definition with all that it refers
// to, in the form called ros2msg. So a tool needs no definition files. The error wraps
// [ErrUnknownType], or is ctx's.
func (d *Domain) Definition(ctx context.Context, typeName, typeHash string) (string, error) {
	if text, ok := d.definition(typeName, typeHash); ok {
		return text, nil
	}
	var errs []error
	asked := make(map[graph.ID]bool)
	for _, id := range d.users(typeName, typeHash) {
		if asked[id] {
			continue
		}
		asked[id] = true
		text, err := d.shm.Ask(ctx, id, typeName, typeHash)
		if err == nil {
			return text, nil
		}
		if ctx.Err() != nil {
			return "", fmt.Errorf("tagus: definition of %s: %w", typeName, ctx.Err())
		}
		errs = append(errs, fmt.Errorf("process %s: %w", id, err))
	}
	return "", fmt.Errorf("tagus: definition of %s: %w", typeName, errors.Join(append([]error{ErrUnknownType}, errs...)...))
}

// users are the processes that have an endpoint of a type.
func (d *Domain) users(typeName, typeHash string) (ids []graph.ID) {
	for _, n := range d.graph.Nodes() {
		for _, e := range d.graph.Of(n) {
			if e.Type == typeName && e.Hash == typeHash && n.Participant != d.id {
				ids = append(ids, n.Participant)
			}
		}
	}
	return ids
}

// nextEntity draws from the one counter of entity ids.
func (d *Domain) nextEntity() uint32 { return d.entity.Add(1) - 1 }
