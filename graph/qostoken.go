package graph

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tagus-ros/tagus/qos"
)

// Numbers of the policies in tokens. The field is empty for the default of rmw_zenoh: reliable, volatile, keep last, depth 42,
// automatic, infinite durations.
const (
	tokenDepth     = 42
	tokenSeconds   = 9223372036 // infinite: the largest signed 64-bit count of nanoseconds
	tokenNanos     = 854775807
	nanosPerSecond = 1_000_000_000
)

var (
	reliabilityNumbers = []uint8{qos.Reliable: 1, qos.BestEffort: 2, qos.ReliabilityBestAvailable: 4, qos.ReliabilityUnknown: 3}
	durabilityNumbers  = []uint8{qos.Volatile: 2, qos.TransientLocal: 1, qos.DurabilityBestAvailable: 4, qos.DurabilityUnknown: 3}
	historyNumbers     = []uint8{qos.KeepLast: 1, qos.KeepAll: 2, qos.HistoryUnknown: 3}
	livelinessNumbers  = []uint8{qos.Automatic: 1, qos.ManualByTopic: 3, qos.LivelinessBestAvailable: 5, qos.LivelinessUnknown: 4}
)

// FormatQoS writes a profile as the last part of a liveliness token.
func FormatQoS(q qos.Profile) string { return string(appendQoS(nil, q)) }

func appendQoS(b []byte, q qos.Profile) []byte {
	q = q.Resolved()
	b = appendPolicy(b, reliabilityNumbers, uint8(q.Reliability))
	b = append(b, ':')
	b = appendPolicy(b, durabilityNumbers, uint8(q.Durability))
	b = append(b, ':')
	b = appendPolicy(b, historyNumbers, uint8(q.History))
	b = append(b, ',')
	if q.Depth > 0 && q.Depth != tokenDepth {
		b = strconv.AppendInt(b, int64(q.Depth), 10)
	}
	b = append(b, ':')
	b = appendDuration(b, q.Deadline)
	b = append(b, ':')
	b = appendDuration(b, q.Lifespan)
	b = append(b, ':')
	b = appendPolicy(b, livelinessNumbers, uint8(q.Liveliness))
	b = append(b, ',')
	return appendDuration(b, q.LivelinessLeaseDuration)
}

func appendPolicy(b []byte, numbers []uint8, v uint8) []byte {
	if v == 0 {
		return b
	}
	if int(v) >= len(numbers) {
		v = uint8(len(numbers) - 1) // unknown
	}
	return strconv.AppendUint(b, uint64(numbers[v]), 10)
}

func appendDuration(b []byte, d time.Duration) []byte {
	if d <= 0 || d == qos.Infinite {
		return append(b, ',')
	}
	sec, nsec := int64(d/time.Second), int64(d%time.Second)
	if sec != tokenSeconds {
		b = strconv.AppendInt(b, sec, 10)
	}
	b = append(b, ',')
	if nsec != tokenNanos {
		b = strconv.AppendInt(b, nsec, 10)
	}
	return b
}

// ParseQoS reads the last part of a liveliness token. An empty field is the default of rmw_zenoh (depth 42); a system default is
// read as that default; a duration beyond the range of time.Duration is infinite. The profile is resolved.
func ParseQoS(s string) (qos.Profile, error) {
	var q qos.Profile
	group := strings.SplitN(s, ":", 8)
	if len(group) != 6 {
		return q, fmt.Errorf("6 groups with colons between, not %d", len(group))
	}
	var field [6][]string
	for i, want := range [6]int{1, 1, 2, 2, 2, 3} {
		field[i] = strings.SplitN(group[i], ",", 5)
		if len(field[i]) != want {
			return q, fmt.Errorf("%d fields in group %d, not %d", want, i+1, len(field[i]))
		}
	}
	reliability, err := parsePolicy("reliability", reliabilityNumbers, field[0][0])
	if err != nil {
		return q, err
	}
	durability, err := parsePolicy("durability", durabilityNumbers, field[1][0])
	if err != nil {
		return q, err
	}
	history, err := parsePolicy("history", historyNumbers, field[2][0])
	if err != nil {
		return q, err
	}
	liveliness, err := parsePolicy("liveliness", livelinessNumbers, field[5][0])
	if err != nil {
		return q, err
	}
	depth := uint64(tokenDepth)
	if f := field[2][1]; f != "" {
		if depth, err = strconv.ParseUint(f, 10, 64); err != nil {
			return q, fmt.Errorf("a depth as a decimal number, not %q", f)
		}
		depth = min(depth, math.MaxInt32)
		if depth == 0 {
			depth = tokenDepth
		}
	}
	q = qos.Profile{
		History:     qos.History(history),
		Depth:       int(depth),
		Reliability: qos.Reliability(reliability),
		Durability:  qos.Durability(durability),
		Liveliness:  qos.Liveliness(liveliness),
	}
	if q.Deadline, err = parseDuration("deadline", field[3]); err != nil {
		return q, err
	}
	if q.Lifespan, err = parseDuration("lifespan", field[4]); err != nil {
		return q, err
	}
	if q.LivelinessLeaseDuration, err = parseDuration("liveliness lease", field[5][1:]); err != nil {
		return q, err
	}
	return q.Resolved(), nil
}

func parsePolicy(name string, numbers []uint8, s string) (uint8, error) {
	if s == "" || s == "0" {
		return 0, nil
	}
	n, err := strconv.ParseUint(s, 10, 8)
	if err == nil {
		for v, number := range numbers {
			if uint8(n) == number {
				return uint8(v), nil
			}
		}
	}
	return 0, fmt.Errorf("a known number for %s, not %q", name, s)
}

// parseDuration reads seconds and nanoseconds; each is infinite's when empty.
func parseDuration(name string, f []string) (time.Duration, error) {
	sec, nsec := uint64(tokenSeconds), uint64(tokenNanos)
	var err error
	if f[0] != "" {
		if sec, err = strconv.ParseUint(f[0], 10, 64); err != nil {
			return 0, fmt.Errorf("seconds of %s as a decimal number, not %q", name, f[0])
		}
	}
	if f[1] != "" {
		if nsec, err = strconv.ParseUint(f[1], 10, 64); err != nil {
			return 0, fmt.Errorf("nanoseconds of %s as a decimal number, not %q", name, f[1])
		}
	}
	if sec > tokenSeconds || nsec > math.MaxInt64 || sec*nanosPerSecond+nsec >= math.MaxInt64 {
		return 0, nil // infinite
	}
	return time.Duration(sec*nanosPerSecond + nsec), nil
}
