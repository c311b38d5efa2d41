package zenoh

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tagus-ros/tagus/zenoh/internal/wire"
)

func TestAdvancedKeys(t *testing.T) {
	id, _ := ParseID("777f8c1c711983bbb70b6f4055fe0905")
	if k := advancedKey("demo/a", "pub", id, "1"); k != "demo/a/@adv/pub/777f8c1c711983bbb70b6f4055fe0905/1/_" {
		t.Error(k)
	}
	for in, want := range map[string]sourceID{
		"demo/a/@adv/pub/777f8c1c711983bbb70b6f4055fe0905/1/_":        {id: id, entity: 1},
		"demo/a/@adv/pub/777f8c1c711983bbb70b6f4055fe0905/uhlc/_":     {id: id, timed: true},
		"demo/a/@adv/pub/777f8c1c711983bbb70b6f4055fe0905/12/meta/x":  {id: id, entity: 12},
		"demo/a/@adv/pub/0777f8c1c711983bbb70b6f4055fe0905/1/_":       {},
		"demo/a/@adv/pub/777f8c1c711983bbb70b6f4055fe0905/1":          {},
		"demo/a/@adv/pub/777f8c1c711983bbb70b6f4055fe0905/nonsense/_": {},
		"demo/a/@adv/sub/777f8c1c711983bbb70b6f4055fe0905/1/_":        {},
	} {
		got, ok := parseAdvanced(in)
		if ok != (want != sourceID{}) || ok && got != want {
			t.Errorf("%s: %+v %v", in, got, ok)
		}
	}
	for in, want := range map[string][2]uint32{"3..5": {3, 5}, "..5": {0, 5}, "3..": {3, 1<<32 - 1}, "..": {0, 1<<32 - 1}, "7": {7, 7}} {
		if a, b, ok := sequenceRange(in); !ok || a != want[0] || b != want[1] {
			t.Errorf("%s: %d %d %v", in, a, b, ok)
		}
	}
	for _, in := range []string{"", "x", "1..y", "-1..2"} {
		if _, _, ok := sequenceRange(in); ok {
			t.Errorf("%q accepted", in)
		}
	}
}

