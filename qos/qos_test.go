package qos

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestZeroValueIsTheDefault(t *testing.T) {
	if (Profile{}).Resolved() != Default().Resolved() {
		t.Errorf("%+v", Profile{}.Resolved())
	}
	if got := (Profile{}).String(); got != "reliable, volatile, keep_last 10" {
		t.Error(got)
	}
	full := Profile{KeepAll, 0, BestEffort, TransientLocal, time.Second, 2 * time.Second, ManualByTopic, 3 * time.Second}
	if got := full.String(); got != "best_effort, transient_local, keep_all, deadline 1s, lifespan 2s, manual_by_topic, liveliness lease 3s" {
		t.Error(got)
	}
	if a, b := (Profile{History: KeepAll, Depth: 7, Deadline: Infinite}).Resolved(), (Profile{History: KeepAll}).Resolved(); a != b {
		t.Errorf("two forms of one meaning: %+v, %+v", a, b)
	}
}

func TestPresets(t *testing.T) {
	for name, c := range map[string]struct{ got, want Profile }{
		"default":          {Default(), Profile{}},
		"system default":   {SystemDefault(), Profile{}},
		"sensor data":      {SensorData(), Profile{Depth: 5, Reliability: BestEffort}},
		"services":         {ServicesDefault(), Profile{}},
		"parameters":       {Parameters(), Profile{Depth: 1000}},
		"parameter events": {ParameterEvents(), Profile{Depth: 1000}},
		"action status":    {ActionStatus(), Profile{Depth: 1, Durability: TransientLocal}},
		"rosout":           {Rosout(), Profile{Depth: 1000, Durability: TransientLocal, Lifespan: 10 * time.Second}},
		"clock":            {Clock(), Profile{Depth: 1, Reliability: BestEffort}},
	} {
		if c.got.Resolved() != c.want.Resolved() {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
		if err := c.got.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWords(t *testing.T) {
	for v := Reliable; v < ReliabilityUnknown; v++ {
		if got, err := ParseReliability(v.String()); got != v || err != nil {
			t.Errorf("%s: %v, %v", v, got, err)
		}
	}
	for v := Volatile; v < DurabilityUnknown; v++ {
		if got, err := ParseDurability(v.String()); got != v || err != nil {
			t.Errorf("%s: %v, %v", v, got, err)
		}
	}
	for v := KeepLast; v < HistoryUnknown; v++ {
		if got, err := ParseHistory(v.String()); got != v || err != nil {
			t.Errorf("%s: %v, %v", v, got, err)
		}
	}
	for v := Automatic; v < LivelinessUnknown; v++ {
		if got, err := ParseLiveliness(v.String()); got != v || err != nil {
			t.Errorf("%s: %v, %v", v, got, err)
		}
	}
	if v, err := ParseDurability("system_default"); v != Volatile || err != nil {
		t.Errorf("system_default: %v, %v", v, err)
	}
	for _, s := range []string{"", "unknown", "Reliable", "relaible"} {
		_, err := ParseReliability(s)
		var pe *PolicyError
		if !errors.As(err, &pe) || pe.Policy != "reliability" || pe.Value != s || !strings.Contains(err.Error(), "best_effort") {
			t.Errorf("%q: %v", s, err)
		}
	}
	if got := Reliability(200).String(); got != "invalid(200)" {
		t.Error(got)
	}
}

func TestValidate(t *testing.T) {
	for policy, p := range map[string]Profile{
		"history":                   {History: HistoryUnknown},
		"depth":                     {Depth: -1},
		"reliability":               {Reliability: ReliabilityUnknown},
		"durability":                {Durability: 77},
		"liveliness":                {Liveliness: LivelinessUnknown},
		"deadline":                  {Deadline: -1},
		"lifespan":                  {Lifespan: -time.Second},
		"liveliness_lease_duration": {LivelinessLeaseDuration: -1},
	} {
		var pe *PolicyError
		if err := p.Validate(); !errors.As(err, &pe) || pe.Policy != policy {
			t.Errorf("%s: %v", policy, err)
		}
	}
	if err := BestAvailable().Validate(); err != nil {
		t.Error(err)
	}
}

func TestCompatible(t *testing.T) {
	sec := time.Second
	for _, c := range []struct {
		name               string
		offered, requested Profile
		codes              string
	}{
		{"equal", Profile{}, Profile{}, ""},
		{"stronger reliability", Profile{}, SensorData(), ""},
		{"weaker reliability", SensorData(), Profile{}, CodeReliability},
		{"stronger durability", Profile{Durability: TransientLocal}, Profile{}, ""},
		{"weaker durability", Profile{}, Profile{Durability: TransientLocal}, CodeDurability},
		{"deadline equal", Profile{Deadline: sec}, Profile{Deadline: sec}, ""},
		{"deadline shorter", Profile{Deadline: sec}, Profile{Deadline: 2 * sec}, ""},
		{"deadline longer", Profile{Deadline: 2 * sec}, Profile{Deadline: sec}, CodeDeadline},
		{"deadline infinite against finite", Profile{}, Profile{Deadline: sec}, CodeDeadline},
		{"deadline finite against infinite", Profile{Deadline: sec}, Profile{Deadline: Infinite}, ""},
		{"infinite twice", Profile{Deadline: Infinite}, Profile{}, ""},
		{"liveliness", Profile{}, Profile{Liveliness: ManualByTopic}, CodeLiveliness},
		{"liveliness stronger", Profile{Liveliness: ManualByTopic}, Profile{}, ""},
		{"lease", Profile{LivelinessLeaseDuration: 2 * sec}, Profile{LivelinessLeaseDuration: sec}, CodeLivelinessLease},
		{"history and depth do not matter", Profile{Depth: 1}, Profile{History: KeepAll}, ""},
		{"lifespan does not matter", Profile{Lifespan: sec}, Profile{}, ""},
		{"best available requested", SensorData(), BestAvailable(), ""},
		{"best available offered", BestAvailable(), Profile{Durability: TransientLocal, Liveliness: ManualByTopic}, ""},
		{"unknown offered", Profile{Reliability: ReliabilityUnknown}, Profile{}, ""},
		{"all", SensorData(), Profile{Durability: TransientLocal, Deadline: sec, Liveliness: ManualByTopic, LivelinessLeaseDuration: sec},
			strings.Join([]string{CodeReliability, CodeDurability, CodeDeadline, CodeLiveliness, CodeLivelinessLease}, " ")},
	} {
		var codes []string
		for _, r := range Compatible(c.offered, c.requested) {
			codes = append(codes, r.Code)
			if r.Text == "" || r.Fix == "" {
				t.Errorf("%s: %+v", c.name, r)
			}
		}
		if got := strings.Join(codes, " "); got != c.codes {
			t.Errorf("%s: %q, want %q", c.name, got, c.codes)
		}
	}
	r := Compatible(SensorData(), Profile{})[0]
	if r.Text != "the publisher offers reliability best_effort, the subscription requests reliable" {
		t.Error(r.Text)
	}
}

func TestCompatibleDoesNotAllocate(t *testing.T) {
	a, b := Default(), SensorData()
	if n := testing.AllocsPerRun(100, func() {
		if Compatible(a, b) != nil {
			t.Fail()
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
