package conformance

import (
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/tagus-ros/tagus/internal/transport"
)

// rounds is how often to do something: in short tests, in others, and in soak tests.
func rounds(t *testing.T, short, usual, soak int) int {
	switch {
	case os.Getenv("TAGUS_SOAK") != "":
		return soak
	case testing.Short():
		return short
	}
	return usual
}

// A late joiner gets the kept messages once, in order, then the live ones.
func testLateJoiner(t *testing.T, h *Harness) {
	ph, sh := hosts(t, h)
	p := advertise(t, ph, topic(t), latched(5))
	send(t, p, Batch{N: 8, Sizes: []int{64, 5000}})
	cases := []struct {
		name  string
		depth int
		late  bool
		first uint64
	}{{"deeper", 10, true, 4}, {"shallower", 3, true, 6}, {"one", 1, true, 8}, {"volatile", 10, false, 9}}
	var subs []Subscription
	for _, c := range cases {
		q := keep(c.depth)
		if c.late {
			q = latched(c.depth)
		}
		s := subscribe(t, sh, topic(t), q, Options{})
		wait(t, s, 1)
		subs = append(subs, s)
		for n := c.first; n <= 8; n++ {
			if g := take(t, s, false); g.Sequence != n {
				t.Fatalf("%s: took %v, want %d", c.name, g, n)
			}
		}
		none(t, s)
	}
	wait(t, p, len(cases))
	for n := uint64(9); n <= 11; n++ {
		send(t, p, Batch{N: 1})
		for _, s := range subs {
			drain(t, s, n, n)
		}
	}
	for _, s := range subs {
		if c := counts(t, s); c.Lost != 0 || c.Duplicate != 0 {
			t.Errorf("counted %+v", c)
		}
	}
	// A volatile publisher keeps nothing.
	v := advertise(t, ph, topic(t)+"_volatile", keep(5))
	send(t, v, Batch{N: 3})
	s := subscribe(t, sh, topic(t)+"_volatile", keep(5), Options{})
	wait(t, s, 1)
	wait(t, v, 1)
	none(t, s)
	send(t, v, Batch{N: 1})
	drain(t, s, 4, 4)
	if c := counts(t, s); c.Lost != 0 {
		t.Errorf("what was sent before a volatile match counts as lost: %+v", c)
	}
}

// Many join a running stream: each gets the kept messages and the live ones without a
// gap or a duplicate.
func testLateJoinersInStream(t *testing.T, h *Harness) {
	const depth = 100
	ph, sh := hosts(t, h)
	p := advertise(t, ph, topic(t), latched(depth))
	send(t, p, Batch{N: depth})
	done := make(chan error)
	go func() {
		_, err := p.Publish(Batch{N: 1 << 30, Every: time.Millisecond, Sizes: []int{200}})
		done <- err
	}()
	joiners := rounds(t, 8, 40, 200)
	var wg sync.WaitGroup
	for lane := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := lane; i < joiners; i += 4 {
				join(t, p, sh, i, depth)
			}
		}()
	}
	wg.Wait()
	must(t, p.Close())
	if err := <-done; !errors.Is(err, transport.ErrClosed) {
		t.Errorf("publish: %v", err)
	}
	unused(t, ph)
}

// join is one late joiner.
func join(t *testing.T, p Publisher, h Host, i, depth int) {
	before, _, err := p.Counts()
	if err != nil {
		t.Error(err)
		return
	}
	s, err := h.Subscription(topic(t), latched(5*depth), styles[i%2].o)
	if err == nil {
		err = s.Stream(Stream{})
	}
	if err == nil {
		err = s.Wait(1)
	}
	if err != nil {
		t.Errorf("joiner %d: %v", i, err)
		return
	}
	after, _, _ := p.Counts()
	var r Report
	for deadline := time.Now().Add(patience); r.Received < depth+20 && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if r, err = s.Report(); err != nil {
			t.Error(err)
			return
		}
	}
	r, err = s.Stop()
	if err != nil {
		t.Error(err)
		return
	}
	f := r.of(p.GID())
	c, _ := s.Counts()
	if len(r.Bad) > 0 || f.N < depth+20 || f.Missing != 0 || f.Disorder != 0 || f.Renumbered != 0 || c.Lost != 0 || c.Duplicate != 0 {
		t.Errorf("joiner %d: received %+v, bad %v, counted %+v", i, f, r.Bad, c)
	}
	if d := uint64(depth); f.First+d-1 < before || f.First+d-1 > after {
		t.Errorf("joiner %d: first %d, joined between %d and %d", i, f.First, before, after)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
