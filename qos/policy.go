package qos

import "fmt"

// Reliability says whether a subscription may miss messages that its queue had room for.
type Reliability uint8

// Reliability policies. The zero value is the ROS 2 default.
const (
	Reliable                 Reliability = iota // every message is delivered unless history drops it
	BestEffort                                  // a message may be dropped on the way
	ReliabilityBestAvailable                    // chosen at creation by what the other side has
	ReliabilityUnknown                          // only seen from other middlewares; not valid for an endpoint of one's own
)

// Durability says whether a subscription that comes late gets messages published before.
type Durability uint8

// Durability policies. The zero value is the ROS 2 default.
const (
	Volatile                Durability = iota // late joiners get nothing old
	TransientLocal                            // late joiners get the newest Depth messages of each living publisher
	DurabilityBestAvailable                   // chosen at creation by what the other side has
	DurabilityUnknown                         // only seen from other middlewares; not valid for an endpoint of one's own
)

// History says which messages a full queue keeps.
type History uint8

// History policies. The zero value is the ROS 2 default.
const (
	KeepLast       History = iota // the newest Depth messages
	KeepAll                       // all, up to the limits of the transport
	HistoryUnknown                // only seen from other middlewares; not valid for an endpoint of one's own
)

// Liveliness says who asserts that a publisher is alive.
type Liveliness uint8

// Liveliness policies. The zero value is the ROS 2 default.
const (
	Automatic               Liveliness = iota // the middleware, as long as the process lives
	ManualByTopic                             // the program, by publishing or by AssertLiveliness
	LivelinessBestAvailable                   // chosen at creation by what the other side has
	LivelinessUnknown                         // only seen from other middlewares; not valid for an endpoint of one's own
)

// The names are the words that the ros2 command line takes; in upper case they are the words that it prints.
var (
	reliabilityNames = []string{"reliable", "best_effort", "best_available", "unknown"}
	durabilityNames  = []string{"volatile", "transient_local", "best_available", "unknown"}
	historyNames     = []string{"keep_last", "keep_all", "unknown"}
	livelinessNames  = []string{"automatic", "manual_by_topic", "best_available", "unknown"}
)

// String gives the word of the ros2 command line, for example "best_effort".
func (r Reliability) String() string { return word(reliabilityNames, uint8(r)) }

// String gives the word of the ros2 command line, for example "transient_local".
func (d Durability) String() string { return word(durabilityNames, uint8(d)) }

// String gives the word of the ros2 command line, for example "keep_last".
func (h History) String() string { return word(historyNames, uint8(h)) }

// String gives the word of the ros2 command line, for example "manual_by_topic".
func (l Liveliness) String() string { return word(livelinessNames, uint8(l)) }

// ParseReliability reads a word of the ros2 command line. "system_default" gives Reliable. The error is a *PolicyError.
func ParseReliability(s string) (Reliability, error) {
	v, err := parse("reliability", reliabilityNames, s)
	return Reliability(v), err
}

// ParseDurability reads a word of the ros2 command line. "system_default" gives Volatile. The error is a *PolicyError.
func ParseDurability(s string) (Durability, error) {
	v, err := parse("durability", durabilityNames, s)
	return Durability(v), err
}

// ParseHistory reads a word of the ros2 command line. "system_default" gives KeepLast. The error is a *PolicyError.
func ParseHistory(s string) (History, error) {
	v, err := parse("history", historyNames, s)
	return History(v), err
}

// ParseLiveliness reads a word of the ros2 command line. "system_default" gives Automatic. The error is a *PolicyError.
func ParseLiveliness(s string) (Liveliness, error) {
	v, err := parse("liveliness", livelinessNames, s)
	return Liveliness(v), err
}

func word(names []string, v uint8) string {
	if int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("invalid(%d)", v)
}

func parse(policy string, names []string, s string) (uint8, error) {
	if s == "system_default" {
		return 0, nil
	}
	for i, n := range names[:len(names)-1] { // "unknown" cannot be asked for
		if n == s {
			return uint8(i), nil
		}
	}
	return 0, &PolicyError{Policy: policy, Value: s, Want: "one of system_default, " + list(names[:len(names)-1])}
}

func list(names []string) string {
	out := ""
	for i, n := range names {
		if i > 0 {
			out += ", "
		}
		out += n
	}
	return out
}
