package tagus

import (
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/tagus-ros/tagus/cdr"
	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/transport"
	"github.com/tagus-ros/tagus/rosidl"
)

// Path is how a message came.
type Path = transport.Path

// The paths, fastest first.
const (
	PathIntra = transport.PathIntra // in process, by pointer
	PathSHM   = transport.PathSHM   // same host, through shared memory
	PathZenoh = transport.PathZenoh // network
)

// MessageInfo is what is known of a message besides its content. It is the same on
// every path.
type MessageInfo struct {
	SourceTime   time.Time // when it was published, by the publisher's system clock
	ReceivedTime time.Time // when it was taken here, by this system clock
	Sequence     uint64    // number of the message at its publisher, from 1
	Publisher    graph.GID
	Path         Path
	Latency      time.Duration // from the start of publish until it was taken; same host only
}

// Sample is one received message, lent to a callback or taken from a pull
// subscription. Msg is read-only and valid until the callback returns or, once
// retained or taken, until Release. A write into a message that lies in shared
// memory, made in the callback of a subscription, is caught and reported; elsewhere it ends the
// process.
type Sample[T any] struct {
	Msg  *T
	Info MessageInfo

	rx    *receiver[T]
	rec   transport.Received
	state atomic.Int32
	own   *T // decoded here: aliasing the slot, or a private copy
	dec   cdr.Decoder
}

const (
	sampleFree int32 = iota
	sampleLent
	sampleRetained
)

// Retain keeps the sample past the callback, until Release, and returns it. A
// subscription has room for 8 retained samples (see [WithRetained]) besides the one
// in the callback; while all are out, further messages wait in its queue, and what
// does not fit there is counted as lost.
func (s *Sample[T]) Retain() *Sample[T] {
	s.state.CompareAndSwap(sampleLent, sampleRetained)
	return s
}

// Release ends a retained or taken sample. It may be called from any goroutine; more
// than one call does nothing, as long as the sample was not handed out again.
func (s *Sample[T]) Release() {
	if s.state.CompareAndSwap(sampleRetained, sampleFree) {
		s.rx.finish(s)
	}
}

// decode fills Msg from what was received, in place where it can.
func (s *Sample[T]) decode(ts *rosidl.TypeSupport[T], private bool) error {
	r := &s.rec
	if r.Value != nil {
		s.Msg = (*T)(r.Value.Ptr)
		// The last reference to a message may be written to; otherwise a private
		// copy is made.
		if private && !r.Value.Sole() {
			s.rx.addCopied(ts.Size(s.Msg))
			ts.Copy(s.mine(), s.Msg)
			s.Msg = s.own
		}
		return nil
	}
	if ts.Flat > 0 && !private && flatIn(r.Bytes, ts.Flat, unsafe.Sizeof(*s.Msg)) {
		s.Msg = (*T)(unsafe.Pointer(&r.Bytes[cdr.EncapsulationSize]))
		return nil
	}
	s.Msg = s.mine()
	if s.rx.raw != nil {
		s.rx.raw(s.Msg, r.Bytes)
		return nil
	}
	s.dec.Reset(r.Bytes)
	if private {
		s.rx.addCopied(len(r.Bytes) - cdr.EncapsulationSize)
		return ts.Decode(&s.dec, s.Msg)
	}
	return ts.Alias(&s.dec, s.Msg)
}

// flatIn reports whether the payload can be read as the Go value it is: in this
// byte order, long enough, and backed to the end of the Go value.
func flatIn(b []byte, flat int, size uintptr) bool {
	const head = cdr.EncapsulationSize
	return len(b) >= head+flat && b[0] == 0 && b[1] == 1 &&
		// The slot is a multiple of 64 bytes long from its body on, so what the Go
		// value has beyond its encoding is backed too.
		(len(b)-head+63)&^63 >= int(size)
}

// mine is the sample's own message.
func (s *Sample[T]) mine() *T {
	if s.own == nil {
		s.own = new(T)
	}
	return s.own
}
