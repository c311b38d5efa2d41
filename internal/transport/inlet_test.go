package transport

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/qos"
)

func equal(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A subscription takes from all publishers in the order in which they began to publish.
func TestInletOrder(t *testing.T) {
	st := newStation(t)
	in := inlet(t, st, 10, 1)
	_, a := feed(t, in, "a")
	_, b := feed(t, in, "b")
	a.push(1, 10)
	a.push(2, 40)
	b.push(1, 20)
	b.push(2, 30)
	in.station.Area().Signal(1)
	in.station.Area().Signal(2)
	equal(t, drain(st, in), "a1", "b1", "b2", "a2")
}

// Goroutines that share a publisher are numbered in another order than they stamped. Its
// queue is taken in its own order all the same: only the oldest can be claimed.
func TestInletStampsOutOfOrder(t *testing.T) {
	st := newStation(t)
	in := inlet(t, st, 10, 1)
	_, a := feed(t, in, "a")
	_, b := feed(t, in, "b")
	a.push(1, 30)
	a.push(2, 10)
	a.push(3, 40)
	b.push(1, 35)
	st.area.Signal(2)
	equal(t, drain(st, in), "a1", "a2", "b1", "a3")
	if c := in.Counts(); c.Lost != 0 {
		t.Errorf("counted %+v", c)
	}
}

// Above the depth the oldest goes, whoever sent it, and is counted once.
func TestInletDepth(t *testing.T) {
	st := newStation(t)
	in := inlet(t, st, 3, 1)
	_, a := feed(t, in, "a")
	_, b := feed(t, in, "b")
	for i := range uint64(3) {
		a.push(i+1, int64(10*i))
		b.push(i+1, int64(10*i+5))
	}
	equal(t, drain(st, in), "b2", "a3", "b3")
	if c := in.Counts(); c.Evicted != 3 || c.Lost != 3 || c.Received != 3 {
		t.Errorf("counted %+v", c)
	}
	if len(a.out)+len(b.out) != 0 {
		t.Errorf("not returned: %v %v", a.out, b.out)
	}
}

// A message that its publisher took back is not given, and is counted when the next one comes.
func TestInletTakenBack(t *testing.T) {
	st := newStation(t)
	in := inlet(t, st, 3, 1)
	_, a := feed(t, in, "a")
	a.push(1, 10)
	a.push(2, 20)
	a.push(3, 30)
	st.turn()
	a.head = 2
	equal(t, drain(st, in), "a3")
	if c := in.Counts(); c.Lost != 2 || c.Evicted != 0 {
		t.Errorf("counted %+v", c)
	}
}

func TestInletLeases(t *testing.T) {
	st := newStation(t)
	in := inlet(t, st, 3, 2)
	_, a := feed(t, in, "a")
	for i := range uint64(3) {
		a.push(i+1, int64(i))
	}
	st.turn()
	var r [3]Received
	if ok, more := in.Take(&r[0]); !ok || !more {
		t.Fatalf("first: %v %v", ok, more)
	}
	if ok, more := in.Take(&r[1]); !ok || more {
		t.Fatalf("second: %v, %v", ok, more)
	}
	if ok, _ := in.Take(&r[2]); ok {
		t.Fatal("a third was leased with a limit of 2")
	}
	st.ready = 0
	in.Release(&r[0])
	if st.turn(); st.ready == 0 {
		t.Error("the station was not told that a lease came back")
	}
	if ok, _ := in.Take(&r[2]); !ok || r[2].Sequence != 3 {
		t.Errorf("after a release: %v, sequence %d", ok, r[2].Sequence)
	}
	if c := in.Counts(); c.Lost != 0 || c.Leases != 2 {
		t.Errorf("counted %+v", c)
	}
}

func TestInletDuplicate(t *testing.T) {
	st := newStation(t)
	in := inlet(t, st, 5, 1)
	f, a := feed(t, in, "a")
	a.push(1, 10)
	a.push(2, 20)
	equal(t, drain(st, in), "a1", "a2")
	in.Drop(f)
	// The same publisher by another way: what it sent before comes once more.
	_, again := feed(t, in, "a")
	again.push(2, 20)
	again.push(3, 30)
	equal(t, drain(st, in), "a3")
	if c := in.Counts(); c.Duplicate != 1 || c.Lost != 0 || c.Received != 3 {
		t.Errorf("counted %+v", c)
	}
}

// What a publisher accepted last and this subscription never got is counted when the publisher ends.
func TestInletSettles(t *testing.T) {
	st := newStation(t)
	in := inlet(t, st, 3, 1)
	f, a := feed(t, in, "a")
	a.push(1, 10)
	a.last = 4
	in.End(f)
	equal(t, drain(st, in), "a1")
	st.turn()
	if c := in.Counts(); c.Lost != 3 || c.Received != 1 || c.Feeds != 0 {
		t.Errorf("counted %+v", c)
	}
	if !a.over || st.attached() != 1 {
		t.Errorf("idle %v, %d sources attached; want only the inlet's own", a.over, st.attached())
	}
}

// A release between the publisher's end and the look at what it had sent must not give that up.
func TestInletEndsOnlyWhenDrained(t *testing.T) {
	st := newStation(t)
	in := inlet(t, st, 5, 2)
	f, a := feed(t, in, "a")
	a.push(1, 10)
	st.turn()
	var r Received
	if ok, _ := in.Take(&r); !ok {
		t.Fatal("nothing to take")
	}
	a.push(2, 20)
	a.push(3, 30)
	in.End(f)
	in.Release(&r)
	if a.over {
		t.Error("idle with two messages in the queue")
	}
	equal(t, drain(st, in), "a2", "a3")
	if c := in.Counts(); c.Lost != 0 || c.Received != 3 {
		t.Errorf("counted %+v", c)
	}
	if !a.over {
		t.Error("not idle with an empty queue")
	}
}

// An ended feed with nothing queued is over without anybody looking at the subscription.
func TestInletEndsUnseen(t *testing.T) {
	st := newStation(t)
	in := inlet(t, st, 5, 1)
	f, a := feed(t, in, "a")
	a.push(1, 10)
	equal(t, drain(st, in), "a1")
	a.last = 3
	in.End(f)
	if c := in.Counts(); !a.over || c.Lost != 2 {
		t.Errorf("idle %v, counted %+v", a.over, c)
	}
}

// An ended feed is over when its last message made room for another publisher's.
func TestInletEndsWhenEvicted(t *testing.T) {
	st := newStation(t)
	in := inlet(t, st, 1, 1)
	f, a := feed(t, in, "a")
	_, b := feed(t, in, "b")
	a.push(1, 10)
	st.turn()
	in.End(f)
	st.turn()
	if a.over {
		t.Fatal("idle with a message in the queue")
	}
	b.push(1, 20)
	in.station.Area().Signal(2)
	equal(t, drain(st, in), "b1")
	if !a.over || a.first == 0 {
		t.Error("not idle though its last message was evicted")
	}
	if c := in.Counts(); c.Lost != 1 || c.Evicted != 1 || c.Received != 1 {
		t.Errorf("counted %+v", c)
	}
}

// The same when the last message turns out to be a duplicate.
func TestInletEndsAfterDuplicate(t *testing.T) {
	st := newStation(t)
	in := inlet(t, st, 5, 1)
	f, a := feed(t, in, "a")
	a.push(1, 10)
	equal(t, drain(st, in), "a1")
	a.push(1, 11)
	in.End(f)
	equal(t, drain(st, in))
	if !a.over {
		t.Error("not idle")
	}
}

// A poll that comes late, as a station without a lock may have it, finds nothing to look at.
func TestInletLatePoll(t *testing.T) {
	st := newStation(t)
	in := inlet(t, st, 5, 1)
	f, a := feed(t, in, "a")
	a.push(1, 10)
	st.turn()
	var r Received
	in.Take(&r)
	in.End(f)
	st.turn()
	in.Release(&r)
	if !a.over {
		t.Fatal("not idle")
	}
	f.Poll() // source fails the test if it is looked at
}

// Closing gives up what is queued; leases stay valid and end the feed when they come back.
func TestInletClose(t *testing.T) {
	st := newStation(t)
	in := inlet(t, st, 5, 2)
	_, a := feed(t, in, "a")
	_, b := feed(t, in, "b")
	a.push(1, 10)
	a.push(2, 20)
	st.turn()
	var r Received
	in.Take(&r)
	in.Close()
	in.Close()
	if !b.over || a.over || in.Done() {
		t.Errorf("idle: a %v, b %v, done %v", a.over, b.over, in.Done())
	}
	if ok, _ := in.Take(&Received{}); ok {
		t.Error("took from a closed inlet")
	}
	in.Release(&r)
	if !a.over || !in.Done() || st.attached() != 0 {
		t.Errorf("idle %v, done %v, %d attached", a.over, in.Done(), st.attached())
	}
	if _, err := in.AddFeed(&source{t: t}, gid("c"), PathSHM, nil, nil); err != ErrClosed {
		t.Errorf("AddFeed: %v", err)
	}
	if err := in.WaitFeeds(t.Context(), 1); err != ErrClosed {
		t.Errorf("WaitFeeds: %v", err)
	}
}

// A publisher that breaks the protocol loses its feed and nothing else.
func TestInletFault(t *testing.T) {
	st := newStation(t)
	in := inlet(t, st, 5, 2)
	var faults []error
	src := &source{first: 1, out: make(map[uint64]bool), t: t}
	f, err := in.AddFeed(src, gid("a"), PathSHM, func() { src.over = true }, func(err error) { faults = append(faults, err) })
	if err != nil {
		t.Fatal(err)
	}
	in.Start(f)
	_, b := feed(t, in, "b")
	src.push(1, 10)
	b.push(1, 20)
	st.turn()
	src.fault = errors.New("nonsense")
	b.push(2, 30)
	in.station.Area().Signal(2)
	equal(t, drain(st, in), "b1", "b2")
	if len(faults) != 1 || !errors.Is(faults[0], src.fault) {
		t.Errorf("faults: %v", faults)
	}
	if c := in.Counts(); c.Faults != 1 || c.Lost != 0 || c.Feeds != 1 {
		t.Errorf("counted %+v", c)
	}
	if !src.over || len(src.out) != 0 {
		t.Errorf("over %v, out %v", src.over, src.out)
	}
}

// A subscription remembers nothing of publishers that are gone for good.
func TestInletForgets(t *testing.T) {
	st := newStation(t)
	in := inlet(t, st, 5, 1)
	for i := range 100 {
		f, a := feed(t, in, fmt.Sprint(i))
		a.push(1, 1)
		in.Forget(f.gid) // ignored while there is a feed
		in.End(f)
		drain(st, in)
		if _, ok := in.next[f.gid]; !ok {
			t.Fatal("forgotten while there was a feed")
		}
		in.Forget(f.gid)
	}
	if len(in.next) != 0 || len(in.feeds) != 0 {
		t.Errorf("%d publishers and %d feeds are remembered", len(in.next), len(in.feeds))
	}
}

// polling is a station on which a late signal makes a source be polled just when it is
// detached; as the executor's, its Detach waits for that.
type polling struct{ *station }

func (p polling) Detach(leaf int) {
	src := p.sources[leaf]
	done := make(chan struct{})
	go func() {
		defer close(done)
		src.Poll()
	}()
	<-done
	p.station.Detach(leaf)
}

// No detaching under a lock that a poll takes.
func TestInletDetachDuringPoll(t *testing.T) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		in, err := NewInlet(endpoint(graph.KindSubscription, qos.Default()), polling{newStation(t)}, 1)
		if err != nil {
			t.Error(err)
			return
		}
		f, _ := feed(t, in, "a")
		in.Drop(f)
		feed(t, in, "b")
		in.Close()
		if _, err := in.AddFeed(&source{t: t}, gid("c"), PathSHM, nil, nil); err != ErrClosed {
			t.Errorf("AddFeed: %v", err)
		}
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("a detach waits for a poll that waits for the detaching goroutine")
	}
}
