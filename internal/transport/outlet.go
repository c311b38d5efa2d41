package transport

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/arena"
	"github.com/tagus-ros/tagus/qos"
)

// QueueLimit is the largest number of messages one queue between a publisher
// and a subscription holds: the depth of KEEP_ALL, and the bound of KEEP_LAST.
const QueueLimit = 4096

// ErrClosed says that the endpoint was closed.
var ErrClosed = errors.New("closed")

// ErrForm is what Outlet.Send answers when a reader that came meanwhile needs
// a form that the message lacks. Nothing was accepted: add it and send again.
var ErrForm = errors.New("a form of the message is missing")

// ErrNoPeer says that the endpoint that a message is for is not there.
var ErrNoPeer = errors.New("the endpoint that the message is for is gone")

// QueueFullError says that a queue that refuses rather than drops has no room for one
// more message: that of a keep-all subscription, or of requests or answers. Nothing was
// accepted.
type QueueFullError struct {
	Topic string
	Limit int // messages
}

func (e *QueueFullError) Error() string {
	return fmt.Sprintf("%s: the reader's queue is full: limit queue_depth = %d messages", e.Topic, e.Limit)
}

// Outlet is the publisher's end of a topic. It is safe for concurrent use.
type Outlet struct {
	Endpoint graph.Endpoint

	bytes    bool  // messages have no Go value: every reader gets bytes
	lifespan int64 // ns; 0: for ever
	refuses  bool  // a message for which some reader has no room is refused

	wants  atomic.Uint32 // Form bits of all links and the history
	paths  atomic.Uint32 // how many links there are
	change Broadcast     // links came or went

	mu     sync.Mutex
	seq    uint64
	links  []attached
	kept   []kept // history, oldest first from keptAt; grows to the depth
	keptAt int
	keptN  int
	gone   LinkCounts // of links that were removed
	closed bool
}

// attached is a live link with the endpoint at its other end.
type attached struct {
	Link
	peer graph.GID
	sent uint64 // messages to this peer alone: they are numbered on their own
}

// kept is one message of the history.
type kept struct {
	slot   *arena.Slot
	length int
	seq    uint64
	source int64
	stamp  int64
}

// NewOutlet makes the publisher's end for e. With transient-local durability
// it keeps the newest Depth messages for late joiners.
func NewOutlet(e graph.Endpoint) *Outlet {
	o := &Outlet{Endpoint: e, refuses: e.Kind != graph.KindPublisher || e.QoS.History == qos.KeepAll}
	if e.QoS.Lifespan != qos.Infinite {
		o.lifespan = int64(e.QoS.Lifespan)
	}
	if e.QoS.Durability == qos.TransientLocal {
		o.kept = make([]kept, min(firstKept, QueueDepth(e.QoS)))
		o.wants.Store(uint32(FormBytes))
	}
	return o
}

// firstKept is for how many messages a history has room at first. Many publishers keep a
// thousand and send a handful, as those of logs do.
const firstKept = 8

// QueueDepth is how many messages a queue with profile q holds.
func QueueDepth(q qos.Profile) int {
	if q.History == qos.KeepAll {
		return QueueLimit
	}
	return min(max(q.Depth, 1), QueueLimit)
}

// PendingCalls is how many answers wait for a client at most, and so how many calls of
// one client can be under way.
const PendingCalls = 256

// Capacity is how many messages a queue to the endpoint e holds.
func Capacity(e *graph.Endpoint) int {
	if e.Kind == graph.KindClient {
		return PendingCalls
	}
	return QueueDepth(e.QoS)
}

// BytesOnly says that the owner knows no Go type: it has no Value to give, and readers in
// the process get bytes. It is called before the outlet is made known to a path.
func (o *Outlet) BytesOnly() { o.bytes = true }

// GivesBytesOnly reports whether BytesOnly was called.
func (o *Outlet) GivesBytesOnly() bool { return o.bytes }

// OnChange has f called when links come or go; see Broadcast.Hook. It is set before the
// outlet is made known to a path.
func (o *Outlet) OnChange(f func()) { o.change.Hook(f) }

// History is how many kept messages a subscription with profile sub gets when
// it joins a publisher with profile pub.
func History(pub, sub qos.Profile) int {
	if pub.Durability != qos.TransientLocal || sub.Durability != qos.TransientLocal {
		return 0
	}
	return QueueDepth(sub)
}

