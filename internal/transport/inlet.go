package transport

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/clock"
	"github.com/tagus-ros/tagus/internal/wake"
	"github.com/tagus-ros/tagus/qos"
)

// Source is one matched pair as its subscription sees it: a queue that the
// publisher's Link fills. All methods are called under the Inlet's mutex.
type Source interface {
	// First is the sequence number that the publisher owes first, once the
	// pair is live.
	First() uint64
	// Last is the newest sequence number that the publisher has accepted for
	// this pair, queued or not; 0 when it cannot be known.
	Last() uint64
	// Scan calls note with each message that came since the last call, oldest
	// first, and returns the index below which nothing is queued any more. An
	// error means that the other side broke the protocol.
	Scan(note func(index uint64, stamp int64)) (head uint64, err error)
	// Claim leases message index and fills r with it. False: the publisher
	// took it back to make room. An error means that the other side broke the
	// protocol.
	Claim(index uint64, r *Received) (bool, error)
	// Return gives a lease back.
	Return(index uint64)
}

// Poller is what a leaf stands for: something that looks what has come in.
type Poller interface{ Poll() }

// Station is where an Inlet is woken: an executor, or a pull subscription's
// own place to sleep.
type Station interface {
	// Attach reserves a leaf for p; its bit makes p.Poll run.
	Attach(p Poller) (leaf int, err error)
	Detach(leaf int)
	// Area is what publishers signal, and Offset where it lies in the
	// process's inbox, for those in other processes.
	Area() *wake.Area
	Offset() uint64
	SummaryWords() int
	// Ready says that the Inlet has something to take. It is called from Poll.
	Ready()
}

// Feed is one Source with the Inlet's account of it.
type Feed struct {
	in      *Inlet
	src     Source
	gid     graph.GID
	path    Path
	leaf    int
	live    bool   // first is known, scanning may begin
	ended   bool   // the publisher is gone; what is queued is still taken
	drained bool   // ended, and all that was queued has been noted
	dropped bool   // nothing more is taken
	idle    bool   // reported to onIdle
	floor   uint64 // nothing below is queued
	stamp   int64  // newest noted: what is queued behind it counts as no older
	leases  int
	note    func(index uint64, stamp int64) // bound once: Scan allocates nothing
	onIdle  func()
	onFault func(error)
}

// Leaf is the bit by which the publisher signals this feed.
func (f *Feed) Leaf() int { return f.leaf }

// InletCounts is what a subscription counted.
type InletCounts struct {
	Received  uint64 // taken
	Lost      uint64 // owed and never taken: holes in the sequence numbers
	Evicted   uint64 // of those, taken out here to keep the newest Depth over several publishers
	Expired   uint64 // older than their lifespan, discarded
	Duplicate uint64 // seen before from the same publisher, discarded
	Faults    uint64 // publishers that broke the protocol
	Waiting   int    // messages in its queues
	Leases    int    // samples in callbacks or retained
	Feeds     int    // live publishers
	Known     int    // publishers whose sequence numbers are remembered
}

// Inlet is the subscription's end of a topic. It is safe for concurrent use.
type Inlet struct {
	Endpoint   graph.Endpoint
	NeedsBytes bool // its owner knows no Go type: it can use no Value

	station Station
	depth   int
	change  Broadcast // publishers came or went

	mu        sync.Mutex
	order     order
	feeds     []*Feed
	next      map[graph.GID]uint64 // next sequence number expected of a publisher
	maxLeases int
	leases    int
	starved   bool // something waits for a lease
	leaving   int  // feeds that are ended or dropped and not yet idle
	self      int  // leaf by which a returned lease wakes the station
	closed    bool
	counts    InletCounts
}

// NewInlet makes the subscription's end for e, woken at st. At most leases
// samples are out at a time; when they are, further messages wait in the queue.
func NewInlet(e graph.Endpoint, st Station, leases int) (*Inlet, error) {
	in := &Inlet{
		Endpoint: e, station: st, depth: Capacity(&e), maxLeases: leases,
		next: make(map[graph.GID]uint64),
	}
	in.order.grow(in.depth + 1)
	var err error
	if in.self, err = st.Attach(selfPoll{in}); err != nil {
		return nil, err
	}
	return in, nil
}

