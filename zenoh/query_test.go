package zenoh

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tagus-ros/tagus/zenoh/internal/wire"
)

func TestQueriesOnTheWire(t *testing.T) {
	s, f, c := withFake(t)
	qr := must[*Querier](t)(s.NewQuerier("q/k", QuerierOptions{Target: AllComplete, Consolidation: None, Timeout: Forever}))
	k := hears[wire.Declare](t, c)
	replies, done := make(chan string, 10), make(chan error, 1)
	ask := func(ctx context.Context) *wire.Request {
		t.Helper()
		if _, err := qr.Ask(ctx, QueryOptions{Parameters: "a=b", Payload: []byte("p"), Attachment: []byte("t")},
			func(r *Reply) { replies <- string(r.Sample.Payload) }, func(err error) { done <- err }); err != nil {
			t.Fatal(err)
		}
		return hears[wire.Request](t, c)
	}
	respond := func(id uint32, key, payload string) {
		m := wire.Response{ID: id, Key: text(key), QoS: 0x0d}
		m.Reply.Body.Payload = []byte(payload)
		c.say(m.AppendHead(nil), []byte(payload)...)
	}
	final := func(id uint32) { c.say((&wire.ResponseFinal{ID: id, QoS: wire.DefaultQoS}).Append(nil)) }
	r := ask(bg)
	if uint32(r.Key.Scope) != k.ID || r.QoS != 0x0d || r.Target != wire.TargetAllComplete || r.Timeout < 24*365*time.Hour ||
		r.Body.Consolidation != wire.ConsolidationNone || string(r.Body.Parameters) != "a=b" || string(r.Body.Payload) != "p" || string(r.Body.Attachment) != "t" {
		t.Errorf("%+v", r)
	}
	respond(r.ID, "q/k", "1")
	respond(r.ID, "other", "does not intersect")
	respond(r.ID+5, "q/k", "nobody asked")
	respond(r.ID, "q/*", "2")
	final(r.ID + 5)
	if len(done) != 0 {
		t.Error("ended by another's final")
	}
	final(r.ID)
	final(r.ID)
	respond(r.ID, "q/k", "late")
	if err := within(t, "end", done); err != nil {
		t.Error(err)
	}
	if a, b := within(t, "reply", replies), within(t, "reply", replies); a != "1" || b != "2" || len(replies) != 0 {
		t.Errorf("%s %s and %d more", a, b, len(replies))
	}
	// The context's end.
	ctx, cancel := context.WithCancelCause(bg)
	r2 := ask(ctx)
	if r2.ID == r.ID {
		t.Error("id used twice")
	}
	reason := errors.New("enough")
	cancel(reason)
	if err := within(t, "end", done); !errors.Is(err, reason) {
		t.Error(err)
	}
	// The link's end.
	ask(bg)
	f.hangUp()
	if err := within(t, "end", done); !errors.Is(err, ErrNoLink) {
		t.Error(err)
	}
	if len(done) != 0 {
		t.Error("ended twice")
	}
}

