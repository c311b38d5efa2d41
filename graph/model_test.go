package graph

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestModel compares the graph with a list of who says what, over random changes by several sources, and a subscriber's view with both.
func TestModel(t *testing.T) {
	sources := []string{"self", "shm", "zenoh"}
	var allNodes []Node
	var all []Endpoint
	for p := range 3 {
		for id := range 2 {
			n := node(byte(p), uint32(10*id), "n")
			allNodes = append(allNodes, n)
			all = append(all, publisher(n, uint32(10*id+1), "/t"), subscription(n, uint32(10*id+2), "/t"), publisher(n, uint32(10*id+3), "/u"))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		g := New()
		type key struct {
			source string
			p      ID
		}
		nodes, endpoints := map[key]map[Node]bool{}, map[key]map[GID]bool{}
		seen := map[GID]bool{}
		seenNodes := map[Node]bool{}
		watch := func(e Event) {
			if e.Kind == KindNode {
				if seenNodes[e.Node] == (e.Change == Added) {
					t.Fatalf("%v twice", e)
				}
				seenNodes[e.Node] = e.Change == Added
				return
			}
			if seen[e.Endpoint.GID] == (e.Change == Added) {
				t.Fatalf("%v twice", e)
			}
			seen[e.Endpoint.GID] = e.Change == Added
		}
		watching := false
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			k := key{rapid.SampledFrom(sources).Draw(t, "source"), rapid.SampledFrom(allNodes).Draw(t, "participant").Participant}
			ns := rapid.SliceOfN(rapid.SampledFrom(allNodes), 0, 4).Draw(t, "nodes")
			eps := rapid.SliceOfN(rapid.SampledFrom(all), 0, 6).Draw(t, "endpoints")
			if nodes[k] == nil {
				nodes[k], endpoints[k] = map[Node]bool{}, map[GID]bool{}
			}
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0, 1:
				g.Put(k.source, k.p, ns, eps)
				clear(nodes[k])
				clear(endpoints[k])
				for _, n := range ns {
					nodes[k][n] = true
				}
				for _, e := range eps {
					endpoints[k][e.GID] = true
				}
			case 2:
				g.Add(k.source, k.p, ns, eps)
				for _, n := range ns {
					nodes[k][n] = true
				}
				for _, e := range eps {
					endpoints[k][e.GID] = true
				}
			case 3:
				var gids []GID
				for _, e := range eps {
					gids = append(gids, e.GID)
					delete(endpoints[k], e.GID)
				}
				for _, n := range ns {
					delete(nodes[k], n)
				}
				g.Drop(k.source, k.p, ns, gids)
			case 4:
				g.RemoveSource(k.source)
				for other := range nodes {
					if other.source == k.source {
						clear(nodes[other])
						clear(endpoints[other])
					}
				}
			case 5:
				if !watching {
					watching = true
					g.Subscribe(watch)
				}
			}
			var pubs, subs, nodeCount int
			for _, n := range allNodes {
				known := false
				for k := range nodes {
					known = known || nodes[k][n]
				}
				if known {
					nodeCount++
				}
				if got := slices.Contains(g.Nodes(), n); got != known {
					t.Fatalf("node %v: %v, want %v", n, got, known)
				}
				if watching && seenNodes[n] != known {
					t.Fatalf("node %v: the events say %v, want %v", n, seenNodes[n], known)
				}
			}
			for _, e := range all {
				known := false
				for k := range endpoints {
					known = known || endpoints[k][e.GID]
				}
				if known && e.Name == "/t" && e.Kind == KindPublisher {
					pubs++
				}
				if known && e.Name == "/t" && e.Kind == KindSubscription {
					subs++
				}
				if _, got := g.Endpoint(e.GID); got != known || slices.Contains(g.Of(e.Node), e) != known {
					t.Fatalf("%v: %v, want %v", e, got, known)
				}
				if watching && seen[e.GID] != known {
					t.Fatalf("%v: the events say %v, want %v", e, seen[e.GID], known)
				}
			}
			if got := []int{g.Count(KindNode, ""), len(g.Publishers("/t")), len(g.Subscriptions("/t"))}; !slices.Equal(got, []int{nodeCount, pubs, subs}) {
				t.Fatalf("counts %v, want %v", got, []int{nodeCount, pubs, subs})
			}
		}
		for _, s := range sources {
			g.RemoveSource(s)
		}
		if len(g.nodes)+len(g.endpoints)+len(g.ofNode)+len(g.topics)+len(g.services)+len(g.holdings) != 0 {
			t.Fatalf("an empty graph holds something")
		}
	})
}
