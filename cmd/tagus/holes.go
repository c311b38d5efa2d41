package main

import (
	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/graph"
)

// holes counts the messages that a tool did not take. A hole in the numbers of a publisher on this host is what the queue of the subscription
// gave up, since this process was too slow: it was published, and came, and belongs into a rate. Over a network it is a loss, and does not.
type holes struct {
	last map[graph.GID]uint64 // number of the last message of each publisher
}

// before is how many messages are missing right before the one that info tells of.
func (h *holes) before(info *tagus.MessageInfo) (missed uint64) {
	if h.last == nil {
		h.last = map[graph.GID]uint64{}
	}
	if last := h.last[info.Publisher]; last > 0 && info.Sequence > last && info.Path != tagus.PathZenoh {
		missed = info.Sequence - last - 1
	}
	h.last[info.Publisher] = info.Sequence
	return missed
}
