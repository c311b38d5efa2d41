package control

import (
	"fmt"
	"math"
	"time"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/qos"
)

// Announcement is what a process says about itself in the folder.
type Announcement struct {
	WatchesGraph bool  // wants to hear of every change
	Clock        Clock // which monotonic clock its stamps come from
	Domain       int
	Nodes        []graph.Node
	Endpoints    []graph.Endpoint // their nodes are among Nodes
}

// Limits of an announcement.
const (
	MaxNodes     = 65536
	MaxEndpoints = 65536
)

const (
	flagWatchesGraph = 1

	announcementHead = 48
	leastNode        = 8 + 3*2 + 3  // a record with three texts of one byte
	leastEndpoint    = 64 + 3*2 + 3 // likewise
)

// AppendAnnouncement appends the bytes of a to b. Every node and endpoint must
// have the participant and the domain of the announcement; nodes of endpoints
// that are not in Nodes are an error, as are texts that are empty or longer
// than [MaxText]; too many entities give a *[LimitError].
func AppendAnnouncement(b []byte, a *Announcement) ([]byte, error) {
	if len(a.Nodes) > MaxNodes {
		return nil, &LimitError{What: "nodes in one process", Limit: "MaxNodes", Value: MaxNodes, Have: len(a.Nodes)}
	}
	if len(a.Endpoints) > MaxEndpoints {
		return nil, &LimitError{What: "endpoints in one process", Limit: "MaxEndpoints", Value: MaxEndpoints, Have: len(a.Endpoints)}
	}
	if a.Domain < 0 || a.Domain > math.MaxInt32 {
		return nil, fmt.Errorf("announce domain %d: out of range", a.Domain)
	}
	var flags uint32
	if a.WatchesGraph {
		flags |= flagWatchesGraph
	}
	b = le.AppendUint32(b, ProtocolVersion)
	b = le.AppendUint32(b, flags)
	b = append(b, a.Clock.Boot[:]...)
	b = le.AppendUint64(b, uint64(a.Clock.Offset))
	b = le.AppendUint32(b, uint32(a.Domain))
	b = le.AppendUint32(b, announcementHead)
	b = le.AppendUint32(b, uint32(len(a.Nodes)))
	b = le.AppendUint32(b, uint32(len(a.Endpoints)))
	index := make(map[uint32]uint32, len(a.Nodes))
	ids := make(entityIDs, len(a.Nodes)+len(a.Endpoints))
	for i := range a.Nodes {
		n := &a.Nodes[i]
		if err := checkTexts(n.Enclave, n.Namespace, n.Name); err != nil {
			return nil, fmt.Errorf("announce node %s: %w", n.FullName(), err)
		}
		if !ids.add(n.ID) {
			return nil, fmt.Errorf("announce node %s: id %d is used twice", n.FullName(), n.ID)
		}
		index[n.ID] = uint32(i)
		start := len(b)
		b = le.AppendUint32(b, 0)
		b = le.AppendUint32(b, n.ID)
		b = appendText(b, n.Enclave)
		b = appendText(b, n.Namespace)
		b = appendText(b, n.Name)
		le.PutUint32(b[start:], uint32(len(b)-start))
	}
	for i := range a.Endpoints {
		e := &a.Endpoints[i]
		if err := checkTexts(e.Name, e.Type, e.Hash); err != nil {
			return nil, fmt.Errorf("announce %v: %w", e, err)
		}
		n, ok := index[e.Node.ID]
		if !ok || a.Nodes[n] != e.Node {
			return nil, fmt.Errorf("announce %v: its node is not announced", e)
		}
		if e.Kind < graph.KindPublisher || e.Kind > graph.KindClient {
			return nil, fmt.Errorf("announce %v: it is no endpoint", e)
		}
		if !ids.add(e.ID) {
			return nil, fmt.Errorf("announce %v: id %d is used twice", e, e.ID)
		}
		q, err := wireQoS(e.QoS)
		if err != nil {
			return nil, fmt.Errorf("announce %v: %w", e, err)
		}
		start := len(b)
		b = le.AppendUint32(b, 0)
		b = le.AppendUint32(b, n)
		b = le.AppendUint32(b, e.ID)
		b = append(b, byte(e.Kind), q.reliability, q.durability, q.history, q.liveliness, 0, 0, 0)
		b = le.AppendUint32(b, q.depth)
		b = le.AppendUint64(b, uint64(q.deadline))
		b = le.AppendUint64(b, uint64(q.lifespan))
		b = le.AppendUint64(b, uint64(q.lease))
		b = append(b, e.GID[:]...)
		b = appendText(b, e.Name)
		b = appendText(b, e.Type)
		b = appendText(b, e.Hash)
		le.PutUint32(b[start:], uint32(len(b)-start))
	}
	return b, nil
}

