package transport

import (
	"sync"

	"github.com/tagus-ros/tagus/internal/wake"
)

// LocalPair is both halves of a matched pair within one process.
type LocalPair interface {
	Link
	Source
	// Wire says where Push signals the reader. It is called before Begin.
	Wire(area *wake.Area, leaf int)
}

// Local joins the publishers and subscriptions of one process by direct calls.
// The in-process path consists of it; the shared-memory path uses it for pairs
// of one process that do without in-process delivery.
type Local struct {
	path    Path
	joins   func(o *Outlet, in *Inlet) bool
	connect func(o *Outlet, in *Inlet) (LocalPair, error)

	mu      sync.Mutex
	outlets map[*Outlet]bool
	inlets  map[*Inlet]bool
	pairs   map[localKey]localPair
	closed  bool
}

type localKey struct {
	out *Outlet
	in  *Inlet
}

type localPair struct {
	LocalPair
	feed *Feed
}

// NewLocal serves the pairs for which joins reports true by what connect
// makes. Both are called under a mutex and must not call back.
func NewLocal(path Path, joins func(*Outlet, *Inlet) bool, connect func(*Outlet, *Inlet) (LocalPair, error)) *Local {
	return &Local{
		path: path, joins: joins, connect: connect,
		outlets: make(map[*Outlet]bool),
		inlets:  make(map[*Inlet]bool),
		pairs:   make(map[localKey]localPair),
	}
}

// Path is the path that the pairs are counted under.
func (p *Local) Path() Path { return p.path }

// AddPublisher joins o with the subscriptions here.
func (p *Local) AddPublisher(o *Outlet) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return ErrClosed
	}
	p.outlets[o] = true
	for in := range p.inlets {
		if err := p.join(o, in); err != nil {
			return err
		}
	}
	return nil
}

// AddSubscription joins in with the publishers here.
func (p *Local) AddSubscription(in *Inlet) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return ErrClosed
	}
	p.inlets[in] = true
	for o := range p.outlets {
		if err := p.join(o, in); err != nil {
			return err
		}
	}
	return nil
}

func (p *Local) join(o *Outlet, in *Inlet) error {
	if !p.joins(o, in) {
		return nil
	}
	lp, err := p.connect(o, in)
	if err != nil {
		return err
	}
	// When the reader is done with it, what it left and what it returned last is taken
	// back. The pair is not made again: one of its ends is closed.
	idle := func() {
		o.With(func() {
			lp.Empty()
			lp.Collect()
		})
		in.Forget(o.Endpoint.GID)
	}
	f, err := in.AddFeed(lp, o.Endpoint.GID, p.path, idle, nil)
	if err == ErrClosed {
		return nil // in is about to be removed
	}
	if err != nil {
		return err
	}
	lp.Wire(in.Station().Area(), f.Leaf())
	if o.Attach(lp, in.Endpoint.GID, History(o.Endpoint.QoS, in.Endpoint.QoS)) != nil {
		in.Drop(f) // o was closed and is about to be removed
		return nil
	}
	in.Start(f)
	p.pairs[localKey{o, in}] = localPair{lp, f}
	return nil
}

// RemovePublisher ends the pairs of o, which the caller has closed; what is
// queued is still delivered.
func (p *Local) RemovePublisher(o *Outlet) {
	p.mu.Lock()
	delete(p.outlets, o)
	ended := make(map[*Inlet]localPair)
	for k, lp := range p.pairs {
		if k.out == o {
			delete(p.pairs, k)
			ended[k.in] = lp
		}
	}
	p.mu.Unlock()
	for in, lp := range ended {
		if in.End(lp.feed); in.Over(lp.feed) {
			// The subscription was closed before, and its end found the queue as it was
			// then: what was published meanwhile is nobody's.
			o.With(func() {
				lp.Empty()
				lp.Collect()
			})
		}
	}
}

// RemoveSubscription ends the pairs of in, which the caller has closed.
func (p *Local) RemoveSubscription(in *Inlet) {
	p.mu.Lock()
	delete(p.inlets, in)
	ended := make(map[*Outlet]LocalPair)
	for k, lp := range p.pairs {
		if k.in == in {
			delete(p.pairs, k)
			ended[k.out] = lp.LocalPair
		}
	}
	p.mu.Unlock()
	for o, lp := range ended {
		if !o.Detach(lp) {
			o.With(lp.Empty)
		}
	}
}

// AddService joins a server or a client with its counterparts.
func (p *Local) AddService(s *ServiceEnd) error { return s.AddAsTopics(p) }

// RemoveService ends the pairs of a server or a client, which the caller has closed.
func (p *Local) RemoveService(s *ServiceEnd) { s.RemoveAsTopics(p) }

// Close refuses further ends. Those it has are removed by their owners.
func (p *Local) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	return nil
}