// selfPoll makes the station look at the inlet again after a lease came back.
type selfPoll struct{ in *Inlet }

func (s selfPoll) Poll() {
	if s.in.Waiting() {
		s.in.station.Ready()
	}
}

// OnChange has f called when publishers come or go; see Broadcast.Hook. It is set before
// the inlet is made known to a path.
func (in *Inlet) OnChange(f func()) { in.change.Hook(f) }

// Linked reports whether the endpoint gid is live.
func (in *Inlet) Linked(gid graph.GID) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, f := range in.feeds {
		if f.gid == gid && f.live && !f.ended && !f.dropped {
			return true
		}
	}
	return false
}

// Station is where this inlet is woken.
func (in *Inlet) Station() Station { return in.station }

// Depth is the number of messages that one of its queues holds.
func (in *Inlet) Depth() int { return in.depth }

// MaxLeases is how many samples can be out at a time.
func (in *Inlet) MaxLeases() int { return in.maxLeases }

// AddFeed makes a feed for the publisher gid and reserves its leaf; Start makes
// it live. onIdle is called once, without the mutex, when an ended or dropped
// feed has nothing queued and no lease left; onFault when the other side broke
// the protocol, after the feed was dropped. Both may be nil.
func (in *Inlet) AddFeed(src Source, gid graph.GID, path Path, onIdle func(), onFault func(error)) (*Feed, error) {
	f := &Feed{in: in, src: src, gid: gid, path: path, onIdle: onIdle, onFault: onFault}
	f.note = func(index uint64, stamp int64) { in.noteLocked(f, index, stamp) }
	leaf, err := in.station.Attach(f)
	if err != nil {
		return nil, err
	}
	f.leaf = leaf
	in.mu.Lock()
	closed := in.closed
	if !closed {
		in.feeds = append(in.feeds, f)
	}
	in.mu.Unlock()
	if closed {
		// Not under the mutex: Detach waits for a Poll, which takes it.
		in.station.Detach(leaf)
		return nil, ErrClosed
	}
	return f, nil
}

// Start makes f live: its Source's First is known now.
func (in *Inlet) Start(f *Feed) {
	in.mu.Lock()
	if !f.live && !f.dropped {
		f.live = true
		if _, seen := in.next[f.gid]; !seen {
			in.next[f.gid] = f.src.First()
		}
	}
	in.mu.Unlock()
	in.change.Fire()
	in.station.Area().Signal(f.leaf)
}

// End says that f's publisher is gone: what is queued is still taken. If that is nothing,
// f is over at once: a pull subscription may not be looked at for long, and the
// publisher's process would wait for it.
func (in *Inlet) End(f *Feed) {
	in.mu.Lock()
	if !f.ended && !f.dropped {
		in.leaving++
	}
	f.ended = true
	fault := in.scanLocked(f)
	over := in.overLocked()
	in.mu.Unlock()
	in.change.Fire()
	if fault != nil && f.onFault != nil {
		f.onFault(fault)
	}
	finish(over)
	in.station.Area().Signal(f.leaf)
}

// Over reports whether f has ended and nothing of it is queued or out.
func (in *Inlet) Over(f *Feed) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return f.idle
}

// Drop gives up f with all that is queued in it; leases stay until returned.
func (in *Inlet) Drop(f *Feed) {
	in.mu.Lock()
	in.dropLocked(f)
	over := in.overLocked()
	in.mu.Unlock()
	in.change.Fire()
	finish(over)
}

// Forget drops what is remembered of publisher gid, which will not come back.
func (in *Inlet) Forget(gid graph.GID) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, f := range in.feeds {
		if f.gid == gid {
			return
		}
	}
	delete(in.next, gid)
}

func (in *Inlet) dropLocked(f *Feed) {
	if !f.ended && !f.dropped {
		in.leaving++
	}
	f.dropped = true
	in.order.forget(f, ^uint64(0))
}

// overLocked takes the feeds off the list that became idle, whatever the reason: their
// last message may have been taken, have made room for one of another publisher, or have
// been a duplicate.
func (in *Inlet) overLocked() (over []*Feed) {
	if in.leaving == 0 {
		return nil
	}
	for _, f := range in.feeds {
		if f.leases > 0 || !f.dropped && !(f.drained && in.queuedLocked(f) == 0) {
			continue
		}
		f.idle = true
		if !f.dropped {
			in.settleLocked(f)
		}
		over = append(over, f)
	}
	if len(over) > 0 {
		in.leaving -= len(over)
		in.feeds = slices.DeleteFunc(in.feeds, func(f *Feed) bool { return f.idle })
	}
	return over
}

