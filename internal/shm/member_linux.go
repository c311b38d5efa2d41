package shm

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/shm/control"
	"github.com/tagus-ros/tagus/internal/shm/folder"
	"github.com/tagus-ros/tagus/internal/transport"
)

const (
	// together is how long a change waits for others to go with it.
	together = time.Millisecond
	// checkEvery is how often a process looks whether its file and folder are
	// still there: the one thing an idle process wakes for.
	checkEvery = 2 * time.Second
	// greeting is how long a new connection may take to say what it is for.
	greeting = 5 * time.Second
)

// member is this process among those that meet in the domain's folder. One goroutine
// owns its state and runs what the others post to box; nothing on it waits for
// another process.
type member struct {
	cfg    *Config
	folder *folder.Folder
	me     *folder.Member
	clock  control.Clock
	box    *mailbox
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup // goroutines of links and of the accepting socket
	loop   sync.WaitGroup

	maps mappings // arenas of other processes that are mapped here

	// What follows belongs to the owner.

	outlets   map[graph.GID]*transport.Outlet
	inlets    map[graph.GID]*transport.Inlet
	here      map[named]int // how many outlets and inlets there are by kind and name
	nodes     []graph.Node
	endpoints []graph.Endpoint
	written   map[graph.GID]bool // endpoints that the others can read of
	watching  bool
	changing  bool // an announcement is on its way
	closing   bool
	peers     map[graph.ID]*peer
	ids       []graph.ID        // scratch
	said      map[string]string // last complaint by subject, so that it is logged once
}

// joinFolder announces this process and reads what all others have announced.
func joinFolder(cfg *Config) (*member, error) {
	path, err := folder.Path(cfg.Domain)
	if cfg.Dir != "" {
		path, err = filepath.Abs(filepath.Join(cfg.Dir, strconv.Itoa(cfg.Domain)))
	}
	if err != nil {
		return nil, err
	}
	m := &member{
		cfg: cfg, box: newMailbox(),
		outlets: make(map[graph.GID]*transport.Outlet), inlets: make(map[graph.GID]*transport.Inlet),
		here:    make(map[named]int),
		written: make(map[graph.GID]bool), peers: make(map[graph.ID]*peer), said: make(map[string]string),
	}
	if m.clock, err = control.HostClock(); err != nil {
		return nil, err
	}
	if m.folder, err = folder.Open(path); err != nil {
		return nil, err
	}
	body, err := m.body()
	if err == nil {
		m.me, err = m.folder.Join(cfg.ID, body)
	}
	if err != nil {
		m.folder.Close()
		return nil, err
	}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	m.scan()
	m.wg.Add(1)
	go m.accept()
	m.loop.Add(1)
	go m.run()
	return m, nil
}

// run is the owner.
func (m *member) run() {
	defer m.loop.Done()
	tick := time.NewTicker(checkEvery)
	defer tick.Stop()
	for {
		select {
		case <-m.box.wake:
			m.box.run()
		case <-tick.C:
			m.check()
		case <-m.ctx.Done():
			return
		}
	}
}

// check looks whether the file and the folder are still there, and whether anybody here
// sleeps who was signalled. After they had to be
// made anew, others may have missed this process and it may have missed others.
func (m *member) check() {
	m.cfg.Inbox.Rouse()
	if m.closing {
		return
	}
	remade, err := m.me.Check()
	m.complain("own announcement", err)
	if m.watching {
		m.missed()
	}
	if remade && err == nil {
		m.cfg.Log.Warn("the announcement had been removed and was made anew", "folder", m.folder.Path())
		m.publish()
	}
}

// missed finds out which processes have died that no connection can tell of, because
// none is possible.
func (m *member) missed() {
	for id, p := range m.peers {
		if p.dead || p.connected() {
			continue
		}
		if alive, err := m.folder.Alive(id); err == nil && !alive {
			m.gone(id)
		}
	}
}

// complain logs err about a subject, unless it was the last thing logged about it.
func (m *member) complain(subject string, err error) {
	if err == nil {
		delete(m.said, subject)
		return
	}
	if text := err.Error(); m.said[subject] != text {
		m.said[subject] = text
		m.cfg.Log.Error(subject, "err", text)
	}
}

func (m *member) body() ([]byte, error) {
	return control.AppendAnnouncement(nil, &control.Announcement{
		WatchesGraph: m.watching, Clock: m.clock, Domain: m.cfg.Domain, Nodes: m.nodes, Endpoints: m.endpoints,
	})
}

