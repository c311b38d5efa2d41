package topology

import (
	"strings"
	"time"
)

// robot is a system in short form: in these each topic has one publisher, so a subscriber needs only the topic's name.
type robot struct {
	pass      PassBy // of all publishers
	executors bool   // each node has an executor of its own, numbered from 1
	list      []robotNode
}

type robotNode struct {
	name  string
	hears string // topics, separated by blanks
	says  []says
}

type says struct {
	topic  string
	typ    string
	period time.Duration
	size   int
}

func (r *robot) nodes() []Node {
	types := map[string]string{}
	for _, n := range r.list {
		for _, s := range n.says {
			types[s.topic] = s.typ
		}
	}
	var out []Node
	for i, n := range r.list {
		node := Node{Name: n.name}
		if r.executors {
			node.Executor = i + 1
		}
		for _, s := range n.says {
			node.Publishers = append(node.Publishers, Publisher{Topic: s.topic, Type: s.typ, Period: s.period, Size: s.size, Pass: r.pass})
		}
		for _, topic := range strings.Fields(n.hears) {
			node.Subscribers = append(node.Subscribers, Subscriber{Topic: topic, Type: types[topic]})
		}
		out = append(out, node)
	}
	return out
}

const vector = "stamped_vector"

var sierraNevada = robot{pass: Copy, list: []robotNode{
	{"montreal", "", []says{
		{"amazon", "stamped9_float32", ms(10), 0},
		{"nile", "stamped4_int32", ms(10), 0},
		{"ganges", "stamped4_int32", ms(10), 0},
		{"danube", "stamped_int64", ms(10), 0}}},
	{"lyon", "amazon", []says{{"tigris", "stamped4_float32", ms(10), 0}}},
	{"hamburg", "nile tigris ganges danube", []says{{"parana", "stamped3_float32", ms(10), 0}}},
	{"osaka", "parana", []says{{"salween", "stamped12_float32", ms(100), 0}}},
	{"mandalay", "salween danube", []says{{"missouri", vector, ms(100), 10000}}},
	{"ponce", "missouri danube volga", []says{{"mekong", vector, ms(500), 100}, {"congo", "stamped4_int32", ms(100), 0}}},
	{"barcelona", "mekong", []says{{"lena", vector, ms(100), 50}}},
	{"georgetown", "lena", []says{{"volga", "stamped_int64", ms(500), 0}}},
	{"geneva", "congo danube parana", []says{{"arkansas", "stamped4_int32", ms(100), 0}}},
	{"arequipa", "arkansas", nil},
}}

var montBlanc = robot{pass: Copy, list: []robotNode{
	{"cordoba", "", []says{{"amazon", "stamped9_float32", ms(10), 0}}},
	{"freeport", "", []says{{"ganges", "stamped4_int32", ms(10), 0}}},
	{"medellin", "", []says{{"nile", "stamped4_int32", ms(10), 0}}},
	{"portsmouth", "", []says{{"danube", "stamped_int64", ms(10), 0}}},
	{"lyon", "amazon", []says{{"tigris", "stamped4_float32", ms(10), 0}}},
	{"hamburg", "nile tigris ganges danube", []says{{"parana", "stamped3_float32", ms(10), 0}}},
	{"delhi", "", []says{{"columbia", "stamped250kb", ms(200), 0}}},
	{"taipei", "columbia", []says{{"colorado", "stamped4_int32", ms(200), 0}}},
	{"osaka", "parana colorado", []says{{"salween", "stamped12_float32", ms(100), 0}, {"godavari", vector, ms(200), 5000}}},
	{"tripoli", "columbia godavari", []says{{"loire", vector, ms(200), 1000}}},
	{"kingston", "", []says{{"yamuna", "stamped4_int32", ms(100), 0}}},
	{"hebron", "", []says{{"chenab", "stamped1kb", ms(25), 0}}},
	{"mandalay", "salween danube godavari yamuna loire chenab", []says{
		{"missouri", vector, ms(100), 10000},
		{"tagus", vector, ms(25), 250000},
		{"brazos", vector, ms(100), 25000}}},
	{"ponce", "missouri danube volga godavari yamuna loire tagus brazos ohio", []says{
		{"mekong", vector, ms(500), 100},
		{"congo", "stamped4_int32", ms(100), 0}}},
	{"barcelona", "mekong", []says{{"lena", vector, ms(100), 50}}},
	{"monaco", "congo", []says{{"ohio", "stamped100b", ms(200), 0}}},
	{"georgetown", "lena murray", []says{{"volga", "stamped_int64", ms(500), 0}}},
	{"rotterdam", "mekong", []says{{"murray", vector, ms(500), 100}}},
	{"geneva", "congo danube parana tagus", []says{{"arkansas", "stamped4_int32", ms(100), 0}}},
	{"arequipa", "arkansas", nil},
}}