// settleLocked counts what an ended publisher accepted and f never got.
func (in *Inlet) settleLocked(f *Feed) {
	if last, next := f.src.Last(), in.next[f.gid]; f.live && last >= next && last-next < maxGap {
		in.counts.Lost += last - next + 1
		in.next[f.gid] = last + 1
	}
}

func (in *Inlet) queuedLocked(f *Feed) int {
	n := 0
	for i := range in.order.n {
		if in.order.at(i).feed == f {
			n++
		}
	}
	return n
}

// finish sees feeds off that are over. It is called without the mutex.
func finish(over []*Feed) {
	for _, f := range over {
		f.in.station.Detach(f.leaf)
		if f.onIdle != nil {
			f.onIdle()
		}
		f.in.change.Fire()
	}
}

// Poll notes what came into f. It is the executor's entry.
func (f *Feed) Poll() {
	in := f.in
	in.mu.Lock()
	fault := in.scanLocked(f)
	waiting := in.order.n > 0 && in.haveLeaseLocked()
	over := in.overLocked()
	in.mu.Unlock()
	if fault != nil && f.onFault != nil {
		f.onFault(fault)
	}
	finish(over)
	if waiting {
		in.station.Ready()
	}
}

func (in *Inlet) haveLeaseLocked() bool {
	if in.leases < in.maxLeases {
		return true
	}
	in.starved = true
	return false
}

func (in *Inlet) scanLocked(f *Feed) error {
	if f.idle || f.dropped {
		return nil // its memory may be unmapped
	}
	f.drained = f.ended
	if !f.live {
		return nil
	}
	head, err := f.src.Scan(f.note)
	if err != nil {
		return in.faultLocked(f, err)
	}
	if head > f.floor {
		// The publisher took messages back that were noted here.
		in.order.forget(f, head)
		f.floor = head
	}
	return nil
}

func (in *Inlet) faultLocked(f *Feed, err error) error {
	in.counts.Faults++
	in.dropLocked(f)
	return fmt.Errorf("subscription %s: publisher %s: %w", in.Endpoint.Name, f.gid, err)
}

// noteLocked puts one message into the order; above the depth the oldest of
// all feeds goes.
func (in *Inlet) noteLocked(f *Feed, index uint64, stamp int64) {
	// Goroutines that publish at once take their stamps before their turn; a queue is
	// taken in its own order all the same.
	f.stamp = max(f.stamp, stamp)
	in.order.insert(orderEntry{f.stamp, index, f})
	for in.order.n > in.depth {
		e := in.order.pop()
		if ok, _ := e.feed.src.Claim(e.index, nil); ok {
			e.feed.floor = e.index + 1
			e.feed.src.Return(e.index)
			in.counts.Evicted++
		}
	}
}

// Nudge has the station look at the inlet again.
func (in *Inlet) Nudge() { in.station.Area().Signal(in.self) }

// Waiting reports whether Take would find something.
func (in *Inlet) Waiting() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.order.n > 0 && in.haveLeaseLocked()
}

// Take leases the oldest message into r. It reports whether there was one and
// whether there is more. r must be given to Release, unless ok is false.
func (in *Inlet) Take(r *Received) (ok, more bool) {
	in.mu.Lock()
	var faulty *Feed
	var fault error
	for in.order.n > 0 && !in.closed && fault == nil {
		if !in.haveLeaseLocked() {
			break
		}
		e := in.order.pop()
		if ok, fault = in.claimLocked(e.feed, e.index, r); ok {
			break
		}
		faulty = e.feed
	}
	more = in.order.n > 0 && (fault != nil || ok && in.haveLeaseLocked())
	over := in.overLocked()
	in.mu.Unlock()
	if fault != nil && faulty.onFault != nil {
		faulty.onFault(fault)
	}
	finish(over)
	if fault != nil && more {
		return in.Take(r)
	}
	return ok, more
}

