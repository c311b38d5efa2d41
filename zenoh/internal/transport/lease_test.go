package transport

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tagus-ros/tagus/internal/pool"
	"github.com/tagus-ros/tagus/zenoh/internal/wire"
)

func TestKeepAliveHoldsAnIdleLink(t *testing.T) {
	// Long enough that a busy machine does not keep a timer for a whole lease.
	a, b := &side{local: Local{Lease: 400 * time.Millisecond}}, &side{local: Local{Lease: 400 * time.Millisecond}}
	ta, tb := connect(t, a, b)
	select {
	case err := <-a.sink.closed:
		t.Fatal(err)
	case err := <-b.sink.closed:
		t.Fatal(err)
	case <-time.After(2500 * time.Millisecond):
	}
	sa, _ := ta.Counts()
	sb, _ := tb.Counts()
	for _, n := range []uint64{sa.Writes, sb.Writes} {
		// One every 100 ms; timers may be late.
		if n < 8 || n > 27 {
			t.Errorf("%d keep-alives in 2.5 s", n)
		}
	}
}

func TestSilentPeerExpires(t *testing.T) {
	ca, cb := tcpPair(t)
	defer cb.Close()
	scripted(t, cb, "21 09 f0 000102030405060708090a0b0c0d0e0f 00", "22 c801 00") // lease 200 ms
	agreed, err := Dial(context.Background(), ca, Local{ID: wire.NewID(), Lease: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	s := newSink(nil)
	begin := time.Now()
	tr := New(ca, agreed, Limits{}, pool.New(1<<20), s)
	tr.Run()
	err = within(t, "end", s.closed)
	took := time.Since(begin)
	var ce *CloseError
	if !errors.As(err, &ce) || ce.Reason != wire.ReasonExpired || ce.Remote {
		t.Error(err)
	}
	if took < 190*time.Millisecond || took > 600*time.Millisecond {
		t.Errorf("expired after %v, lease 200 ms", took)
	}
	within(t, "done", tr.Done())
}

// A callback that takes longer than the peer's lease is not the peer's silence.
func TestSlowHandlerDoesNotExpire(t *testing.T) {
	handled := make(chan struct{})
	b := &side{sink: newSink(func(*wire.Push, Lane, *Owned) {
		time.Sleep(300 * time.Millisecond)
		close(handled)
	})}
	a := &side{local: Local{Lease: 80 * time.Millisecond}}
	ta, tb := connect(t, a, b)
	if err := put(context.Background(), ta, data, 1, nil); err != nil {
		t.Fatal(err)
	}
	within(t, "callback", handled)
	select {
	case err := <-b.sink.closed:
		t.Error(err)
	case <-time.After(100 * time.Millisecond):
	}
	_ = tb
}

func TestCloseFlushesAndTellsThePeer(t *testing.T) {
	var n atomic.Int64
	b := &side{sink: newSink(func(*wire.Push, Lane, *Owned) { n.Add(1) })}
	a := &side{}
	ta, _ := connect(t, a, b)
	for range 1000 {
		if err := put(context.Background(), ta, Lane{Priority: wire.PriorityBackground, Reliable: true, Block: true}, 1, make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	ta.Close(context.Background(), wire.ReasonGeneric)
	if err := within(t, "own end", a.sink.closed); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	err := within(t, "peer's end", b.sink.closed)
	var ce *CloseError
	if !errors.As(err, &ce) || !ce.Remote || ce.Err != nil {
		t.Errorf("peer sees %v", err)
	}
	if n.Load() != 1000 {
		t.Errorf("%d messages arrived", n.Load())
	}
	if err := put(context.Background(), ta, data, 1, nil); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}
