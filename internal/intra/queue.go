package intra

import (
	"sync"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/transport"
	"github.com/tagus-ros/tagus/internal/wake"
)

// queue joins one publisher with one subscription of the same process. It is
// the Link of the one and the Source of the other.
//
// Entries are numbered from 0; those below head were taken or made room,
// those from head to tail are queued. Claimed entries move to lent until the
// reader returns them.
type queue struct {
	gid     graph.GID
	keepAll bool
	area    *wake.Area
	leaf    int

	mu      sync.Mutex
	ring    []item
	head    uint64
	tail    uint64
	scanned uint64
	first   uint64 // first sequence number owed
	last    uint64 // newest accepted
	lent    []lease
	counts  transport.LinkCounts
}

type item struct {
	m transport.Message // its Value or its Slot is held by the entry
}

type lease struct {
	index uint64
	m     transport.Message
}

var _ transport.LocalPair = (*queue)(nil)

func newQueue(depth int, keepAll bool, gid graph.GID) *queue {
	return &queue{gid: gid, keepAll: keepAll, ring: make([]item, depth), lent: make([]lease, 0, 4)}
}

func (q *queue) Wire(area *wake.Area, leaf int) { q.area, q.leaf = area, leaf }

func (q *queue) Path() transport.Path  { return transport.PathIntra }
func (q *queue) Takes() transport.Form { return transport.FormAny }

// Push queues m by pointer, or its slot when it has no Value.
func (q *queue) Push(m *transport.Message) {
	q.mu.Lock()
	q.last = m.Sequence
	if m.Value == nil && m.Slot == nil {
		q.counts.NoSlot++
		q.mu.Unlock()
		return
	}
	if q.tail-q.head == uint64(len(q.ring)) {
		drop(&q.at(q.head).m)
		q.head++
		q.counts.Evicted++
	}
	it := q.at(q.tail)
	it.m = *m
	if m.Value != nil {
		it.m.Slot = nil
		m.Value.Hold()
	} else {
		m.Slot.Ref()
	}
	q.tail++
	q.mu.Unlock()
	q.area.Signal(q.leaf)
}

func (q *queue) at(index uint64) *item { return &q.ring[index%uint64(len(q.ring))] }

// drop gives up the reference that an entry holds.
func drop(m *transport.Message) {
	if m.Value != nil {
		m.Value.Drop()
	} else if m.Slot != nil {
		m.Slot.Unref()
	}
	m.Value, m.Slot = nil, nil
}

// Collect has nothing to do: what the reader returns is released at once.
func (q *queue) Collect() {}

func (q *queue) Room() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return !q.keepAll || q.tail-q.head < uint64(len(q.ring))
}

func (q *queue) Begin(first uint64) {
	q.mu.Lock()
	q.first, q.last = first, first-1
	q.mu.Unlock()
}

func (q *queue) End(last uint64) {
	q.mu.Lock()
	q.last = last
	q.mu.Unlock()
}

func (q *queue) Empty() {
	q.mu.Lock()
	for ; q.head < q.tail; q.head++ {
		drop(&q.at(q.head).m)
	}
	q.mu.Unlock()
}

func (q *queue) Counts(c *transport.LinkCounts) {
	q.mu.Lock()
	defer q.mu.Unlock()
	c.Queued += int(q.tail - q.head)
	c.Lent += len(q.lent)
	c.Evicted += q.counts.Evicted
	c.NoSlot += q.counts.NoSlot
}

func (q *queue) First() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.first
}

func (q *queue) Last() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.last
}

// Scan does not hold the mutex while it calls note, which may claim.
func (q *queue) Scan(note func(index uint64, stamp int64)) (uint64, error) {
	for {
		q.mu.Lock()
		if q.scanned < q.head {
			q.scanned = q.head
		}
		if q.scanned == q.tail {
			head := q.head
			q.mu.Unlock()
			return head, nil
		}
		index, stamp := q.scanned, q.at(q.scanned).m.Stamp
		q.scanned++
		q.mu.Unlock()
		note(index, stamp)
	}
}

// Claim moves the entry from the queue to the reader.
func (q *queue) Claim(index uint64, r *transport.Received) (bool, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if index != q.head || index == q.tail {
		return false, nil
	}
	it := q.at(index)
	q.head++
	q.lent = append(q.lent, lease{index, it.m})
	if r != nil {
		r.GID, r.Sequence, r.Source, r.Stamp = q.gid, it.m.Sequence, it.m.Source, it.m.Stamp
		r.Answers, r.Failed, r.Lifespan = it.m.Answers, it.m.Failed, it.m.Lifespan
		r.Value, r.Bytes = it.m.Value, nil
		if it.m.Slot != nil {
			v := it.m.Slot.View()
			r.Bytes = v[transport.CDROffset : transport.CDROffset+it.m.Length : transport.CDROffset+it.m.Length]
		}
	}
	it.m.Value, it.m.Slot = nil, nil
	return true, nil
}

// Return releases the reader's reference at once.
func (q *queue) Return(index uint64) {
	q.mu.Lock()
	var m transport.Message
	for i := range q.lent {
		if q.lent[i].index == index {
			m = q.lent[i].m
			last := len(q.lent) - 1
			q.lent[i] = q.lent[last]
			q.lent[last] = lease{}
			q.lent = q.lent[:last]
			break
		}
	}
	q.mu.Unlock()
	drop(&m)
}
