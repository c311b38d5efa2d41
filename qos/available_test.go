package qos

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestBestAvailable(t *testing.T) {
	sec := time.Second
	strong := Profile{Durability: TransientLocal, Liveliness: ManualByTopic, Deadline: sec, LivelinessLeaseDuration: 2 * sec}
	for _, c := range []struct {
		name      string
		got, want Profile
	}{
		{"no publisher", BestAvailable().ForSubscription(nil), Profile{Reliability: BestEffort}},
		{"one strong publisher", BestAvailable().ForSubscription([]Profile{strong}), strong},
		{"and a weak one", BestAvailable().ForSubscription([]Profile{strong, SensorData()}), Profile{Reliability: BestEffort}},
		{"and a slower one", BestAvailable().ForSubscription([]Profile{strong, {Deadline: 3 * sec, LivelinessLeaseDuration: sec}}),
			Profile{Deadline: 3 * sec, LivelinessLeaseDuration: 2 * sec}},
		{"no subscription", BestAvailable().ForPublisher(nil), Profile{Durability: TransientLocal}},
		{"one that requests little", BestAvailable().ForPublisher([]Profile{SensorData()}), Profile{Durability: TransientLocal}},
		{"and one that requests much", BestAvailable().ForPublisher([]Profile{SensorData(), strong}), strong},
		{"what is set stays", SensorData().ForPublisher([]Profile{strong}), SensorData()},
		{"what is set stays too", SensorData().ForSubscription([]Profile{strong}), SensorData()},
	} {
		if c.got != c.want.Resolved() {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
}

func anyProfile() *rapid.Generator[Profile] {
	return rapid.Custom(func(t *rapid.T) Profile {
		span := rapid.SampledFrom([]time.Duration{0, 1, time.Second, time.Minute, Infinite})
		return Profile{
			History:                 History(rapid.IntRange(0, 1).Draw(t, "history")),
			Depth:                   rapid.IntRange(0, 3).Draw(t, "depth"),
			Reliability:             Reliability(rapid.IntRange(0, 1).Draw(t, "reliability")),
			Durability:              Durability(rapid.IntRange(0, 1).Draw(t, "durability")),
			Liveliness:              Liveliness(rapid.IntRange(0, 1).Draw(t, "liveliness")),
			Deadline:                span.Draw(t, "deadline"),
			LivelinessLeaseDuration: span.Draw(t, "lease"),
		}
	})
}

// What is chosen can be made and matches everything that it was chosen for.
func TestBestAvailableMatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		others := rapid.SliceOfN(anyProfile(), 0, 4).Draw(t, "others")
		p := BestAvailable()
		sub, pub := p.ForSubscription(others), p.ForPublisher(others)
		for _, chosen := range []Profile{sub, pub} {
			if err := chosen.Validate(); err != nil {
				t.Fatal(err)
			}
			if chosen.Reliability == ReliabilityBestAvailable || chosen.Durability == DurabilityBestAvailable || chosen.Liveliness == LivelinessBestAvailable ||
				chosen.Deadline == AsAvailable || chosen.LivelinessLeaseDuration == AsAvailable {
				t.Fatalf("%v is not chosen", chosen)
			}
		}
		for _, o := range others {
			if r := Compatible(o, sub); r != nil {
				t.Fatalf("subscription %v: %v", sub, r)
			}
			if r := Compatible(pub, o); r != nil {
				t.Fatalf("publisher %v: %v", pub, r)
			}
			if r := Compatible(p, o); r != nil {
				t.Fatalf("not chosen yet, as publisher: %v", r)
			}
			if r := Compatible(o, p); r != nil {
				t.Fatalf("not chosen yet, as subscription: %v", r)
			}
		}
	})
}
