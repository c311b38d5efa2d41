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

	pairs    map[pairKey]*outPair       // wanted or open
	refused  map[pairKey]bool           // until the announcement changes
	turned   map[control.Purpose]string // connections refused until then, and the code
	out      *outSide
	failed   []*outSide // given up by this side, not yet closed by the other
	in       *inSide
	old      []*inSide // connections that ended while samples from them are out
	watch    *link
	watchers []*link // from the peer, which watches the graph
	dialing  bool    // a connection to watch is being made

	calling   bool          // a connection to say look is being made
	callAgain bool          // and another look is due after it
	wait      time.Duration // before it is met again
	chain     int           // number of the newest probe
}

type pairKey struct{ pub, sub graph.GID }

func newPeer(m *member, id graph.ID) *peer {
	return &peer{m: m, id: id, pairs: make(map[pairKey]*outPair), refused: make(map[pairKey]bool), turned: make(map[control.Purpose]string)}
}

// say sends a look over any connection that is open.
func (p *peer) say(msg control.Look) bool {
	return p.in != nil && !p.in.down && p.in.link.say(msg) ||
		p.out != nil && p.out.link != nil && p.out.link.say(msg) ||
		p.watch != nil && p.watch.say(msg) ||
		slices.ContainsFunc(p.watchers, func(l *link) bool { return l.say(msg) })
}

// reaching reports whether a connection is being made that begins with a greeting.
func (p *peer) reaching() bool { return p.dialing || p.out != nil && p.out.link == nil }

// probeFirst and probeLast bound how long after the end of a connection the lock of
// the process is tested again: the connection ends some milliseconds before the lock.
// One that still has it after grace has closed the connection, not ended.
const (
	probeFirst = time.Millisecond
	probeLast  = time.Second
	grace      = 25 * time.Millisecond
)

// again looks after a process with which a connection has ended that began at a time,
// or could not be made now. Each that did not last makes the wait longer.
func (p *peer) again(began int64) {
	if monoNow()-began > int64(probeLast) {
		p.wait = 0
	} else {
		p.wait = min(max(2*p.wait, redial), probeLast)
	}
	p.probe()
}

// probe tests whether the process lives, again and again for about two seconds. One
// that lives is met again meanwhile.
func (p *peer) probe() {
	p.chain++
	p.test(p.chain, probeFirst, 0)
}

func (p *peer) test(chain int, after, passed time.Duration) {
	m := p.m
	time.AfterFunc(after, func() {
		m.box.post(func() {
			if m.closing || m.peers[p.id] != p || p.dead || p.chain != chain {
				return
			}
			alive, err := m.folder.Alive(p.id)
			m.complain("test the lock of "+p.id.String(), err)
			if err == nil && !alive {
				m.gone(p.id)
				m.scan()
				return
			}
			due := max(grace, p.wait)
			if passed < due && passed+after >= due {
				p.meet()
			}
			if after < probeLast {
				p.test(chain, 2*after, passed+after)
			}
		})
	})
}

// meet makes anew what connections there should be, and has the process look: what was
// said over one that ended may not have been heard.
func (p *peer) meet() {
	m := p.m
	m.refresh(p.id)
	if m.peers[p.id] != p || p.dead {
		return
	}
	m.match(p)
	if m.watching {
		p.watchLink()
	}
	if p.ann.WatchesGraph || m.concerns(p) {
		m.tell(p)
	}
}

// watchLink makes sure that some connection would tell of the process's death.
func (p *peer) watchLink() {
	m := p.m
	if p.dead || m.closing || p.dialing || p.connected() || p.ann.Clock != m.clock || p.turned[control.PurposeWatch] != "" {
		return
	}
	p.dialing = true
	m.dial(p, control.PurposeWatch, func(l *link, err error) {
		p.dialing = false
		if err != nil {
			p.again(monoNow())
			return
		}
		p.watch = l
		l.start(func(msg control.Message, fds []int) {
			closeFDs(fds)
			switch msg := msg.(type) {
			case control.Look:
				m.refresh(msg.ID)
			case control.Refuse:
				p.turned[control.PurposeWatch] = msg.Code
				m.complain("control connection to "+p.id.String(), refusal(msg))
			}
		}, func(error) {
			l.end()
			if p.watch == l {
				p.watch = nil
				p.again(l.began)
			}
		})
	})
}

// acceptWatch keeps a connection open for a process that watches the graph.
func (p *peer) acceptWatch(l *link) {
	m := p.m
	l.start(func(msg control.Message, fds []int) {
		closeFDs(fds)
		if look, ok := msg.(control.Look); ok {
			m.refresh(look.ID)
		}
	}, func(error) {
		l.end()
		p.watchers = slices.DeleteFunc(p.watchers, func(x *link) bool { return x == l })
		p.probe()
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