// Wants reports in which forms messages are wanted now; 0 means nobody is
// there and nothing is kept.
func (o *Outlet) Wants() Form { return Form(o.wants.Load()) }

// Links is how many subscriptions are matched and live.
func (o *Outlet) Links() int { return int(o.paths.Load()) }

// Collect takes back what readers have returned, so that the slot returned
// last is the next to be filled.
func (o *Outlet) Collect() {
	o.mu.Lock()
	for _, l := range o.links {
		l.Collect()
	}
	o.mu.Unlock()
}

// Send accepts m: it gives it the next sequence number, keeps it if the
// durability says so, and hands it to every link. The caller's references stay
// the caller's. Errors: ErrClosed, ErrForm, *QueueFullError; then nothing was
// accepted.
func (o *Outlet) Send(m *Message) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return ErrClosed
	}
	if w := Form(o.wants.Load()); m.Slot == nil && !m.NoSlot && (w&FormBytes != 0 || w != 0 && m.Value == nil) {
		return ErrForm
	}
	if o.refuses && !o.roomLocked() {
		return o.fullError()
	}
	o.seq++
	m.Sequence, m.Lifespan = o.seq, o.lifespan
	if m.Slot != nil {
		stampSlot(m, &o.Endpoint.GID)
		if o.kept != nil {
			o.keep(m)
		}
	}
	for i := range o.links {
		if l := &o.links[i]; o.Endpoint.Kind != graph.KindClient || l.Room() {
			l.Push(m)
		}
	}
	return nil
}

// roomLocked reports whether a message would be taken: by every keep-all subscription, or
// by at least one server, for a request that another has no room for still gets its answer.
func (o *Outlet) roomLocked() bool {
	client := o.Endpoint.Kind == graph.KindClient
	for i := range o.links {
		if room := o.links[i].Room(); room == client {
			return room
		}
	}
	return !client || len(o.links) == 0
}

// Shed takes back the oldest queued message of the subscription that has the most waiting,
// since the arena is full: one that does not take its messages must not cost the others
// theirs. It reports whether there was one.
func (o *Outlet) Shed() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	var most interface{ Shed() bool }
	n := 1 // the newest message of a subscription stays
	for i := range o.links {
		var c LinkCounts
		o.links[i].Counts(&c)
		if s, ok := o.links[i].Link.(interface{ Shed() bool }); ok && c.Queued > n {
			most, n = s, c.Queued
		}
	}
	return most != nil && most.Shed()
}

// SendTo accepts m for the endpoint peer alone, as answers are; such messages are
// numbered for each peer on its own. Errors as Send, and ErrNoPeer when that endpoint is
// not linked (any more).
func (o *Outlet) SendTo(peer graph.GID, m *Message) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return ErrClosed
	}
	for i := range o.links {
		l := &o.links[i]
		if l.peer != peer {
			continue
		}
		if m.Slot == nil && !m.NoSlot && (m.Value == nil || l.Takes()&FormBytes != 0) {
			return ErrForm
		}
		if !l.Room() {
			return o.fullError()
		}
		l.sent++
		m.Sequence = l.sent
		if m.Slot != nil {
			stampSlot(m, &o.Endpoint.GID)
		}
		l.Push(m)
		return nil
	}
	return ErrNoPeer
}

// Takes reports in which forms the endpoint peer takes messages; 0 if it is not linked.
func (o *Outlet) Takes(peer graph.GID) Form {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.links {
		if o.links[i].peer == peer {
			return o.links[i].Takes()
		}
	}
	return 0
}

// Peers appends the endpoints that are linked now.
func (o *Outlet) Peers(to []graph.GID) []graph.GID {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.links {
		to = append(to, o.links[i].peer)
	}
	return to
}

func (o *Outlet) fullError() error {
	return &QueueFullError{Topic: o.Endpoint.Name, Limit: QueueDepth(o.Endpoint.QoS)}
}

// takes is in which form a link gets messages.
func (o *Outlet) takes(l Link) Form {
	if o.bytes {
		return FormBytes
	}
	return l.Takes()
}