// maxGap is the largest hole in sequence numbers that is believed: a publisher at 1 MHz
// takes 12 days for it.
const maxGap = 1 << 40

// claimLocked leases message index of f into r. False: it was taken back, was seen
// before, or is what the fault is about.
func (in *Inlet) claimLocked(f *Feed, index uint64, r *Received) (ok bool, fault error) {
	claimed, err := f.src.Claim(index, r)
	if err != nil {
		f.src.Return(index)
		return false, in.faultLocked(f, err)
	}
	if !claimed {
		return false, nil
	}
	f.floor = index + 1
	r.Lost = 0
	// Answers are numbered for each link anew, and known by what they answer.
	if next := in.next[f.gid]; r.Answers == 0 {
		if r.Sequence < next {
			in.counts.Duplicate++
			in.returnLocked(f, index, r)
			return false, nil
		}
		if r.Lost = r.Sequence - next; r.Lost > maxGap {
			f.src.Return(index)
			return false, in.faultLocked(f, fmt.Errorf("sequence number %d after %d", r.Sequence, next))
		}
		in.counts.Lost += r.Lost
		in.next[f.gid] = r.Sequence + 1
	}
	r.Arrived, r.Taken = clock.Now()
	if r.Lifespan > 0 && r.Arrived-r.Stamp > r.Lifespan {
		in.counts.Expired++
		in.returnLocked(f, index, r)
		return false, nil
	}
	in.counts.Received++
	in.leases++
	f.leases++
	r.Path, r.feed, r.index = f.path, f, index
	return true, nil
}

func (in *Inlet) returnLocked(f *Feed, index uint64, r *Received) {
	r.Bytes, r.Value = nil, nil
	f.src.Return(index)
}

// Release gives back what Take leased. Any goroutine may call it.
func (in *Inlet) Release(r *Received) {
	f := r.feed
	in.mu.Lock()
	r.feed = nil
	in.returnLocked(f, r.index, r)
	in.leases--
	f.leases--
	wake := in.starved && in.order.n > 0
	in.starved = false
	over := in.overLocked()
	in.mu.Unlock()
	finish(over)
	if wake {
		in.station.Area().Signal(in.self)
	}
}

// Counts returns what was counted so far.
func (in *Inlet) Counts() InletCounts {
	in.mu.Lock()
	defer in.mu.Unlock()
	c := in.counts
	c.Waiting, c.Leases, c.Known = in.order.n, in.leases, len(in.next)
	for _, f := range in.feeds {
		if f.live && !f.ended && !f.dropped {
			c.Feeds++
		}
	}
	return c
}

// WaitFeeds returns when at least n publishers are live, with ctx's error when
// it ends before, or with ErrClosed.
func (in *Inlet) WaitFeeds(ctx context.Context, n int) error {
	return in.change.Wait(ctx, func() (bool, error) {
		in.mu.Lock()
		closed := in.closed
		in.mu.Unlock()
		if closed {
			return false, ErrClosed
		}
		return in.Counts().Feeds >= n, nil
	})
}

// Close ends the inlet: nothing more is taken, leases stay until returned. The paths
// then close the pairs from this side.
func (in *Inlet) Close() {
	in.mu.Lock()
	if in.closed {
		in.mu.Unlock()
		return
	}
	in.closed = true
	for _, f := range in.feeds {
		in.dropLocked(f)
	}
	over := in.overLocked()
	in.mu.Unlock()
	finish(over)
	in.station.Detach(in.self)
	in.change.Fire()
}

// Done reports whether the inlet is closed and no lease is out.
func (in *Inlet) Done() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.closed && in.leases == 0
}

// Refuses reports whether a pair refuses a message rather than dropping the oldest when
// its queue is full: a reliable pair that keeps all, and requests. (Of answers the oldest
// goes: that is one whose caller has given up.)
func Refuses(from, to *graph.Endpoint) bool {
	if from.Kind == graph.KindClient || from.Kind == graph.KindService {
		return from.Kind == graph.KindClient
	}
	return from.QoS.History == qos.KeepAll && to.QoS.History == qos.KeepAll &&
		from.QoS.Reliability == qos.Reliable && to.QoS.Reliability == qos.Reliable
}

// MaxLeases is the largest number of samples of one subscription that can be out at
// a time.
const MaxLeases = 256
