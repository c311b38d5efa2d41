package qos

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// DefaultDepth is what a Depth of zero means under KeepLast.
const DefaultDepth = 10

// Infinite is a duration without end. Zero means the same in every duration of a Profile.
const Infinite time.Duration = math.MaxInt64

// Profile is what a publisher offers or a subscription requests. The zero value is the ROS 2 default profile: reliable,
// volatile, keep last 10, no deadline, no lifespan, automatic liveliness. Profiles are values; two that mean the same are equal
// after Resolved.
type Profile struct {
	History                 History       // zero: KeepLast
	Depth                   int           // messages; zero: DefaultDepth. Not used with KeepAll
	Reliability             Reliability   // zero: Reliable
	Durability              Durability    // zero: Volatile
	Deadline                time.Duration // longest gap between two messages; zero: infinite
	Lifespan                time.Duration // age above which a message is not delivered; zero: infinite
	Liveliness              Liveliness    // zero: Automatic
	LivelinessLeaseDuration time.Duration // longest gap between two signs of life; zero: infinite
}

// Default is the ROS 2 default profile: reliable, volatile, keep last 10.
func Default() Profile { return Profile{Depth: 10} }

// SystemDefault leaves every policy to tagus, which takes the ROS 2 default profile.
func SystemDefault() Profile { return Profile{Depth: 10} }

// SensorData is for streams where the newest matters: best effort, volatile, keep last 5.
func SensorData() Profile { return Profile{Depth: 5, Reliability: BestEffort} }

// ServicesDefault is for services and clients: reliable, volatile, keep last 10.
func ServicesDefault() Profile { return Profile{Depth: 10} }

// Parameters is for the parameter services: reliable, volatile, keep last 1000.
func Parameters() Profile { return Profile{Depth: 1000} }

// ParameterEvents is for /parameter_events: reliable, volatile, keep last 1000.
func ParameterEvents() Profile { return Profile{Depth: 1000} }

// ActionStatus is for the status topic of an action: reliable, transient local, keep last 1.
func ActionStatus() Profile { return Profile{Depth: 1, Durability: TransientLocal} }

// Rosout is for /rosout: reliable, transient local, keep last 1000, messages older than 10 s are dropped.
func Rosout() Profile {
	return Profile{Depth: 1000, Durability: TransientLocal, Lifespan: 10 * time.Second}
}

// Clock is for /clock: best effort, volatile, keep last 1.
func Clock() Profile { return Profile{Depth: 1, Reliability: BestEffort} }

// BestAvailable takes the strongest policies that match what the topic has when the endpoint is made, as ForSubscription and
// ForPublisher say: keep last 10.
func BestAvailable() Profile {
	return Profile{
		Depth:       10,
		Reliability: ReliabilityBestAvailable,
		Durability:  DurabilityBestAvailable,
		Liveliness:  LivelinessBestAvailable,

		Deadline:                AsAvailable,
		LivelinessLeaseDuration: AsAvailable,
	}
}

// WithDepth returns p with KeepLast and a depth of n messages.
func (p Profile) WithDepth(n int) Profile {
	p.History, p.Depth = KeepLast, n
	return p
}

// WithReliability returns p with reliability r.
func (p Profile) WithReliability(r Reliability) Profile {
	p.Reliability = r
	return p
}

// WithDurability returns p with durability d.
func (p Profile) WithDurability(d Durability) Profile {
	p.Durability = d
	return p
}

// Resolved returns p in its one canonical form: under KeepLast a zero Depth becomes DefaultDepth, under KeepAll the depth becomes
// zero, and an infinite duration becomes zero.
func (p Profile) Resolved() Profile {
	switch p.History {
	case KeepLast:
		if p.Depth == 0 {
			p.Depth = DefaultDepth
		}
	case KeepAll:
		p.Depth = 0
	}
	for _, d := range []*time.Duration{&p.Deadline, &p.Lifespan, &p.LivelinessLeaseDuration} {
		if *d == Infinite {
			*d = 0
		}
	}
	return p
}

// Validate says whether an endpoint can be made with p: no negative depth or duration, no unknown or out-of-range policy.
// The error is a *PolicyError that names the policy and its value.
func (p Profile) Validate() error {
	switch {
	case p.History > KeepAll:
		return &PolicyError{"history", p.History.String(), "keep_last or keep_all"}
	case p.Depth < 0:
		return &PolicyError{"depth", strconv.Itoa(p.Depth), "0 (the default of 10) or a number of messages"}
	case p.Reliability > ReliabilityBestAvailable:
		return &PolicyError{"reliability", p.Reliability.String(), list(reliabilityNames[:3])}
	case p.Durability > DurabilityBestAvailable:
		return &PolicyError{"durability", p.Durability.String(), list(durabilityNames[:3])}
	case p.Liveliness > LivelinessBestAvailable:
		return &PolicyError{"liveliness", p.Liveliness.String(), list(livelinessNames[:3])}
	case p.Deadline < 0:
		return &PolicyError{"deadline", p.Deadline.String(), "0 (infinite) or a positive duration"}
	case p.Lifespan < 0:
		return &PolicyError{"lifespan", p.Lifespan.String(), "0 (infinite) or a positive duration"}
	case p.LivelinessLeaseDuration < 0:
		return &PolicyError{"liveliness_lease_duration", p.LivelinessLeaseDuration.String(), "0 (infinite) or a positive duration"}
	}
	return nil
}

// String says what p means in one line, for example "reliable, volatile, keep_last 10"; deadline, lifespan and liveliness are
// left out where they are the default.
func (p Profile) String() string {
	p = p.Resolved()
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s, %s", p.Reliability, p.Durability, p.History)
	if p.History != KeepAll {
		fmt.Fprintf(&b, " %d", p.Depth)
	}
	if p.Deadline != 0 {
		fmt.Fprintf(&b, ", deadline %s", span(p.Deadline))
	}
	if p.Lifespan != 0 {
		fmt.Fprintf(&b, ", lifespan %s", p.Lifespan)
	}
	if p.Liveliness != Automatic {
		fmt.Fprintf(&b, ", %s", p.Liveliness)
	}
	if p.LivelinessLeaseDuration != 0 {
		fmt.Fprintf(&b, ", liveliness lease %s", span(p.LivelinessLeaseDuration))
	}
	return b.String()
}

// PolicyError is a policy with a value that it cannot have.
type PolicyError struct {
	Policy string // as the ros2 command line spells it, for example "durability"
	Value  string // what was given
	Want   string // what can be given
}

func (e *PolicyError) Error() string {
	return fmt.Sprintf("qos: %s is %q, want %s", e.Policy, e.Value, e.Want)
}
