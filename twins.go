package tagus

import (
	"sync"

	"github.com/tagus-ros/tagus/graph"
)

// twins notices that a node here and another one have the same full name: who asks for
// that name then gets one or the other. Each name is reported once.
type twins struct {
	mu   sync.Mutex
	own  map[string]int  // nodes here by full name
	said map[string]bool // names that were reported
}

// watchTwins looks at each node that comes.
func (d *Domain) watchTwins() {
	d.twins.own, d.twins.said = make(map[string]int), make(map[string]bool)
	d.graph.Subscribe(func(e graph.Event) {
		if e.Kind == graph.KindNode && e.Change == graph.Added && e.Node.Participant != d.id {
			d.reportTwins(e.Node.FullName())
		}
	})
}

// joined notes a node of this process. left is the reverse.
func (t *twins) joined(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.own[name]++
}

func (t *twins) left(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.own[name]--; t.own[name] <= 0 {
		delete(t.own, name)
	}
}

// reportTwins warns if a node here is not the only one of that name.
func (d *Domain) reportTwins(name string) {
	t := &d.twins
	t.mu.Lock()
	look := t.own[name] > 0 && !t.said[name]
	t.mu.Unlock()
	if !look {
		return
	}
	all := d.graph.NodesNamed(name)
	if len(all) < 2 {
		return
	}
	t.mu.Lock()
	said := t.said[name]
	t.said[name] = true
	t.mu.Unlock()
	if said {
		return
	}
	var processes []string
	for _, n := range all {
		processes = append(processes, n.Participant.String())
	}
	d.log.Warn("several nodes have the same name; give each its own, for example with --ros-args -r __node:=name", "node", name, "processes", processes)
}
