package rosargs

import (
	"fmt"
	"strconv"
	"strings"
)

// Range says how far nodes look for others by themselves.
type Range uint8

// The ranges of discovery.
const (
	Subnet        Range = iota // the default
	Localhost                  // this host only
	Off                        // nobody, this host included
	SystemDefault              // what the middleware does when ROS says nothing
)

// String names the range as the variable has it.
func (r Range) String() string {
	if names := [...]string{"SUBNET", "LOCALHOST", "OFF", "SYSTEM_DEFAULT"}; int(r) < len(names) {
		return names[r]
	}
	return fmt.Sprintf("range %d", uint8(r))
}

// Environment is what the environment says.
type Environment struct {
	DomainID    int      // 0 where not given
	Range       Range    // of discovery
	StaticPeers []string // hosts to look for whatever the range is
	Warnings    []string // what was overruled or not understood
}

// FromEnv reads ROS_DOMAIN_ID, ROS_AUTOMATIC_DISCOVERY_RANGE, ROS_STATIC_PEERS and ROS_LOCALHOST_ONLY with getenv, usually os.Getenv. The
// domain can be written in decimal, octal or hexadecimal, as in rcl, and is at most maxDomain; what is no such number is an error, since in
// another domain nothing would be found. A range that is not known means this host only, with a warning.
func FromEnv(getenv func(string) string, maxDomain int) (Environment, error) {
	var e Environment
	if s := getenv("ROS_DOMAIN_ID"); s != "" {
		n, err := strconv.ParseUint(s, 0, 32)
		if err != nil || n > uint64(maxDomain) || strings.Contains(s, "_") {
			return e, fmt.Errorf("tagus: ROS_DOMAIN_ID=%q: want a number from 0 to %d", s, maxDomain)
		}
		e.DomainID = int(n)
	}
	switch s := getenv("ROS_AUTOMATIC_DISCOVERY_RANGE"); s {
	case "", "SUBNET":
	case "LOCALHOST":
		e.Range = Localhost
	case "OFF":
		e.Range = Off
	case "SYSTEM_DEFAULT":
		e.Range = SystemDefault
	default:
		e.Range = Localhost
		e.Warnings = append(e.Warnings, fmt.Sprintf("ROS_AUTOMATIC_DISCOVERY_RANGE=%q: want SUBNET, LOCALHOST, OFF or SYSTEM_DEFAULT; looking on this host only", s))
	}
	for peer := range strings.SplitSeq(getenv("ROS_STATIC_PEERS"), ";") {
		if peer = strings.TrimSpace(peer); peer != "" {
			e.StaticPeers = append(e.StaticPeers, peer)
		}
	}
	if getenv("ROS_LOCALHOST_ONLY") == "1" {
		if e.Range != Localhost || len(e.StaticPeers) > 0 {
			e.Warnings = append(e.Warnings, "ROS_LOCALHOST_ONLY=1 overrules ROS_AUTOMATIC_DISCOVERY_RANGE and ROS_STATIC_PEERS; better set ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST in its place")
		}
		e.Range, e.StaticPeers = Localhost, nil
	}
	return e, nil
}
