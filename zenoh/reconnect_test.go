package zenoh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// states collects what OnState is told.
type states struct {
	mu  sync.Mutex
	all []State
	ch  chan State
}

func newStates() *states { return &states{ch: make(chan State, 1000)} }

func (s *states) note(st State) {
	s.mu.Lock()
	s.all = append(s.all, st)
	s.mu.Unlock()
	s.ch <- st
}

func (s *states) until(t testing.TB, connected bool) State {
	t.Helper()
	for {
		if st := within(t, fmt.Sprint("connected ", connected), s.ch); st.Connected == connected {
			return st
		}
	}
}

func TestOpenFails(t *testing.T) {
	_, err := Open(bg, Config{Connect: []string{fmt.Sprintf("tcp/127.0.0.1:%d", freePort(t)), fmt.Sprintf("tcp/127.0.0.1:%d", freePort(t))}})
	var oe *OpenError
	if !errors.As(err, &oe) || len(oe.Attempts) != 2 || !strings.Contains(err.Error(), oe.Attempts[1].Endpoint) {
		t.Error(err)
	}
	// A peer that accepts and says nothing does not hold us longer than ctx.
	f := newFake(t)
	p := newProxy(t, f.l.Addr().String(), 0)
	p.cut(true)
	ctx, cancel := context.WithTimeout(bg, 100*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if _, err := Open(ctx, Config{Connect: []string{p.locator()}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if took := time.Since(begin); took > 2*time.Second {
		t.Error(took)
	}
}

func TestNextEndpoint(t *testing.T) {
	a, b := newFake(t), newFake(t)
	st := newStates()
	s := session(t, fmt.Sprintf("tcp/127.0.0.1:%d", freePort(t)), func(c *Config) {
		c.Connect = append(c.Connect, a.locator(), b.locator())
		c.OnState = st.note
	})
	if got := st.until(t, true); got.Endpoint != a.locator() || got.Role != Router || got.Links != 1 || got.PeerLease != 10*time.Second {
		t.Errorf("%+v", got)
	}
	within(t, "connection", a.conns)
	_ = a.l.Close()
	a.hangUp()
	down := st.until(t, false)
	if down.Err == nil || down.Endpoint != a.locator() {
		t.Errorf("%+v", down)
	}
	if got := st.until(t, true); got.Endpoint != b.locator() || got.Links != 2 {
		t.Errorf("%+v", got)
	}
	if got := s.State(); !got.Connected || got.Endpoint != b.locator() {
		t.Errorf("%+v", got)
	}
}

// A session that began before its router, and whose router dies again and
// again, has all its declarations, tokens and watchers each time.
func TestRouterDiesFiveTimes(t *testing.T) {
	at := fmt.Sprintf("tcp/127.0.0.1:%d", freePort(t))
	st := newStates()
	s, err := Open(bg, Config{Connect: []string{at}, Background: true, RetryMin: 50 * time.Millisecond, RetryMax: 200 * time.Millisecond, OnState: st.note})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	samples := make(chan got, 1000)
	must[*Subscriber](t)(s.NewSubscriber("down/*", func(m *Sample) { samples <- take(m) }, SubscriberOptions{}))
	must[*Queryable](t)(s.NewQueryable("q", func(q *Query) { _ = q.Reply(bg, "", []byte("here"), PutOptions{}) }, QueryableOptions{}))
	must[*Token](t)(s.NewToken("lv/ours"))
	pub := must[*Publisher](t)(s.NewPublisher("up/1", PublisherOptions{Congestion: Block}))
	live := make(chan LivelinessEvent, 1000)
	must[*LivelinessSubscriber](t)(s.NewLivelinessSubscriber("lv/theirs/*", func(e LivelinessEvent) { live <- e }, LivelinessOptions{History: true}))
	if err := pub.Put(bg, []byte("into the void")); err != nil {
		t.Error(err)
	}
	if n := s.Stats().NoLink; n != 1 {
		t.Errorf("%d puts without a link", n)
	}
	for round := range 5 {
		rt := startPeer(t).open(args{"mode": "router", "listen": []string{at}})
		p := client(t, at)
		p.call("sub", args{"key": "up/*"}, nil)
		p.call("live", args{"key": "lv/ours", "history": true}, nil)
		p.call("token", args{"key": fmt.Sprint("lv/theirs/", round)}, nil)
		begin := time.Now()
		st.until(t, true)
		if e := p.event(); e.Ev != "live" || !e.Alive {
			t.Errorf("round %d: %+v", round, e)
		}
		if e := within(t, "their token", live); e != (LivelinessEvent{fmt.Sprint("lv/theirs/", round), true}) {
			t.Errorf("round %d: %+v", round, e)
		}
		settle(t, s)
		p.call("put", args{"key": "down/1", "payload": []byte(fmt.Sprint(round)), "block": true}, nil)
		if m := within(t, "sample", samples); m.Payload != fmt.Sprint(round) {
			t.Errorf("round %d: %+v", round, m)
		}
		if err := pub.Put(bg, []byte(fmt.Sprint("up ", round))); err != nil {
			t.Error(err)
		}
		if e := p.event(); string(e.Payload.B64) != fmt.Sprint("up ", round) {
			t.Errorf("round %d: %+v", round, e)
		}
		var r []pyReply
		p.call("get", args{"key": "q"}, &r)
		if len(r) != 1 || string(r[0].OK.Payload.B64) != "here" {
			t.Errorf("round %d: %+v", round, r)
		}
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("round %d took %v", round, took)
		}
		rt.kill()
		p.kill()
		st.until(t, false)
		if e := within(t, "end of their token", live); e != (LivelinessEvent{fmt.Sprint("lv/theirs/", round), false}) {
			t.Errorf("round %d: %+v", round, e)
		}
	}
	if len(samples) != 0 || len(live) != 0 {
		t.Errorf("%d samples and %d events too many", len(samples), len(live))
	}
}

// The link is cut without a word and comes back: the session notices within the
// lease, and resumes by itself.
func TestLinkCutAndRestored(t *testing.T) {
	f := newFake(t, 400*time.Millisecond)
	p := newProxy(t, f.l.Addr().String(), 0)
	st := newStates()
	session(t, p.locator(), func(c *Config) {
		c.OnState = st.note
		c.Lease = 400 * time.Millisecond
		c.OpenTimeout = 100 * time.Millisecond
	})
	st.until(t, true)
	p.cut(true)
	st.until(t, false)
	for range 3 { // attempts while there is no answer
		if got := st.until(t, false); got.Err == nil {
			t.Errorf("%+v", got)
		}
	}
	p.light()
	st.until(t, true)
}

// A thin link (1 MB/s): large messages that may be dropped are, as a whole; small
// ones of a higher priority keep flowing; putting never takes long.
func TestThinLink(t *testing.T) {
	at := router(t)
	p := newProxy(t, strings.TrimPrefix(at, "tcp/"), 1<<20)
	var bulk, urgent atomic.Int64
	var latest atomic.Int64
	rx := session(t, at)
	must[*Subscriber](t)(rx.NewSubscriber("bulk", func(m *Sample) {
		if len(m.Payload) != 300_000 || !bytes.Equal(m.Payload, fill(300_000, m.Payload[0])) {
			t.Errorf("part of a message: %d bytes", len(m.Payload))
		}
		bulk.Add(1)
	}, SubscriberOptions{}))
	must[*Subscriber](t)(rx.NewSubscriber("urgent", func(m *Sample) {
		urgent.Add(1)
		latest.Store(time.Now().UnixNano())
	}, SubscriberOptions{}))
	settle(t, rx)
	s := session(t, p.locator())
	settle(t, s)
	big := must[*Publisher](t)(s.NewPublisher("bulk", PublisherOptions{Priority: PriorityDataLow}))
	small := must[*Publisher](t)(s.NewPublisher("urgent", PublisherOptions{Priority: PriorityRealTime}))
	begin := time.Now()
	dropped, accepted, smallOK := 0, 0, 0
	var worst time.Duration
	for i := 0; time.Since(begin) < 3*time.Second; i++ {
		from := time.Now()
		switch err := big.Put(bg, fill(300_000, byte(i))); {
		case err == nil:
			accepted++
		case errors.Is(err, ErrCongested):
			dropped++
		default:
			t.Fatal(err)
		}
		worst = max(worst, time.Since(from))
		if err := small.Put(bg, []byte("now")); err == nil {
			smallOK++
		} else if !errors.Is(err, ErrCongested) {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if dropped == 0 || accepted == 0 {
		t.Errorf("%d dropped, %d accepted", dropped, accepted)
	}
	limit := 250 * time.Millisecond // 1 + 50 ms and a busy machine
	if raceEnabled {
		limit = 2 * time.Second
	}
	if worst > limit {
		t.Errorf("a put took %v", worst)
	}
	deadline := time.Now().Add(10 * time.Second)
	// The router drops, too, if the receiver does not keep up for a moment.
	enough := func() bool {
		return urgent.Load() >= int64(smallOK)*9/10 && bulk.Load() >= int64(accepted)*6/10
	}
	for !enough() && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	if !enough() || urgent.Load() > int64(smallOK) || bulk.Load() > int64(accepted) {
		t.Errorf("urgent %d of %d, bulk %d of %d", urgent.Load(), smallOK, bulk.Load(), accepted)
	}
	if n := s.Stats().Link.Sent.Dropped; int(n[PriorityDataLow]) != dropped {
		t.Errorf("%v counted, %d seen", n, dropped)
	}
	t.Logf("bulk: %d accepted, %d dropped, longest put %v; urgent: %d of %d", accepted, dropped, worst, urgent.Load(), smallOK)
}

// Entities come and go while the link breaks again and again: what the router
// knows in the end is what there is.
func TestChurnWhileReconnecting(t *testing.T) {
	at := router(t)
	p := newProxy(t, strings.TrimPrefix(at, "tcp/"), 0)
	s := session(t, p.locator(), func(c *Config) { c.RetryMin = 5 * time.Millisecond; c.RetryMax = 20 * time.Millisecond })
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 15 {
			time.Sleep(20 * time.Millisecond)
			p.cut(false)
		}
		close(stop)
	})
	kept := map[string]bool{}
	var mu sync.Mutex
	for g := range 3 {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				key := fmt.Sprintf("lv/%d/%d", g, i)
				tok := must[*Token](t)(s.NewToken(key))
				sub := must[*Subscriber](t)(s.NewSubscriber(key, func(*Sample) {}, SubscriberOptions{}))
				pub := must[*Publisher](t)(s.NewPublisher(key, PublisherOptions{}))
				if err := pub.Put(bg, []byte("x")); err != nil && !errors.Is(err, ErrCongested) {
					t.Error(err)
				}
				if i%10 == 0 {
					mu.Lock()
					kept[key] = true
					mu.Unlock()
				} else if err := errors.Join(tok.Close(), sub.Close(), pub.Close()); err != nil {
					t.Error(err)
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
	wg.Wait()
	other := session(t, at)
	deadline := time.Now().Add(10 * time.Second)
	for {
		keys, err := other.Tokens(bg, "lv/**")
		if err != nil {
			t.Fatal(err)
		}
		missing, extra := 0, 0
		for k := range kept {
			missing++
			for _, have := range keys {
				if have == k {
					missing--
				}
			}
		}
		extra = len(keys) - (len(kept) - missing)
		if missing == 0 && extra == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d tokens missing, %d too many", missing, extra)
		}
		time.Sleep(50 * time.Millisecond)
	}
	if n := s.State().Links; n < 5 {
		t.Errorf("only %d links", n)
	}
}
