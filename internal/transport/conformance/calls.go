package conformance

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/clock"
	"github.com/tagus-ros/tagus/internal/transport"
	"github.com/tagus-ros/tagus/qos"
)

// caller is either end of calls: one way in and one way out under one identity.
type caller struct {
	m      *member
	in     subscription
	out    publisher
	end    transport.ServiceEnd
	change transport.Broadcast
	taken  atomic.Int64
	turn   sync.Mutex
}

func (m *member) Service(name string) (Service, error) { return m.calls(graph.KindService, name) }
func (m *member) Client(name string) (Client, error)   { return m.calls(graph.KindClient, name) }

func (m *member) calls(k graph.Kind, name string) (*caller, error) {
	e := m.endpoint(k, name, qos.ServicesDefault())
	area, off, err := m.Area(pullWords)
	if err != nil {
		return nil, err
	}
	c := &caller{m: m}
	c.in.m, c.in.pull = m, &pullStation{area: area, offset: off}
	if c.in.in, err = transport.NewInlet(e, c.in.pull, 1); err != nil {
		return nil, err
	}
	c.out.m, c.out.o = m, transport.NewOutlet(e)
	c.in.in.OnChange(c.change.Fire)
	c.out.o.OnChange(func() {
		c.change.Fire()
		area.Poke() // who waits for an answer looks whether anybody is there to give it
	})
	c.end = transport.ServiceEnd{Endpoint: e, In: c.in.in, Out: c.out.o}
	for _, p := range m.Paths {
		if err := p.AddService(&c.end); err != nil {
			return nil, err
		}
	}
	m.own(e, c.Close)
	return c, nil
}

// Wait waits for n servers that are linked both ways.
func (c *caller) Wait(n int) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return c.change.Wait(ctx, func() (bool, error) {
		both := 0
		for _, gid := range c.out.o.Peers(nil) {
			if c.in.in.Linked(gid) {
				both++
			}
		}
		return both >= n, nil
	})
}

// send sends a number to all, or to one as the answer to a request.
func (c *caller) send(number uint64, to *graph.GID, answers uint64) (sequence uint64, err error) {
	m := transport.Message{Stamp: clock.Mono(), Source: clock.Wall(), Answers: answers}
	if to == nil {
		err = c.out.send(&m, number, 64, c.out.o.Wants, c.out.o.Send)
	} else {
		err = c.out.send(&m, number, 64,
			func() transport.Form { return c.out.o.Takes(*to) },
			func(m *transport.Message) error { return c.out.o.SendTo(*to, m) })
	}
	if m.Slot != nil {
		m.Slot.Unref()
	}
	if m.Value != nil {
		m.Value.Drop()
	}
	return m.Sequence, err
}

// next takes the next message; done ends the wait early.
func (c *caller) next(done func() error) (g Got, answers uint64, err error) {
	for deadline := clock.Mono() + int64(patience); ; {
		if c.in.closed.Load() {
			return g, 0, transport.ErrClosed
		}
		c.in.pull.look()
		var r transport.Received
		if ok, _ := c.in.in.Take(&r); ok {
			g, answers = got(&r), r.Answers
			c.in.in.Release(&r)
			if g.Bad != "" {
				err = errors.New(g.Bad)
			}
			return g, answers, err
		}
		if err := done(); err != nil {
			return g, 0, err
		}
		if !c.in.pull.area.Wait(deadline) {
			return g, 0, errors.New("nothing came")
		}
	}
}

func (c *caller) Serve(n int) error {
	c.turn.Lock()
	defer c.turn.Unlock()
	for range n {
		g, _, err := c.next(func() error { return nil })
		if err != nil {
			return err
		}
		c.taken.Add(1)
		if _, err := c.send(g.Number, &g.GID, g.Sequence); err != nil && !errors.Is(err, transport.ErrNoPeer) {
			return err
		}
	}
	return nil
}

func (c *caller) Taken() (int, error) { return int(c.taken.Load()), nil }

func (c *caller) Ask(number uint64) error {
	_, err := c.send(number, nil, 0)
	return err
}

func (c *caller) Call(number uint64) (uint64, error) {
	c.turn.Lock()
	defer c.turn.Unlock()
	seq, err := c.send(number, nil, 0)
	if err != nil {
		return 0, err
	}
	for {
		g, answers, err := c.next(func() error {
			if len(c.out.o.Peers(nil)) == 0 {
				return errors.New("the server is gone")
			}
			return nil
		})
		switch {
		case err != nil:
			return 0, err
		case answers == seq:
			return g.Number, nil
		case answers > seq:
			return 0, fmt.Errorf("an answer to request %d, after %d of them", answers, seq)
		}
	}
}

func (c *caller) Close() error {
	if c.in.closed.Swap(true) {
		return nil
	}
	c.in.pull.area.Poke()
	c.turn.Lock()
	defer c.turn.Unlock()
	c.in.in.Close()
	c.out.o.Close()
	for _, p := range c.m.Paths {
		p.RemoveService(&c.end)
	}
	c.m.disown(c.end.Endpoint)
	if c.m.Release != nil {
		c.m.Release(c.in.pull.offset, pullWords)
	}
	return nil
}
