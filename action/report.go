package action

import "github.com/tagus-ros/tagus/msgs/action_msgs"

// report publishes the states of all goals, unless a message that was made later than the
// caller's change has been published meanwhile.
func (s *Server[G, R, F]) report() {
	s.mu.Lock()
	due := s.version
	s.mu.Unlock()
	s.reporting.Lock()
	defer s.reporting.Unlock()
	s.mu.Lock()
	if s.reported >= due {
		s.mu.Unlock()
		return
	}
	s.reported = s.version
	list := s.array.StatusList[:0]
	for _, r := range s.ended[max(0, len(s.ended)-ListedResults):] {
		list = append(list, r.entry())
	}
	for _, r := range s.active {
		list = append(list, r.entry())
	}
	s.array.StatusList = list
	s.mu.Unlock()
	if s.status.Publish(&s.array) != nil {
		s.count.unreported.Add(1)
	}
}

func (s *state) entry() action_msgs.GoalStatus {
	return action_msgs.GoalStatus{GoalInfo: s.info(), Status: int8(s.get())}
}
