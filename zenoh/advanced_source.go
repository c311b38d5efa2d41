package zenoh

import (
	"fmt"
	"sort"
)

// source is what a subscriber knows of one publisher, or of one session that
// tells its samples apart by timestamps.
type source struct {
	id      sourceID
	has     bool   // last is set
	last    uint32 // number of the last sample delivered, or given up
	told    number // of the last sample that the publisher says there is
	asking  number // up to where the recovery under way asks
	asked   number // up to where there was one: what is missing of that is lost
	newest  Timestamp
	history Timestamp // newest sample that a query brought
	pending []*Sample // retained, in order: they wait for what comes before them
	queries int       // under way
	gone    bool
}

const (
	// maxSources bounds the publishers remembered; of those that are gone the memory serves only against duplicates.
	maxSources = 4096
	// maxPending bounds the samples that wait, of one publisher.
	maxPending = 1024
)

// number is a sample's number, if it is known.
type number struct {
	n  uint32
	ok bool
}

// raise makes x at least n; numbers wrap around.
func (x *number) raise(n uint32) {
	if !x.ok || int32(n-x.n) > 0 {
		*x = number{n, true}
	}
}

// beyond reports whether x is known and greater than n.
func (x *number) beyond(n uint32) bool { return x.ok && int32(x.n-n) > 0 }

// source finds or makes the state of a sender; mu is held.
func (a *AdvancedSubscriber) source(id sourceID) *source {
	src := a.sources[id]
	if src == nil {
		if len(a.sources) >= maxSources {
			for k, x := range a.sources {
				if (x.gone || len(a.sources) > 2*maxSources) && x.queries == 0 {
					x.drop()
					delete(a.sources, k)
				}
			}
		}
		src = &source{id: id}
		a.sources[id] = src
	}
	return src
}

func (src *source) drop() {
	for _, m := range src.pending {
		m.Release()
	}
	src.pending = nil
}

// before is the order of a source's samples.
func (src *source) before(m, n *Sample) bool {
	if src.id.timed {
		return m.Timestamp.Compare(&n.Timestamp) < 0
	}
	return int32(m.Source.Sequence-n.Source.Sequence) < 0
}

// hold keeps a sample for later, once.
func (src *source) hold(m *Sample) {
	i := sort.Search(len(src.pending), func(i int) bool { return !src.before(src.pending[i], m) })
	if i < len(src.pending) && !src.before(m, src.pending[i]) {
		return
	}
	src.pending = append(src.pending, nil)
	copy(src.pending[i+1:], src.pending[i:])
	src.pending[i] = m.Retain()
}

// take decides about one sample; mu is held. It returns the sample's source,
// nil if it has none.
func (a *AdvancedSubscriber) take(m *Sample, asked bool) *source {
	if a.closed {
		return nil
	}
	switch {
	case !m.Source.IsZero():
		src := a.source(sourceID{id: m.Source.ID, entity: m.Source.Entity})
		a.numbered(src, m)
		return src
	case !m.Timestamp.IsZero():
		src := a.source(sourceID{id: m.Timestamp.ID, timed: true})
		a.stamped(src, m, asked)
		return src
	}
	a.deliver(m)
	return nil
}

func (a *AdvancedSubscriber) numbered(src *source, m *Sample) {
	sn := m.Source.Sequence
	switch {
	case !src.has && (a.global > 0 || src.queries > 0):
		// The history may bring what comes before it. More than the history's
		// depth need not be kept for that.
		src.hold(m)
		if len(src.pending) > max(a.opts.History, 1) {
			a.next(src)
			a.following(src)
		}
	case !src.has || sn == src.last+1:
		src.has, src.last = true, sn
		a.deliver(m)
		a.following(src)
	case int32(sn-src.last) <= 0: // seen already
	case a.opts.Recover || src.queries > 0 || a.global > 0:
		if src.hold(m); len(src.pending) > maxPending {
			a.next(src)
			a.following(src)
		}
		a.settle(src)
	default:
		a.missed(src, sn-src.last-1)
		src.last = sn
		a.deliver(m)
	}
}

