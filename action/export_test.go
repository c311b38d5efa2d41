package action

// Asked is how many requests for the result of a goal are remembered.
func (s *Server[G, R, F]) Asked(id GoalID) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.goals[id].asked)
}