// announce has the nodes and endpoints written, together with what else changes
// within a millisecond.
func (m *member) announce(nodes []graph.Node, endpoints []graph.Endpoint) {
	m.box.post(func() {
		m.nodes, m.endpoints = nodes, endpoints
		m.change()
	})
}

func (m *member) change() {
	if m.changing || m.closing {
		return
	}
	m.changing = true
	time.AfterFunc(together, func() { m.box.post(m.publish) })
}

// publish writes the announcement, then reads the others, then tells those whom it
// concerns to look. Since both sides of a match write before they read, one of them
// sees the other.
func (m *member) publish() {
	m.changing = false
	if m.closing {
		return
	}
	body, err := m.body()
	if err == nil {
		_, err = m.me.Write(body)
	}
	m.complain("announce", err)
	if err != nil {
		// What others see stays as it was; the next check is the next try.
		time.AfterFunc(checkEvery, func() { m.box.post(m.change) })
		return
	}
	clear(m.written)
	for i := range m.endpoints {
		m.written[m.endpoints[i].GID] = true
	}
	m.scan()
	for _, p := range m.peers {
		// Those that could not read the announcement may do so now.
		maps.DeleteFunc(p.turned, func(_ control.Purpose, code string) bool { return code == codeUnknown })
		m.match(p)
		if m.watching {
			p.watchLink()
		}
		if p.ann.WatchesGraph || m.concerns(p) {
			m.tell(p)
		}
	}
}

// scan reads what has changed in the folder.
func (m *member) scan() {
	ids, err := m.folder.AppendList(m.ids[:0])
	m.complain("list folder", err)
	if err != nil {
		return
	}
	m.ids = ids
	seen := make(map[graph.ID]bool, len(ids))
	for _, id := range ids {
		seen[id] = true
		m.refresh(id)
	}
	for id := range m.peers {
		if !seen[id] {
			m.gone(id)
		}
	}
}

// refresh reads the announcement of id if it changed.
func (m *member) refresh(id graph.ID) {
	if id == m.cfg.ID || m.closing {
		return
	}
	p := m.peers[id]
	have := uint64(0)
	if p != nil {
		have = p.version
	}
	a, err := m.folder.Read(id, have)
	switch {
	case errors.Is(err, folder.ErrGone), errors.Is(err, folder.ErrDead):
		m.gone(id)
		return
	case err != nil:
		m.complain("read announcement of "+id.String(), err)
		return
	case a.State != folder.StateUp || p != nil && a.Version == have:
		return
	}
	ann, err := control.ParseAnnouncement(a.Body, id)
	m.complain("read announcement of "+id.String(), err)
	if err != nil {
		return
	}
	if p == nil {
		p = newPeer(m, id)
		m.peers[id] = p
	}
	m.forgetSenders(p.ann.Endpoints, ann.Endpoints)
	clock := p.ann.Clock
	p.version, p.ann, p.dead = a.Version, *ann, false
	clear(p.refused)
	clear(p.turned)
	if ann.Clock != m.clock && ann.Clock != clock {
		m.cfg.Log.Warn("a process in the folder has another monotonic clock (another time namespace or host); its topics are not reached by shared memory", "peer", id.String(), "ours", m.clock.String(), "theirs", ann.Clock.String())
	}
	m.cfg.Graph.Put(Source, id, ann.Nodes, ann.Endpoints)
	m.match(p)
	if m.watching {
		p.watchLink()
	}
}

// gone forgets a process that is not in the folder any more. One that is connected
// lives: its file was removed by somebody, and it will make it anew. Connections of a
// dead one see to their own end.
func (m *member) gone(id graph.ID) {
	p := m.peers[id]
	if p == nil || p.dead || p.connected() {
		return
	}
	p.dead = true
	m.cfg.Graph.Remove(Source, id)
	p.outDown() // if it was dialling
	m.forget(p)
}

// forget drops the last that is remembered of a dead process.
func (m *member) forget(p *peer) {
	if p.dead && p.out == nil && len(p.failed) == 0 && p.in == nil && len(p.old) == 0 && m.peers[p.id] == p {
		delete(m.peers, p.id)
		for subject := range m.said {
			if strings.HasSuffix(subject, p.id.String()) {
				delete(m.said, subject)
			}
		}
		m.forgetSenders(p.ann.Endpoints, nil)
	}
}

// forgetSenders has the receiving ends here forget the sending ends that are no longer
// announced: their numbers do not come back.
func (m *member) forgetSenders(old, now []graph.Endpoint) {
	for i := range old {
		e := &old[i]
		if m.here[facing(e)] == 0 || announced(now, e.GID) {
			continue
		}
		for _, in := range m.inlets {
			if in.Endpoint.Name == e.Name {
				in.Forget(e.GID)
			}
		}
	}
}

