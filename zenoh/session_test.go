package zenoh

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tagus-ros/tagus/zenoh/internal/wire"
)

func ours(id uint32) wire.WireExpr { return wire.WireExpr{Scope: uint16(id)} }

func text(s string) wire.WireExpr { return wire.WireExpr{Suffix: []byte(s), Sender: true} }

func TestDeclarationsOnTheWire(t *testing.T) {
	s, _, c := withFake(t)
	sub := must[*Subscriber](t)(s.NewSubscriber("a/*", func(*Sample) {}, SubscriberOptions{}))
	k := hears[wire.Declare](t, c)
	if k.Kind != wire.DeclareKey || string(k.Key.Suffix) != "a/*" || k.QoS != wire.ControlQoS {
		t.Errorf("%+v", k)
	}
	d := hears[wire.Declare](t, c)
	if d.Kind != wire.DeclareSubscriber || uint32(d.Key.Scope) != k.ID || !d.Key.Sender || len(d.Key.Suffix) != 0 {
		t.Errorf("%+v", d)
	}
	// The same key again uses the same number.
	q := must[*Queryable](t)(s.NewQueryable("a/*", func(*Query) {}, QueryableOptions{Complete: true}))
	dq := hears[wire.Declare](t, c)
	if dq.Kind != wire.DeclareQueryable || uint32(dq.Key.Scope) != k.ID || !dq.Complete || dq.ID == d.ID {
		t.Errorf("%+v", dq)
	}
	// What is for this session only is not declared.
	must[*Subscriber](t)(s.NewSubscriber("b", func(*Sample) {}, SubscriberOptions{Origin: SessionLocal}))
	hears[wire.Declare](t, c) // the key
	c.silent(t)
	if err := sub.Close(); err != nil {
		t.Error(err)
	}
	if u := hears[wire.Declare](t, c); u.Kind != wire.UndeclareSubscriber || u.ID != d.ID {
		t.Errorf("%+v", u)
	}
	if err := errors.Join(q.Close(), q.Close(), sub.Close()); err != nil {
		t.Error(err)
	}
	if u := hears[wire.Declare](t, c); u.Kind != wire.UndeclareQueryable || u.ID != dq.ID {
		t.Errorf("%+v", u)
	}
	if u := hears[wire.Declare](t, c); u.Kind != wire.UndeclareKey || u.ID != k.ID {
		t.Errorf("%+v", u)
	}
	pub := must[*Publisher](t)(s.NewPublisher("a/x", PublisherOptions{}))
	k2 := hears[wire.Declare](t, c)
	if k2.Kind != wire.DeclareKey || k2.ID == k.ID {
		t.Errorf("a number is used twice: %+v", k2)
	}
	if err := pub.Put(bg, []byte("1")); err != nil {
		t.Error(err)
	}
	if p := hears[wire.Push](t, c); uint32(p.Key.Scope) != k2.ID || len(p.Key.Suffix) != 0 || string(p.Body.Payload) != "1" || p.QoS != wire.DefaultQoS {
		t.Errorf("%+v", p)
	}
	if err := pub.Close(); err != nil {
		t.Error(err)
	}
	if err := pub.Put(bg, nil); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

func TestKeysOfThePeer(t *testing.T) {
	s, _, c := withFake(t)
	ch := make(chan got, 10)
	must[*Subscriber](t)(s.NewSubscriber("a/**", func(m *Sample) { ch <- take(m) }, SubscriberOptions{}))
	number := hears[wire.Declare](t, c).ID
	expect := func(key, payload string) {
		t.Helper()
		if m := within(t, key, ch); m.Key != key || m.Payload != payload {
			t.Errorf("%+v, want %s %s", m, key, payload)
		}
	}
	c.push(text("a/b"), "1")
	expect("a/b", "1")
	// Their aliases, built on each other, without a slash in between.
	c.declare(wire.Declaration{Kind: wire.DeclareKey, ID: 1, Key: text("a/b")})
	c.declare(wire.Declaration{Kind: wire.DeclareKey, ID: 2, Key: wire.WireExpr{Scope: 1, Suffix: []byte("c/d"), Sender: true}})
	c.push(wire.WireExpr{Scope: 1, Sender: true}, "2")
	expect("a/b", "2")
	c.push(wire.WireExpr{Scope: 2, Sender: true}, "3")
	expect("a/bc/d", "3")
	c.push(wire.WireExpr{Scope: 2, Suffix: []byte("/e"), Sender: true}, "4")
	expect("a/bc/d/e", "4")
	// Our own alias, which the peer may use too.
	c.declare(wire.Declaration{Kind: wire.DeclareKey, ID: 9, Key: wire.WireExpr{Suffix: []byte("a/z")}})
	w := ours(number)
	c.push(w, "5")
	expect("a/**", "5")
	// Changed, taken back, unknown, malformed.
	c.declare(wire.Declaration{Kind: wire.DeclareKey, ID: 1, Key: text("a/new")})
	c.push(wire.WireExpr{Scope: 1, Sender: true}, "6")
	expect("a/new", "6")
	c.push(wire.WireExpr{Scope: 2, Sender: true}, "7")
	expect("a/bc/d", "7")
	c.declare(wire.Declaration{Kind: wire.UndeclareKey, ID: 1})
	c.push(wire.WireExpr{Scope: 1, Sender: true}, "lost")
	c.push(wire.WireExpr{Scope: 77, Sender: true}, "lost")
	c.push(wire.WireExpr{Scope: 77}, "lost")
	c.push(text("a//b"), "lost")
	c.push(text("elsewhere"), "unmatched")
	c.push(text("a"), "8")
	expect("a", "8")
	if st := s.Stats(); st.UnknownKey != 4 || st.Unmatched != 1 {
		t.Errorf("%+v", st)
	}
}

// A subscriber made after a key is in use is not missed, one that was closed is not called.
func TestRoutesFollowSubscribers(t *testing.T) {
	s, _, c := withFake(t)
	a, b := make(chan string, 10), make(chan string, 10)
	first := must[*Subscriber](t)(s.NewSubscriber("k", func(m *Sample) { a <- string(m.Payload) }, SubscriberOptions{}))
	c.push(text("k"), "1")
	within(t, "first", a)
	must[*Subscriber](t)(s.NewSubscriber("k", func(m *Sample) { b <- string(m.Payload) }, SubscriberOptions{Origin: Remote}))
	c.push(text("k"), "2")
	within(t, "first", a)
	within(t, "second", b)
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	c.push(text("k"), "3")
	within(t, "second", b)
	if len(a) != 0 {
		t.Error("closed subscriber was called")
	}
	if err := first.Drain(bg); err != nil {
		t.Error(err)
	}
}

func TestLocalDelivery(t *testing.T) {
	s, _, c := withFake(t)
	var anywhere, local, remote atomic.Int64
	must[*Subscriber](t)(s.NewSubscriber("k/*", func(m *Sample) {
		if m.Key != "k/1" || string(m.Payload) != "x" || string(m.Attachment) != "att" || m.Encoding() != EncodingJSON || m.Congestion != Block || !m.Express {
			t.Errorf("%+v", m)
		}
		anywhere.Add(1)
	}, SubscriberOptions{}))
	must[*Subscriber](t)(s.NewSubscriber("k/1", func(*Sample) { local.Add(1) }, SubscriberOptions{Origin: SessionLocal}))
	must[*Subscriber](t)(s.NewSubscriber("k/1", func(*Sample) { remote.Add(1) }, SubscriberOptions{Origin: Remote}))
	sent := 0
	for _, to := range []Locality{Anywhere, SessionLocal, Remote} {
		o := PublisherOptions{Destination: to, Encoding: EncodingJSON, Congestion: Block, Express: true}
		pub := must[*Publisher](t)(s.NewPublisher("k/1", o))
		if err := pub.PutWith(bg, []byte("x"), PutOptions{Attachment: []byte("att")}); err != nil {
			t.Error(err)
		}
		if err := s.Put(bg, "k/1", []byte("x"), o, PutOptions{Attachment: []byte("att")}); err != nil {
			t.Error(err)
		}
	}
	for range 7 { // two keys, two subscribers that are declared, …
		select {
		case m := <-c.said:
			if _, ok := m.(*wire.Push); ok {
				sent++
			}
		case <-time.After(100 * time.Millisecond):
		}
	}
	for len(c.said) > 0 {
		if _, ok := (<-c.said).(*wire.Push); ok {
			sent++
		}
	}
	if anywhere.Load() != 4 || local.Load() != 4 || remote.Load() != 0 || sent != 4 {
		t.Errorf("anywhere %d, local %d, remote %d, sent %d", anywhere.Load(), local.Load(), remote.Load(), sent)
	}
}

func TestRetain(t *testing.T) {
	s, _, c := withFake(t)
	kept := make(chan *Sample, 100)
	must[*Subscriber](t)(s.NewSubscriber("k/**", func(m *Sample) {
		other := m.Retain() // two references to one message
		kept <- m.Retain()
		other.Release()
	}, SubscriberOptions{}))
	large := strings.Repeat("L", 200_000)
	c.push(text("k/1"), "small")
	c.push(text("k/2"), large)
	for i := range 20 {
		c.push(text("k/3"), strings.Repeat(fmt.Sprint(i%10), 200_000))
	}
	a, b := within(t, "sample", kept), within(t, "sample", kept)
	if string(a.Payload) != "small" || string(b.Payload) != large {
		t.Error("retained samples changed")
	}
	a.Release()
	b.Release()
	for range 20 {
		m := within(t, "sample", kept)
		if strings.Trim(string(m.Payload), string(m.Payload[:1])) != "" {
			t.Error("damaged")
		}
		m.Release()
	}
	// A local sample is a copy: the putter has its memory back.
	payload := []byte("mine")
	if err := s.Put(bg, "k/9", payload, PublisherOptions{Destination: SessionLocal}, PutOptions{Attachment: []byte{}}); err != nil {
		t.Error(err)
	}
	payload[0] = 'X'
	if m := within(t, "local sample", kept); string(m.Payload) != "mine" || m.Attachment == nil {
		t.Errorf("%.100q %v", m.Payload, m.Attachment)
	}
}

// An interest of the peer's is answered with what matches, and a final.
func TestInterestIsAnswered(t *testing.T) {
	s, _, c := withFake(t)
	must[*Subscriber](t)(s.NewSubscriber("a/b", func(*Sample) {}, SubscriberOptions{}))
	must[*Queryable](t)(s.NewQueryable("a/q", func(*Query) {}, QueryableOptions{}))
	must[*Token](t)(s.NewToken("a/t"))
	must[*Token](t)(s.NewToken("other"))
	for range 6 {
		hears[wire.Declare](t, c)
	}
	c.say((&wire.Interest{ID: 9, Mode: wire.InterestCurrent, Options: wire.InterestTokens | wire.InterestSubscribers, Key: text("a/*"), QoS: wire.DefaultQoS}).Append(nil))
	kinds := map[wire.DeclarationKind]int{}
	for range 3 {
		m := hears[wire.Declare](t, c)
		if !m.Answers || m.Interest != 9 {
			t.Errorf("%+v", m)
		}
		kinds[m.Kind]++
	}
	if kinds[wire.DeclareSubscriber] != 1 || kinds[wire.DeclareToken] != 1 || kinds[wire.DeclareFinal] != 1 {
		t.Errorf("%v", kinds)
	}
	c.silent(t)
}

func TestTokensOnTheWire(t *testing.T) {
	s, f, c := withFake(t)
	ev := make(chan LivelinessEvent, 10)
	w := must[*LivelinessSubscriber](t)(s.NewLivelinessSubscriber("lv/**", func(e LivelinessEvent) { ev <- e }, LivelinessOptions{History: true}))
	i := hears[wire.Interest](t, c)
	if i.Mode != wire.InterestCurrentFuture || i.Options != wire.InterestKeys|wire.InterestTokens || string(i.Key.Suffix) != "lv/**" {
		t.Errorf("%+v", i)
	}
	expect := func(key string, alive bool) {
		t.Helper()
		if e := within(t, key, ev); e != (LivelinessEvent{key, alive}) {
			t.Errorf("%+v, want %s %v", e, key, alive)
		}
	}
	c.declare(wire.Declaration{Kind: wire.DeclareToken, ID: 1, Key: text("lv/a")}, i.ID)
	c.declare(wire.Declaration{Kind: wire.DeclareFinal}, i.ID)
	expect("lv/a", true)
	if err := w.WaitHistory(bg); err != nil {
		t.Error(err)
	}
	c.declare(wire.Declaration{Kind: wire.DeclareToken, ID: 2, Key: text("lv/b")})
	expect("lv/b", true)
	c.declare(wire.Declaration{Kind: wire.DeclareToken, ID: 2, Key: text("lv/b")}) // twice
	c.declare(wire.Declaration{Kind: wire.UndeclareToken, ID: 99})                 // unknown
	c.declare(wire.Declaration{Kind: wire.UndeclareToken, ID: 1, Key: text("lv/x")})
	expect("lv/a", false)
	c.declare(wire.Declaration{Kind: wire.UndeclareToken, ID: 50, Key: text("lv/once")}) // by its key alone
	expect("lv/once", false)
	f.hangUp()
	expect("lv/b", false)
	c = within(t, "reconnect", f.conns)
	i2 := hears[wire.Interest](t, c)
	if i2.ID != i.ID {
		t.Errorf("%+v", i2)
	}
	c.declare(wire.Declaration{Kind: wire.DeclareToken, ID: 1, Key: text("lv/b")}, i2.ID)
	expect("lv/b", true)
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if i := hears[wire.Interest](t, c); i.Mode != wire.InterestFinal || i.ID != i2.ID {
		t.Errorf("%+v", i)
	}
	c.declare(wire.Declaration{Kind: wire.DeclareToken, ID: 7, Key: text("lv/c")})
	if len(ev) != 0 {
		t.Errorf("%d events after the end", len(ev))
	}
}

func TestCloseFromCallbacks(t *testing.T) {
	s, _, c := withFake(t)
	done := make(chan error, 1)
	must[*Subscriber](t)(s.NewSubscriber("k", func(*Sample) { done <- s.Close() }, SubscriberOptions{}))
	c.push(text("k"), "1")
	if err := within(t, "close inside a callback", done); err != nil {
		t.Error(err)
	}
	within(t, "end", c.gone)
	if _, err := s.NewToken("x"); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if err := s.Put(bg, "x", nil, PublisherOptions{}, PutOptions{}); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if _, err := s.Query(bg, "x", QuerierOptions{}, QueryOptions{}); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

func TestCloseFromOnState(t *testing.T) {
	f := newFake(t)
	done := make(chan error, 10)
	var s *Session
	ready := make(chan struct{})
	s, err := Open(bg, Config{Connect: []string{f.locator()}, Background: true, OnState: func(st State) {
		<-ready
		if st.Connected {
			done <- s.Close()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	close(ready)
	if err := within(t, "close inside OnState", done); err != nil {
		t.Error(err)
	}
	within(t, "end of the managing goroutine", s.managed)
}

func TestCloseEndsQueries(t *testing.T) {
	s, _, _ := withFake(t)
	done := make(chan error, 2)
	if _, err := s.Ask(bg, "q", QuerierOptions{}, QueryOptions{}, func(*Reply) {}, func(err error) { done <- err }); err != nil {
		t.Fatal(err)
	}
	go func() {
		_, err := s.Tokens(bg, "lv")
		done <- err
	}()
	time.Sleep(20 * time.Millisecond)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := within(t, "end", done); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	}
}

func TestBadArguments(t *testing.T) {
	s, _, _ := withFake(t)
	var ke *KeyError
	for _, key := range []string{"", "/a", "a//b", "a*", "**/**"} {
		if _, err := s.NewSubscriber(key, nil, SubscriberOptions{}); !errors.As(err, &ke) || ke.Text != key {
			t.Errorf("%q: %v", key, err)
		}
		if err := s.Put(bg, key, nil, PublisherOptions{}, PutOptions{}); !errors.As(err, &ke) {
			t.Errorf("%q: %v", key, err)
		}
	}
	var ve *ValueError
	if err := s.Put(bg, "a", nil, PublisherOptions{}, PutOptions{Encoding: Encoding{Schema: strings.Repeat("x", 256)}}); !errors.As(err, &ve) {
		t.Error(err)
	}
	for _, at := range []string{"", "tcp", "tcp/x", "foo/a:1", "udp/a:1", "tcp/a:1#iface=lo", "tcp/:7447"} {
		var le *LocatorError
		if _, err := Open(bg, Config{Connect: []string{at}}); !errors.As(err, &le) {
			t.Errorf("%q: %v", at, err)
		}
	}
	if _, err := Open(bg, Config{Connect: []string{"tcp/127.0.0.1:1"}, BatchSize: 5}); !errors.As(err, &ve) {
		t.Error(err)
	}
}

func TestEncodingNames(t *testing.T) {
	for _, s := range []string{"zenoh/bytes", "text/plain", "text/plain;utf8", "application/cdr", "my/own", "video/vp9;x;y"} {
		if got := ParseEncoding(s).String(); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

func TestClock(t *testing.T) {
	now := int64(1_700_000_000_000_000_000)
	c := newHLC(NewID())
	c.now = func() int64 { return now }
	a, b := c.New(), c.New()
	if b.Time != a.Time+1 || a.Time&logical != 0 {
		t.Errorf("%x %x", a.Time, b.Time)
	}
	c.see(b.Time + 1000)
	if d := c.New(); d.Time != b.Time+1001 {
		t.Errorf("%x after having seen %x", d.Time, b.Time+1000)
	}
	c.see(b.Time + 1<<33) // two seconds ahead: not followed
	if d := c.New(); d.Time != b.Time+1002 {
		t.Errorf("%x", d.Time)
	}
	now -= 1e9 // the wall clock steps back
	if d := c.New(); d.Time != b.Time+1003 {
		t.Errorf("%x", d.Time)
	}
	now += 3e9
	if d := c.New(); d.Time <= b.Time+1<<32 || d.Time&logical != 0 {
		t.Errorf("%x", d.Time)
	}
}
