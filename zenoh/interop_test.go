package zenoh

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// got is a sample that may be kept and compared.
type got struct {
	Key, Kind, Payload, Att, Enc string
	NoAtt                        bool
	Prio                         Priority
	Block, Express               bool
	Stamped                      bool
	Source                       SourceInfo
}

func take(m *Sample) got {
	g := got{Key: m.Key, Kind: m.Kind.String(), Payload: string(m.Payload), Att: string(m.Attachment), NoAtt: m.Attachment == nil,
		Enc: m.Encoding().String(), Prio: m.Priority, Block: m.Congestion == Block, Express: m.Express,
		Stamped: !m.Timestamp.IsZero(), Source: m.Source}
	if len(g.Payload) > 100 {
		g.Payload = digest(m.Payload)
	}
	return g
}

func digest(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

func fill(size int, b byte) []byte {
	p := make([]byte, size)
	for i := range p {
		p[i] = b
	}
	return p
}

func TestReceiveFromReference(t *testing.T) {
	at := router(t)
	p := client(t, at)
	s := session(t, at)
	ch := make(chan got, 100)
	must[*Subscriber](t)(s.NewSubscriber("demo/**", func(m *Sample) { ch <- take(m) }, SubscriberOptions{}))
	p.call("pub", args{"key": "demo/a", "prio": 1, "block": true, "express": true}, nil)
	// The router knows of a subscriber when it answers a later request of the same session.
	settle(t, s)

	p.call("put", args{"key": "demo/a", "payload": []byte("hello"), "att": []byte("0123"), "enc": "text/plain;utf8", "ts": true, "src": 7}, nil)
	p.call("put", args{"key": "demo/b/c", "payload": []byte("")}, nil)
	p.call("put", args{"key": "demo/b", "payload": args{"size": 1 << 20, "fill": 7}, "block": true}, nil)
	p.call("put", args{"key": "demo/b", "payload": args{"size": 65500, "fill": 8}, "block": true}, nil)
	p.call("put", args{"key": "other", "payload": []byte("not for us")}, nil)
	p.call("delete", args{"key": "demo/b"}, nil)

	zid, err := ParseID(p.zid)
	if err != nil {
		t.Fatal(err)
	}
	var eid uint32
	for i, want := range []got{
		{Key: "demo/a", Kind: "put", Payload: "hello", Att: "0123", Enc: "text/plain;utf8", Prio: PriorityRealTime, Block: true, Express: true, Source: SourceInfo{ID: zid, Sequence: 7}},
		{Key: "demo/b/c", Kind: "put", NoAtt: true, Enc: "zenoh/bytes", Prio: PriorityData},
		{Key: "demo/b", Kind: "put", NoAtt: true, Enc: "zenoh/bytes", Prio: PriorityData, Block: true, Payload: digest(fill(1<<20, 7))},
		{Key: "demo/b", Kind: "put", NoAtt: true, Enc: "zenoh/bytes", Prio: PriorityData, Block: true, Payload: digest(fill(65500, 8))},
		{Key: "demo/b", Kind: "delete", NoAtt: true, Enc: "zenoh/bytes", Prio: PriorityData},
	} {
		want.Stamped = want.Kind == "put" // by the router at the latest
		m := within(t, fmt.Sprint("sample ", i), ch)
		if i == 0 {
			eid, m.Source.Entity = m.Source.Entity, 0
		}
		if d := cmp.Diff(want, m); d != "" {
			t.Errorf("sample %d: %s", i, d)
		}
	}
	if eid == 0 {
		t.Error("no entity id in the source info")
	}
	if st := s.Stats(); st.UnknownKey != 0 || st.Unmatched != 0 {
		t.Errorf("%+v", st)
	}
}

// settle waits until the router has worked through what s declared.
func settle(t testing.TB, s *Session) {
	t.Helper()
	if _, err := s.Tokens(bg, "settle/nothing"); err != nil {
		t.Fatal(err)
	}
}

func TestReferenceReceives(t *testing.T) {
	at := router(t)
	p := client(t, at)
	p.call("sub", args{"key": "demo/**"}, nil)
	p.call("liveget", args{"key": "settle/nothing"}, nil)
	s := session(t, at)
	pub := must[*Publisher](t)(s.NewPublisher("demo/a/b", PublisherOptions{Priority: PriorityInteractiveHigh, Congestion: Block, Express: true}))
	best := must[*Publisher](t)(s.NewPublisher("demo/best", PublisherOptions{Reliability: BestEffort, Encoding: EncodingCDR}))
	for _, err := range []error{
		pub.PutWith(bg, []byte("hello"), PutOptions{Attachment: []byte("0123"), Encoding: ParseEncoding("text/plain;utf8"),
			Timestamp: s.NewTimestamp(), Source: SourceInfo{ID: s.ID(), Entity: pub.ID(), Sequence: 9}}),
		pub.Put(bg, nil),
		best.Put(bg, []byte{1, 2, 3}),
		pub.Put(bg, fill(3<<20, 5)),
		pub.Put(bg, fill(65_400, 6)),
		pub.Delete(bg, PutOptions{Attachment: []byte("x")}),
		s.Put(bg, "demo/once", []byte("1"), PublisherOptions{Congestion: Block}, PutOptions{}),
		s.Put(bg, "demo/wild/*", []byte("2"), PublisherOptions{Congestion: Block}, PutOptions{}),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	// Messages of different priorities overtake each other, so each key is looked at by itself.
	byKey := map[string][]event{}
	for range 8 {
		e := p.event()
		byKey[e.Key] = append(byKey[e.Key], e)
	}
	a := byKey["demo/a/b"]
	if len(a) != 5 {
		t.Fatalf("%d samples on demo/a/b", len(a))
	}
	first := a[0]
	if string(first.Payload.B64) != "hello" || string(first.Att) != "0123" || first.Enc != "text/plain;utf8" || first.Prio != int(PriorityInteractiveHigh) ||
		!first.Block || !first.Express || first.TS == nil || len(first.Src) != 3 || first.Src[0] != s.ID().String() || first.Src[1] != float64(pub.ID()) || first.Src[2] != float64(9) {
		t.Errorf("%+v", first)
	}
	if a[1].Payload.Len != 0 || a[1].Att != nil {
		t.Errorf("%+v", a[1])
	}
	if a[2].Payload.SHA != digest(fill(3<<20, 5)) || a[3].Payload.SHA != digest(fill(65_400, 6)) {
		t.Errorf("large payloads: %+v %+v", a[2].Payload, a[3].Payload)
	}
	if a[4].Kind != "delete" || string(a[4].Att) != "x" {
		t.Errorf("%+v", a[4])
	}
	if b := byKey["demo/best"]; len(b) != 1 || b[0].Enc != "application/cdr" || b[0].Block || string(b[0].Payload.B64) != "\x01\x02\x03" {
		t.Errorf("%+v", b)
	}
	if len(byKey["demo/once"]) != 1 || len(byKey["demo/wild/*"]) != 1 {
		t.Errorf("%v", byKey)
	}
}

type pyReply struct {
	OK   *event  `json:"ok"`
	Err  *packed `json:"err"`
	Enc  string  `json:"enc"`
	From string  `json:"from"`
}

func TestReferenceAsks(t *testing.T) {
	at := router(t)
	p := client(t, at)
	s := session(t, at)
	var held *Query
	hold := make(chan struct{})
	must[*Queryable](t)(s.NewQueryable("q/now", func(q *Query) {
		text := fmt.Sprintf("%s|%s|%s|%s|%v", q.Parameters, q.Payload, q.Attachment, q.Encoding(), q.HasPayload)
		if err := q.Reply(bg, "", []byte(text), PutOptions{Attachment: []byte("att"), Encoding: EncodingText}); err != nil {
			t.Error(err)
		}
	}, QueryableOptions{Complete: true}))
	must[*Queryable](t)(s.NewQueryable("q/late", func(q *Query) {
		held = q.Retain()
		close(hold)
	}, QueryableOptions{}))
	must[*Queryable](t)(s.NewQueryable("q/err", func(q *Query) { _ = q.ReplyError(bg, []byte("no"), EncodingText) }, QueryableOptions{}))
	must[*Queryable](t)(s.NewQueryable("q/many/**", func(q *Query) {
		for i := range 3 {
			if err := q.Reply(bg, fmt.Sprintf("q/many/%d", i), fill(100_000, byte(i)), PutOptions{}); err != nil {
				t.Error(err)
			}
		}
		if err := q.Reply(bg, "elsewhere", nil, PutOptions{}); err == nil {
			t.Error("a reply beside the query's key is accepted")
		}
		if err := q.ReplyDelete(bg, "q/many/3", PutOptions{}); err != nil {
			t.Error(err)
		}
	}, QueryableOptions{}))
	settle(t, s)

	var r []pyReply
	p.call("get", args{"key": "q/now?a=1;b=2", "payload": []byte("body"), "att": []byte("qa")}, &r)
	if len(r) != 1 || r[0].OK == nil || string(r[0].OK.Payload.B64) != "a=1;b=2|body|qa|zenoh/bytes|true" || string(r[0].OK.Att) != "att" ||
		r[0].OK.Enc != "text/plain" || r[0].OK.Key != "q/now" || r[0].From != s.ID().String() {
		t.Errorf("%+v", r)
	}
	p.call("get", args{"key": "q/now", "target": "ALL_COMPLETE", "consolidation": "NONE"}, &r)
	if len(r) != 1 || r[0].OK == nil || string(r[0].OK.Payload.B64) != "|||zenoh/bytes|false" {
		t.Errorf("%+v", r)
	}
	p.call("get", args{"key": "q/err"}, &r)
	if len(r) != 1 || r[0].Err == nil || string(r[0].Err.B64) != "no" || r[0].Enc != "text/plain" {
		t.Errorf("%+v", r)
	}
	p.call("get", args{"key": "q/nobody"}, &r)
	if len(r) != 0 {
		t.Errorf("%+v", r)
	}
	p.call("get", args{"key": "q/many/*"}, &r)
	var keys []string
	for _, x := range r {
		keys = append(keys, x.OK.Key+" "+x.OK.Kind)
	}
	sort.Strings(keys)
	if d := cmp.Diff([]string{"q/many/0 put", "q/many/1 put", "q/many/2 put", "q/many/3 delete"}, keys); d != "" {
		t.Error(d)
	}
	// A delayed answer: the query stays open until it is released.
	done := make(chan []pyReply, 1)
	go func() {
		var r []pyReply
		p.call("get", args{"key": "q/late", "payload": []byte("kept")}, &r)
		done <- r
	}()
	within(t, "query", hold)
	select {
	case r := <-done:
		t.Errorf("ended before the reply: %+v", r)
	case <-time.After(200 * time.Millisecond):
	}
	if err := held.Reply(bg, "", append([]byte("late "), held.Payload...), PutOptions{}); err != nil {
		t.Error(err)
	}
	held.Release()
	if r := within(t, "late reply", done); len(r) != 1 || string(r[0].OK.Payload.B64) != "late kept" {
		t.Errorf("%+v", r)
	}
	if err := held.Reply(bg, "", nil, PutOptions{}); !errors.Is(err, ErrAnswered) {
		t.Error(err)
	}
}

func TestAskReference(t *testing.T) {
	at := router(t)
	p, p2 := client(t, at), client(t, at)
	p.call("queryable", args{"key": "q/a", "complete": true, "replies": [][]any{{"", []byte("one"), []byte("att")}}}, nil)
	p2.call("queryable", args{"key": "q/*", "replies": [][]any{{"", []byte("two"), nil}, {"", []byte("three"), nil}}}, nil)
	p.call("queryable", args{"key": "q/err", "replies": [][]any{}, "err": []byte("bad")}, nil)
	p.call("queryable", args{"key": "q/slow", "delay": 30.0, "replies": [][]any{}}, nil)
	p.call("queryable", args{"key": "q/big", "complete": true, "replies": [][]any{{"", args{"size": 2 << 20, "fill": 9}, nil}}}, nil)
	s := session(t, at)
	settle(t, s)
	payloads := func(rs []*Reply) (out []string) {
		for _, r := range rs {
			if r.Err != nil {
				out = append(out, "error "+string(r.Err.Payload))
			} else if len(r.Sample.Payload) > 100 {
				out = append(out, digest(r.Sample.Payload))
			} else {
				out = append(out, string(r.Sample.Payload))
			}
			r.Release()
		}
		sort.Strings(out)
		return out
	}
	for _, tc := range []struct {
		key  string
		opts QuerierOptions
		want []string
	}{
		{"q/a", QuerierOptions{Target: AllComplete, Consolidation: None}, []string{"one"}},
		{"q/a", QuerierOptions{Target: All, Consolidation: None}, []string{"one", "three", "two"}},
		{"q/b", QuerierOptions{Consolidation: None}, []string{"three", "two"}},
		{"q/b", QuerierOptions{}, []string{"three"}}, // latest: the last of the key
		{"q/b", QuerierOptions{Consolidation: Monotonic}, []string{"three", "two"}},
		{"q/err", QuerierOptions{Target: All, Consolidation: None}, []string{"error bad", "three", "two"}},
		{"none/such", QuerierOptions{}, nil},
		{"q/big", QuerierOptions{Target: AllComplete}, []string{digest(fill(2<<20, 9))}},
	} {
		rs, err := s.Query(bg, tc.key, tc.opts, QueryOptions{})
		if err != nil {
			t.Errorf("%s %+v: %v", tc.key, tc.opts, err)
		}
		if d := cmp.Diff(tc.want, payloads(rs)); d != "" {
			t.Errorf("%s %+v: %s", tc.key, tc.opts, d)
		}
	}
	for len(p.events) > 0 {
		p.event()
	}
	qr := must[*Querier](t)(s.NewQuerier("q/a", QuerierOptions{Target: AllComplete, Consolidation: None}))
	rs, err := qr.Query(bg, QueryOptions{Parameters: "x=1;y", Payload: []byte("body"), Encoding: EncodingJSON, Attachment: []byte("qa")})
	if err != nil || len(rs) != 1 || rs[0].Responder.String() != p.zid || string(rs[0].Sample.Attachment) != "att" {
		t.Errorf("%+v, %v", rs, err)
	}
	if e := p.event(); e.Ev != "query" || e.Parameters != "x=1;y" || string(e.Payload.B64) != "body" || e.Enc != "application/json" || string(e.Att) != "qa" {
		t.Errorf("%+v", e)
	}
	begin := time.Now()
	if _, err := s.Query(bg, "q/slow", QuerierOptions{Timeout: 300 * time.Millisecond}, QueryOptions{}); !errors.Is(err, ErrTimeout) {
		t.Errorf("%v", err)
	}
	if took := time.Since(begin); took < 250*time.Millisecond || took > 2*time.Second {
		t.Errorf("time-out after %v", took)
	}
	if err := qr.Close(); err != nil {
		t.Error(err)
	}
	if _, err := qr.Query(bg, QueryOptions{}); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

func TestLivelinessWithReference(t *testing.T) {
	at := router(t)
	p := client(t, at)
	p.call("token", args{"key": "lv/theirs/1"}, nil)
	p.call("live", args{"key": "lv/**", "history": true}, nil)
	if e := p.event(); e.Key != "lv/theirs/1" || !e.Alive {
		t.Errorf("%+v", e)
	}
	s := session(t, at)
	ours := must[*Token](t)(s.NewToken("lv/ours"))
	if e := p.event(); e.Key != "lv/ours" || !e.Alive {
		t.Errorf("%+v", e)
	}
	var keys []string
	for range 5 { // the reference client now and then returns nothing right after a change
		if p.call("liveget", args{"key": "lv/**"}, &keys); len(keys) > 0 {
			break
		}
	}
	sort.Strings(keys)
	if d := cmp.Diff([]string{"lv/ours", "lv/theirs/1"}, keys); d != "" {
		t.Error(d)
	}
	mine, err := s.Tokens(bg, "lv/**")
	sort.Strings(mine)
	if d := cmp.Diff([]string{"lv/ours", "lv/theirs/1"}, mine); d != "" || err != nil {
		t.Error(d, err)
	}
	if mine, err = s.Tokens(bg, "lv/theirs/*"); err != nil || len(mine) != 1 {
		t.Error(mine, err)
	}

	past, future := make(chan LivelinessEvent, 100), make(chan LivelinessEvent, 100)
	w := must[*LivelinessSubscriber](t)(s.NewLivelinessSubscriber("lv/**", func(e LivelinessEvent) { past <- e }, LivelinessOptions{History: true}))
	if err := w.WaitHistory(bg); err != nil {
		t.Fatal(err)
	}
	seen := []LivelinessEvent{within(t, "event", past), within(t, "event", past)}
	sort.Slice(seen, func(i, j int) bool { return seen[i].Key < seen[j].Key })
	if d := cmp.Diff([]LivelinessEvent{{"lv/ours", true}, {"lv/theirs/1", true}}, seen); d != "" {
		t.Error(d)
	}
	must[*LivelinessSubscriber](t)(s.NewLivelinessSubscriber("lv/**", func(e LivelinessEvent) { future <- e }, LivelinessOptions{}))
	settle(t, s)
	p.call("token", args{"key": "lv/theirs/2"}, nil)
	p.call("undeclare", args{"thing": "token lv/theirs/1"}, nil)
	if err := ours.Close(); err != nil {
		t.Error(err)
	}
	for name, ch := range map[string]chan LivelinessEvent{"with history": past, "without": future} {
		got := map[string]bool{}
		for range 3 {
			e := within(t, name, ch)
			got[fmt.Sprint(e.Key, e.Alive)] = true
		}
		if d := cmp.Diff(map[string]bool{"lv/theirs/2true": true, "lv/theirs/1false": true, "lv/oursfalse": true}, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	// A late watcher with history is told of what is known already, once.
	late := make(chan LivelinessEvent, 100)
	w2 := must[*LivelinessSubscriber](t)(s.NewLivelinessSubscriber("lv/theirs/**", func(e LivelinessEvent) { late <- e }, LivelinessOptions{History: true}))
	if err := w2.WaitHistory(bg); err != nil {
		t.Fatal(err)
	}
	if e := within(t, "late", late); e != (LivelinessEvent{"lv/theirs/2", true}) || len(late) != 0 {
		t.Errorf("%+v and %d more", e, len(late))
	}
	// The death of a session ends its tokens.
	p.kill()
	if e := within(t, "death", late); e != (LivelinessEvent{"lv/theirs/2", false}) {
		t.Errorf("%+v", e)
	}
	if len(past) != 1 || len(future) != 1 {
		t.Errorf("%d and %d events", len(past), len(future))
	}
}

// Our own close tells the router at once: the reference sees our tokens go.
func TestCloseEndsTokens(t *testing.T) {
	at := router(t)
	p := client(t, at)
	p.call("live", args{"key": "lv/**"}, nil)
	p.call("liveget", args{"key": "settle/nothing"}, nil)
	s := session(t, at)
	for i := range 50 {
		must[*Token](t)(s.NewToken(fmt.Sprint("lv/", i)))
	}
	for range 50 {
		if e := p.event(); !e.Alive {
			t.Errorf("%+v", e)
		}
	}
	begin := time.Now()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for range 50 {
		if e := p.event(); e.Alive || !strings.HasPrefix(e.Key, "lv/") {
			t.Errorf("%+v", e)
		}
	}
	if took := time.Since(begin); took > 3*time.Second {
		t.Errorf("took %v", took)
	}
}
