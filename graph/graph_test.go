package graph

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tagus-ros/tagus/qos"
)

func node(participant byte, id uint32, name string) Node {
	return Node{Participant: ID{0: participant, 15: 0xff}, ID: id, Enclave: "/", Namespace: "/", Name: name}
}

func publisher(n Node, id uint32, topic string) Endpoint {
	return NewEndpoint(KindPublisher, n, id, topic, "std_msgs/msg/String", stringHash, qos.Profile{})
}

func subscription(n Node, id uint32, topic string) Endpoint {
	return NewEndpoint(KindSubscription, n, id, topic, "std_msgs/msg/String", stringHash, qos.Profile{})
}

func TestQueries(t *testing.T) {
	g := New()
	a, b := node(1, 0, "a"), node(2, 0, "b")
	pub, sub := publisher(a, 1, "/chatter"), subscription(b, 1, "/chatter")
	odd := NewEndpoint(KindSubscription, b, 2, "/chatter", "std_msgs/msg/Bool", "h", qos.SensorData())
	srv := NewEndpoint(KindService, a, 2, "/add", "example_interfaces/srv/AddTwoInts", addHash, qos.Profile{})
	cli := NewEndpoint(KindClient, b, 3, "/add", "example_interfaces/srv/AddTwoInts", addHash, qos.Profile{})
	g.Put("self", a.Participant, []Node{a}, []Endpoint{pub, srv})
	g.Put("shm", b.Participant, []Node{b}, []Endpoint{odd, sub, cli})

	for name, c := range map[string]struct{ got, want any }{
		"nodes":                 {g.Nodes(), []Node{a, b}},
		"named":                 {g.NodesNamed("/b"), []Node{b}},
		"twins":                 {g.Twins(), []string(nil)},
		"topics":                {g.Topics(), []Topic{{Name: "/chatter", Types: []string{"std_msgs/msg/Bool", "std_msgs/msg/String"}, Publishers: 1, Subscriptions: 2}}},
		"services":              {g.Services(), []Service{{Name: "/add", Types: []string{"example_interfaces/srv/AddTwoInts"}, Servers: 1, Clients: 1}}},
		"publishers":            {g.Publishers("/chatter"), []Endpoint{pub}},
		"subscriptions":         {g.Subscriptions("/chatter"), []Endpoint{sub, odd}},
		"servers":               {g.Servers("/add"), []Endpoint{srv}},
		"clients":               {g.Clients("/add"), []Endpoint{cli}},
		"of a":                  {g.Of(a), []Endpoint{pub, srv}},
		"unknown":               {len(g.Publishers("/none")) + len(g.Of(node(9, 9, "x"))) + len(g.NodesNamed("/x")), 0},
		"a service is no topic": {len(g.Publishers("/add")), 0},
		"counts": {[]int{g.Count(KindNode, ""), g.Count(KindPublisher, "/chatter"), g.Count(KindSubscription, "/chatter"), g.Count(KindService, "/add"),
			g.Count(KindClient, "/add"), g.Count(KindClient, "/chatter"), g.Count(0, "/chatter")}, []int{2, 1, 2, 1, 1, 0, 0}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if e, ok := g.Endpoint(sub.GID); !ok || e != sub {
		t.Errorf("by GID: %v, %v", e, ok)
	}
	g.Remove("shm", b.Participant)
	if _, ok := g.Endpoint(sub.GID); ok || len(g.Nodes()) != 1 || g.Count(KindSubscription, "/chatter") != 0 || len(g.Topics()) != 1 {
		t.Error("something of the removed participant is left")
	}
	g.RemoveSource("self")
	if len(g.nodes)+len(g.endpoints)+len(g.ofNode)+len(g.topics)+len(g.services)+len(g.holdings) != 0 {
		t.Errorf("an empty graph holds %+v", g)
	}
}

// Nodes of one name stay apart: in one process, in two, and when one of them goes.
func TestTwins(t *testing.T) {
	g := New()
	first, second, third := node(1, 0, "twin"), node(1, 5, "twin"), node(2, 0, "twin")
	pubs := []Endpoint{publisher(first, 1, "/t"), publisher(second, 6, "/t"), publisher(third, 1, "/t")}
	g.Put("shm", first.Participant, []Node{first, second}, pubs[:2])
	g.Put("shm", third.Participant, []Node{third}, pubs[2:])
	if got := g.NodesNamed("/twin"); !slices.Equal(got, []Node{first, second, third}) {
		t.Errorf("%v", got)
	}
	if got := g.Twins(); !slices.Equal(got, []string{"/twin"}) {
		t.Errorf("%v", got)
	}
	if got := g.Publishers("/t"); !slices.Equal(got, pubs) {
		t.Errorf("%v", got)
	}
	g.Put("shm", first.Participant, []Node{second}, pubs[1:2])
	if got := g.Publishers("/t"); !slices.Equal(got, pubs[1:]) {
		t.Errorf("%v", got)
	}
	if got := g.Of(third); !slices.Equal(got, pubs[2:]) {
		t.Errorf("%v", got)
	}
	g.Remove("shm", third.Participant)
	if got := g.Twins(); got != nil || len(g.Nodes()) != 1 {
		t.Errorf("%v", got)
	}
}

// An entity that two sources know is there once, and until both have dropped it.
func TestSources(t *testing.T) {
	g := New()
	var log []string
	defer g.Subscribe(func(e Event) { log = append(log, e.Change.String()+" "+e.Kind.String()) })()
	n := node(1, 0, "n")
	p := publisher(n, 1, "/t")
	g.Put("shm", n.Participant, []Node{n}, []Endpoint{p})
	g.Put("zenoh", n.Participant, []Node{n}, []Endpoint{p, p})
	g.Add("zenoh", n.Participant, []Node{n}, []Endpoint{p})
	v := g.Version()
	if g.Count(KindPublisher, "/t") != 1 || len(g.Nodes()) != 1 {
		t.Error("known twice")
	}
	g.Remove("shm", n.Participant)
	g.Remove("shm", n.Participant)
	g.Drop("shm", n.Participant, []Node{n}, []GID{p.GID, {}})
	if g.Version() != v || g.Count(KindPublisher, "/t") != 1 {
		t.Error("dropped by one source and gone")
	}
	g.Drop("zenoh", n.Participant, []Node{n}, []GID{p.GID})
	if g.Version() == v || g.Count(KindPublisher, "/t") != 0 || len(g.Nodes()) != 0 {
		t.Error("dropped by both and still there")
	}
	want := []string{"added node", "added publisher", "removed publisher", "removed node"}
	if diff := cmp.Diff(want, log); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestSubscribe(t *testing.T) {
	g := New()
	n := node(1, 0, "n")
	p, q := publisher(n, 1, "/t"), publisher(n, 2, "/u")
	g.Put("s", n.Participant, []Node{n}, []Endpoint{p})

	var got []Event
	var cancel func()
	cancel = g.Subscribe(func(e Event) {
		got = append(got, e)
		switch {
		case e.Change == Added && e.Endpoint == q: // a change from inside comes after this one
			g.Remove("s", n.Participant)
		case e.Change == Removed && e.Kind == KindNode:
			cancel()
			g.Put("s", n.Participant, []Node{n}, nil)
		}
	})
	if len(got) != 2 || got[0].Kind != KindNode || got[1].Endpoint != p {
		t.Fatalf("what was there already: %v", got)
	}
	g.Add("s", n.Participant, nil, []Endpoint{q})
	if len(got) != 6 || got[2].Endpoint != q || got[5] != (Event{Change: Removed, Kind: KindNode, Node: n}) {
		t.Fatalf("%d events: %v", len(got), got)
	}
	cancel()

	// A callback that panics does not stop the others for ever.
	bad := g.Subscribe(func(e Event) {
		if e.Change == Removed {
			panic("bad")
		}
	})
	func() {
		defer func() { recover() }()
		g.Remove("s", n.Participant)
	}()
	bad()
	count := 0
	g.Subscribe(func(Event) { count++ })
	g.Put("s", n.Participant, []Node{n}, nil)
	if count != 1 {
		t.Errorf("%d events after a panic, want 1", count)
	}
}

func TestWait(t *testing.T) {
	g := New()
	n := node(1, 0, "n")
	looks := make(chan int, 16)
	result := make(chan error)
	go func() {
		result <- g.Wait(context.Background(), func(g *Graph) bool {
			c := g.Count(KindPublisher, "/t")
			looks <- c
			return c == 2
		})
	}()
	for i := range 3 {
		if got := <-looks; got != i {
			t.Fatalf("look %d saw %d publishers", i, got)
		}
		if i < 2 {
			g.Add("s", n.Participant, nil, []Endpoint{publisher(n, uint32(i), "/t")})
		}
	}
	if err := <-result; err != nil {
		t.Error(err)
	}

	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("why")
	go func() {
		result <- g.Wait(ctx, func(*Graph) bool { looks <- 0; return false })
	}()
	<-looks
	g.Remove("other", n.Participant) // no change: nobody wakes
	cancel(why)
	if err := <-result; err != why {
		t.Error(err)
	}
	if len(looks) != 0 {
		t.Errorf("%d looks without a change", len(looks))
	}
	if err := g.Wait(ctx, func(*Graph) bool { return true }); err != nil {
		t.Errorf("what is there already needs no time: %v", err)
	}
}

// fill puts in participants with one node and the given number of endpoints each, two of them on topics that all share.
func fill(g *Graph, participants, endpoints int) {
	for p := range participants {
		n := node(byte(p), 0, fmt.Sprintf("n%d", p))
		eps := make([]Endpoint, 0, endpoints)
		for i := range endpoints {
			switch i {
			case 0:
				eps = append(eps, publisher(n, 1, "/rosout"))
			case 1:
				eps = append(eps, subscription(n, 2, "/clock"))
			default:
				eps = append(eps, publisher(n, uint32(i+1), fmt.Sprintf("/n%d/t%d", p, i)))
			}
		}
		g.Put("shm", n.Participant, []Node{n}, eps)
	}
}

// The work of a change is that of the change: it allocates the same in a graph of 200 participants as in an empty one.
func TestChangeCostsTheChange(t *testing.T) {
	n := node(250, 0, "one")
	nodes, eps, gids := []Node{n}, []Endpoint{publisher(n, 1, "/one"), publisher(n, 2, "/rosout")}, []GID{}
	for _, e := range eps {
		gids = append(gids, e.GID)
	}
	cost := func(g *Graph) float64 {
		return testing.AllocsPerRun(200, func() {
			g.Add("self", n.Participant, nodes, eps)
			g.Drop("self", n.Participant, nodes, gids)
		})
	}
	large := New()
	fill(large, 200, 20)
	if len(large.endpoints) != 4000 || len(large.Topics()) != 200*18+2 || large.Count(KindPublisher, "/rosout") != 200 {
		t.Fatalf("%d endpoints, %d topics", len(large.endpoints), len(large.Topics()))
	}
	if empty, full := cost(New()), cost(large); full > empty {
		t.Errorf("%v allocations in an empty graph, %v among 4,000 endpoints", empty, full)
	}
}

// Everything at once; under the race detector this is the test of the locks. In the end a subscriber's sum of events is the graph.
func TestConcurrent(t *testing.T) {
	g := New()
	var mu sync.Mutex
	sum := map[GID]int{}
	g.Subscribe(func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		gid := e.Endpoint.GID
		if e.Kind == KindNode {
			gid = GID(e.Node.Participant)
		}
		if e.Change == Added {
			sum[gid]++
		} else {
			sum[gid]--
		}
		if sum[gid] != 0 && sum[gid] != 1 {
			t.Errorf("%v comes out of order", e)
		}
	})
	ctx, stop := context.WithCancel(context.Background())
	var workers, readers sync.WaitGroup
	for w := range 6 {
		workers.Go(func() {
			n := node(byte(w/2), 0, "n") // two workers share each participant, as two sources
			source := fmt.Sprint("s", w%2)
			for i := range 200 {
				g.Put(source, n.Participant, []Node{n}, []Endpoint{publisher(n, uint32(i%7), "/t"), subscription(n, uint32(i%5), "/t")})
				g.Add(source, n.Participant, nil, []Endpoint{publisher(n, 100, "/t")})
				if i%3 == 0 {
					g.Remove(source, n.Participant)
				}
			}
		})
	}
	for range 2 {
		readers.Go(func() {
			for ctx.Err() == nil {
				g.Topics()
				g.Nodes()
				g.Publishers("/t")
				g.Of(node(0, 0, "n"))
				g.Subscribe(func(Event) {})()
				runtime.Gosched()
			}
		})
		readers.Go(func() { g.Wait(ctx, func(g *Graph) bool { g.Count(KindPublisher, "/t"); return false }) })
	}
	workers.Wait()
	stop()
	readers.Wait()
	g.change(func() {}) // whoever was delivering has finished or this call does
	mu.Lock()
	defer mu.Unlock()
	have := 0
	for gid, count := range sum {
		if count == 1 {
			have++
			if _, ok := g.Endpoint(gid); !ok && !slices.ContainsFunc(g.Nodes(), func(n Node) bool { return GID(n.Participant) == gid }) {
				t.Errorf("%s is in the sum and not in the graph", gid)
			}
		}
	}
	if want := len(g.endpoints) + len(g.nodes); have != want {
		t.Errorf("the events sum up to %d entities, the graph has %d", have, want)
	}
}

func BenchmarkChange(b *testing.B) {
	g := New()
	fill(g, 200, 20)
	n := node(250, 0, "one")
	eps := []Endpoint{publisher(n, 1, "/one")}
	gids := []GID{eps[0].GID}
	b.ReportAllocs()
	for b.Loop() {
		g.Add("self", n.Participant, nil, eps)
		g.Drop("self", n.Participant, nil, gids)
	}
}

func BenchmarkPutSame(b *testing.B) {
	g := New()
	fill(g, 200, 20)
	n := g.Nodes()[0]
	nodes, eps := []Node{n}, g.Of(n)
	b.ReportAllocs()
	for b.Loop() {
		g.Put("shm", n.Participant, nodes, eps)
	}
}

func BenchmarkTopics(b *testing.B) {
	g := New()
	fill(g, 200, 20)
	b.ReportAllocs()
	for b.Loop() {
		g.Topics()
	}
}

func TestByNode(t *testing.T) {
	g := New()
	a, b := node(1, 0, "a"), node(2, 0, "b")
	action := func(k Kind, n Node, id uint32, part, typ string) Endpoint {
		return NewEndpoint(k, n, id, "/fib/_action/"+part, "example_interfaces/action/Fibonacci"+typ, stringHash, qos.Profile{})
	}
	g.Put("self", a.Participant, []Node{a}, []Endpoint{
		publisher(a, 1, "/z"), publisher(a, 2, "/chatter"), publisher(a, 3, "/chatter"), subscription(a, 4, "/chatter"),
		action(KindPublisher, a, 5, "feedback", "_FeedbackMessage"), action(KindPublisher, a, 6, "status", ""), action(KindService, a, 7, "send_goal", "_SendGoal"),
		publisher(a, 8, "/odd/_action/feedback"), // a topic with such a name and another type is none
	})
	g.Put("shm", b.Participant, []Node{b}, []Endpoint{action(KindSubscription, b, 1, "feedback", "_FeedbackMessage"), action(KindClient, b, 2, "send_goal", "_SendGoal")})
	text := []string{"std_msgs/msg/String"}
	fib := []string{"example_interfaces/action/Fibonacci"}
	for name, c := range map[string]struct{ got, want any }{
		"published": {g.NamesOf(a, KindPublisher), []Named{{"/chatter", text}, {"/fib/_action/feedback", []string{fib[0] + "_FeedbackMessage"}}, {"/fib/_action/status", fib},
			{"/odd/_action/feedback", text}, {"/z", text}}},
		"subscribed":     {g.NamesOf(a, KindSubscription), []Named{{"/chatter", text}}},
		"served":         {g.NamesOf(a, KindService), []Named{{"/fib/_action/send_goal", []string{fib[0] + "_SendGoal"}}}},
		"used":           {g.NamesOf(b, KindClient), []Named{{"/fib/_action/send_goal", []string{fib[0] + "_SendGoal"}}}},
		"of nobody":      {g.NamesOf(node(9, 9, "x"), KindPublisher), []Named{}},
		"counts":         {[]int{g.CountOf(a, KindPublisher), g.CountOf(a, KindService), g.CountOf(b, KindPublisher)}, []int{6, 1, 0}},
		"actions":        {g.Actions(), []Action{{"/fib", fib, 1, 1}}},
		"action servers": {g.ActionServersOf(a), []Named{{"/fib", fib}}},
		"no servers":     {g.ActionServersOf(b), []Named(nil)},
		"action clients": {g.ActionClientsOf(b), []Named{{"/fib", fib}}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
