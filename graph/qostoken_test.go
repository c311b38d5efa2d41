package graph

import (
	"testing"
	"time"

	"github.com/tagus-ros/tagus/qos"
	"pgregory.net/rapid"
)

func TestQoSGolden(t *testing.T) {
	for _, c := range []struct {
		q qos.Profile
		s string
	}{
		{qos.Profile{}, "::,10:,:,:,,"},
		{qos.Default(), "::,10:,:,:,,"},
		{qos.SensorData(), "2::,5:,:,:,,"},
		{qos.Profile{Depth: 1, Durability: qos.TransientLocal}, ":1:,1:,:,:,,"},
		{qos.ActionStatus(), ":1:,1:,:,:,,"},
		{qos.ServicesDefault(), "::,10:,:,:,,"},
		{qos.Profile{History: qos.KeepAll}, "::2,:,:,:,,"},
		{qos.Profile{Depth: 42}, "::,:,:,:,,"},
		{qos.Rosout(), ":1:,1000:,:10,0:,,"},
		{qos.BestAvailable(), "4:4:,10:,854775806:,:5,,854775806"},
		{qos.Profile{Deadline: time.Second + 1, LivelinessLeaseDuration: qos.Infinite}, "::,10:1,1:,:,,"},
	} {
		if got := FormatQoS(c.q); got != c.s {
			t.Errorf("%v: %q, want %q", c.q, got, c.s)
		}
		got, err := ParseQoS(c.s)
		if err != nil {
			t.Errorf("%q: %v", c.s, err)
		} else if got != c.q.Resolved() {
			t.Errorf("%q: %+v, want %+v", c.s, got, c.q.Resolved())
		}
	}
}

func TestQoSTolerant(t *testing.T) {
	for _, c := range []struct {
		s string
		q qos.Profile
	}{
		{"0:0:0,0:,:,:0,,", qos.Profile{Depth: 42}},
		{"1:2:1,42:9223372036,854775807:9223372036,854775807:1,9223372036,854775807", qos.Profile{Depth: 42}},
		{"3:3:3,7:,:,:4,,", qos.Profile{Depth: 7, Reliability: qos.ReliabilityUnknown, Durability: qos.DurabilityUnknown, History: qos.HistoryUnknown, Liveliness: qos.LivelinessUnknown}},
		{"::,1:18446744073709551615,18446744073709551615:0,0:,0,1", qos.Profile{Depth: 1, LivelinessLeaseDuration: 1}},
		{"::,1:9223372036,854775806:9223372036,9223372036854775807:,,", qos.Profile{Depth: 1, Deadline: qos.Infinite - 1}},
		{"::,1:0,1999999999:,:,,", qos.Profile{Depth: 1, Deadline: 1999999999}},
		{"::,18446744073709551615:,:,:,,", qos.Profile{Depth: 1<<31 - 1}},
	} {
		got, err := ParseQoS(c.s)
		if err != nil {
			t.Errorf("%q: %v", c.s, err)
		} else if got != c.q {
			t.Errorf("%q: %+v, want %+v", c.s, got, c.q)
		}
	}
}

func TestQoSErrors(t *testing.T) {
	for _, s := range []string{
		"", ":", "::,10:,:,", "::,10:,:,:,,:", "::10:,:,:,,", "::,10,:,:,:,,", "::,10::,:,,", "::,10:,:,:,", "x::,10:,:,:,,", "5::,10:,:,:,,",
		":9:,10:,:,:,,", "::4,10:,:,:,,", "::,10:,:,:2,,", "::,-1:,:,:,,", "::,1.5:,:,:,,", "::,10:-1,0:,:,,", "::,10:0,-1:,:,,", "::,10:,:a,:,,",
		"::,10:,:,:,,x", "257::,10:,:,:,,", "::,18446744073709551616:,:,:,,",
	} {
		if q, err := ParseQoS(s); err == nil {
			t.Errorf("%q was read as %v", s, q)
		}
	}
}

func TestQoSRoundTrip(t *testing.T) {
	duration := rapid.OneOf(rapid.Just(time.Duration(0)), rapid.Just(qos.Infinite),
		rapid.Map(rapid.Int64Range(0, int64(qos.Infinite)), func(n int64) time.Duration { return time.Duration(n) }))
	rapid.Check(t, func(t *rapid.T) {
		q := qos.Profile{
			History:                 qos.History(rapid.IntRange(0, 2).Draw(t, "history")),
			Depth:                   rapid.IntRange(1, 1<<20).Draw(t, "depth"),
			Reliability:             qos.Reliability(rapid.IntRange(0, 3).Draw(t, "reliability")),
			Durability:              qos.Durability(rapid.IntRange(0, 3).Draw(t, "durability")),
			Liveliness:              qos.Liveliness(rapid.IntRange(0, 3).Draw(t, "liveliness")),
			Deadline:                duration.Draw(t, "deadline"),
			Lifespan:                duration.Draw(t, "lifespan"),
			LivelinessLeaseDuration: duration.Draw(t, "lease"),
		}
		got, err := ParseQoS(FormatQoS(q))
		if err != nil || got != q.Resolved() {
			t.Fatalf("%q: %+v, %v, want %+v", FormatQoS(q), got, err, q.Resolved())
		}
	})
}
