package topology

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/tagus-ros/tagus/qos"
)

// Bounds that keep a slip in a file from becoming a machine that stops: each is far above what a robot has.
const (
	maxFileBytes = 16 << 20
	maxCopies    = 10_000  // "number" of a node
	maxMsgSize   = 1 << 30 // "msg_size" in bytes
	minPeriod    = time.Microsecond
	maxPeriod    = 24 * time.Hour
)

// Options of Parse.
type Options struct {
	Types  Types
	Strict bool // unknown keys are errors
}

// Load reads a topology file. Warnings are complete sentences that name file and line.
func Load(file string, o Options) (t *Topology, warnings []string, err error) {
	st, err := os.Stat(file)
	if err != nil {
		return nil, nil, fmt.Errorf("topology %s: %w", file, err)
	}
	if !st.Mode().IsRegular() {
		return nil, nil, &Error{File: file, Text: "is not a regular file"}
	}
	if st.Size() > maxFileBytes {
		return nil, nil, &Error{File: file, Text: fmt.Sprintf("has %d bytes; the limit is %d", st.Size(), maxFileBytes)}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, fmt.Errorf("topology %s: %w", file, err)
	}
	return Parse(file, data, o)
}

// Parse reads the text of a topology file. Its first error is returned; warnings found until then are, too.
func Parse(file string, data []byte, o Options) (*Topology, []string, error) {
	root, err := parseJSON(file, data)
	if err != nil {
		return nil, nil, err
	}
	p := &parser{file: file, opts: o}
	t, err := p.topology(&root)
	if err != nil {
		return nil, p.warnings, err
	}
	return t, p.warnings, nil
}

type parser struct {
	file     string
	opts     Options
	warnings []string
	node     string // the node being read, for errors
}

func (p *parser) errorf(line int, field, format string, args ...any) error {
	return &Error{File: p.file, Line: line, Node: p.node, Field: field, Text: fmt.Sprintf(format, args...)}
}

func (p *parser) warnf(line int, field, format string, args ...any) {
	p.warnings = append(p.warnings, p.errorf(line, field, format, args...).Error())
}

// unknown reports the keys of an object that nobody asked for.
func (p *parser) unknown(f *fields) error {
	for _, m := range f.v.members {
		if f.known[m.key] {
			continue
		}
		field := f.path + m.key
		if p.opts.Strict {
			return p.errorf(m.line, field, "unknown key")
		}
		p.warnf(m.line, field, "unknown key, ignored")
	}
	return nil
}

func (p *parser) topology(root *value) (*Topology, error) {
	if root.kind != '{' {
		return nil, p.errorf(root.line, "", "must be an object with a list \"nodes\", is %s", root.kindName())
	}
	f, err := p.fields(root, "")
	if err != nil {
		return nil, err
	}
	t := &Topology{Name: NameOf(p.file), File: p.file}
	list, err := f.list("nodes")
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, p.errorf(root.line, "nodes", "there are no nodes")
	}
	if err := p.unknown(f); err != nil {
		return nil, err
	}
	for i := range list {
		p.node = ""
		ns, err := p.nodes(&list[i], fmt.Sprintf("nodes[%d]", i))
		if err != nil {
			return nil, err
		}
		t.Nodes = append(t.Nodes, ns...)
	}
	return t, nil
}

