package transport

import (
	"fmt"
	"io"
	"sync/atomic"

	"github.com/tagus-ros/tagus/internal/clock"
	"github.com/tagus-ros/tagus/internal/pool"
	"github.com/tagus-ros/tagus/zenoh/internal/wire"
)

// readAhead is the size of the receive buffer: two whole batches, so that many small ones come with one read.
const readAhead = 2 * (wire.MaxBatch + 1)

// receiver is the reading side of a transport. Everything but the atomics
// belongs to the reading goroutine.
type receiver struct {
	in      io.Reader
	handler Handler
	limits  Limits
	batch   int
	qos     bool
	patch   bool
	buffers *pool.Pool

	// Readers of the batch and of a message out of fragments; here, because they escape into the handler.
	rdBatch, rdWhole wire.Reader

	lanes   [priorities][2]rxLane
	partial int // bytes held by messages under way
	counts  ReceiveCounts
	pub     receiveAtomics

	waitingSince atomic.Int64 // clock.Mono at the beginning of the present read; 0 while messages are handled
}

// ReceiveCounts are totals of a transport's receiving side.
type ReceiveCounts struct {
	Batches    uint64
	Bytes      uint64
	Reads      uint64 // system calls
	Messages   uint64
	Fragments  uint64
	Stale      uint64 // frames and fragments that came twice or late
	Incomplete uint64 // messages of which the peer sent only a part
	TooLarge   uint64 // messages beyond the limits
}

// receiveAtomics is what other goroutines see of ReceiveCounts.
type receiveAtomics struct {
	batches, bytes, reads, messages, fragments, stale, incomplete, tooLarge atomic.Uint64
}

func (r *receiver) publish() {
	r.pub.batches.Store(r.counts.Batches)
	r.pub.bytes.Store(r.counts.Bytes)
	r.pub.reads.Store(r.counts.Reads)
	r.pub.messages.Store(r.counts.Messages)
	r.pub.fragments.Store(r.counts.Fragments)
	r.pub.stale.Store(r.counts.Stale)
	r.pub.incomplete.Store(r.counts.Incomplete)
	r.pub.tooLarge.Store(r.counts.TooLarge)
}

func (r *receiver) stats() ReceiveCounts {
	return ReceiveCounts{r.pub.batches.Load(), r.pub.bytes.Load(), r.pub.reads.Load(), r.pub.messages.Load(),
		r.pub.fragments.Load(), r.pub.stale.Load(), r.pub.incomplete.Load(), r.pub.tooLarge.Load()}
}

func (r *receiver) start(initialSN uint32) {
	for i := range r.lanes {
		for j := range r.lanes[i] {
			r.lanes[i][j].last = (initialSN - 1) & wire.SNMask
		}
	}
	r.waitingSince.Store(clock.Mono())
}

// run reads until the link ends and says why.
func (r *receiver) run() error {
	buf := make([]byte, readAhead)
	begin, end := 0, 0 // what is read and not handled
	for {
		for end-begin >= prefix {
			n := int(buf[begin]) | int(buf[begin+1])<<8
			if n+prefix > r.batch {
				return &CloseError{Reason: wire.ReasonInvalid, Err: fmt.Errorf("batch of %d bytes, agreed on %d", n+prefix, r.batch)}
			}
			if end-begin < prefix+n {
				break
			}
			r.counts.Batches++
			if err := r.handle(buf[begin+prefix : begin+prefix+n]); err != nil {
				return err
			}
			begin += prefix + n
		}
		r.publish()
		if begin == end {
			begin, end = 0, 0
		} else if len(buf)-begin < r.batch {
			copy(buf, buf[begin:end])
			begin, end = 0, end-begin
		}
		r.waitingSince.Store(clock.Mono())
		n, err := r.in.Read(buf[end:])
		r.waitingSince.Store(0)
		if err != nil {
			return &CloseError{Remote: err == io.EOF, Err: err}
		}
		end += n
		r.counts.Reads++
		r.counts.Bytes += uint64(n)
	}
}

func invalid(err error) error { return &CloseError{Reason: wire.ReasonInvalid, Err: err} }

// handle takes one batch in.
func (r *receiver) handle(batch []byte) error {
	in := &r.rdBatch
	in.Reset(batch)
	for in.Len() > 0 {
		switch wire.MessageID(in.Peek()) {
		case wire.IDKeepAlive:
			wire.SkipKeepAlive(in)
		case wire.IDFrame:
			var f wire.Frame
			f.Decode(in)
			if err := r.frame(in, &f); err != nil {
				return err
			}
		case wire.IDFragment:
			var f wire.Fragment
			f.Decode(in)
			if in.Failed() {
				break
			}
			l, err := r.lane(f.Priority, f.Reliable)
			if err != nil {
				return err
			}
			r.counts.Fragments++
			if whole := r.fragment(l, &f, in.Rest()); whole != nil {
				if err := r.whole(whole, Lane{Priority: f.Priority, Reliable: f.Reliable}); err != nil {
					return err
				}
			}
		case wire.IDClose:
			var m wire.Close
			if m.Decode(in); !in.Failed() {
				return &CloseError{Remote: true, Reason: m.Reason}
			}
		case wire.TransportOAM:
			var m wire.OAM
			m.Decode(in)
		default:
			in.Fail("unknown transport message")
		}
	}
	if in.Failed() {
		return invalid(in.Err())
	}
	return nil
}

func (r *receiver) lane(prio wire.Priority, reliable bool) (*rxLane, error) {
	if !r.qos && prio != wire.PriorityData {
		return nil, invalid(fmt.Errorf("priority %d on a link without priorities", prio))
	}
	i := 0
	if reliable {
		i = 1
	}
	return &r.lanes[prio][i], nil
}

func (r *receiver) frame(in *wire.Reader, f *wire.Frame) error {
	if in.Failed() {
		return nil // the caller looks
	}
	l, err := r.lane(f.Priority, f.Reliable)
	if err != nil {
		return err
	}
	ok, _ := l.accept(f.SN)
	if !ok {
		r.counts.Stale++
	}
	lane := Lane{Priority: f.Priority, Reliable: f.Reliable}
	for in.Len() > 0 && wire.IsNetwork(in.Peek()) {
		if !ok {
			wire.SkipNetwork(in)
			continue
		}
		r.counts.Messages++
		r.handler.Message(in, lane, nil)
	}
	return nil
}

// whole takes in a message that came in fragments.
func (r *receiver) whole(b []byte, lane Lane) error {
	own := Adopt(b, r.buffers)
	defer own.Unref()
	in := &r.rdWhole
	in.Reset(b)
	if !wire.IsNetwork(in.Peek()) {
		return invalid(fmt.Errorf("fragments hold message %#02x", in.Peek()))
	}
	r.counts.Messages++
	r.handler.Message(in, lane, own)
	if in.Failed() {
		return invalid(in.Err())
	}
	return nil
}
