package tagus

import (
	"errors"

	"github.com/tagus-ros/tagus/internal/exec"
)

// CallbackGroupKind says how many callbacks of a group run at a time.
type CallbackGroupKind uint8

// The kinds of groups.
const (
	// MutuallyExclusive: one callback of the group at a time.
	MutuallyExclusive CallbackGroupKind = iota
	// Reentrant: callbacks of several entities of the group at a time; of one entity it is
	// one at a time, in the order in which its messages came.
	Reentrant
)

// CallbackGroup is entities whose callbacks an executor with workers (see [WithWorkers])
// runs beside its own thread. Without workers groups change nothing: one callback of the
// executor runs at a time.
//
// Entities that are in no group, among them the services that every node has, and
// handlers of events, are run by the executor's thread, one at a time for all its nodes:
// that is quickest, since no other thread needs to wake up.
type CallbackGroup struct {
	e *Executor
	g *exec.Group
}

// NewCallbackGroup makes a group for entities of the node, and of others on the same
// executor.
func (n *Node) NewCallbackGroup(k CallbackGroupKind) *CallbackGroup {
	return &CallbackGroup{e: n.executor, g: n.executor.ex.NewGroup(k == Reentrant)}
}

// GroupOption is what [WithGroup] gives: an option of everything that has a callback.
type GroupOption interface {
	SubscriptionOption
	ServiceOption
	TimerOption
	GuardConditionOption
}

// WithGroup puts a subscription, service, timer or guard condition into a group.
func WithGroup(g *CallbackGroup) GroupOption { return withGroup{g} }

type withGroup struct{ g *CallbackGroup }

func (o withGroup) subscription(c *subscriptionConfig) { c.group = o.g }
func (o withGroup) service(c *serviceConfig)           { c.group = o.g }
func (o withGroup) timer(c *timerConfig)               { c.group = o.g }
func (o withGroup) guard(c *guardConfig)               { c.group = o.g }

// of gives the group as the executor has it, nil for none.
func (g *CallbackGroup) of(e *Executor) (*exec.Group, error) {
	switch {
	case g == nil:
		return nil, nil
	case g.e != e:
		return nil, errors.New("the callback group belongs to another executor")
	}
	return g.g, nil
}

var errNoCallback = errors.New("a pull subscription has no callback that a group could run")
