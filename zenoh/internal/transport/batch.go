package transport

import "github.com/tagus-ros/tagus/zenoh/internal/wire"

// prefix is the number of bytes before a batch on a stream link that hold its length.
const prefix = 2

// chunk is an entry of a priority's queue: a batch of small messages or one large message.
type chunk struct {
	next  *chunk
	buf   []byte // a batch with its prefix; nil for a large message
	large *large // nil for a batch

	framed   bool // buf ends in a frame that can take another message
	reliable bool // of that frame
	extra    bool // beyond the queue's depth: declarations must not wait
}

// fits reports whether a batch of at most limit bytes can take n more.
func (c *chunk) fits(n, limit int) bool { return len(c.buf)+n <= limit }

// seal writes the prefix.
func (c *chunk) seal() {
	n := len(c.buf) - prefix
	c.buf[0], c.buf[1] = byte(n), byte(n>>8)
	c.framed = false
}

// queue holds what one priority has to send, oldest first.
type queue struct {
	head, tail *chunk
	batches    int  // in the queue or being written, extra ones not counted
	congested  bool // something was dropped and no batch has come back since
	waiting    int  // senders that wait for a batch
	room       event
	sn         [2]uint32 // next sequence number: best effort, reliable
}

func (q *queue) push(c *chunk) {
	if q.tail == nil {
		q.head = c
	} else {
		q.tail.next = c
	}
	q.tail = c
}

func (q *queue) pop() *chunk {
	c := q.head
	if q.head = c.next; q.head == nil {
		q.tail = nil
	}
	c.next = nil
	return c
}

// remove takes c out from wherever it is.
func (q *queue) remove(c *chunk) {
	var before *chunk
	for x := q.head; x != nil; before, x = x, x.next {
		if x != c {
			continue
		}
		if before == nil {
			q.head = c.next
		} else {
			before.next = c.next
		}
		if q.tail == c {
			q.tail = before
		}
		c.next = nil
		return
	}
}

func (q *queue) take(reliable bool, n uint32) (sn uint32) {
	i := 0
	if reliable {
		i = 1
	}
	sn = q.sn[i]
	q.sn[i] = (sn + n) & wire.SNMask
	return sn
}