func checkTexts(texts ...string) error {
	for _, s := range texts {
		if len(s) > MaxText {
			return &LimitError{What: "bytes of a text", Limit: "MaxText", Value: MaxText, Have: len(s)}
		}
		if why := nameFlaw(s); why != "" {
			return fmt.Errorf("text %q %s", s, why)
		}
	}
	return nil
}

// ParseAnnouncement reads what the process called participant announces. The
// GID of every endpoint is computed anew and must be the one announced. The
// result keeps nothing of b.
//
// Errors: *[ParseError], *[VersionError].
func ParseAnnouncement(b []byte, participant graph.ID) (*Announcement, error) {
	c := cursor{s: string(b), end: len(b), what: "announcement"}
	if version := c.u32(); c.err == nil && version != ProtocolVersion {
		return nil, &VersionError{Peer: participant, Ours: ProtocolVersion, Theirs: version}
	}
	a := &Announcement{}
	a.WatchesGraph = c.u32()&flagWatchesGraph != 0
	a.Clock.Boot = c.bytes16()
	a.Clock.Offset = c.i64()
	domain, first := c.u32(), c.u32()
	nodes, endpoints := c.u32(), c.u32()
	if c.err == nil {
		switch room := uint64(len(b)); {
		case domain > math.MaxInt32:
			c.fail(32, "domain %d is out of range", domain)
		case first < announcementHead || uint64(first) > room:
			c.fail(36, "records start at %d, not between %d and %d", first, announcementHead, room)
		case nodes > MaxNodes:
			c.fail(40, "%d nodes, MaxNodes is %d", nodes, MaxNodes)
		case endpoints > MaxEndpoints:
			c.fail(44, "%d endpoints, MaxEndpoints is %d", endpoints, MaxEndpoints)
		case uint64(nodes)*leastNode+uint64(endpoints)*leastEndpoint > room-uint64(first):
			c.fail(40, "%d nodes and %d endpoints do not fit in %d bytes", nodes, endpoints, room-uint64(first))
		}
	}
	if c.err != nil {
		return nil, c.err
	}
	a.Domain = int(domain)
	c.at = int(first)
	ids := make(entityIDs, nodes+endpoints)
	a.Nodes = make([]graph.Node, 0, nodes)
	for range nodes {
		at := c.at
		next := c.record(leastNode)
		n := graph.Node{Participant: participant, Domain: a.Domain, ID: c.u32(),
			Enclave: c.name("enclave"), Namespace: c.name("namespace"), Name: c.name("node name")}
		c.once(at+4, n.ID, ids)
		a.Nodes = append(a.Nodes, n)
		if !c.leave(next) {
			return nil, c.err
		}
	}
	a.Endpoints = make([]graph.Endpoint, 0, endpoints)
	for range endpoints {
		at := c.at
		next := c.record(leastEndpoint)
		a.Endpoints = append(a.Endpoints, c.endpoint(at, a.Nodes, ids))
		if !c.leave(next) {
			return nil, c.err
		}
	}
	return a, nil
}

// record enters a record, which bounds its fields, and returns where the next
// one starts.
func (c *cursor) record(least int) (next int) {
	at := c.at
	size := c.u32()
	if c.err == nil && (int64(size) < int64(least) || int64(size) > int64(c.end-at)) {
		c.fail(at, "record of %d bytes, not %d to %d", size, least, c.end-at)
	}
	if c.err != nil {
		return at
	}
	c.end = at + int(size)
	return c.end
}

// leave goes on to the next record, over fields that are not known here.
func (c *cursor) leave(next int) bool {
	c.at, c.end = next, len(c.s)
	return c.err == nil
}

// entityIDs are the ids that nodes and endpoints of a process have.
type entityIDs map[uint32]struct{}

// add tells whether id is new.
func (ids entityIDs) add(id uint32) bool {
	n := len(ids)
	ids[id] = struct{}{}
	return len(ids) > n
}

func (c *cursor) once(at int, id uint32, ids entityIDs) {
	if c.err == nil && !ids.add(id) {
		c.fail(at, "entity id %d is used twice", id)
	}
}

