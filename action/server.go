package action

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/msgs/action_msgs"
	"github.com/tagus-ros/tagus/qos"
	"github.com/tagus-ros/tagus/rosidl"
)

// Handlers say what a server does. Only Execute is needed.
type Handlers[G, R, F any] struct {
	// Accept decides whether a goal is taken: an error rejects it. Nil takes all. It runs on
	// the node's executor. The goal is read-only and stays valid.
	Accept func(ctx context.Context, id GoalID, goal *G) error
	// Cancel decides about a cancel request: an error lets the goal go on. Nil grants all. It
	// runs on the node's executor.
	Cancel func(ctx context.Context, g *ServerGoal[G, F]) error
	// Execute does the work, on a goroutine of its own, and returns the result, which is the
	// server's from then on. ctx ends when the goal is canceled or preempted and when the
	// server closes; Execute must return then.
	Execute func(ctx context.Context, g *ServerGoal[G, F]) (*R, error)
}

// Server takes the goals of an action. It is safe for concurrent use.
type Server[G, R, F any] struct {
	n    *tagus.Node
	name string
	h    Handlers[G, R, F]
	o    serverOptions

	send     *tagus.DeferredService[rosidl.SendGoalRequest[G], rosidl.SendGoalResponse]
	result   *tagus.DeferredService[rosidl.GetResultRequest, rosidl.GetResultResponse[R]]
	cancel   *tagus.Service[action_msgs.CancelGoalRequest, action_msgs.CancelGoalResponse]
	feedback *tagus.Publisher[rosidl.FeedbackMessage[F]]
	status   *tagus.Publisher[action_msgs.GoalStatusArray]

	ctx     context.Context // of all goals
	end     context.CancelCauseFunc
	running sync.WaitGroup // goroutines of goals

	mu      sync.Mutex
	closed  bool
	goals   map[GoalID]*record[G, R, F] // all that are known
	active  []*record[G, R, F]          // under way, in the order of acceptance
	current *record[G, R, F]            // the one that executes, unless they do in parallel
	waiting []*record[G, R, F]          // accepted and not begun
	ended   []*record[G, R, F]          // kept, in the order of their end
	expiry  *time.Timer                 // nil until something has ended
	version uint64                      // counts changes of states

	reporting sync.Mutex // held while a status message is made and sent
	reported  uint64     // version of the newest one
	array     action_msgs.GoalStatusArray

	count struct{ accepted, rejected, unanswered, succeeded, canceled, aborted, evicted, unreported atomic.Uint64 }
}

// record is what the server knows of a goal, from its acceptance until it is forgotten.
type record[G, R, F any] struct {
	*state
	goal    *ServerGoal[G, F] // nil once it has ended
	skipped bool              // canceled before its turn: it is never executed
	ended   time.Time
	result  *R
	asked   []*resultRequest[R] // who waits for the result
}

type resultRequest[R any] = tagus.Request[rosidl.GetResultRequest, rosidl.GetResultResponse[R]]

// NewServer makes a server; the name is expanded as ROS 2 does. The type argument is the
// generated marker of the action; the other ones follow from it. Goals can be sent as
// soon as it returns, and are looked at while the node's executor spins.
func NewServer[A rosidl.Action[G, R, F], G, R, F any](n *tagus.Node, name string, h Handlers[G, R, F], opts ...ServerOption) (*Server[G, R, F], error) {
	var marker A
	return NewServerOf(n, name, marker.ROSAction(), h, opts...)
}

// NewServerOf is [NewServer] for an action that is known by its support.
func NewServerOf[G, R, F any](n *tagus.Node, name string, sup *rosidl.ActionSupport[G, R, F], h Handlers[G, R, F], opts ...ServerOption) (*Server[G, R, F], error) {
	s := &Server[G, R, F]{
		n: n, name: name, h: h,
		o:     serverOptions{retention: DefaultRetention, goals: DefaultGoalLimit, results: DefaultResultLimit},
		goals: make(map[GoalID]*record[G, R, F]),
	}
	for _, o := range opts {
		if err := o(&s.o); err != nil {
			return nil, s.fail("new", GoalID{}, err)
		}
	}
	if h.Execute == nil {
		return nil, s.fail("new", GoalID{}, errors.New("the Execute handler is missing"))
	}
	s.ctx, s.end = context.WithCancelCause(context.Background())
	if err := s.open(sup); err != nil {
		_ = s.Close() // err says why
		return nil, s.fail("new", GoalID{}, err)
	}
	return s, nil
}

