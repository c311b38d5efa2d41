package graph

import (
	"cmp"
	"slices"
	"strings"
)

// Named is a topic, service or action with its types.
type Named struct {
	Name  string
	Types []string // sorted; more than one is a mistake
}

// Action is an action with what it has.
type Action struct {
	Name    string
	Types   []string // sorted; more than one is a mistake that the domain contains
	Servers int
	Clients int
}

// feedbackPart ends the name of the topic by which an action is recognised, as in rcl: who publishes it serves the action, who subscribes to it
// is a client.
const (
	feedbackPart = "/_action/feedback"
	feedbackType = "_FeedbackMessage"
)

// NamesOf gives the topics or services on which a node has endpoints of a kind, sorted by name. The node need not be known itself.
func (g *Graph) NamesOf(n Node, k Kind) []Named {
	g.mu.RLock()
	defer g.mu.RUnlock()
	types := map[string][]string{}
	for _, e := range g.ofNode[n] {
		if e.Kind == k {
			types[e.Name] = append(types[e.Name], e.Type)
		}
	}
	return sortNamed(types)
}

// CountOf says how many endpoints of a kind a node has.
func (g *Graph) CountOf(n Node, k Kind) int {
	g.mu.RLock()
	defer g.mu.RUnlock()
	count := 0
	for _, e := range g.ofNode[n] {
		if e.Kind == k {
			count++
		}
	}
	return count
}

// Actions gives every action, sorted by name.
func (g *Graph) Actions() []Action {
	g.mu.RLock()
	defer g.mu.RUnlock()
	var out []Action
	for topic, n := range g.topics {
		name, ok := strings.CutSuffix(topic, feedbackPart)
		if types := actionTypes(n.types()); ok && len(types) > 0 {
			out = append(out, Action{Name: name, Types: types, Servers: len(n.offers), Clients: len(n.requests)})
		}
	}
	slices.SortFunc(out, func(a, b Action) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// ActionServersOf gives the actions that a node serves, sorted by name.
func (g *Graph) ActionServersOf(n Node) []Named { return actionsIn(g.NamesOf(n, KindPublisher)) }

// ActionClientsOf gives the actions that a node is a client of, sorted by name.
func (g *Graph) ActionClientsOf(n Node) []Named { return actionsIn(g.NamesOf(n, KindSubscription)) }

func actionsIn(topics []Named) []Named {
	var out []Named
	for _, t := range topics {
		name, ok := strings.CutSuffix(t.Name, feedbackPart)
		if types := actionTypes(t.Types); ok && len(types) > 0 {
			out = append(out, Named{name, types})
		}
	}
	return out
}

// actionTypes gives the types of actions whose feedback has these types.
func actionTypes(types []string) (out []string) {
	for _, t := range types {
		if a, ok := strings.CutSuffix(t, feedbackType); ok {
			out = append(out, a)
		}
	}
	return out
}

func sortNamed(types map[string][]string) []Named {
	out := make([]Named, 0, len(types))
	for name, t := range types {
		slices.Sort(t)
		out = append(out, Named{name, slices.Compact(t)})
	}
	slices.SortFunc(out, func(a, b Named) int { return cmp.Compare(a.Name, b.Name) })
	return out
}
