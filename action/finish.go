package action

import (
	"context"
	"slices"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/rosidl"
)

// finish ends a goal with what its handler returned, tells who asked for the result, and
// goes on with the next goal that waits.
func (s *Server[G, R, F]) finish(r *record[G, R, F], result *R, err error) {
	if result == nil {
		result = new(R)
	}
	s.mu.Lock()
	switch {
	case err == nil:
		r.set(StatusSucceeded)
		s.count.succeeded.Add(1)
	case r.get() == StatusCanceling:
		r.set(StatusCanceled)
		s.count.canceled.Add(1)
	default:
		r.set(StatusAborted)
		s.count.aborted.Add(1)
	}
	s.version++
	r.goal, r.result, r.ended = nil, result, time.Now()
	asked := r.asked
	r.asked = nil
	s.active = slices.DeleteFunc(s.active, func(x *record[G, R, F]) bool { return x == r })
	s.keepLocked(r)
	if s.current == r {
		s.current = nil
		if len(s.waiting) > 0 {
			s.current = s.waiting[0]
			s.waiting = slices.Delete(s.waiting, 0, 1)
			s.startLocked(s.current)
		}
	}
	s.mu.Unlock()
	r.cancel(context.Canceled) // releases the context
	close(r.over)
	s.report()
	answer := r.answer()
	for _, req := range asked {
		_ = req.Respond(answer) // the service counts who has gone
	}
}

// answer is what get_result tells of an ended goal.
func (r *record[G, R, F]) answer() *rosidl.GetResultResponse[R] {
	return &rosidl.GetResultResponse[R]{Status: int8(r.get()), Result: *r.result}
}

// takeResult answers get_result: at once if the goal has ended or is not known, else when
// it ends.
func (s *Server[G, R, F]) takeResult(_ context.Context, req *tagus.Request[rosidl.GetResultRequest, rosidl.GetResultResponse[R]]) {
	s.mu.Lock()
	r := s.goals[GoalID(req.Msg.GoalID)]
	var answer *rosidl.GetResultResponse[R]
	switch {
	case r == nil:
		answer = &rosidl.GetResultResponse[R]{Status: int8(StatusUnknown)}
	case r.get().Final():
		answer = r.answer()
	default:
		if len(r.asked) == cap(r.asked) { // before it grows
			r.asked = slices.DeleteFunc(r.asked, left[R])
		}
		r.asked = append(r.asked, req)
	}
	s.mu.Unlock()
	if answer != nil {
		_ = req.Respond(answer) // the service counts who has gone
	}
}

// left reports whether nobody waits for the answer any more.
func left[R any](req *resultRequest[R]) bool {
	select {
	case <-req.Gone():
		return true
	default:
		return false
	}
}

// keepLocked keeps an ended goal for as long as results are kept. Called under mu.
func (s *Server[G, R, F]) keepLocked(r *record[G, R, F]) {
	if s.o.retention == 0 || s.closed {
		delete(s.goals, r.id)
		return
	}
	s.ended = append(s.ended, r)
	if len(s.ended) > s.o.results {
		s.count.evicted.Add(1)
		s.dropLocked()
	}
	if len(s.ended) == 1 {
		if s.expiry == nil {
			s.expiry = time.AfterFunc(s.o.retention, s.expire)
		} else {
			s.expiry.Reset(s.o.retention)
		}
	}
}

// dropLocked forgets the goal that ended first. Called under mu.
func (s *Server[G, R, F]) dropLocked() {
	delete(s.goals, s.ended[0].id)
	s.ended[0] = nil
	s.ended = s.ended[1:]
}

// expire forgets the goals whose time is over.
func (s *Server[G, R, F]) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.ended) > 0 {
		left := s.o.retention - time.Since(s.ended[0].ended)
		if left > 0 {
			if !s.closed {
				s.expiry.Reset(left)
			}
			return
		}
		s.dropLocked()
	}
	s.ended = nil
}