// open makes the endpoints. Goals come in through the last of them.
func (s *Server[G, R, F]) open(sup *rosidl.ActionSupport[G, R, F]) (err error) {
	if s.feedback, err = tagus.NewPublisherOf(s.n, s.name+partFeedback, sup.FeedbackMessage, qos.Default()); err != nil {
		return err
	}
	s.name = strings.TrimSuffix(s.feedback.Topic(), partFeedback)
	if s.status, err = tagus.NewPublisher[action_msgs.GoalStatusArray](s.n, s.name+partStatus, qos.ActionStatus()); err != nil {
		return err
	}
	// A client may have many goals under way, and asks for all their results.
	asks := tagus.WithServiceQoS(qos.ServicesDefault().WithDepth(ClientGoals))
	if s.result, err = tagus.NewDeferredServiceOf(s.n, s.name+partGetResult, sup.GetResult, s.takeResult, asks); err != nil {
		return err
	}
	if s.cancel, err = tagus.NewService[action_msgs.CancelGoal](s.n, s.name+partCancelGoal, s.takeCancel); err != nil {
		return err
	}
	if s.send, err = tagus.NewDeferredServiceOf(s.n, s.name+partSendGoal, sup.SendGoal, s.takeGoal, asks); err != nil {
		return err
	}
	return s.n.Adopt(s)
}

func (s *Server[G, R, F]) fail(op string, id GoalID, err error) error {
	return &Error{Kind: "action server", Action: s.name, Op: op, Goal: id, Err: err}
}

// Name is the fully qualified name of the action.
func (s *Server[G, R, F]) Name() string { return s.name }

// ServerStats is what a server counted.
type ServerStats struct {
	Accepted   uint64 // goals taken
	Rejected   uint64 // goals not taken
	Unanswered uint64 // goals not taken after all, since their client could not be told so
	Succeeded  uint64
	Canceled   uint64
	Aborted    uint64
	Evicted    uint64 // ended goals forgotten before their time: see DefaultResultLimit
	Unreported uint64 // status messages that could not be published
	Active     int    // goals under way
	Kept       int    // ended goals that are kept
	Asked      int    // requests for results that wait
}

// Stats returns the counts so far.
func (s *Server[G, R, F]) Stats() ServerStats {
	asked := s.result.Stats().Open
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.count
	return ServerStats{
		Accepted: c.accepted.Load(), Rejected: c.rejected.Load(), Unanswered: c.unanswered.Load(),
		Succeeded: c.succeeded.Load(), Canceled: c.canceled.Load(), Aborted: c.aborted.Load(),
		Evicted: c.evicted.Load(), Unreported: c.unreported.Load(),
		Active: len(s.active), Kept: len(s.ended), Asked: asked,
	}
}

// Close ends the server: no goal is taken any more, the contexts of those under way end
// with the cause ErrServerClosed, those that wait for their turn are aborted. It waits
// until all have returned and their clients have been told, so Execute must not call it.
// The node's Close does the same. It is idempotent.
func (s *Server[G, R, F]) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	waiting := s.waiting
	s.waiting = nil
	s.mu.Unlock()
	s.end(ErrServerClosed)
	for _, r := range waiting {
		s.finish(r, nil, ErrServerClosed)
	}
	s.running.Wait()
	s.mu.Lock()
	if s.expiry != nil {
		s.expiry.Stop()
	}
	s.mu.Unlock()
	var errs []error
	if s.send != nil {
		errs = append(errs, s.send.Close())
	}
	if s.cancel != nil {
		errs = append(errs, s.cancel.Close())
	}
	if s.result != nil {
		errs = append(errs, s.result.Close())
	}
	if s.feedback != nil {
		errs = append(errs, s.feedback.Close())
	}
	if s.status != nil {
		errs = append(errs, s.status.Close())
	}
	s.n.Disown(s)
	return errors.Join(errs...)
}

var errNotReturned = errors.New("the Execute handler did not return")
