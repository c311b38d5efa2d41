package transport

import (
	"errors"
	"testing"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/wake"
	"github.com/tagus-ros/tagus/qos"
)

// pair is a queue under the test's control with a publisher's half.
type pair struct {
	source
	area   *wake.Area
	leaf   int
	queued int // messages that nobody took back or took out
}

func newPair(t testing.TB) *pair { return &pair{source: source{out: make(map[uint64]bool), t: t}} }

func (p *pair) Path() Path                     { return PathSHM }
func (p *pair) Takes() Form                    { return FormAny }
func (p *pair) Wire(area *wake.Area, leaf int) { p.area, p.leaf = area, leaf }
func (p *pair) Begin(first uint64)             { p.first = first }
func (p *pair) Room() bool                     { return true }
func (p *pair) End(last uint64)                { p.last = last }
func (p *pair) Collect()                       {}
func (p *pair) Empty()                         { p.queued = 0; p.head = uint64(len(p.entries)) }
func (p *pair) Counts(c *LinkCounts)           { c.Queued += p.queued }
func (p *pair) Push(m *Message)                { p.push(m.Sequence, m.Stamp); p.queued++; p.area.Signal(p.leaf) }
func (p *pair) Claim(i uint64, r *Received) (bool, error) {
	ok, err := p.source.Claim(i, r)
	if ok {
		p.queued--
	}
	return ok, err
}

// local is a path whose pairs the test can look into.
func local(t *testing.T) (*Local, *[]*pair) {
	var pairs []*pair
	p := NewLocal(PathSHM, func(o *Outlet, in *Inlet) bool { return o.Endpoint.Name == in.Endpoint.Name }, func(*Outlet, *Inlet) (LocalPair, error) {
		pairs = append(pairs, newPair(t))
		return pairs[len(pairs)-1], nil
	})
	return p, &pairs
}

func outlet(q qos.Profile) *Outlet { return NewOutlet(endpoint(graph.KindPublisher, q)) }

