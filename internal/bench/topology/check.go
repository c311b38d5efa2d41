package topology

import (
	"fmt"
	"strconv"

	"github.com/tagus-ros/tagus/qos"
)

// Pair is one publisher that one subscriber is to be matched with, by position in the run.
type Pair struct {
	PubProcess, PubNode, Pub int
	SubProcess, SubNode, Sub int
}

// Check looks at all topologies of a run together: each topic has one type. Warnings name subscribers that nobody publishes to
// and pairs whose QoS does not match.
func Check(run []*Topology) (warnings []string, err error) {
	type use struct {
		typ, file, node string
	}
	types := map[string]use{}
	published := map[string]bool{}
	see := func(t *Topology, n *Node, field, topic, typ string) error {
		full := n.Resolve(topic)
		u, ok := types[full]
		if !ok {
			types[full] = use{typ: typ, file: t.label(), node: n.Label()}
			return nil
		}
		if u.typ != typ {
			return &Error{File: t.label(), Node: n.Label(), Field: field,
				Text: fmt.Sprintf("topic %s has type %s here and %s at node %s of %s", full, typ, u.typ, u.node, u.file)}
		}
		return nil
	}
	for _, t := range run {
		for i := range t.Nodes {
			n := &t.Nodes[i]
			for j, p := range n.Publishers {
				if err := see(t, n, fmt.Sprintf("publishers[%d].msg_type", j), p.Topic, p.Type); err != nil {
					return nil, err
				}
				published[n.Resolve(p.Topic)] = true
			}
			for j, s := range n.Subscribers {
				if err := see(t, n, fmt.Sprintf("subscribers[%d].msg_type", j), s.Topic, s.Type); err != nil {
					return nil, err
				}
			}
		}
	}
	for _, t := range run {
		for i := range t.Nodes {
			n := &t.Nodes[i]
			for j, s := range n.Subscribers {
				if !published[n.Resolve(s.Topic)] {
					e := Error{File: t.label(), Node: n.Label(), Field: fmt.Sprintf("subscribers[%d].topic_name", j),
						Text: fmt.Sprintf("nobody publishes %s; it will receive nothing", n.Resolve(s.Topic))}
					warnings = append(warnings, e.Error())
				}
			}
		}
	}
	for _, p := range pairs(run) {
		pub, sub := run[p.PubProcess], run[p.SubProcess]
		pn, sn := &pub.Nodes[p.PubNode], &sub.Nodes[p.SubNode]
		for _, r := range qos.Compatible(pn.Publishers[p.Pub].QoS, sn.Subscribers[p.Sub].QoS) {
			e := Error{File: sub.label(), Node: sn.Label(), Field: fmt.Sprintf("subscribers[%d]", p.Sub),
				Text: fmt.Sprintf("does not match the publisher at node %s: %s", pn.Label(), r.Text)}
			warnings = append(warnings, e.Error())
		}
	}
	return warnings, nil
}

// Unique gives each topology of a run a name of its own: a second "a" becomes "a_2".
func Unique(run []*Topology) {
	used := map[string]bool{}
	for _, t := range run {
		name := t.Name
		for i := 2; used[name]; i++ {
			name = t.Name + "_" + strconv.Itoa(i)
		}
		t.Name = name
		used[name] = true
	}
}

func (t *Topology) label() string {
	if t.File != "" {
		return t.File
	}
	return t.Name
}

// Pairs lists who is to be matched with whom over all processes of a run.
func Pairs(run []*Topology) []Pair {
	var out []Pair
	for _, p := range pairs(run) {
		pub := run[p.PubProcess].Nodes[p.PubNode].Publishers[p.Pub]
		sub := run[p.SubProcess].Nodes[p.SubNode].Subscribers[p.Sub]
		if len(qos.Compatible(pub.QoS, sub.QoS)) == 0 {
			out = append(out, p)
		}
	}
	return out
}

// pairs joins publishers and subscribers by topic alone.
func pairs(run []*Topology) []Pair {
	type at struct{ proc, node, ent int }
	pubs := map[string][]at{}
	for i, t := range run {
		for j := range t.Nodes {
			for k, p := range t.Nodes[j].Publishers {
				full := t.Nodes[j].Resolve(p.Topic)
				pubs[full] = append(pubs[full], at{i, j, k})
			}
		}
	}
	var out []Pair
	for i, t := range run {
		for j := range t.Nodes {
			for k, s := range t.Nodes[j].Subscribers {
				for _, p := range pubs[t.Nodes[j].Resolve(s.Topic)] {
					out = append(out, Pair{p.proc, p.node, p.ent, i, j, k})
				}
			}
		}
	}
	return out
}