// endpoint reads the fields of the endpoint record that starts at at.
func (c *cursor) endpoint(at int, nodes []graph.Node, ids entityIDs) graph.Endpoint {
	node, id := c.u32(), c.u32()
	c.once(at+8, id, ids)
	kind := graph.Kind(c.u8())
	var w qosWire
	w.reliability, w.durability, w.history, w.liveliness = c.u8(), c.u8(), c.u8(), c.u8()
	c.skip(3)
	w.depth = c.u32()
	w.deadline, w.lifespan, w.lease = time.Duration(c.i64()), time.Duration(c.i64()), time.Duration(c.i64())
	gid := graph.GID(c.bytes16())
	name, typ, hash := c.name("name"), c.name("type"), c.name("type hash")
	q, why := w.profile()
	switch {
	case c.err != nil:
	case int64(node) >= int64(len(nodes)):
		c.fail(at+4, "node %d of %d", node, len(nodes))
	case kind < graph.KindPublisher || kind > graph.KindClient:
		c.fail(at+12, "unknown kind %d", uint8(kind))
	case why != "":
		c.fail(at+13, "%s", why)
	}
	if c.err != nil {
		return graph.Endpoint{}
	}
	e := graph.NewEndpoint(kind, nodes[node], id, name, typ, hash, q)
	if e.GID != gid {
		c.fail(at+48, "GID %s is not that of its token, %s", gid, e.GID)
	}
	return e
}

// qosWire is a profile as it is announced: policies by the numbers of rmw,
// durations in ns with 0 for infinite.
type qosWire struct {
	reliability, durability, history, liveliness uint8
	depth                                        uint32
	deadline, lifespan, lease                    time.Duration
}

// Policies by number; the numbers 0 (system default) and those missing are
// never announced.
var (
	reliabilities = [...]qos.Reliability{1: qos.Reliable, 2: qos.BestEffort, 3: qos.ReliabilityUnknown, 4: qos.ReliabilityBestAvailable}
	durabilities  = [...]qos.Durability{1: qos.TransientLocal, 2: qos.Volatile, 3: qos.DurabilityUnknown, 4: qos.DurabilityBestAvailable}
	histories     = [...]qos.History{1: qos.KeepLast, 2: qos.KeepAll, 3: qos.HistoryUnknown}
	livelinesses  = [...]qos.Liveliness{1: qos.Automatic, 3: qos.ManualByTopic, 4: qos.LivelinessUnknown, 5: qos.LivelinessBestAvailable}
)

func policyNumber[P comparable](table []P, p P) uint8 {
	for i, q := range table {
		if i > 0 && q == p {
			return uint8(i)
		}
	}
	return 0
}

func policy[P comparable](table []P, n uint8) (p P, ok bool) {
	if int(n) >= len(table) {
		return p, false
	}
	// A gap in a table holds the zero value, whose number is another one.
	return table[n], policyNumber(table, table[n]) == n
}

func wireQoS(p qos.Profile) (w qosWire, err error) {
	p = p.Resolved()
	w.reliability = policyNumber(reliabilities[:], p.Reliability)
	w.durability = policyNumber(durabilities[:], p.Durability)
	w.history = policyNumber(histories[:], p.History)
	w.liveliness = policyNumber(livelinesses[:], p.Liveliness)
	if w.reliability == 0 || w.durability == 0 || w.history == 0 || w.liveliness == 0 {
		return w, fmt.Errorf("unknown policy in %+v", p)
	}
	if p.Depth < 0 || p.Depth > math.MaxInt32 || p.Deadline < 0 || p.Lifespan < 0 || p.LivelinessLeaseDuration < 0 {
		return w, fmt.Errorf("depth or duration out of range in %+v", p)
	}
	w.depth = uint32(p.Depth)
	w.deadline, w.lifespan, w.lease = p.Deadline, p.Lifespan, p.LivelinessLeaseDuration
	return w, nil
}

// profile is the reverse; it says in one phrase what is wrong.
func (w qosWire) profile() (p qos.Profile, why string) {
	var ok [4]bool
	p.Reliability, ok[0] = policy(reliabilities[:], w.reliability)
	p.Durability, ok[1] = policy(durabilities[:], w.durability)
	p.History, ok[2] = policy(histories[:], w.history)
	p.Liveliness, ok[3] = policy(livelinesses[:], w.liveliness)
	for i, n := range [4]uint8{w.reliability, w.durability, w.history, w.liveliness} {
		if !ok[i] {
			return p, fmt.Sprintf("unknown %s policy %d", [4]string{"reliability", "durability", "history", "liveliness"}[i], n)
		}
	}
	if w.depth > math.MaxInt32 || w.deadline < 0 || w.lifespan < 0 || w.lease < 0 {
		return p, fmt.Sprintf("depth %d or a duration (%d, %d, %d ns) is out of range", w.depth, w.deadline, w.lifespan, w.lease)
	}
	p.Depth = int(w.depth)
	p.Deadline, p.Lifespan, p.LivelinessLeaseDuration = w.deadline, w.lifespan, w.lease
	return p, ""
}