// nodes reads one entry of "nodes" and makes its copies.
func (p *parser) nodes(v *value, path string) ([]Node, error) {
	f, err := p.fields(v, path+".")
	if err != nil {
		return nil, err
	}
	name, _, err := f.text("node_name")
	if err != nil {
		return nil, err
	}
	if name == "" {
		return nil, p.errorf(v.line, path+".node_name", "is missing or empty")
	}
	p.node = name
	f.path = ""
	ns, _, err := f.text("node_namespace")
	if err != nil {
		return nil, err
	}
	if ns = strings.TrimRight(ns, "/"); ns != "" && !strings.HasPrefix(ns, "/") {
		ns = "/" + ns
	}
	exec, _, err := f.integer("executor_id", 0, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	copies, numbered, err := f.integer("number", 0, maxCopies)
	if err != nil {
		return nil, err
	}
	n := Node{Name: name, Namespace: ns, Executor: exec}
	if err := p.refuseCalls(f); err != nil {
		return nil, err
	}
	if n.Publishers, err = each(p, f, "publishers", p.publisher); err != nil {
		return nil, err
	}
	if n.Subscribers, err = each(p, f, "subscribers", p.subscriber); err != nil {
		return nil, err
	}
	if err := p.unknown(f); err != nil {
		return nil, err
	}
	if !numbered {
		return []Node{n}, nil
	}
	var out []Node
	for i := 1; i <= copies; i++ {
		c := n
		c.Name += "_" + strconv.Itoa(i)
		if ns != "" {
			c.Namespace += "_" + strconv.Itoa(i)
		}
		out = append(out, c)
	}
	return out, nil
}

// refuseCalls refuses services and actions, which the runner cannot run yet.
func (p *parser) refuseCalls(f *fields) error {
	for _, c := range [...]struct{ key, what string }{
		{"clients", "service clients"}, {"servers", "services"},
		{"action_clients", "action clients"}, {"action_servers", "action servers"},
	} {
		list, err := f.list(c.key)
		if err != nil {
			return err
		}
		if len(list) > 0 {
			return p.errorf(list[0].line, c.key, "this benchmark does not run %s yet, only publishers and subscribers", c.what)
		}
	}
	return nil
}

func each[T any](p *parser, f *fields, key string, read func(*fields) (T, error)) ([]T, error) {
	list, err := f.list(key)
	if err != nil {
		return nil, err
	}
	var out []T
	for i := range list {
		g, err := p.fields(&list[i], fmt.Sprintf("%s[%d].", key, i))
		if err != nil {
			return nil, err
		}
		e, err := read(g)
		if err != nil {
			return nil, err
		}
		if err := p.unknown(g); err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

func (p *parser) publisher(f *fields) (Publisher, error) {
	var pub Publisher
	var typ Type
	var err error
	if pub.Topic, pub.Type, typ, err = p.topicAndType(f); err != nil {
		return pub, err
	}
	if pub.Period, err = p.period(f); err != nil {
		return pub, err
	}
	size, sized, err := f.integer("msg_size", 0, maxMsgSize)
	if err != nil {
		return pub, err
	}
	switch {
	case typ.Vector && !sized:
		p.warnf(f.v.line, f.path+"msg_size", "is missing; messages of the vector type %s will be empty", pub.Type)
	case !typ.Vector && sized:
		p.warnf(f.line("msg_size"), f.path+"msg_size", "is ignored: %s has a fixed size", pub.Type)
	case typ.Vector:
		pub.Size = size
	}
	if pub.Pass, err = p.passBy(f, Owned); err != nil {
		return pub, err
	}
	pub.QoS, err = p.qos(f)
	return pub, err
}

func (p *parser) subscriber(f *fields) (Subscriber, error) {
	var sub Subscriber
	var err error
	if sub.Topic, sub.Type, _, err = p.topicAndType(f); err != nil {
		return sub, err
	}
	if sub.Pass, err = p.passBy(f, Copy); err != nil {
		return sub, err
	}
	sub.QoS, err = p.qos(f)
	return sub, err
}

func (p *parser) topicAndType(f *fields) (topic, name string, typ Type, err error) {
	if topic, _, err = f.text("topic_name"); err != nil {
		return
	}
	if topic == "" {
		err = p.errorf(f.v.line, f.path+"topic_name", "is missing or empty")
		return
	}
	if name, _, err = f.text("msg_type"); err != nil {
		return
	}
	if name == "" {
		err = p.errorf(f.v.line, f.path+"msg_type", "is missing or empty (topic %s)", topic)
		return
	}
	var ok bool
	if typ, ok = p.opts.Types(name); !ok {
		err = p.errorf(f.line("msg_type"), f.path+"msg_type", "unknown type %q (topic %s); \"tagus bench list --types\" names the known ones", name, topic)
	}
	return
}

// period takes freq_hz if it is there, else period_ms, as the iRobot benchmark does.
func (p *parser) period(f *fields) (time.Duration, error) {
	hz, hasHz, err := f.number("freq_hz")
	if err != nil {
		return 0, err
	}
	ms, hasMs, err := f.number("period_ms")
	if err != nil {
		return 0, err
	}
	field, ns, said := "freq_hz", 0.0, ""
	switch {
	case hasHz:
		ns, said = 1e9/hz, fmt.Sprintf("%v Hz", hz)
		if hz <= 0 {
			return 0, p.errorf(f.line(field), f.path+field, "the rate must be above 0, is %v", hz)
		}
	case hasMs:
		field = "period_ms"
		ns, said = ms*1e6, fmt.Sprintf("%v ms", ms)
		if ms <= 0 {
			return 0, p.errorf(f.line(field), f.path+field, "the period must be above 0, is %v", ms)
		}
	default:
		return 0, p.errorf(f.v.line, f.path+"period_ms", "a publisher needs period_ms or freq_hz")
	}
	if ns < float64(minPeriod) || ns > float64(maxPeriod) {
		return 0, p.errorf(f.line(field), f.path+field, "%s is outside the range of periods, %v to %v", said, minPeriod, maxPeriod)
	}
	return time.Duration(math.Round(ns)), nil
}

func (p *parser) passBy(f *fields, otherwise PassBy) (PassBy, error) {
	s, there, err := f.text("msg_pass_by")
	if err != nil || !there {
		return otherwise, err
	}
	v, ok := passByNames[s]
	if !ok {
		return 0, p.errorf(f.line("msg_pass_by"), f.path+"msg_pass_by", "%q is none of %s", s, passByWords)
	}
	return v, nil
}

func (p *parser) qos(f *fields) (qos.Profile, error) {
	var q qos.Profile
	var err error
	if q.History, err = choice(p, f, "qos_history", qos.ParseHistory); err != nil {
		return q, err
	}
	if q.Depth, _, err = f.integer("qos_depth", 0, math.MaxInt32); err != nil {
		return q, err
	}
	if q.Reliability, err = choice(p, f, "qos_reliability", qos.ParseReliability); err != nil {
		return q, err
	}
	if q.Durability, err = choice(p, f, "qos_durability", qos.ParseDurability); err != nil {
		return q, err
	}
	if q.Liveliness, err = choice(p, f, "qos_liveliness", qos.ParseLiveliness); err != nil {
		return q, err
	}
	if q.Deadline, err = p.span(f, "qos_deadline"); err != nil {
		return q, err
	}
	if q.Lifespan, err = p.span(f, "qos_lifespan"); err != nil {
		return q, err
	}
	if q.LivelinessLeaseDuration, err = p.span(f, "qos_liveliness_lease_duration"); err != nil {
		return q, err
	}
	if s, there, err := f.text("qos_avoid_ros_namespace_conventions"); err != nil {
		return q, err
	} else if there && s != "false" {
		return q, p.errorf(f.line("qos_avoid_ros_namespace_conventions"), f.path+"qos_avoid_ros_namespace_conventions", "only \"false\" is run, is %q", s)
	}
	return q, nil
}

// choice reads an optional policy by its word; absent means the zero value, which is the ROS 2 default.
func choice[T any](p *parser, f *fields, key string, parse func(string) (T, error)) (v T, err error) {
	s, there, err := f.text(key)
	if err != nil || !there {
		return v, err
	}
	if v, err = parse(s); err != nil {
		return v, p.errorf(f.line(key), f.path+key, "%v", err)
	}
	return v, nil
}

// span reads a QoS duration: "default" (infinite) as the iRobot files write it, or a number of milliseconds.
func (p *parser) span(f *fields, key string) (time.Duration, error) {
	v := f.get(key)
	if v == nil || v.kind == 's' && v.scalar == "default" {
		return 0, nil
	}
	if v.kind != '#' {
		return 0, p.errorf(v.line, f.path+key, "must be \"default\" or a number of milliseconds")
	}
	ms, _, err := f.number(key)
	if err != nil {
		return 0, err
	}
	if ms <= 0 || ms*1e6 > math.MaxInt64/2 {
		return 0, p.errorf(v.line, f.path+key, "%v ms is out of range", ms)
	}
	return time.Duration(ms * 1e6), nil
}

// fields reads an object by key and remembers which keys it was asked for.
type fields struct {
	p     *parser
	v     *value
	path  string // prefix of field names in errors
	known map[string]bool
}

func (p *parser) fields(v *value, path string) (*fields, error) {
	if v.kind != '{' {
		return nil, p.errorf(v.line, strings.TrimSuffix(path, "."), "must be an object, is %s", v.kindName())
	}
	seen := map[string]bool{}
	for _, m := range v.members {
		if seen[m.key] {
			return nil, p.errorf(m.line, path+m.key, "appears twice")
		}
		seen[m.key] = true
	}
	return &fields{p: p, v: v, path: path, known: map[string]bool{}}, nil
}

func (f *fields) get(key string) *value {
	f.known[key] = true
	for i := range f.v.members {
		if f.v.members[i].key == key {
			return &f.v.members[i].val
		}
	}
	return nil
}

func (f *fields) line(key string) int {
	if v := f.get(key); v != nil {
		return v.line
	}
	return f.v.line
}

func (f *fields) wrong(v *value, key, want string) error {
	return f.p.errorf(v.line, f.path+key, "must be %s, is %s", want, v.kindName())
}

func (f *fields) text(key string) (string, bool, error) {
	v := f.get(key)
	if v == nil {
		return "", false, nil
	}
	s, ok := v.scalar.(string)
	if !ok {
		return "", false, f.wrong(v, key, "a string")
	}
	return s, true, nil
}

func (f *fields) number(key string) (float64, bool, error) {
	v := f.get(key)
	if v == nil {
		return 0, false, nil
	}
	n, ok := v.scalar.(json.Number)
	if !ok {
		return 0, false, f.wrong(v, key, "a number")
	}
	x, err := n.Float64()
	if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0, false, f.p.errorf(v.line, f.path+key, "%s is not a usable number", n)
	}
	return x, true, nil
}

func (f *fields) integer(key string, lo, hi int) (int, bool, error) {
	x, there, err := f.number(key)
	if err != nil || !there {
		return 0, there, err
	}
	if x != math.Trunc(x) || x < float64(lo) || x > float64(hi) {
		return 0, true, f.p.errorf(f.line(key), f.path+key, "must be a whole number from %d to %d, is %v", lo, hi, x)
	}
	return int(x), true, nil
}

func (f *fields) list(key string) ([]value, error) {
	v := f.get(key)
	if v == nil {
		return nil, nil
	}
	if v.kind != '[' {
		return nil, f.wrong(v, key, "a list")
	}
	return v.array, nil
}