func send(t *testing.T, o *Outlet, stamps ...int64) {
	t.Helper()
	for _, s := range stamps {
		if err := o.Send(&Message{Stamp: s, NoSlot: true}); err != nil {
			t.Fatal(err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestLocalJoins(t *testing.T) {
	p, pairs := local(t)
	st := newStation(t)
	o, in := outlet(qos.Default()), inlet(t, st, 5, 1)
	must(t, p.AddPublisher(o))
	must(t, p.AddSubscription(in))
	must(t, o.WaitLinks(t.Context(), 1))
	must(t, in.WaitFeeds(t.Context(), 1))
	send(t, o, 1, 2)
	o.Close()
	p.RemovePublisher(o)
	if got := drain(st, in); len(got) != 2 {
		t.Errorf("got %v of two messages sent before the publisher was closed", got)
	}
	if c := in.Counts(); c.Feeds != 0 || c.Lost != 0 || len(*pairs) != 1 {
		t.Errorf("counted %+v, %d pairs", c, len(*pairs))
	}
	if len(in.next) != 0 {
		t.Errorf("%d publishers are remembered that cannot come back", len(in.next))
	}
}

// What a closed publisher left in a queue goes back when the subscription is closed, too.
func TestLocalBothClosed(t *testing.T) {
	p, pairs := local(t)
	st := newStation(t)
	o, in := outlet(qos.Default()), inlet(t, st, 5, 1)
	must(t, p.AddPublisher(o))
	must(t, p.AddSubscription(in))
	send(t, o, 1, 2, 3)
	o.Close()
	p.RemovePublisher(o)
	in.Close()
	p.RemoveSubscription(in)
	if n := (*pairs)[0].queued; n != 0 {
		t.Errorf("%d messages were not taken back", n)
	}
}

func TestLocalSubscriptionClosed(t *testing.T) {
	p, pairs := local(t)
	st := newStation(t)
	o, in := outlet(qos.Default()), inlet(t, st, 5, 1)
	must(t, p.AddPublisher(o))
	must(t, p.AddSubscription(in))
	send(t, o, 1, 2, 3)
	in.Close()
	send(t, o, 4)
	p.RemoveSubscription(in)
	send(t, o, 5)
	if n := (*pairs)[0].queued; n != 0 || o.Links() != 0 || o.Wants() != 0 {
		t.Errorf("%d messages were not taken back, %d links, wants %d", n, o.Links(), o.Wants())
	}
	if accepted, c := o.Counts(); accepted != 5 || c.Queued != 0 {
		t.Errorf("accepted %d, counted %+v", accepted, c)
	}
}

// An end that is being closed is no reason to refuse a new counterpart.
func TestLocalCounterpartCloses(t *testing.T) {
	p, _ := local(t)
	st := newStation(t)
	in := inlet(t, st, 5, 1)
	must(t, p.AddSubscription(in))
	in.Close() // and not removed yet
	o := outlet(qos.Default())
	if err := p.AddPublisher(o); err != nil {
		t.Errorf("a publisher was refused because a subscription closes: %v", err)
	}
	o.Close() // and not removed yet
	if err := p.AddSubscription(inlet(t, newStation(t), 5, 1)); err != nil {
		t.Errorf("a subscription was refused because a publisher closes: %v", err)
	}
	if n := st.attached(); n != 0 {
		t.Errorf("%d sources left attached", n)
	}
}

func TestLocalClosed(t *testing.T) {
	p, _ := local(t)
	must(t, p.Close())
	if err := p.AddPublisher(outlet(qos.Default())); err != ErrClosed {
		t.Errorf("AddPublisher: %v", err)
	}
	if err := p.AddSubscription(inlet(t, newStation(t), 5, 1)); err != ErrClosed {
		t.Errorf("AddSubscription: %v", err)
	}
}

func TestOutletCloses(t *testing.T) {
	p, _ := local(t)
	st := newStation(t)
	o, in := outlet(qos.Default()), inlet(t, st, 5, 1)
	must(t, p.AddPublisher(o))
	must(t, p.AddSubscription(in))
	send(t, o, 1, 2)
	o.Close()
	p.RemovePublisher(o)
	drain(st, in)
	if accepted, c := o.Counts(); accepted != 2 || c.Queued != 0 || c.Lent != 0 {
		t.Errorf("a closed publisher with nothing queued counts %+v", c)
	}
	if err := o.Send(&Message{}); err != ErrClosed {
		t.Errorf("Send: %v", err)
	}
	if err := o.Attach(newPair(t), graph.GID{}, 0); err != ErrClosed {
		t.Errorf("Attach: %v", err)
	}
	if err := o.WaitLinks(t.Context(), 1); err != ErrClosed {
		t.Errorf("WaitLinks: %v", err)
	}
	o.Close() // a second time
}

// A message that lacks a form which a reader needs is not accepted.
func TestOutletForm(t *testing.T) {
	o := outlet(qos.Profile{Durability: qos.TransientLocal})
	if err := o.Send(&Message{}); err != ErrForm {
		t.Errorf("without bytes for the history: %v", err)
	}
	if err := o.Send(&Message{NoSlot: true}); err != nil {
		t.Errorf("without memory for bytes: %v", err)
	}
	if accepted, _ := o.Counts(); accepted != 1 {
		t.Errorf("accepted %d", accepted)
	}
}

// full is a keep-all pair without room.
type full struct{ *pair }

func (full) Room() bool { return false }

func TestOutletFull(t *testing.T) {
	o := outlet(qos.Profile{History: qos.KeepAll})
	st := newStation(t)
	p := newPair(t)
	p.Wire(st.area, 0)
	must(t, o.Attach(p, graph.GID{}, 0))
	send(t, o, 1)
	q := newPair(t)
	q.Wire(st.area, 0)
	must(t, o.Attach(full{q}, graph.GID{}, 0))
	var e *QueueFullError
	if err := o.Send(&Message{NoSlot: true}); !errors.As(err, &e) || e.Topic != "/topic" || e.Limit != QueueLimit {
		t.Errorf("Send: %v", err)
	}
	if accepted, _ := o.Counts(); accepted != 1 || p.queued != 1 || q.queued != 0 {
		t.Errorf("accepted %d, queued %d and %d", accepted, p.queued, q.queued)
	}
}
