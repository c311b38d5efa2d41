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

// tracker is the part of a client that follows goals. It does not know what a goal looks
// like, and so neither does a ClientGoal.
//
// Each accepted goal has a goroutine that waits for its result. One goroutine, from the
// first goal on, takes the feedback; it also ends the goals, after it has taken what was
// published before their result.
type tracker[R, F any] struct {
	n     *tagus.Node
	name  string
	ts    *rosidl.TypeSupport[F]
	depth int // feedback kept for each goal

	cancel   *tagus.Client[action_msgs.CancelGoalRequest, action_msgs.CancelGoalResponse]
	result   *tagus.Client[rosidl.GetResultRequest, rosidl.GetResultResponse[R]]
	feedback *tagus.PullSubscription[rosidl.FeedbackMessage[F]]
	status   *tagus.PullSubscription[action_msgs.GoalStatusArray]

	ctx     context.Context // ends with the client
	end     context.CancelFunc
	running sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	goals    map[GoalID]*ClientGoal[R, F]
	over     []outcome[R, F]    // goals whose result has come
	nudge    context.CancelFunc // makes listen look at over; nil while listen does not run
	received uint64
	dropped  atomic.Uint64

	statusMu sync.Mutex // one reads the status topic at a time
	listed   []GoalStatus
}

// outcome is how a goal ended.
type outcome[R, F any] struct {
	g      *ClientGoal[R, F]
	status Status
	result *R
	err    error
}

func newTracker[R, F any](n *tagus.Node, name string, ts *rosidl.TypeSupport[F]) *tracker[R, F] {
	t := &tracker[R, F]{n: n, name: name, ts: ts, goals: make(map[GoalID]*ClientGoal[R, F])}
	t.ctx, t.end = context.WithCancel(context.Background())
	return t
}

func (t *tracker[R, F]) open(result *rosidl.ServiceSupport[rosidl.GetResultRequest, rosidl.GetResultResponse[R]], feedback *rosidl.TypeSupport[rosidl.FeedbackMessage[F]]) (err error) {
	if t.feedback, err = tagus.NewPullSubscriptionOf(t.n, t.name+partFeedback, feedback, qos.Default().WithDepth(max(t.depth, qos.DefaultDepth))); err != nil {
		return err
	}
	t.name = strings.TrimSuffix(t.feedback.Topic(), partFeedback)
	if t.status, err = tagus.NewPullSubscription[action_msgs.GoalStatusArray](t.n, t.name+partStatus, qos.ActionStatus()); err != nil {
		return err
	}
	if t.cancel, err = tagus.NewClient[action_msgs.CancelGoal](t.n, t.name+partCancelGoal); err != nil {
		return err
	}
	t.result, err = tagus.NewClientOf(t.n, t.name+partGetResult, result)
	return err
}

func (t *tracker[R, F]) fail(op string, id GoalID, err error) error {
	return &Error{Kind: "action client", Action: t.name, Op: op, Goal: id, Err: err}
}

func (t *tracker[R, F]) available() bool {
	return t.cancel.Available() && t.result.Available() && t.feedback.Stats().Publishers > 0 && t.status.Stats().Publishers > 0
}

func (t *tracker[R, F]) wait(ctx context.Context) error {
	if err := t.cancel.WaitForService(ctx); err != nil {
		return err
	}
	if err := t.result.WaitForService(ctx); err != nil {
		return err
	}
	if err := t.feedback.WaitForPublishers(ctx, 1); err != nil {
		return err
	}
	return t.status.WaitForPublishers(ctx, 1)
}

func (t *tracker[R, F]) isClosed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.closed
}

// add makes a goal known that is about to be sent.
func (t *tracker[R, F]) add(id GoalID) (*ClientGoal[R, F], error) {
	g := &ClientGoal[R, F]{t: t, id: id, done: make(chan struct{})}
	g.mail.init(t.depth)
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		return nil, tagus.ErrClosed
	case len(t.goals) >= ClientGoals:
		return nil, errors.Join(tagus.ErrRefused, &LimitError{"client_goals", ClientGoals})
	}
	t.goals[id] = g
	if t.nudge == nil {
		var ctx context.Context
		ctx, t.nudge = context.WithCancel(context.Background())
		t.running.Add(1)
		go t.listen(ctx)
	}
	return g, nil
}

