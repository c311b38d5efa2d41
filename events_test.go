package tagus_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/msgs/std_msgs"
	"github.com/tagus-ros/tagus/qos"
)

// next waits for one value.
func next[T any](t *testing.T, c <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(5 * time.Second):
		t.Fatalf("%s did not come", what)
	}
	return v
}

func TestIncompatibleEvents(t *testing.T) {
	for _, s := range setups {
		t.Run(s.name, func(t *testing.T) {
			pd, sd := s.make(t)
			bad := make(chan tagus.IncompatibleQoS, 4)
			types := make(chan tagus.IncompatibleType, 4)
			ev := tagus.WithEvents(tagus.EventHandlers{
				IncompatibleQoS:  func(e tagus.IncompatibleQoS) { bad <- e },
				IncompatibleType: func(e tagus.IncompatibleType) { types <- e },
			})
			pub, err := tagus.NewPublisher[std_msgs.String](node(t, pd, "p"), "t", qos.SensorData(), ev)
			if err != nil {
				t.Fatal(err)
			}
			n := node(t, sd, "s")
			if _, err := tagus.NewSubscription(n, "t", qos.Default(), func(context.Context, *tagus.Sample[std_msgs.String]) {}, ev); err != nil {
				t.Fatal(err)
			}
			kinds := ""
			for range 2 {
				e := next(t, bad, "an incompatible QoS event")
				if len(e.Reasons) != 1 || e.Reasons[0].Code != "qos-reliability" || e.Total != 1 {
					t.Errorf("%+v", e)
				}
				kinds += e.Other.Kind.String()
			}
			if len(kinds) != len("publishersubscription") {
				t.Errorf("events about %s, want one on each side", kinds)
			}
			if _, err := tagus.NewSubscription(n, "t", qos.SensorData(), func(context.Context, *tagus.Sample[std_msgs.Header]) {}, ev); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if e := next(t, types, "an incompatible type event"); !strings.HasPrefix(e.Reasons[0].Code, "type-") {
					t.Errorf("%+v", e)
				}
			}
			if pub.Matched() != 0 {
				t.Error("an incompatible pair was matched")
			}
		})
	}
}

func TestMatchedLostDeadlineLifespan(t *testing.T) {
	for _, s := range setups {
		t.Run(s.name, func(t *testing.T) {
			pd, sd := s.make(t)
			matched := make(chan tagus.Matched, 8)
			missed := make(chan tagus.DeadlineMissed, 8)
			lost := make(chan tagus.MessageLost, 8)
			q := qos.Default().WithDepth(3)
			q.Deadline, q.Lifespan = 100*time.Millisecond, 10*time.Second
			pub, err := tagus.NewPublisher[std_msgs.String](node(t, pd, "p"), "t", q, tagus.WithEvents(tagus.EventHandlers{
				Matched: func(e tagus.Matched) { matched <- e },
			}))
			if err != nil {
				t.Fatal(err)
			}
			n := node(t, sd, "s")
			sub, err := tagus.NewPullSubscription[std_msgs.String](n, "t", q, tagus.WithEvents(tagus.EventHandlers{
				DeadlineMissed: func(e tagus.DeadlineMissed) { missed <- e },
				MessageLost:    func(e tagus.MessageLost) { lost <- e },
			}))
			if err != nil {
				t.Fatal(err)
			}
			if e := next(t, matched, "matched"); e != (tagus.Matched{Current: 1, Change: 1}) {
				t.Errorf("%+v", e)
			}
			if err := sub.WaitForPublishers(within(t, 5*time.Second), 1); err != nil {
				t.Fatal(err)
			}
			for range 40 {
				if err := pub.Publish(&std_msgs.String{}); err != nil {
					t.Fatal(err)
				}
			}
			for range 3 {
				m, err := sub.Receive(within(t, 5*time.Second))
				if err != nil {
					t.Fatal(err)
				}
				m.Release()
			}
			if e := next(t, lost, "message lost"); e != (tagus.MessageLost{Count: 37, Total: 37}) {
				t.Errorf("%+v", e)
			}
			if e := next(t, missed, "deadline missed"); e.Deadline != q.Deadline {
				t.Errorf("%+v", e)
			}
			if err := sub.Close(); err != nil {
				t.Fatal(err)
			}
			if e := next(t, matched, "unmatched"); e != (tagus.Matched{Current: 0, Change: -1}) {
				t.Errorf("%+v", e)
			}

			q = qos.Default()
			q.Lifespan = 50 * time.Millisecond
			short, err := tagus.NewPublisher[std_msgs.String](node(t, pd, "q"), "u", q)
			if err != nil {
				t.Fatal(err)
			}
			late, err := tagus.NewPullSubscription[std_msgs.String](n, "u", qos.Default())
			if err != nil {
				t.Fatal(err)
			}
			if err := short.WaitForSubscriptions(within(t, 5*time.Second), 1); err != nil {
				t.Fatal(err)
			}
			if err := short.Publish(&std_msgs.String{}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(60 * time.Millisecond) // the message grows old
			if m, ok := late.Take(); ok {
				t.Errorf("took a message %v old", m.Info.Latency)
			}
			if st := late.Stats(); st.Expired != 1 || st.Lost != 0 {
				t.Errorf("%+v", st)
			}
		})
	}
}