// next delivers the first pending sample, whatever is missing before it.
func (a *AdvancedSubscriber) next(src *source) {
	m := src.pending[0]
	src.pending = src.pending[:copy(src.pending, src.pending[1:])]
	sn := m.Source.Sequence
	if src.has && int32(sn-src.last) <= 0 {
		m.Release()
		return
	}
	if src.has && sn != src.last+1 {
		a.missed(src, sn-src.last-1)
	}
	src.has, src.last = true, sn
	a.deliver(m)
}

// following delivers pending samples as far as there is no gap.
func (a *AdvancedSubscriber) following(src *source) {
	for len(src.pending) > 0 && int32(src.pending[0].Source.Sequence-src.last) <= 1 {
		a.next(src)
	}
}

func (a *AdvancedSubscriber) missed(src *source, n uint32) {
	if a.opts.OnMiss != nil {
		a.out = append(a.out, item{miss: Miss{src.id.id, src.id.entity, n}})
	}
}

// stamped handles a sample without a number. Publishers of one session share a
// clock but not a lane, so a live sample is not taken for a duplicate only
// because a younger one was faster; but one not younger than what queries
// brought is.
func (a *AdvancedSubscriber) stamped(src *source, m *Sample, asked bool) {
	t := &m.Timestamp
	waits := a.global > 0 || src.queries > 0
	switch {
	case asked && t.Compare(&src.newest) <= 0:
		return // seen, or older than what was delivered since
	case !asked && !waits && t.Compare(&src.history) <= 0:
		return
	}
	if asked && t.Compare(&src.history) > 0 {
		src.history = *t
	}
	if waits {
		if src.hold(m); len(src.pending) > max(a.opts.History, maxPending) {
			a.flushStamped(src)
		}
		return
	}
	if t.Compare(&src.newest) > 0 {
		src.newest = *t
	}
	a.deliver(m)
}

func (a *AdvancedSubscriber) flushStamped(src *source) {
	for i, m := range src.pending {
		if src.pending[i] = nil; m.Timestamp.Compare(&src.newest) > 0 {
			src.newest = m.Timestamp
		}
		a.deliver(m)
	}
	src.pending = src.pending[:0]
}

// settle delivers what waits for queries once none is under way, and begins a
// recovery if samples are known to be missing and were not asked for; mu is held.
func (a *AdvancedSubscriber) settle(src *source) {
	if a.closed || src.queries > 0 || a.global > 0 {
		return
	}
	if src.id.timed {
		a.flushStamped(src)
		return
	}
	for {
		if len(src.pending) > 0 && !src.has {
			a.next(src)
		}
		if src.has {
			a.following(src)
		}
		if !a.opts.Recover {
			if len(src.pending) == 0 {
				return
			}
			a.next(src)
			continue
		}
		top := src.told
		if n := len(src.pending); n > 0 {
			top.raise(src.pending[n-1].Source.Sequence)
		}
		switch {
		case !top.ok, src.has && !top.beyond(src.last):
			return
		case !src.has && src.asked.ok:
			src.has, src.last = true, src.asked.n // there was nothing to be had
		case !src.has || !src.asked.beyond(src.last):
			a.recover(src, top)
			return
		case len(src.pending) > 0 && int32(src.pending[0].Source.Sequence-src.asked.n) <= 0:
			a.next(src)
		default:
			a.missed(src, src.asked.n-src.last)
			src.last = src.asked.n
		}
	}
}

// recover orders a query for what is missing of a source up to top; mu is held.
func (a *AdvancedSubscriber) recover(src *source, top number) {
	src.queries++
	src.asking = top
	var parameters string
	if src.has {
		parameters = fmt.Sprintf("_anyke;_sn=%d..%d", src.last+1, top.n)
	} else {
		parameters = fmt.Sprintf("_anyke;_sn=..%d;_max=%d", top.n, max(a.opts.History, 1))
	}
	a.orders = append(a.orders, order{src, fmt.Sprintf("%s/@adv/*/%s/%d/**", a.key, src.id.id, src.id.entity), parameters})
}