// remove forgets a goal that was not accepted.
func (t *tracker[R, F]) remove(g *ClientGoal[R, F]) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.goals, g.id)
}

// follow waits for the result of an accepted goal, in the background.
func (t *tracker[R, F]) follow(g *ClientGoal[R, F], accepted time.Time) {
	g.accepted = accepted
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		delete(t.goals, g.id)
		g.close(outcome[R, F]{g: g, err: tagus.ErrClosed})
		return
	}
	t.running.Add(1)
	go t.await(g)
}

// await gets the result of a goal. That it comes late is no error: the call lasts as long
// as the goal does.
func (t *tracker[R, F]) await(g *ClientGoal[R, F]) {
	defer t.running.Done()
	resp, err := t.result.Call(t.ctx, &rosidl.GetResultRequest{GoalID: g.id})
	for pause := time.Millisecond; errors.Is(err, tagus.ErrRefused); pause = min(2*pause, 100*time.Millisecond) {
		select { // the server's queue is full: it has other goals to answer for
		case <-time.After(pause):
		case <-t.ctx.Done():
		}
		resp, err = t.result.Call(t.ctx, &rosidl.GetResultRequest{GoalID: g.id})
	}
	o := outcome[R, F]{g: g, err: err}
	switch {
	case err == nil && Status(resp.Status).Final():
		o.status, o.result = Status(resp.Status), &resp.Result
	case err == nil:
		o.err = ErrUnknownGoal
	case t.ctx.Err() != nil:
		o.err = tagus.ErrClosed
	case errors.Is(err, tagus.ErrNoServer): // it was there to take the goal
		o.err = errors.Join(tagus.ErrServerDied, err)
	}
	t.mu.Lock()
	t.over = append(t.over, o)
	t.nudge()
	t.mu.Unlock()
}

// listen takes feedback and ends goals until the client closes. The end of ctx makes it
// look which goals are over.
func (t *tracker[R, F]) listen(ctx context.Context) {
	defer t.running.Done()
	for {
		if s, err := t.feedback.Receive(ctx); err == nil {
			t.deliver(s)
			continue
		} else if !errors.Is(err, context.Canceled) {
			return // closed; what is over is ended by close
		}
		t.mu.Lock()
		ctx, t.nudge = context.WithCancel(context.Background())
		over := t.over
		t.over = nil
		t.mu.Unlock()
		// What was published before these results is in the queue.
		for {
			s, ok := t.feedback.Take()
			if !ok {
				break
			}
			t.deliver(s)
		}
		t.settle(over)
	}
}

// deliver hands feedback to its goal, if that is one of this client.
func (t *tracker[R, F]) deliver(s *tagus.Sample[rosidl.FeedbackMessage[F]]) {
	defer s.Release()
	t.mu.Lock()
	g := t.goals[s.Msg.GoalID]
	if g != nil {
		t.received++
	}
	t.mu.Unlock()
	if g != nil && g.mail.put(t.ts, &s.Msg.Feedback) {
		t.dropped.Add(1)
	}
}

// settle ends goals.
func (t *tracker[R, F]) settle(over []outcome[R, F]) {
	t.mu.Lock()
	for _, o := range over {
		delete(t.goals, o.g.id)
	}
	t.mu.Unlock()
	for _, o := range over {
		o.g.close(o)
	}
}

func (t *tracker[R, F]) stats() ClientStats {
	lost := t.feedback.Stats().Lost
	t.mu.Lock()
	defer t.mu.Unlock()
	return ClientStats{Goals: len(t.goals), Feedback: t.received, FeedbackDropped: t.dropped.Load(), FeedbackLost: lost}
}

func (t *tracker[R, F]) close() error {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return nil
	}
	t.closed = true
	t.mu.Unlock()
	t.end()
	var errs []error
	if t.result != nil {
		errs = append(errs, t.result.Close())
	}
	if t.cancel != nil {
		errs = append(errs, t.cancel.Close())
	}
	if t.feedback != nil {
		errs = append(errs, t.feedback.Close())
	}
	if t.status != nil {
		errs = append(errs, t.status.Close())
	}
	t.running.Wait()
	if t.nudge != nil {
		t.nudge() // releases the context
	}
	t.settle(t.over)
	return errors.Join(errs...)
}
