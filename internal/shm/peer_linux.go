package shm

import (
	"slices"
	"time"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/shm/control"
	"github.com/tagus-ros/tagus/internal/transport"
)

// peer is one other process of the folder: what it announced, and up to three control
// connections with it: out for publishers here and subscriptions there, in for the
// other direction, and one that only tells of its death to who watches the graph. It
// belongs to the member's owner.
type peer struct {
	m       *member
	id      graph.ID
	version uint64 // of the announcement
	ann     control.Announcement
	dead    bool

	pairs    map[pairKey]*outPair // wanted or open
	refused  map[pairKey]bool     // until the announcement changes
	out      *outSide
	failed   []*outSide // given up by this side, not yet closed by the other
	in       *inSide
	old      []*inSide // connections that ended while samples from them are out
	watch    *link
	watchers []*link // from the peer, which watches the graph
	dialing  bool    // a connection to watch is being made
}

type pairKey struct{ pub, sub graph.GID }

func newPeer(m *member, id graph.ID) *peer {
	return &peer{m: m, id: id, pairs: make(map[pairKey]*outPair), refused: make(map[pairKey]bool)}
}

// probeFirst and probeLast bound how long after the end of a connection the lock of
// the process is tested again: the connection ends some milliseconds before the lock.
const (
	probeFirst = time.Millisecond
	probeLast  = time.Second
)

// probe tests whether the process lives, again and again for about two seconds. One
// that lives is met again: it has closed the connection, not ended.
func (p *peer) probe(after time.Duration) {
	m := p.m
	time.AfterFunc(after, func() {
		m.box.post(func() {
			if m.closing || m.peers[p.id] != p || p.dead {
				return
			}
			alive, err := m.folder.Alive(p.id)
			m.complain("test the lock of "+p.id.String(), err)
			switch {
			case err == nil && !alive:
				m.gone(p.id)
				m.scan()
			case after < probeLast:
				p.probe(2 * after)
			default:
				m.match(p)
				if m.watching {
					p.watchLink()
				}
			}
		})
	})
}

// watchLink makes sure that some connection would tell of the process's death.
func (p *peer) watchLink() {
	m := p.m
	if p.dead || m.closing || p.dialing || p.connected() {
		return
	}
	p.dialing = true
	m.dial(p, control.PurposeWatch, func(l *link, err error) {
		p.dialing = false
		if err != nil {
			p.probe(probeFirst)
			return
		}
		p.watch = l
		l.start(func(msg control.Message, fds []int) {
			closeFDs(fds)
			if look, ok := msg.(control.Look); ok {
				m.refresh(look.ID)
			}
		}, func(error) {
			l.end()
			p.watch = nil
			p.probe(probeFirst)
		})
	})
}

// acceptWatch keeps a connection open for a process that watches the graph.
func (p *peer) acceptWatch(l *link) {
	l.start(func(_ control.Message, fds []int) { closeFDs(fds) }, func(error) {
		l.end()
		p.watchers = slices.DeleteFunc(p.watchers, func(x *link) bool { return x == l })
		p.probe(probeFirst)
	})
	l.say(control.HelloAck{ID: p.m.cfg.ID, Mono: monoNow(), Wall: wallNow()})
	p.watchers = append(p.watchers, l)
}

// connected reports whether a connection shows that the process lives.
func (p *peer) connected() bool {
	return p.out != nil && p.out.link != nil || p.in != nil && !p.in.down || p.watch != nil || len(p.watchers) > 0
}

// closePairs ends the pairs of a publisher that was closed here.
func (p *peer) closePairs(o *transport.Outlet) {
	for _, c := range p.pairs {
		if c.outlet == o {
			c.close("publisher-closed")
		}
	}
}

// closeFeeds asks for the end of the pairs of a subscription that was closed here.
func (p *peer) closeFeeds(in *transport.Inlet) {
	if p.in == nil {
		return
	}
	for _, c := range p.in.pairs {
		if c.inlet == in {
			p.in.link.say(control.Close{Conn: c.id, Code: "subscription-closed"})
		}
	}
}

// close ends all connections: this process leaves.
func (p *peer) close() {
	if p.watch != nil {
		p.watch.end()
	}
	for _, l := range p.watchers {
		l.end()
	}
	if p.out != nil {
		p.outDown()
	}
	for _, s := range p.failed {
		s.reclaim()
	}
	if p.in != nil {
		p.in.release()
	}
	for _, s := range p.old {
		s.release()
	}
}
