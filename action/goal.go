package action

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/msgs/action_msgs"
	"github.com/tagus-ros/tagus/msgs/builtin_interfaces"
	"github.com/tagus-ros/tagus/msgs/unique_identifier_msgs"
	"github.com/tagus-ros/tagus/rosidl"
)

// state is what is known of a goal whatever its types.
type state struct {
	id     GoalID
	stamp  int64        // time of acceptance, ns since the Unix epoch
	status atomic.Int32 // a Status; written under the server's mutex
	ctx    context.Context
	cancel context.CancelCauseFunc
	gone   <-chan struct{}
	over   chan struct{} // closed when the goal has ended
}

func (s *state) get() Status { return Status(s.status.Load()) }

func (s *state) set(to Status) { s.status.Store(int32(to)) }

// info is how messages name the goal.
func (s *state) info() action_msgs.GoalInfo {
	return action_msgs.GoalInfo{
		GoalID: unique_identifier_msgs.UUID{UUID: s.id},
		Stamp:  stampOf(s.stamp),
	}
}

func stampOf(ns int64) builtin_interfaces.Time {
	return builtin_interfaces.Time{Sec: int32(ns / 1e9), Nanosec: uint32(ns % 1e9)}
}

func nanoseconds(t builtin_interfaces.Time) int64 { return int64(t.Sec)*1e9 + int64(t.Nanosec) }

// ServerGoal is a goal that a server has accepted. It is safe for concurrent use.
type ServerGoal[G, F any] struct {
	*state
	goal *G
	pub  *tagus.Publisher[rosidl.FeedbackMessage[F]]

	mu  sync.Mutex
	msg rosidl.FeedbackMessage[F] // being published
}

// ID identifies the goal.
func (g *ServerGoal[G, F]) ID() GoalID { return g.id }

// Goal is what was asked for. It is read-only and stays valid.
func (g *ServerGoal[G, F]) Goal() *G { return g.goal }

// Accepted is when the goal was taken, by the system clock. Cancel requests that name a
// time compare it with this.
func (g *ServerGoal[G, F]) Accepted() time.Time { return time.Unix(0, g.stamp) }

// Status says how far the goal is.
func (g *ServerGoal[G, F]) Status() Status { return g.get() }

// ClientGone is closed when the client that sent the goal is gone, at the latest when the
// server closes. The goal goes on, unless the server was made with [WithCancelOrphans].
func (g *ServerGoal[G, F]) ClientGone() <-chan struct{} { return g.gone }

// Feedback tells the clients how far the goal is. f stays the caller's. Errors:
// [ErrGoalEnded], and those of [tagus.Publisher.Publish].
func (g *ServerGoal[G, F]) Feedback(f *F) error {
	if g.get().Final() {
		return &Error{Kind: "action server", Action: strings.TrimSuffix(g.pub.Topic(), partFeedback), Op: "feedback", Goal: g.id, Err: ErrGoalEnded}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.msg.GoalID, g.msg.Feedback = g.id, *f
	err := g.pub.Publish(&g.msg)
	var none F
	g.msg.Feedback = none // what f refers to is not ours to keep
	return err
}
