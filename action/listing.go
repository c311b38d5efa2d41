package action

import (
	"slices"
	"time"
)

// statuses takes what the server has listed since the last call. Nobody waits at the status
// topic: its queue keeps the newest message until someone wants to know.
func (t *tracker[R, F]) statuses() []GoalStatus {
	t.statusMu.Lock()
	defer t.statusMu.Unlock()
	for {
		s, ok := t.status.Take()
		if !ok {
			return slices.Clone(t.listed)
		}
		t.listed = t.listed[:0]
		for i := range s.Msg.StatusList {
			e := &s.Msg.StatusList[i]
			t.listed = append(t.listed, GoalStatus{
				ID:       e.GoalInfo.GoalID.UUID,
				Accepted: time.Unix(0, nanoseconds(e.GoalInfo.Stamp)),
				Status:   Status(e.Status),
			})
		}
		s.Release()
	}
}
