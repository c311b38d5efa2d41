package arena

// counts are the numbers kept under Arena.mu.
type counts struct {
	commits, trims, reclaims, punchErrors uint64
	givenBack                             uint64
	peak                                  int64
}

// Stats are the state of an arena and its counts since it was made.
type Stats struct {
	Limit     int64  // bound of Committed, in bytes
	LimitName string // which limit that is
	Retain    int64  // idle bytes that are kept however long

	Committed int64 // bytes of memory the arena holds
	Peak      int64 // the most that Committed has been
	InUse     int64 // of Committed: bytes of slots that somebody holds
	Free      int64 // of Committed: bytes of slots that are free
	Slots     int   // slots that somebody holds

	Gets           uint64 // slots handed out
	Failures       uint64 // Gets refused because of a limit
	Commits        uint64 // ranges committed: Gets that found no free slot
	Trims          uint64 // ranges given back because they were idle
	Reclaims       uint64 // ranges given back at a limit, to serve another size
	GivenBackBytes uint64 // bytes of both
	PunchErrors    uint64 // ranges that the system would not take back
	Misuse         uint64 // references dropped or added on free slots
}

// Stats returns the state and the counts. While others use the arena its parts
// may be some operations apart.
func (a *Arena) Stats() Stats {
	s := Stats{
		Limit: a.limit, LimitName: a.limitName, Retain: a.retain,
		Free:     a.free.Load(),
		Failures: a.failures.Load(),
		Misuse:   a.misuse.Load(),
	}
	s.Slots, s.InUse = a.inUse()
	for i := range a.classes {
		c := &a.classes[i]
		c.mu.Lock()
		s.Gets += c.gets
		c.mu.Unlock()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	s.Committed = a.committed
	s.Peak = a.counts.peak
	s.Commits = a.counts.commits
	s.Trims = a.counts.trims
	s.Reclaims = a.counts.reclaims
	s.GivenBackBytes = a.counts.givenBack
	s.PunchErrors = a.counts.punchErrors
	return s
}
