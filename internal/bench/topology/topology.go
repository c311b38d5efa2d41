// Package topology reads the systems that the benchmark runs: files of the iRobot benchmark, unchanged, and the same cases
// built in under names.
//
// It turns text into checked data and nothing else: it opens no domain, makes no node and knows message types only through
// the lookup that its caller passes. Every refusal names file, line, node and field, so that a slip in a file of two hundred
// lines is found at once. It must not import the root package, a transport or the runner.
package topology

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/tagus-ros/tagus/qos"
)

// PassBy says how a publisher hands its message over, or how a subscriber takes it.
type PassBy uint8

const (
	// Copy ("shared_ptr"): the publisher keeps its message; a subscriber is lent the message it reads.
	Copy PassBy = iota
	// Owned ("unique_ptr"): the publisher gives its message away; a subscriber takes a private copy.
	Owned
	// Loaned ("loaned_msg"): the publisher fills memory of the transport; a subscriber is lent it.
	Loaned
)

const passByWords = "loaned_msg, shared_ptr, unique_ptr"

var passByNames = map[string]PassBy{"shared_ptr": Copy, "unique_ptr": Owned, "loaned_msg": Loaned}

// String returns the word used in results: copy, owned or loaned.
func (p PassBy) String() string {
	switch p {
	case Owned:
		return "owned"
	case Loaned:
		return "loaned"
	default:
		return "copy"
	}
}

// Publisher is one periodic publisher of a node.
type Publisher struct {
	Topic  string        // as the file writes it
	Type   string        // snake_case, "stamped1mb"
	Period time.Duration // at least 1 µs
	Size   int           // payload bytes of vector types, 0 for fixed-size ones
	Pass   PassBy        // Owned when the file does not say
	QoS    qos.Profile
}

// Subscriber is one subscription of a node.
type Subscriber struct {
	Topic string
	Type  string
	Pass  PassBy // Copy when the file does not say
	QoS   qos.Profile
}

// Node is one node, after copies asked for by "number" have been made.
type Node struct {
	Name        string
	Namespace   string // "" or "/a/b"
	Executor    int    // nodes of one id share an executor; 0 when the file does not say
	Publishers  []Publisher
	Subscribers []Subscriber
}

// Label is how results name the node: its name, with its namespace in front if it has one.
func (n *Node) Label() string {
	if n.Namespace == "" {
		return n.Name
	}
	return n.Namespace + "/" + n.Name
}

// Resolve returns the fully qualified name of a topic of this node. Names that the node API would refuse are returned as they
// are; the refusal comes from there.
func (n *Node) Resolve(topic string) string {
	switch {
	case strings.HasPrefix(topic, "/"):
		return topic
	case strings.HasPrefix(topic, "~/"):
		return n.Namespace + "/" + n.Name + topic[1:]
	default:
		return n.Namespace + "/" + topic
	}
}

// Topology is what one process runs.
type Topology struct {
	Name  string // base name without .json; names the result folder
	File  string // where it was read from, "" when built in
	Nodes []Node
}

// Type is what the parser needs to know of a message type.
type Type struct {
	Vector bool // has a payload of variable length, set by msg_size
}

// Types looks up a message type by its snake_case name.
type Types func(name string) (Type, bool)

// Error is a refused topology. Line is 0 where no line can be given.
type Error struct {
	File  string
	Line  int
	Node  string // "" outside a node
	Field string // "publishers[2].freq_hz"; "" for the file as a whole
	Text  string
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("topology ")
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	b.WriteString(": ")
	if e.Node != "" {
		fmt.Fprintf(&b, "node %s: ", e.Node)
	}
	if e.Field != "" {
		b.WriteString(e.Field)
		b.WriteString(": ")
	}
	b.WriteString(e.Text)
	return b.String()
}

// NameOf returns the topology name that belongs to a file name: the last element without ".json".
func NameOf(file string) string {
	return strings.TrimSuffix(filepath.Base(file), ".json")
}

// Split deals the nodes of t to two processes: nodes that only publish go to the first, nodes that only subscribe to the
// second, the others in turn.
func (t *Topology) Split() (a, b *Topology) {
	a = &Topology{Name: t.Name + "_a", File: t.File}
	b = &Topology{Name: t.Name + "_b", File: t.File}
	turn := false
	for _, n := range t.Nodes {
		to := a
		switch {
		case len(n.Subscribers) == 0:
		case len(n.Publishers) == 0:
			to = b
		default:
			if turn {
				to = b
			}
			turn = !turn
		}
		to.Nodes = append(to.Nodes, n)
	}
	return a, b
}

// Rate is the sum of all publications a second.
func (t *Topology) Rate() float64 {
	var r float64
	for i := range t.Nodes {
		for _, p := range t.Nodes[i].Publishers {
			r += float64(time.Second) / float64(p.Period)
		}
	}
	return r
}

// PublisherAt returns the publisher at place i among all of t, counted node by node, or nil.
func (t *Topology) PublisherAt(i int) *Publisher {
	for j := range t.Nodes {
		if n := len(t.Nodes[j].Publishers); i >= n {
			i -= n
			continue
		}
		return &t.Nodes[j].Publishers[i]
	}
	return nil
}

// Executors is how many executors the nodes share: one for each executor id.
func (t *Topology) Executors() int {
	ids := make(map[int]bool)
	for i := range t.Nodes {
		ids[t.Nodes[i].Executor] = true
	}
	return len(ids)
}