// offline is a session that never reaches anybody: what is local works all the same.
func offline(t *testing.T) *Session {
	t.Helper()
	s, err := Open(bg, Config{Connect: []string{fmt.Sprintf("tcp/127.0.0.1:%d", freePort(t))}, Background: true, RetryMin: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// Publishers whose live samples get lost at random, subscribers that come at
// random: each gets every sample since it came, and the history before it, once
// and in order. With Recover and heartbeats that holds whatever is lost after
// the first sample of a publisher: nobody can know of what came before that.
func TestRecoveryAgainstLosses(t *testing.T) {
	for seed := range uint64(30) {
		s := offline(t)
		rng := rand.New(rand.NewPCG(seed, 1))
		opts := AdvancedPublisherOptions{Cache: 1000, Sequence: true, Heartbeat: 5 * time.Millisecond, Detect: true}
		type viewer struct {
			sub     *AdvancedSubscriber
			mu      sync.Mutex
			got     map[string][]string
			from    map[string]int // first sample owed, by publisher
			history int
		}
		var pubs []*AdvancedPublisher
		var viewers []*viewer
		sent := map[int]int{}
		addPub := func() { pubs = append(pubs, must[*AdvancedPublisher](t)(s.NewAdvancedPublisher("k", opts))) }
		addPub()
		for range 150 {
			switch n := rng.IntN(20); {
			case n == 0 && len(viewers) < 4:
				v := &viewer{got: map[string][]string{}, from: map[string]int{}, history: 1 + rng.IntN(10)}
				for i := range pubs {
					v.from[fmt.Sprint(i)] = max(0, sent[i]-v.history)
				}
				v.sub = must[*AdvancedSubscriber](t)(s.NewAdvancedSubscriber("k", func(m *Sample) {
					p, n, _ := strings.Cut(string(m.Payload), " ")
					v.mu.Lock()
					v.got[p] = append(v.got[p], n)
					v.mu.Unlock()
				}, AdvancedSubscriberOptions{History: v.history, DetectLate: true, Recover: true, OnMiss: func(m Miss) { t.Errorf("seed %d: missed %+v", seed, m) }}))
				viewers = append(viewers, v)
				quiet(t, v.sub)
			case n == 1 && len(pubs) < 3:
				addPub()
				for _, v := range viewers {
					quiet(t, v.sub)
				}
			default:
				i := rng.IntN(len(pubs))
				pubs[i].mu.Lock()
				if pubs[i].p.opts.Destination = Anywhere; sent[i] > 0 && rng.IntN(3) == 0 {
					pubs[i].p.opts.Destination = Remote // nobody is there: lost
				}
				pubs[i].mu.Unlock()
				if err := pubs[i].Put(bg, fmt.Appendf(nil, "%d %d", i, sent[i]), PutOptions{}); err != nil {
					t.Fatal(err)
				}
				sent[i]++
			}
		}
		for _, p := range pubs {
			p.mu.Lock()
			p.p.opts.Destination = Anywhere
			p.mu.Unlock()
		}
		deadline := time.Now().Add(5 * time.Second)
		for _, v := range viewers {
			for i := range pubs {
				var want []string
				for n := v.from[fmt.Sprint(i)]; n < sent[i]; n++ {
					want = append(want, fmt.Sprint(n))
				}
				for {
					v.mu.Lock()
					got := append([]string(nil), v.got[fmt.Sprint(i)]...)
					v.mu.Unlock()
					if d := cmp.Diff(want, got); d == "" {
						break
					} else if time.Now().After(deadline) {
						t.Fatalf("seed %d, publisher %d, history %d: %s", seed, i, v.history, d)
					}
					time.Sleep(time.Millisecond)
				}
			}
		}
		for _, v := range viewers {
			_ = v.sub.Close()
		}
		for _, p := range pubs {
			_ = p.Close()
		}
		_ = s.Close()
	}
}

// quiet waits until no query of a subscriber's is under way.
func quiet(t *testing.T, a *AdvancedSubscriber) {
	t.Helper()
	if err := a.WaitHistory(bg); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(100 * time.Microsecond) {
		n := 0
		a.mu.Lock()
		for _, src := range a.sources {
			n += src.queries
		}
		a.mu.Unlock()
		if n == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d queries do not end", n)
		}
	}
}

func TestMissesWithoutRecovery(t *testing.T) {
	s := offline(t)
	p := must[*AdvancedPublisher](t)(s.NewAdvancedPublisher("k", AdvancedPublisherOptions{Sequence: true}))
	var log []string
	must[*AdvancedSubscriber](t)(s.NewAdvancedSubscriber("k", func(m *Sample) { log = append(log, string(m.Payload)) },
		AdvancedSubscriberOptions{OnMiss: func(m Miss) { log = append(log, fmt.Sprintf("missed %d of %d", m.Count, m.Entity-p.ID())) }}))
	for i, to := range []Locality{Anywhere, Anywhere, Remote, Remote, Anywhere, Remote, Anywhere} {
		p.p.opts.Destination = to
		if err := p.Put(bg, []byte(fmt.Sprint(i)), PutOptions{}); err != nil {
			t.Error(err)
		}
	}
	if d := cmp.Diff([]string{"0", "1", "missed 2 of 0", "4", "missed 1 of 0", "6"}, log); d != "" {
		t.Error(d)
	}
}

// A callback may publish to its own key.
func TestAdvancedReentrancy(t *testing.T) {
	s := offline(t)
	p := must[*AdvancedPublisher](t)(s.NewAdvancedPublisher("k", AdvancedPublisherOptions{Cache: 5}))
	other := must[*Publisher](t)(s.NewPublisher("k", PublisherOptions{}))
	var log []string
	done := make(chan struct{})
	must[*AdvancedSubscriber](t)(s.NewAdvancedSubscriber("k", func(m *Sample) {
		if log = append(log, string(m.Payload)); len(log) < 4 {
			if err := other.PutWith(bg, []byte(fmt.Sprint(len(log))), PutOptions{Timestamp: s.NewTimestamp()}); err != nil {
				t.Error(err)
			}
		} else {
			close(done)
		}
	}, AdvancedSubscriberOptions{History: 3}))
	if err := p.Put(bg, []byte("0"), PutOptions{}); err != nil {
		t.Error(err)
	}
	within(t, "last", done)
	if d := cmp.Diff([]string{"0", "1", "2", "3"}, log); d != "" {
		t.Error(d)
	}
}

// The history of a publisher that tells its samples apart by timestamps, with
// live samples in between: once each, in order.
func TestStampedHistory(t *testing.T) {
	s, _, c := withFake(t)
	log := make(chan string, 100)
	sub := must[*AdvancedSubscriber](t)(s.NewAdvancedSubscriber("k", func(m *Sample) { log <- string(m.Payload) }, AdvancedSubscriberOptions{History: 10}))
	var q *wire.Request
	for q == nil {
		if m, ok := within(t, "query", c.said).(*wire.Request); ok {
			q = m
		}
	}
	if string(q.Key.Suffix) != "k/@adv/**" || string(q.Body.Parameters) != "_anyke;_max=10" || q.Target != wire.TargetAll || q.Body.Consolidation != wire.ConsolidationNone {
		t.Errorf("%+v", q)
	}
	clock := NewID()
	live := func(at uint64) {
		m := wire.Push{Key: text("k"), QoS: wire.DefaultQoS, Body: wire.Sample{Timestamp: Timestamp{Time: at, ID: clock}, Payload: []byte(fmt.Sprint(at))}}
		c.say(m.AppendHead(nil), m.Body.Payload...)
	}
	kept := func(at uint64) {
		m := wire.Response{ID: q.ID, Key: text("k"), QoS: wire.DefaultQoS}
		m.Reply.Body = wire.Sample{Timestamp: Timestamp{Time: at, ID: clock}, Payload: []byte(fmt.Sprint(at))}
		c.say(m.AppendHead(nil), m.Reply.Body.Payload...)
	}
	live(6)
	kept(4)
	kept(5)
	kept(6)
	live(7)
	time.Sleep(20 * time.Millisecond)
	if len(log) != 0 {
		t.Error("delivered before the history is complete")
	}
	c.say((&wire.ResponseFinal{ID: q.ID, QoS: wire.DefaultQoS}).Append(nil))
	if err := sub.WaitHistory(bg); err != nil {
		t.Error(err)
	}
	live(6) // late duplicate
	live(9)
	live(8) // of another publisher of that session, which was slower
	var got []string
	for range 6 {
		got = append(got, within(t, "sample", log))
	}
	if g := strings.Join(got, " "); g != "4 5 6 7 9 8" {
		t.Error(g)
	}
	time.Sleep(20 * time.Millisecond)
	if len(log) != 0 {
		t.Errorf("%d samples too many", len(log))
	}
}

// Both roles with the reference library: late joiners on either side, depth, an
// idle publisher, recovery by heartbeat.
func TestAdvancedWithReference(t *testing.T) {
	at := router(t)
	p := client(t, at)
	s := session(t, at)
	collect := func(key string, o AdvancedSubscriberOptions) chan string {
		ch := make(chan string, 1000)
		must[*AdvancedSubscriber](t)(s.NewAdvancedSubscriber(key, func(m *Sample) { ch <- string(m.Payload) + "/" + string(m.Attachment) }, o))
		return ch
	}
	expect := func(ch chan string, want ...string) {
		t.Helper()
		for _, w := range want {
			if g := within(t, w, ch); g != w {
				t.Errorf("%s, want %s", g, w)
			}
		}
	}
	tl := AdvancedSubscriberOptions{History: 3, DetectLate: true, Recover: true, Timeout: Forever}

	t.Run("we are late", func(t *testing.T) {
		p.call("adv_pub", args{"key": "a/seq", "cache": 3, "sequence": true, "sporadic": 0.2}, nil)
		for i := range 5 {
			p.call("put", args{"key": "a/seq", "payload": []byte(fmt.Sprint(i)), "att": []byte("x")}, nil)
		}
		// A query on the same lane comes back when the router has seen what went before it.
		p.call("get", args{"key": "settle/nothing"}, nil)
		ch := collect("a/seq", tl)
		expect(ch, "2/x", "3/x", "4/x")
		p.call("put", args{"key": "a/seq", "payload": []byte("5"), "att": []byte("x")}, nil)
		expect(ch, "5/x")
		time.Sleep(300 * time.Millisecond) // a heartbeat brings nothing new
		if len(ch) != 0 {
			t.Errorf("%d samples too many", len(ch))
		}
	})
	t.Run("they are late", func(t *testing.T) {
		pub := must[*AdvancedPublisher](t)(s.NewAdvancedPublisher("b/seq", AdvancedPublisherOptions{Cache: 3, Sequence: true, Heartbeat: 200 * time.Millisecond, Detect: true}))
		for i := range 5 {
			if err := pub.Put(bg, []byte(fmt.Sprint(i)), PutOptions{Attachment: []byte("y")}); err != nil {
				t.Error(err)
			}
		}
		settle(t, s)
		p.call("adv_sub", args{"key": "b/seq", "history": 3, "recover": true}, nil)
		for _, want := range []string{"2", "3", "4"} {
			if e := p.event(); string(e.Payload.B64) != want || string(e.Att) != "y" || e.Key != "b/seq" || e.Src[0] != s.ID().String() {
				t.Errorf("%+v, want %s", e, want)
			}
		}
		if err := pub.Put(bg, []byte("5"), PutOptions{}); err != nil {
			t.Error(err)
		}
		if e := p.event(); string(e.Payload.B64) != "5" {
			t.Errorf("%+v", e)
		}
		// Lost on the way, kept in the cache: the heartbeat makes them ask.
		pub.p.opts.Destination = SessionLocal
		if err := pub.Put(bg, []byte("6"), PutOptions{}); err != nil {
			t.Error(err)
		}
		pub.p.opts.Destination = Anywhere
		if e := p.event(); string(e.Payload.B64) != "6" {
			t.Errorf("%+v", e)
		}
	})
	t.Run("we recover", func(t *testing.T) {
		other := session(t, at)
		pub := must[*AdvancedPublisher](t)(other.NewAdvancedPublisher("c/seq", AdvancedPublisherOptions{Cache: 10, Sequence: true, Heartbeat: 100 * time.Millisecond, Detect: true}))
		ch := collect("c/seq", tl)
		settle(t, s)
		for i, to := range []Locality{Anywhere, SessionLocal, SessionLocal, Anywhere, SessionLocal} {
			pub.p.opts.Destination = to
			if err := pub.Put(bg, []byte(fmt.Sprint(i)), PutOptions{}); err != nil {
				t.Error(err)
			}
		}
		expect(ch, "0/", "1/", "2/", "3/", "4/")
	})
	t.Run("late publishers, by timestamps", func(t *testing.T) {
		ch := collect("d/*", tl)
		p.call("adv_sub", args{"key": "e/*", "history": 2}, nil)
		p2 := startPeer(t).open(args{"mode": "client", "connect": []string{at}, "config": args{"timestamping/enabled": args{"client": true}}})
		p2.call("adv_pub", args{"key": "d/1", "cache": 2}, nil)
		p2.call("put", args{"key": "d/1", "payload": []byte("1")}, nil)
		expect(ch, "1/")
		other := session(t, at)
		pub := must[*AdvancedPublisher](t)(other.NewAdvancedPublisher("e/1", AdvancedPublisherOptions{Cache: 2, Detect: true}))
		if err := pub.Put(bg, []byte("2"), PutOptions{}); err != nil {
			t.Error(err)
		}
		if e := p.event(); string(e.Payload.B64) != "2" || e.TS == nil || !strings.HasSuffix(*e.TS, other.ID().String()) {
			t.Errorf("%+v", e)
		}
		time.Sleep(100 * time.Millisecond)
		if len(ch) != 0 || len(p.events) != 0 {
			t.Errorf("%d and %d samples too many", len(ch), len(p.events))
		}
	})
}
