package main

import (
	"testing"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/graph"
)

// Times here are of a clock that the test moves.

func TestRateMeter(t *testing.T) {
	m := newRateMeter("/t", 3)
	if _, ok := m.rate(); ok {
		t.Error("a rate without messages")
	}
	at := int64(time.Hour)
	m.add(at, 0)
	if _, ok := m.rate(); ok {
		t.Error("a rate of one message")
	}
	for _, gap := range []time.Duration{10, 20, 30, 40} { // the window keeps the last three
		at += int64(gap * time.Millisecond)
		m.add(at, 0)
	}
	r, ok := m.rate()
	if !ok || r.Window != 3 || r.Min != 0.02 || r.Max != 0.04 || r.Rate < 33.33 || r.Rate > 33.34 {
		t.Errorf("got %+v, %v", r, ok)
	}
	if want := "average rate: 33.333\n\tmin: 0.020s max: 0.040s std dev: 0.00816s window: 3\n"; rateText([]topicRate{r}, false) != want {
		t.Errorf("got %q, want %q", rateText([]topicRate{r}, false), want)
	}
	if _, ok := m.rate(); ok {
		t.Error("a rate without new messages")
	}
	// Ten messages came, two were taken.
	m = newRateMeter("/t", 100)
	m.add(at, 0)
	m.add(at+int64(time.Second), 8)
	m.add(at+int64(2*time.Second), 0)
	if r, _ := m.rate(); r.Rate != 5 || r.Missed != 8 || r.Window != 2 {
		t.Errorf("with a hole: got %+v", r)
	}
}

func TestBandwidthMeter(t *testing.T) {
	at := int64(time.Hour)
	m := newBandwidthMeter("/t", 100)
	m.add(at, 500, 0)
	if _, ok := m.bandwidth(at + 1); ok {
		t.Error("a bandwidth of one message")
	}
	m.add(at+int64(time.Second), 300, 0)
	if b, ok := m.bandwidth(at + int64(2*time.Second)); !ok || b.Rate != 400 || b.Mean != 400 || b.Min != 300 || b.Max != 500 {
		t.Errorf("got %+v, %v", b, ok)
	}
	// The window keeps the last ones, and the time runs from the oldest of them until now.
	m = newBandwidthMeter("/t", 2)
	for i := range int64(10) {
		m.add(at+i*int64(time.Second), 100, 0)
	}
	if b, _ := m.bandwidth(at + 10*int64(time.Second)); b.Messages != 2 || b.Rate != 100 {
		t.Errorf("window of 2: got %+v", b)
	}
	// Half of the messages were taken.
	m = newBandwidthMeter("/t", 4)
	for i := range int64(10) {
		m.add(at+i*int64(time.Second), 100, 1)
	}
	if b, _ := m.bandwidth(at + 10*int64(time.Second)); b.Rate != 100*7/4. || b.Missed != 10 {
		t.Errorf("with holes: got %+v", b)
	}
}

func TestBandwidthText(t *testing.T) {
	for _, c := range []struct {
		b    topicBandwidth
		want string
	}{
		{topicBandwidth{Rate: 999, Messages: 3, Mean: 333.4, Min: 200, Max: 500}, "999 B/s from 3 messages\n\tMessage size mean: 333 B min: 200 B max: 500 B\n"},
		{topicBandwidth{Rate: 1000, Messages: 4, Mean: 2550, Min: 200, Max: 9200}, "1.00 KB/s from 4 messages\n\tMessage size mean: 2.55 KB min: 0.20 KB max: 9.20 KB\n"},
		{topicBandwidth{Rate: 999_999, Messages: 4, Mean: 2550, Min: 200, Max: 9200}, "1000.00 KB/s from 4 messages\n\tMessage size mean: 2.55 KB min: 0.20 KB max: 9.20 KB\n"},
		{topicBandwidth{Rate: 1_230_000, Messages: 100, Mean: 12_300, Min: 12_300, Max: 12_300}, "1.23 MB/s from 100 messages\n\tMessage size mean: 0.01 MB min: 0.01 MB max: 0.01 MB\n"},
	} {
		if got := bandwidthText(c.b); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestDelayMeter(t *testing.T) {
	m := &delayMeter{topic: "/t", window: 3}
	if _, ok, _, _ := m.delay(); ok {
		t.Error("a delay without messages")
	}
	for _, ms := range []int64{5, 10, 20, 30} {
		m.seen++
		m.add(ms * 1e6)
	}
	d, ok, fresh, err := m.delay()
	if !ok || !fresh || err != nil || d.Window != 3 || d.Min != 0.01 || d.Max != 0.03 || d.Mean != 0.02 {
		t.Errorf("got %+v, %v, %v, %v", d, ok, fresh, err)
	}
	if want := "average delay: 0.020\n\tmin: 0.010s max: 0.030s std dev: 0.00816s window: 3\n"; delayText(d) != want {
		t.Errorf("got %q, want %q", delayText(d), want)
	}
	if _, ok, fresh, _ := m.delay(); !ok || fresh {
		t.Error("fresh without new messages")
	}
}

func TestHoles(t *testing.T) {
	var h holes
	a, b := graph.GID{1}, graph.GID{2}
	for i, c := range []struct {
		gid  graph.GID
		seq  uint64
		path tagus.Path
		want uint64
	}{
		{a, 5, tagus.PathSHM, 0}, {b, 9, tagus.PathSHM, 0}, {a, 6, tagus.PathSHM, 0}, {a, 10, tagus.PathSHM, 3}, {b, 11, tagus.PathZenoh, 0},
		{b, 12, tagus.PathSHM, 0}, {a, 3, tagus.PathSHM, 0},
	} {
		if got := h.before(&tagus.MessageInfo{Publisher: c.gid, Sequence: c.seq, Path: c.path}); got != c.want {
			t.Errorf("%d: got %d, want %d", i, got, c.want)
		}
	}
}

// TestPubTick is the arithmetic of a rate that is kept: see pubLoop.tick.
func TestPubTick(t *testing.T) {
	const ms = int64(time.Millisecond)
	due := func(p *pubLoop, now int64) int64 {
		before := p.count
		p.tick(now, ms)
		return int64(p.count - before)
	}
	p := &pubLoop{f: &pubFlags{}, send: func([]byte) error { return nil }, start: 0, count: 1}
	for i, c := range []struct{ at, want int64 }{
		{1 * ms, 1}, {2*ms - 1000, 1}, {3*ms + 400_000, 1}, // early and late ones are the same to it
		{10 * ms, 2}, {11 * ms, 2}, {12 * ms, 2}, {13 * ms, 2}, {14 * ms, 2}, {15 * ms, 2}, {16 * ms, 1}, {17 * ms, 1}, // six were missed
		{5017 * ms, 2}, {5018 * ms, 2}, // of a stop of five seconds only one counts
	} {
		if got := due(p, c.at); got != c.want {
			t.Fatalf("%d: %d published at %d ms, want %d", i, got, c.at/ms, c.want)
		}
	}
	for at := int64(5019); at < 6100; at++ {
		due(p, at*ms)
	}
	if got, want := int64(p.count), 1+6099-p.forgot; got != want || p.forgot < 3990 || p.forgot > 4010 {
		t.Errorf("%d published, %d forgotten, want %d", got, p.forgot, want)
	}
}