func announced(endpoints []graph.Endpoint, gid graph.GID) bool {
	return slices.ContainsFunc(endpoints, func(e graph.Endpoint) bool { return e.GID == gid })
}

// named is what endpoints have in common that may belong together.
type named struct {
	kind graph.Kind
	name string
}

func nameOf(e *graph.Endpoint) named { return named{e.Kind, e.Name} }

// facing is the name under which the counterparts of e are found.
func facing(e *graph.Endpoint) named { return named{counterpart(e.Kind), e.Name} }

// leave takes an endpoint out of the count.
func (m *member) leave(e *graph.Endpoint) {
	if n := nameOf(e); m.here[n] > 1 {
		m.here[n]--
	} else {
		delete(m.here, n)
	}
}

// concerns reports whether the process has a counterpart of an endpoint here.
func (m *member) concerns(p *peer) bool {
	for i := range p.ann.Endpoints {
		if m.here[facing(&p.ann.Endpoints[i])] > 0 {
			return true
		}
	}
	return false
}

// match opens the pairs of sending ends here with receiving ends of p. The pairs of the
// other direction are the other side's to open; they are only looked at, so that both
// sides report what does not match.
func (m *member) match(p *peer) {
	if p.dead || m.closing || p.ann.Clock != m.clock {
		return
	}
	for i := range p.ann.Endpoints {
		to := &p.ann.Endpoints[i]
		if m.here[facing(to)] == 0 {
			continue
		}
		if to.Kind == graph.KindPublisher {
			for _, in := range m.inlets {
				if nameOf(&in.Endpoint) == facing(to) {
					m.cfg.Match(to, &in.Endpoint)
				}
			}
			continue
		}
		for gid, o := range m.outlets {
			// One that the other side cannot read of yet would be refused.
			if nameOf(&o.Endpoint) != facing(to) || !m.written[gid] {
				continue
			}
			key := pairKey{gid, to.GID}
			if p.pairs[key] != nil || p.refused[key] {
				continue
			}
			if !m.cfg.Match(&o.Endpoint, to) {
				p.refused[key] = true // until the announcement changes
				continue
			}
			if p.turned[control.PurposeLink] != "" || len(p.failed) >= maxFailed {
				continue
			}
			p.want(key, o, *to)
		}
	}
}

func (m *member) addOutlet(o *transport.Outlet) {
	m.box.post(func() {
		m.outlets[o.Endpoint.GID] = o
		m.here[nameOf(&o.Endpoint)]++
	})
}

func (m *member) removeOutlet(o *transport.Outlet) {
	m.box.post(func() {
		if m.outlets[o.Endpoint.GID] != o {
			return
		}
		delete(m.outlets, o.Endpoint.GID)
		m.leave(&o.Endpoint)
		for _, p := range m.peers {
			p.closePairs(o)
		}
	})
}

func (m *member) addInlet(in *transport.Inlet) {
	m.box.post(func() {
		m.inlets[in.Endpoint.GID] = in
		m.here[nameOf(&in.Endpoint)]++
	})
}

func (m *member) removeInlet(in *transport.Inlet) {
	m.box.post(func() {
		if m.inlets[in.Endpoint.GID] != in {
			return
		}
		delete(m.inlets, in.Endpoint.GID)
		m.leave(&in.Endpoint)
		for _, p := range m.peers {
			p.closeFeeds(in)
		}
	})
}

// watch makes the graph follow all changes: others are told so by the announcement,
// and a connection to each of them tells of its death.
func (m *member) watch() error {
	m.box.post(func() {
		if m.watching {
			return
		}
		m.watching = true
		m.change()
		for _, p := range m.peers {
			p.watchLink()
		}
	})
	return nil
}

func (m *member) holds(address uintptr) bool { return m.maps.holds(address) }

// close leaves the folder. Nobody holds a lease any more.
func (m *member) close() error {
	done := make(chan struct{})
	m.box.post(func() {
		m.closing = true
		close(done)
	})
	<-done
	err := m.me.Close() // nobody new comes
	m.box.post(func() {
		for _, p := range m.peers {
			p.close()
		}
		m.cancel()
	})
	m.loop.Wait()
	m.box.close()
	m.wg.Wait()
	return errors.Join(err, m.folder.Close())
}

// mappings are the ranges of memory that are mapped for reading.
type mappings struct {
	mu     sync.Mutex
	ranges map[*byte]uintptr // start: length
}