// A request that no queryable takes is answered at once; one for several ends when all are done.
func TestRequests(t *testing.T) {
	s, _, c := withFake(t)
	request := func(id uint32, key string, target wire.Target) {
		m := wire.Request{ID: id, Key: text(key), QoS: 0x0d, Target: target}
		c.say(m.Append(nil))
	}
	request(5, "nobody", 0)
	if m := hears[wire.ResponseFinal](t, c); m.ID != 5 || m.QoS != 0x0d {
		t.Errorf("%+v", m)
	}
	c.say((&wire.Request{ID: 6, Key: wire.WireExpr{Scope: 99, Sender: true}}).Append(nil))
	if m := hears[wire.ResponseFinal](t, c); m.ID != 6 {
		t.Errorf("%+v", m)
	}
	held := make(chan *Query, 2)
	must[*Queryable](t)(s.NewQueryable("q/*", func(q *Query) { held <- q.Retain() }, QueryableOptions{}))
	must[*Queryable](t)(s.NewQueryable("q/**", func(q *Query) { held <- q.Retain() }, QueryableOptions{Complete: true}))
	for range 4 {
		hears[wire.Declare](t, c)
	}
	request(7, "q/1", wire.TargetAll)
	a, b := within(t, "query", held), within(t, "query", held)
	a.Release()
	a.Release()
	c.silent(t)
	if err := b.Reply(bg, "", []byte("r"), PutOptions{}); err != nil {
		t.Error(err)
	}
	b.Release()
	if m := hears[wire.Response](t, c); m.ID != 7 || string(m.Key.Suffix) != "q/1" || m.Responder.ID != s.ID() || m.QoS != 0x0d {
		t.Errorf("%+v", m)
	}
	if m := hears[wire.ResponseFinal](t, c); m.ID != 7 {
		t.Errorf("%+v", m)
	}
	request(8, "q/1", wire.TargetAllComplete)
	if q := within(t, "query", held); q.Key != "q/1" {
		t.Errorf("%+v", q)
	} else {
		q.Release()
	}
	if m := hears[wire.ResponseFinal](t, c); m.ID != 8 {
		t.Errorf("%+v", m)
	}
	if len(held) != 0 {
		t.Error("a queryable that is not complete was asked")
	}
}

func TestLocalQueries(t *testing.T) {
	s, _, _ := withFake(t)
	must[*Queryable](t)(s.NewQueryable("q/*", func(q *Query) {
		if err := q.Reply(bg, "q/x", []byte(q.Parameters+"|"+string(q.Payload)), PutOptions{}); err != nil {
			t.Error(err)
		}
	}, QueryableOptions{Complete: true}))
	for _, dest := range []Locality{Anywhere, SessionLocal} { // complete: nobody else is asked
		rs, err := s.Query(bg, "q/x", QuerierOptions{Destination: dest}, QueryOptions{Parameters: "p", Payload: []byte("b")})
		if err != nil || len(rs) != 1 || string(rs[0].Sample.Payload) != "p|b" || rs[0].Responder != s.ID() {
			t.Errorf("%v, %v", rs, err)
		}
	}
	if rs, err := s.Query(bg, "none", QuerierOptions{Destination: SessionLocal}, QueryOptions{}); err != nil || len(rs) != 0 {
		t.Error(rs, err)
	}
}

func TestConsolidation(t *testing.T) {
	s, _, _ := withFake(t)
	id := NewID()
	must[*Queryable](t)(s.NewQueryable("q/**", func(q *Query) {
		for _, r := range []struct {
			key  string
			time uint64
		}{{"q/a", 5}, {"q/b", 1}, {"q/a", 3}, {"q/a", 7}, {"q/b", 2}, {"q/a", 6}} {
			if err := q.Reply(bg, r.key, []byte(fmt.Sprint(r.key, r.time)), PutOptions{Timestamp: Timestamp{Time: r.time, ID: id}}); err != nil {
				t.Error(err)
			}
		}
	}, QueryableOptions{}))
	for _, tc := range []struct {
		c          Consolidation
		parameters string
		want       string
	}{
		{None, "", "q/a5 q/b1 q/a3 q/a7 q/b2 q/a6"},
		{Monotonic, "", "q/a5 q/b1 q/a7 q/b2"},
		{Latest, "", "q/a7 q/b2"},
		{Auto, "", "q/a7 q/b2"},
		{Auto, "_time=[now(-1s)..]", "q/a5 q/b1 q/a3 q/a7 q/b2 q/a6"},
	} {
		rs, err := s.Query(bg, "q/**", QuerierOptions{Consolidation: tc.c, Destination: SessionLocal}, QueryOptions{Parameters: tc.parameters})
		var got []string
		for _, r := range rs {
			got = append(got, string(r.Sample.Payload))
		}
		if g := strings.Join(got, " "); err != nil || g != tc.want {
			t.Errorf("%v %q: %s, %v; want %s", tc.c, tc.parameters, g, err, tc.want)
		}
	}
}
