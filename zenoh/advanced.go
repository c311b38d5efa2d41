package zenoh

import (
	"strconv"
	"strings"
)

// The conventions of advanced publishers and subscribers: beside its key K an
// advanced publisher has the key K/@adv/pub/<session>/<entity>/_ for its token,
// for queries of its cache, and for its heartbeats. <entity> is its number if
// it numbers its samples, else "uhlc": then they are told apart by timestamps.

const (
	advancedAll  = "/@adv/**"
	advancedPubs = "/@adv/pub/**"
	byTimestamp  = "uhlc"
)

func advancedKey(key, role string, id ID, entity string) string {
	return key + "/@adv/" + role + "/" + id.String() + "/" + entity + "/_"
}

// sourceID tells the senders of samples apart. Entity is not used for those by timestamp.
type sourceID struct {
	id     ID
	entity uint32
	timed  bool
}

// parseAdvanced reads the sender out of a publisher's token or heartbeat key.
func parseAdvanced(key string) (src sourceID, ok bool) {
	i := strings.LastIndex(key, "/@adv/pub/")
	if i < 0 {
		return src, false
	}
	id, rest, ok := strings.Cut(key[i+len("/@adv/pub/"):], "/")
	if !ok {
		return src, false
	}
	entity, _, ok := strings.Cut(rest, "/")
	if !ok {
		return src, false
	}
	var err error
	if src.id, err = ParseID(id); err != nil {
		return src, false
	}
	if entity == byTimestamp {
		src.timed = true
		return src, true
	}
	n, err := strconv.ParseUint(entity, 10, 32)
	src.entity = uint32(n)
	return src, err == nil
}

// parameter finds the value of a name among "name=value;name;…".
func parameter(parameters, name string) (value string, ok bool) {
	for p := range strings.SplitSeq(parameters, ";") {
		if n, v, _ := strings.Cut(p, "="); n == name {
			return v, true
		}
	}
	return "", false
}

// sequenceRange reads "_sn": "a..b" with both ends, either of which may be missing, or one number.
func sequenceRange(s string) (first, last uint32, ok bool) {
	from, to, two := strings.Cut(s, "..")
	first, last = 0, 1<<32-1
	if from != "" {
		n, err := strconv.ParseUint(from, 10, 32)
		if err != nil {
			return 0, 0, false
		}
		first = uint32(n)
	}
	if !two {
		return first, first, from != ""
	}
	if to != "" {
		n, err := strconv.ParseUint(to, 10, 32)
		if err != nil {
			return 0, 0, false
		}
		last = uint32(n)
	}
	return first, last, true
}