var whiteMountain = robot{pass: Owned, executors: true, list: []robotNode{
	{"cordoba", "", []says{{"amazon", "stamped9_float32", ms(10), 0}}},
	{"freeport", "", []says{{"ganges", "stamped4_int32", ms(10), 0}}},
	{"medellin", "", []says{{"nile", "stamped4_int32", ms(10), 0}}},
	{"portsmouth", "", []says{{"danube", "stamped_int64", ms(10), 0}}},
	{"lyon", "amazon", []says{{"tigris", "stamped4_float32", ms(10), 0}}},
	{"hamburg", "nile tigris ganges danube", []says{{"parana", "stamped3_float32", ms(10), 0}}},
	{"delhi", "", []says{{"columbia", "stamped600kb", hz(15), 0}}},
	{"taipei", "columbia", []says{{"colorado", "stamped4_int32", ms(200), 0}}},
	{"osaka", "parana colorado", []says{{"salween", "stamped12_float32", ms(100), 0}, {"godavari", vector, ms(200), 5000}}},
	{"tripoli", "columbia godavari", []says{{"loire", vector, ms(200), 1000}}},
	{"kingston", "", []says{{"yamuna", "stamped4_int32", ms(100), 0}}},
	{"hebron", "", []says{{"chenab", "stamped1kb", ms(25), 0}}},
	{"mandalay", "salween danube godavari yamuna loire chenab", []says{
		{"missouri", vector, ms(100), 10000},
		{"tagus", vector, ms(100), 50000},
		{"brazos", vector, ms(100), 25000}}},
	{"ponce", "missouri danube volga godavari yamuna loire tagus brazos ohio", []says{
		{"mekong", vector, ms(500), 100},
		{"congo", "stamped4_int32", ms(100), 0}}},
	{"barcelona", "mekong", []says{{"lena", vector, ms(100), 50}}},
	{"monaco", "congo", []says{{"ohio", "stamped100b", ms(200), 0}}},
	{"georgetown", "lena murray", []says{{"volga", "stamped_int64", ms(500), 0}}},
	{"rotterdam", "mekong", []says{{"murray", vector, ms(500), 100}}},
	{"geneva", "congo danube parana tagus", []says{{"arkansas", "stamped4_int32", ms(100), 0}}},
	{"arequipa", "arkansas", nil},
}}

var cedar = robot{pass: Owned, executors: true, list: []robotNode{
	{"montreal", "arkansas", []says{
		{"danube", "stamped_int64", hz(64), 0},
		{"amazon", "stamped9_float32", hz(64), 0},
		{"ganges", "stamped4_int32", hz(64), 0},
		{"nile", "stamped4_int32", hz(64), 0}}},
	{"munich", "danube amazon", []says{{"rhine", "stamped4_int32", hz(64), 0}}},
	{"hamburg", "danube amazon ganges nile", []says{{"parana", "stamped3_float32", hz(64), 0}}},
	{"osaka", "parana", []says{{"salween", "stamped12_float32", hz(10), 0}}},
	{"mandalay", "rhine salween", []says{{"missouri", vector, hz(10), 10000}}},
	{"ponce", "rhine missouri salween volga", []says{{"mekong", vector, hz(2), 100}, {"congo", "stamped4_int32", hz(10), 0}}},
	{"barcelona", "mekong", []says{{"lena", vector, hz(10), 50}}},
	{"georgetown", "lena", []says{{"volga", "stamped_int64", hz(2), 0}}},
	{"geneva", "congo rhine parana", []says{{"arkansas", "stamped4_int32", hz(10), 0}}},
}}
