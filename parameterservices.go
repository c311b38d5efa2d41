package tagus

import (
	"context"
	"errors"

	"github.com/tagus-ros/tagus/msgs/builtin_interfaces"
	rcl "github.com/tagus-ros/tagus/msgs/rcl_interfaces"
	"github.com/tagus-ros/tagus/param"
	"github.com/tagus-ros/tagus/param/wire"
	"github.com/tagus-ros/tagus/qos"
)

// tellParameters publishes each change of the node's parameters on /parameter_events.
func (n *Node) tellParameters() error {
	pub, err := NewPublisher[rcl.ParameterEvent](n, "/parameter_events", qos.ParameterEvents())
	if err != nil {
		return err
	}
	return n.onClose(n.params.Subscribe(func(e param.Event) {
		if pub.Matched() == 0 {
			return // nothing is kept for later
		}
		m := &rcl.ParameterEvent{Stamp: stamp(n.clock.now())}
		wire.PutEvent(m, e)
		if err := pub.PublishOwned(m); err != nil && !errors.Is(err, ErrClosed) {
			n.d.log.Error("a parameter event was not published", "node", e.Node, "err", err)
		}
	}))
}

// stamp is nanoseconds since the epoch as messages have them.
func stamp(ns int64) builtin_interfaces.Time {
	sec, nanosec := ns/1e9, ns%1e9
	if nanosec < 0 {
		sec, nanosec = sec-1, nanosec+1e9
	}
	return builtin_interfaces.Time{Sec: int32(sec), Nanosec: uint32(nanosec)}
}

// serveParameters answers others who ask about the node's parameters or set them, as
// "ros2 param" does.
func (n *Node) serveParameters() error {
	return errors.Join(
		serve[rcl.DescribeParameters](n, "describe_parameters", n.describeParameters),
		serve[rcl.GetParameterTypes](n, "get_parameter_types", n.getParameterTypes),
		serve[rcl.GetParameters](n, "get_parameters", n.getParameters),
		serve[rcl.ListParameters](n, "list_parameters", n.listParameters),
		serve[rcl.SetParameters](n, "set_parameters", n.setParameters),
		serve[rcl.SetParametersAtomically](n, "set_parameters_atomically", n.setParametersAtomically),
	)
}

// A name that is not declared has the type NOT_SET and no value: the other names that were
// asked for are answered all the same.

func (n *Node) describeParameters(_ context.Context, req *rcl.DescribeParametersRequest) (*rcl.DescribeParametersResponse, error) {
	resp := &rcl.DescribeParametersResponse{Descriptors: make([]rcl.ParameterDescriptor, len(req.Names))}
	for i, name := range req.Names {
		info := param.Info{Name: name}
		if all, err := n.params.Describe(name); err == nil {
			info = all[0]
		}
		wire.PutInfo(&resp.Descriptors[i], info)
	}
	return resp, nil
}

func (n *Node) getParameterTypes(_ context.Context, req *rcl.GetParameterTypesRequest) (*rcl.GetParameterTypesResponse, error) {
	resp := &rcl.GetParameterTypesResponse{Types: make([]uint8, len(req.Names))}
	for i, v := range n.parameterValues(req.Names) {
		resp.Types[i] = uint8(v.Type())
	}
	return resp, nil
}

func (n *Node) getParameters(_ context.Context, req *rcl.GetParametersRequest) (*rcl.GetParametersResponse, error) {
	resp := &rcl.GetParametersResponse{Values: make([]rcl.ParameterValue, len(req.Names))}
	for i, v := range n.parameterValues(req.Names) {
		wire.PutValue(&resp.Values[i], v)
	}
	return resp, nil
}

// parameterValues are the values as they were at one moment, unless one is not declared.
func (n *Node) parameterValues(names []string) []param.Value {
	if all, err := n.params.Get(names...); err == nil {
		return all
	}
	out := make([]param.Value, len(names))
	for i, name := range names {
		if one, err := n.params.Get(name); err == nil {
			out[i] = one[0]
		}
	}
	return out
}

func (n *Node) listParameters(_ context.Context, req *rcl.ListParametersRequest) (*rcl.ListParametersResponse, error) {
	resp := &rcl.ListParametersResponse{}
	resp.Result.Names, resp.Result.Prefixes = n.params.List(req.Prefixes, req.Depth)
	return resp, nil
}

func (n *Node) setParameters(ctx context.Context, req *rcl.SetParametersRequest) (*rcl.SetParametersResponse, error) {
	resp := &rcl.SetParametersResponse{Results: make([]rcl.SetParametersResult, len(req.Parameters))}
	for i := range req.Parameters {
		resp.Results[i] = n.setAtomically(ctx, req.Parameters[i:i+1])
	}
	return resp, nil
}

func (n *Node) setParametersAtomically(ctx context.Context, req *rcl.SetParametersAtomicallyRequest) (*rcl.SetParametersAtomicallyResponse, error) {
	return &rcl.SetParametersAtomicallyResponse{Result: n.setAtomically(ctx, req.Parameters)}, nil
}

func (n *Node) setAtomically(ctx context.Context, list []rcl.Parameter) rcl.SetParametersResult {
	parameters, err := wire.Parameters(list)
	if err == nil {
		err = n.params.SetAtomically(ctx, parameters...)
	}
	var refused *param.Error
	switch {
	case err == nil:
		return rcl.SetParametersResult{Successful: true}
	case errors.As(err, &refused):
		return rcl.SetParametersResult{Reason: refused.Reason()}
	}
	return rcl.SetParametersResult{Reason: err.Error()}
}
