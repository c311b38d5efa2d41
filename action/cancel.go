package action

import (
	"context"
	"math"
	"slices"

	"github.com/tagus-ros/tagus/msgs/action_msgs"
)

// candidate is a goal that can be canceled, with the handle for the handler.
type candidate[G, R, F any] struct {
	r    *record[G, R, F]
	goal *ServerGoal[G, F]
}

// takeCancel answers cancel_goal. It is called on the node's executor, one request at a
// time.
func (s *Server[G, R, F]) takeCancel(ctx context.Context, req *action_msgs.CancelGoalRequest) (*action_msgs.CancelGoalResponse, error) {
	goals, code := s.candidates(GoalID(req.GoalInfo.GoalID.UUID), nanoseconds(req.GoalInfo.Stamp))
	resp := &action_msgs.CancelGoalResponse{ReturnCode: code}
	var granted []*record[G, R, F]
	for _, c := range goals {
		if s.h.Cancel != nil && s.h.Cancel(ctx, c.goal) != nil || !s.grant(c.r) {
			continue
		}
		granted = append(granted, c.r)
		resp.GoalsCanceling = append(resp.GoalsCanceling, c.r.info())
	}
	switch {
	case len(goals) == 0 || len(granted) > 0:
	case len(goals) == 1 && goals[0].r.get().Final(): // it was quicker
		resp.ReturnCode = action_msgs.CancelGoalResponseErrorGoalTerminated
	default:
		resp.ReturnCode = action_msgs.CancelGoalResponseErrorRejected
	}
	if len(granted) > 0 {
		s.report() // before they can end
	}
	for _, r := range granted {
		s.stop(r, ErrCanceled)
	}
	return resp, nil
}

// candidates gives the goals that a request is about and that can be canceled, and the
// return code if the handler grants it. An id alone is about that goal; a time, or a time
// and an id, is about all that were accepted until then, and that goal; neither is about
// all goals.
func (s *Server[G, R, F]) candidates(id GoalID, until int64) (goals []candidate[G, R, F], code int8) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !id.IsZero() && until == 0 {
		r := s.goals[id]
		switch {
		case r == nil:
			return nil, action_msgs.CancelGoalResponseErrorUnknownGoalID
		case !r.get().cancelable():
			return nil, action_msgs.CancelGoalResponseErrorGoalTerminated
		}
		return []candidate[G, R, F]{{r, r.goal}}, action_msgs.CancelGoalResponseErrorNone
	}
	if until == 0 {
		until = math.MaxInt64
	}
	for _, r := range s.active {
		if r.get().cancelable() && (r.stamp <= until || r.id == id) {
			goals = append(goals, candidate[G, R, F]{r, r.goal})
		}
	}
	return goals, action_msgs.CancelGoalResponseErrorNone
}

// grant turns a goal that can be canceled to canceling. One that waits for its turn will
// not have it.
func (s *Server[G, R, F]) grant(r *record[G, R, F]) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !r.get().cancelable() {
		return false
	}
	r.set(StatusCanceling)
	s.version++
	if i := slices.Index(s.waiting, r); i >= 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
		r.skipped = true
	}
	return true
}

// stop ends the context of a goal that was granted to be canceled, or the goal itself if
// it has not begun.
func (s *Server[G, R, F]) stop(r *record[G, R, F], cause error) {
	r.cancel(cause)
	if r.skipped {
		s.finish(r, nil, cause)
	}
}
