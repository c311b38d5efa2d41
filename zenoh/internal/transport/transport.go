package transport

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tagus-ros/tagus/internal/clock"
	"github.com/tagus-ros/tagus/internal/pool"
	"github.com/tagus-ros/tagus/zenoh/internal/wire"
)

// Handler takes what a transport receives. Message is called by the reading
// goroutine alone, one message after the other; while it runs nothing is read.
type Handler interface {
	// Message handles one network message. in stands at its header and must be
	// left behind its end; if reading fails, the link is closed. What is read
	// points into memory that is reused after the call, unless own is not nil:
	// then it points into own, of which the handler may take references.
	Message(in *wire.Reader, lane Lane, own *Owned)
	// Closed is called once, after the last Message. err is ErrClosed or a *CloseError.
	Closed(err error)
}

// Transport is an open link to a peer.
type Transport struct {
	agreed Agreed
	limits Limits
	conn   net.Conn
	p      *pipeline
	r      receiver

	closing atomic.Bool // this side wishes the end
	ending  sync.Once
	err     error         // why it ends; set before ended is closed
	ended   chan struct{} // the end has begun
	done    chan struct{} // all goroutines are gone, Closed has been called
}

// New makes a transport over a connection whose handshake is done, and owns
// conn from then on. Nothing moves before Run.
func New(conn net.Conn, a Agreed, limits Limits, buffers *pool.Pool, h Handler) *Transport {
	limits.fill()
	t := &Transport{agreed: a, limits: limits, conn: conn, ended: make(chan struct{}), done: make(chan struct{})}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetNoDelay(true)
	}
	t.p = newPipeline(newLink(conn), limits, a.Batch, a.QoS, a.Patch >= 1, a.LocalSN, buffers, t.end)
	t.r = receiver{in: conn, handler: h, limits: limits, batch: a.Batch, qos: a.QoS, patch: a.Patch >= 1, buffers: buffers}
	t.r.start(a.PeerSN)
	return t
}

// Run starts reading and writing; it must be called once, and returns at once.
func (t *Transport) Run() {
	var wg sync.WaitGroup
	wg.Go(t.p.run)
	wg.Go(t.watch)
	wg.Go(func() { t.end(t.r.run()) })
	go func() {
		wg.Wait()
		for i := range t.r.lanes {
			for j := range t.r.lanes[i] {
				t.r.drop(&t.r.lanes[i][j])
			}
		}
		t.r.handler.Closed(t.err)
		close(t.done)
	}()
}

// Agreed is the result of the handshake.
func (t *Transport) Agreed() Agreed { return t.agreed }

// Send sends one network message; head and payload belong to the caller again
// when it returns. A message that is neither sent nor dropped for congestion
// (ErrCongested) is answered by the reason: ErrClosed, a *CloseError, a
// *TooLargeError or the context's error.
func (t *Transport) Send(ctx context.Context, o Lane, head, payload []byte) error {
	return t.p.send(ctx, o, head, payload)
}

// Counts are the transport's totals.
func (t *Transport) Counts() (SendCounts, ReceiveCounts) { return t.p.stats(), t.r.stats() }

// Done is closed when the transport has ended and Handler.Closed has returned.
func (t *Transport) Done() <-chan struct{} { return t.done }

// Close lets what is queued be sent, tells the peer, and ends the transport.
// It does not wait for the goroutines, so a Handler may call it.
func (t *Transport) Close(ctx context.Context, reason wire.Reason) {
	m := wire.Close{Reason: reason, Session: true}
	t.closing.Store(true)
	t.p.flush(ctx, m.Append(nil))
	t.end(ErrClosed)
}

// end begins the end.
func (t *Transport) end(err error) {
	t.ending.Do(func() {
		if t.closing.Load() {
			err = ErrClosed // whatever the peer's answer was
		}
		var ce *CloseError
		if errors.As(err, &ce) && !ce.Remote && ce.Reason != wire.ReasonGeneric {
			t.lastWord(ce.Reason)
		}
		t.err = err
		close(t.ended)
		t.p.stop(err)
		_ = t.conn.Close()
	})
}

// lastWord tells the peer why we close, if the link takes it at once.
func (t *Transport) lastWord(reason wire.Reason) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	m := wire.Close{Reason: reason, Session: true}
	t.p.flush(ctx, m.Append(nil))
}

// watch sends keep-alives and ends a transport whose peer is silent.
func (t *Transport) watch() {
	interval := max(t.agreed.OwnLease/time.Duration(t.limits.KeepAlivesPerLease), time.Millisecond)
	timer := time.NewTimer(interval)
	defer timer.Stop()
	var written uint64
	nextAlive := time.Now().Add(interval)
	for {
		select {
		case <-t.ended:
			return
		case <-timer.C:
		}
		now := time.Now()
		if !now.Before(nextAlive) {
			if bytes := t.p.stats().Bytes; bytes == written {
				t.p.keepAlive()
			}
			written = t.p.stats().Bytes
			nextAlive = now.Add(interval)
		}
		next := nextAlive
		// While messages are handled the peer may have said much that we have not read.
		if since := t.r.waitingSince.Load(); since != 0 {
			silent := time.Duration(clock.Mono() - since)
			if silent >= t.agreed.Lease {
				t.end(&CloseError{Reason: wire.ReasonExpired})
				return
			}
			if expiry := now.Add(t.agreed.Lease - silent); expiry.Before(next) {
				next = expiry
			}
		}
		timer.Reset(max(time.Until(next), time.Millisecond))
	}
}
