package remote

import (
	"context"
	"slices"
	"strings"

	"github.com/tagus-ros/tagus"
	rcl "github.com/tagus-ros/tagus/msgs/rcl_interfaces"
	"github.com/tagus-ros/tagus/param"
	"github.com/tagus-ros/tagus/param/wire"
	"github.com/tagus-ros/tagus/qos"
)

// Watch calls fn, on n's executor, for each change of parameters that a node of the domain tells of, until the subscription is closed.
// Events that no parameter can be read from are left out and logged.
func Watch(n *tagus.Node, fn func(context.Context, param.Event)) (*tagus.Subscription[rcl.ParameterEvent], error) {
	return tagus.NewSubscription(n, "/parameter_events", qos.ParameterEvents(), func(ctx context.Context, s *tagus.Sample[rcl.ParameterEvent]) {
		e, err := wire.Event(s.Msg)
		if err != nil {
			n.Logger().Warn("a parameter event was not understood", "node", s.Msg.Node, "err", err)
			return
		}
		fn(ctx, e)
	})
}

// Watch calls fn, on the executor of the client's node, for each change of the other node's parameters, until the subscription is closed.
func (c *Client) Watch(fn func(context.Context, param.Event)) (*tagus.Subscription[rcl.ParameterEvent], error) {
	return Watch(c.n, func(ctx context.Context, e param.Event) {
		if e.Node == c.node {
			fn(ctx, e)
		}
	})
}

func sortByName(list []param.Parameter) {
	slices.SortFunc(list, func(a, b param.Parameter) int { return strings.Compare(a.Name, b.Name) })
}
