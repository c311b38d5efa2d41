package action

import (
	"slices"
	"strings"

	"github.com/tagus-ros/tagus/graph"
)

// Info is an action as the graph has it.
type Info struct {
	Name    string
	Types   []string     // "example_interfaces/action/Fibonacci", sorted; more than one is a mistake
	Servers []graph.Node // nodes that serve it
	Clients []graph.Node // nodes that use it
}

// List gives the actions in g, sorted by name. As in rcl, who publishes the feedback
// serves the action, and who subscribes to it is a client.
func List(g *graph.Graph) []Info {
	var out []Info
	for _, t := range g.Topics() {
		name, ok := strings.CutSuffix(t.Name, partFeedback)
		if !ok {
			continue
		}
		i := Info{Name: name}
		for _, typ := range t.Types {
			if a, ok := strings.CutSuffix(typ, "_FeedbackMessage"); ok {
				i.Types = append(i.Types, a)
			}
		}
		if len(i.Types) == 0 {
			continue
		}
		for _, e := range g.Publishers(t.Name) {
			i.Servers = append(i.Servers, e.Node)
		}
		for _, e := range g.Subscriptions(t.Name) {
			i.Clients = append(i.Clients, e.Node)
		}
		out = append(out, i)
	}
	return out
}

// Find gives one action by its fully qualified name.
func Find(g *graph.Graph, name string) (Info, bool) {
	all := List(g)
	i, ok := slices.BinarySearchFunc(all, name, func(a Info, name string) int { return strings.Compare(a.Name, name) })
	if !ok {
		return Info{}, false
	}
	return all[i], true
}
