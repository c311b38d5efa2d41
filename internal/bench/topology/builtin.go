package topology

import (
	"math"
	"strings"
	"time"
)

// Builtin is a topology that is known by name.
type Builtin struct {
	Name string
	Text string // one line for lists
	File string // the file of the iRobot benchmark that holds the same case, "" when there is none
	make func() []Node
}

// Topology builds the case.
func (b *Builtin) Topology() *Topology { return &Topology{Name: b.Name, Nodes: b.make()} }

// Builtins lists the cases in the order in which "tagus bench list" shows them.
func Builtins() []Builtin {
	list := []Builtin{
		{"seed5", "5 publishers of 1 MB, 1,172 Hz together, one subscriber node", "topology_multi_5_topics_1000hz.json",
			func() []Node { return fiveTopics([5]float64{44, 158, 540, 37, 393}, Owned) }},
		{"seed5_loaned", "the same with loaned messages and other rates, 2,930 Hz together", "topology_multi_5_topics_1000hz_loaned.json",
			func() []Node { return fiveTopics([5]float64{880, 660, 496, 838, 56}, Loaned) }},
		{"mont_blanc", "20 nodes of a robot, topic tagus with 250 KB", "mont_blanc.json", montBlanc.nodes},
		{"mont_blanc_1mb", "mont_blanc with 1,000,000 bytes on topic tagus, which mandalay hears, too", "", montBlanc1MB},
		{"sierra_nevada", "10 nodes of a robot, small messages", "sierra_nevada.json", sierraNevada.nodes},
		{"cedar", "9 nodes of a robot, one executor each", "cedar.json", cedar.nodes},
		{"white_mountain", "20 nodes of a robot, one executor each, topic columbia with 600 KB at 15 Hz", "white_mountain.json", whiteMountain.nodes},
	}
	for _, size := range []string{"10b", "100kb", "1mb", "4mb"} {
		for _, pass := range []PassBy{Owned, Loaned} {
			name, text := "pub_sub_200hz_"+size, "one publisher, one subscriber, "+size+" at 200 Hz"
			if pass == Loaned {
				name, text = name+"_loaned", text+", loaned"
			}
			list = append(list, Builtin{name, text, name + ".json", func() []Node { return pair("stamped"+size, 200, pass) }})
		}
	}
	return list
}

// Find returns the built-in case of that name.
func Find(name string) (*Topology, bool) {
	for _, b := range Builtins() {
		if b.Name == name {
			return b.Topology(), true
		}
	}
	return nil, false
}

// Names lists the names of the built-in cases in one line.
func Names() string {
	var out []string
	for _, b := range Builtins() {
		out = append(out, b.Name)
	}
	return strings.Join(out, ", ")
}

func hz(f float64) time.Duration { return time.Duration(math.Round(1e9 / f)) }
func ms(n int) time.Duration     { return time.Duration(n) * time.Millisecond }

func pair(typ string, rate float64, pass PassBy) []Node {
	return []Node{
		{Name: "pub_node_sp", Publishers: []Publisher{{Topic: "test", Type: typ, Period: hz(rate), Pass: pass}}},
		{Name: "sub_node_sp", Subscribers: []Subscriber{{Topic: "test", Type: typ}}},
	}
}

func fiveTopics(rates [5]float64, pass PassBy) []Node {
	var nodes []Node
	sub := Node{Name: "sub_node_mp"}
	for i, r := range rates {
		n := string(rune('0' + i))
		topic := "test_topic_" + n
		nodes = append(nodes, Node{Name: "pub_node_" + n, Publishers: []Publisher{{Topic: topic, Type: "stamped1mb", Period: hz(r), Pass: pass}}})
		sub.Subscribers = append(sub.Subscribers, Subscriber{Topic: topic, Type: "stamped1mb"})
	}
	return append(nodes, sub)
}

func montBlanc1MB() []Node {
	nodes := montBlanc.nodes()
	for i := range nodes {
		n := &nodes[i]
		if n.Name != "mandalay" {
			continue
		}
		for j := range n.Publishers {
			if n.Publishers[j].Topic == "tagus" {
				n.Publishers[j].Size = 1_000_000
			}
		}
		n.Subscribers = append(n.Subscribers, Subscriber{Topic: "tagus", Type: "stamped_vector"})
	}
	return nodes
}
