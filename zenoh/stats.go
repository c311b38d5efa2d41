package zenoh

import (
	"sync/atomic"

	"github.com/tagus-ros/tagus/zenoh/internal/transport"
)

// Stats are totals of a session. Those of the link begin anew with each link.
type Stats struct {
	Put       uint64 // samples put
	NoLink    uint64 // of these, not sent for want of a link
	Delivered uint64 // calls of subscribers
	Queries   uint64 // asked by this session
	Asked     uint64 // received from others
	// UnknownKey counts messages under an alias that was never declared, or whose key is none.
	UnknownKey uint64
	// Unmatched counts samples and replies that nobody here waits for.
	Unmatched uint64
	Link      LinkStats
}

// LinkStats are totals of the present link.
type LinkStats struct {
	Sent     SendStats
	Received ReceiveStats
}

// SendStats are totals of a link's sending side; Dropped is by priority.
type SendStats = transport.SendCounts

// ReceiveStats are totals of a link's receiving side.
type ReceiveStats = transport.ReceiveCounts

type counters struct {
	put, noLink, delivered, queries, asked, unknownKey, unmatched atomic.Uint64
}

// Stats gives the totals.
func (s *Session) Stats() Stats {
	c := &s.counts
	st := Stats{c.put.Load(), c.noLink.Load(), c.delivered.Load(), c.queries.Load(), c.asked.Load(), c.unknownKey.Load(), c.unmatched.Load(), LinkStats{}}
	if f := s.link.Load(); f != nil {
		st.Link.Sent, st.Link.Received = f.t.Counts()
	}
	return st
}
