package action

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/rosidl"
)

// takeGoal answers send_goal. It is called on the node's executor, one request at a time.
func (s *Server[G, R, F]) takeGoal(ctx context.Context, req *tagus.Request[rosidl.SendGoalRequest[G], rosidl.SendGoalResponse]) {
	id, goal := GoalID(req.Msg.GoalID), &req.Msg.Goal
	if s.admit(id) != nil || s.h.Accept != nil && s.h.Accept(ctx, id, goal) != nil {
		s.reject(req)
		return
	}
	r := s.newRecord(id, goal, req.Gone())
	if !s.enter(r) {
		s.reject(req)
		return
	}
	t := stampOf(r.stamp)
	err := req.Respond(&rosidl.SendGoalResponse{Accepted: true, Stamp: rosidl.Time{Sec: t.Sec, Nanosec: t.Nanosec}})
	if err != nil {
		// Whoever sent the goal does not know that it was taken: nobody waits for it.
		s.count.unanswered.Add(1)
		s.withdraw(r)
		return
	}
	s.count.accepted.Add(1)
	s.begin(r)
}

func (s *Server[G, R, F]) reject(req *tagus.Request[rosidl.SendGoalRequest[G], rosidl.SendGoalResponse]) {
	s.count.rejected.Add(1)
	if req.Respond(&rosidl.SendGoalResponse{}) != nil {
		s.count.unanswered.Add(1)
	}
}

// Why a goal is not even shown to the Accept handler.
var (
	errKnown = errors.New("a goal of this id is known already")
	errBusy  = errors.New("another goal is under way")
)

// admit checks what does not depend on the goal's content.
func (s *Server[G, R, F]) admit(id GoalID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return ErrServerClosed
	case s.goals[id] != nil:
		return errKnown
	case len(s.active) >= s.o.goals:
		return &LimitError{"goals_under_way", s.o.goals}
	case s.o.policy == Single && s.current != nil:
		return errBusy
	}
	return nil
}

func (s *Server[G, R, F]) newRecord(id GoalID, goal *G, gone <-chan struct{}) *record[G, R, F] {
	st := &state{id: id, stamp: time.Now().UnixNano(), gone: gone, over: make(chan struct{})}
	st.set(StatusAccepted)
	st.ctx, st.cancel = context.WithCancelCause(s.ctx)
	return &record[G, R, F]{state: st, goal: &ServerGoal[G, F]{state: st, goal: goal, pub: s.feedback}}
}

// enter lists an accepted goal. False: the server closes.
func (s *Server[G, R, F]) enter(r *record[G, R, F]) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		r.cancel(ErrServerClosed)
		return false
	}
	s.goals[r.id] = r
	s.active = append(s.active, r)
	return true
}

// withdraw is the reverse of enter.
func (s *Server[G, R, F]) withdraw(r *record[G, R, F]) {
	s.mu.Lock()
	delete(s.goals, r.id)
	s.active = slices.DeleteFunc(s.active, func(x *record[G, R, F]) bool { return x == r })
	s.mu.Unlock()
	r.cancel(ErrServerClosed)
}

// begin executes a goal or has it wait for its turn, as the policy says.
func (s *Server[G, R, F]) begin(r *record[G, R, F]) {
	s.mu.Lock()
	s.version++
	if s.o.orphans && !s.closed {
		s.running.Add(1)
		go s.watch(r)
	}
	var replaced []*record[G, R, F]
	switch {
	case s.closed:
		replaced = append(replaced, r)
	case s.o.policy == Parallel:
		s.startLocked(r)
	case s.current == nil:
		s.current = r
		s.startLocked(r)
	default:
		if s.o.policy == Preempt {
			replaced, s.waiting = s.waiting, nil
			s.current.cancel(ErrPreempted)
		}
		s.waiting = append(s.waiting, r)
	}
	cause := ErrPreempted
	if s.closed {
		cause = ErrServerClosed
	}
	s.mu.Unlock()
	for _, x := range replaced {
		s.finish(x, nil, cause)
	}
	s.report()
}

// watch cancels a goal whose client is gone.
func (s *Server[G, R, F]) watch(r *record[G, R, F]) {
	defer s.running.Done()
	select {
	case <-r.gone:
		if s.grant(r) {
			s.report()
			s.stop(r, tagus.ErrClientGone)
		}
	case <-r.over:
	}
}

// startLocked executes a goal. Called under mu.
func (s *Server[G, R, F]) startLocked(r *record[G, R, F]) {
	if r.get() == StatusAccepted {
		r.set(StatusExecuting)
	}
	s.running.Add(1)
	go s.execute(r, r.goal)
}

// execute runs the handler on a goroutine of its own. The goal ends also when the handler
// ends the goroutine or panics, which goes on.
func (s *Server[G, R, F]) execute(r *record[G, R, F], g *ServerGoal[G, F]) {
	defer s.running.Done()
	var result *R
	err := errNotReturned
	defer func() { s.finish(r, result, err) }()
	result, err = s.h.Execute(r.ctx, g)
}