// keep puts m into the history in place of the oldest. Called under mu.
func (o *Outlet) keep(m *Message) {
	m.Slot.Ref()
	k := kept{m.Slot, m.Length, m.Sequence, m.Source, m.Stamp}
	if depth := QueueDepth(o.Endpoint.QoS); o.keptN == len(o.kept) && o.keptN < depth {
		grown := make([]kept, min(2*o.keptN, depth))
		copy(grown, o.kept) // the oldest is the first until the history is full
		o.kept = grown
	}
	if o.keptN < len(o.kept) {
		o.kept[(o.keptAt+o.keptN)%len(o.kept)] = k
		o.keptN++
		return
	}
	o.kept[o.keptAt].slot.Unref()
	o.kept[o.keptAt] = k
	o.keptAt = (o.keptAt + 1) % len(o.kept)
}

// Attach makes l live, whose other end is the endpoint peer. The newest min(history, want) kept messages go to it
// first; as they are handed over by reference, under the same mutex as the
// live stream, there is neither gap nor duplicate between the two.
func (o *Outlet) Attach(l Link, peer graph.GID, want int) error {
	o.mu.Lock()
	if o.closed {
		o.mu.Unlock()
		return ErrClosed
	}
	n := min(want, o.keptN)
	first := o.seq + 1
	if n > 0 {
		first = o.kept[(o.keptAt+o.keptN-n)%len(o.kept)].seq
	}
	l.Begin(first)
	for i := o.keptN - n; i < o.keptN; i++ {
		k := &o.kept[(o.keptAt+i)%len(o.kept)]
		l.Push(&Message{Sequence: k.seq, Source: k.source, Stamp: k.stamp, Slot: k.slot, Length: k.length, Lifespan: o.lifespan})
	}
	o.links = append(o.links, attached{Link: l, peer: peer})
	o.wants.Store(uint32(o.Wants() | o.takes(l)))
	o.paths.Store(uint32(len(o.links)))
	o.mu.Unlock()
	o.change.Fire()
	return nil
}

// Detach removes l and takes back what is queued in it: its reader is gone or
// going. It reports whether l was there.
func (o *Outlet) Detach(l Link) bool {
	o.mu.Lock()
	found := false
	for i, x := range o.links {
		if x.Link == l {
			o.links = append(o.links[:i:i], o.links[i+1:]...)
			found = true
			break
		}
	}
	if found {
		l.Empty()
		o.retireLocked(l)
		w := Form(0)
		if o.kept != nil && !o.closed {
			w = FormBytes
		}
		for _, x := range o.links {
			w |= o.takes(x.Link)
		}
		o.wants.Store(uint32(w))
		o.paths.Store(uint32(len(o.links)))
	}
	o.mu.Unlock()
	if found {
		o.change.Fire()
	}
	return found
}

// retireLocked keeps what l counted. What is still queued or lent is not this outlet's
// affair any more.
func (o *Outlet) retireLocked(l Link) {
	var c LinkCounts
	l.Counts(&c)
	c.Queued, c.Lent = 0, 0
	o.gone.add(c)
}

// With runs f under the mutex that all methods of the links are called under.
func (o *Outlet) With(f func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f()
}

// Close ends the outlet: its links are told the last sequence number and
// removed, its history is given up. The paths see the links through until their
// readers have drained them.
func (o *Outlet) Close() {
	o.mu.Lock()
	if o.closed {
		o.mu.Unlock()
		return
	}
	o.closed = true
	for i := range o.links {
		l := &o.links[i]
		l.End(o.seq + l.sent) // one of the two is zero
		o.retireLocked(l.Link)
	}
	o.links = nil
	for i := range o.keptN {
		o.kept[(o.keptAt+i)%len(o.kept)].slot.Unref()
	}
	o.kept, o.keptN = nil, 0
	o.wants.Store(0)
	o.paths.Store(0)
	o.mu.Unlock()
	o.change.Fire()
}

// Counts returns how many messages were accepted and what the links counted,
// after taking back what was returned.
func (o *Outlet) Counts() (accepted uint64, c LinkCounts) {
	o.mu.Lock()
	defer o.mu.Unlock()
	c = o.gone
	for _, l := range o.links {
		l.Collect()
		l.Counts(&c)
	}
	return o.seq, c
}

// Accepted is how many messages were accepted so far.
func (o *Outlet) Accepted() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.seq
}

// WaitLinks returns when at least n subscriptions are live, with ctx's error
// when it ends before, or with ErrClosed.
func (o *Outlet) WaitLinks(ctx context.Context, n int) error {
	return o.change.Wait(ctx, func() (bool, error) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.closed {
			return false, ErrClosed
		}
		return len(o.links) >= n, nil
	})
}
