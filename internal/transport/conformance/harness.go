package conformance

import (
	"strings"
	"testing"

	"github.com/tagus-ros/tagus/internal/transport"
)

// Harness is one way in which publishers and subscriptions can be apart.
type Harness struct {
	// Path is how messages must travel.
	Path transport.Path

	// Hosts makes the places of the publishers and of the subscriptions of one
	// case, which may be the same. They are closed at the end of the case.
	Hosts func(t *testing.T) (pub, sub Host)

	// Process starts one more participant, in a process of its own, that meets
	// those of Hosts(t). Nil: this path has no other processes.
	Process func(t *testing.T) Process

	// Services says that the path carries services: their cases are run.
	Services bool
}

// Process is a host in another process that can be killed and frozen.
type Process interface {
	Host
	Kill()   // SIGKILL; returns when the process is gone
	Freeze() // SIGSTOP
	Thaw()   // SIGCONT
}

// cases are those of all paths, by what they are about.
var cases = []struct {
	name string
	run  func(t *testing.T, h *Harness)
}{
	{"Order", testOrder},
	{"OrderOfConcurrentPublish", testConcurrentPublish},
	{"Depth", testDepth},
	{"DepthOverPublishers", testDepthOverPublishers},
	{"ManyToMany", testManyToMany},
	{"SlowReader", testSlowReader},
	{"StuckReader", testStuckReader},
	{"Retained", testRetained},
	{"Huge", testHuge},
	{"Sizes", testSizes},
	{"Identity", testIdentity},
	{"KeepAll", testKeepAll},
	{"CloseDelivers", testCloseDelivers},
	{"CloseWhileBusy", testCloseWhileBusy},
	{"CloseWhileBlocked", testCloseWhileBlocked},
	{"CloseWithLeases", testCloseWithLeases},
	{"CloseBoth", testCloseBoth},
	{"Churn", testChurn},
	{"LateJoiner", testLateJoiner},
	{"LateJoinersInStream", testLateJoinersInStream},
	{"Services", testServices},
}

// processCases are those of paths between processes.
var processCases = []struct {
	name string
	run  func(t *testing.T, h *Harness)
}{
	{"SubscriberKilled", testSubscriberKilled},
	{"PublisherKilled", testPublisherKilled},
	{"SubscriberFrozen", testSubscriberFrozen},
	{"PublishAndExit", testPublishAndExit},
	{"ServerKilled", testServerKilled},
	{"ClientKilled", testClientKilled},
}

// Run runs the suite.
func Run(t *testing.T, h Harness) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.run(t, &h) })
	}
	if h.Process == nil {
		return
	}
	for _, c := range processCases {
		t.Run(c.name, func(t *testing.T) { c.run(t, &h) })
	}
}

// topic is a name of the case's own.
func topic(t *testing.T) string {
	return "/" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, t.Name())
}
