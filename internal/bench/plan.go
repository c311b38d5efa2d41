package bench

import (
	"time"

	"github.com/tagus-ros/tagus/internal/bench/topology"
)

// pubKey names a publisher of a run: its process and its place among the publishers of that process.
type pubKey struct{ Process, Index int }

// plan says whom the endpoints of one process are to be matched with, each in the order in which the process makes them.
type plan struct {
	subsOf  []int      // subscriptions of each publisher
	pubsOf  [][]pubKey // publishers of each subscription
	samples []int      // messages each subscription can expect, with some to spare
}

func newPlan(run []*topology.Topology, process int, d time.Duration) plan {
	pubs, subs := flat(run, func(n *topology.Node) int { return len(n.Publishers) }), flat(run, func(n *topology.Node) int { return len(n.Subscribers) })
	p := plan{}
	for i := range run[process].Nodes {
		n := &run[process].Nodes[i]
		p.subsOf = append(p.subsOf, make([]int, len(n.Publishers))...)
		p.pubsOf = append(p.pubsOf, make([][]pubKey, len(n.Subscribers))...)
	}
	p.samples = make([]int, len(p.pubsOf))
	for _, pair := range topology.Pairs(run) {
		pub := pubs[pair.PubProcess][pair.PubNode] + pair.Pub
		if pair.PubProcess == process {
			p.subsOf[pub]++
		}
		if pair.SubProcess == process {
			sub := subs[process][pair.SubNode] + pair.Sub
			p.pubsOf[sub] = append(p.pubsOf[sub], pubKey{pair.PubProcess, pub})
			period := run[pair.PubProcess].Nodes[pair.PubNode].Publishers[pair.Pub].Period
			p.samples[sub] += spare(int(d / period))
		}
	}
	return p
}

// spare adds room to a number of expected messages, within reason: a row of 64 Mi samples is half a GiB.
func spare(n int) int { return min(n+n/50+256, 64<<20) }

// flat counts, for each node of each process, the entities of the nodes before it.
func flat(run []*topology.Topology, count func(*topology.Node) int) [][]int {
	out := make([][]int, len(run))
	for i, t := range run {
		n := 0
		for j := range t.Nodes {
			out[i] = append(out[i], n)
			n += count(&t.Nodes[j])
		}
	}
	return out
}
