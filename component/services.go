package component

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/tagus-ros/tagus"
	msg "github.com/tagus-ros/tagus/msgs/composition_interfaces"
	"github.com/tagus-ros/tagus/msgs/rcl_interfaces"
	"github.com/tagus-ros/tagus/param"
	"github.com/tagus-ros/tagus/param/wire"
	"github.com/tagus-ros/tagus/qos"
)

// requestDepth is how many requests to load or unload wait: a launch file asks for all its components at once.
const requestDepth = 200

func (c *Container) serve() error {
	depth := tagus.WithServiceQoS(qos.ServicesDefault().WithDepth(requestDepth))
	_, err := tagus.NewDeferredService[msg.LoadNode](c.n, "~/_container/load_node", func(_ context.Context, r *tagus.Request[msg.LoadNodeRequest, msg.LoadNodeResponse]) {
		c.apart(func() {
			resp := c.serveLoad(r.Msg)
			_ = r.Respond(&resp) // who asked may be gone; the node is loaded all the same, and listed
		})
	}, depth)
	if err != nil {
		return err
	}
	_, err = tagus.NewDeferredService[msg.UnloadNode](c.n, "~/_container/unload_node", func(_ context.Context, r *tagus.Request[msg.UnloadNodeRequest, msg.UnloadNodeResponse]) {
		c.apart(func() {
			resp := c.serveUnload(r.Msg.UniqueID)
			_ = r.Respond(&resp)
		})
	}, depth)
	if err != nil {
		return err
	}
	_, err = tagus.NewService[msg.ListNodes](c.n, "~/_container/list_nodes", func(context.Context, *msg.ListNodesRequest) (*msg.ListNodesResponse, error) {
		resp := &msg.ListNodesResponse{}
		for _, l := range c.Nodes() {
			resp.FullNodeNames = append(resp.FullNodeNames, l.Name)
			resp.UniqueIds = append(resp.UniqueIds, l.ID)
		}
		return resp, nil
	})
	return err
}

// apart runs f on a goroutine that Close waits for. Once the container is closing nobody waits for answers any more.
func (c *Container) apart(f func()) {
	if c.begin() != nil {
		return
	}
	go func() {
		defer c.work.Done()
		f()
	}()
}

func (c *Container) serveLoad(req *msg.LoadNodeRequest) msg.LoadNodeResponse {
	l, err := Loaded{}, error(nil)
	r, err := request(req)
	if err == nil {
		l, err = c.load(c.ctx, r)
	}
	if err != nil {
		c.n.Logger().Error("a component was not loaded", "package", req.PackageName, "plugin", req.PluginName, "err", err)
		return msg.LoadNodeResponse{ErrorMessage: err.Error()}
	}
	return msg.LoadNodeResponse{Success: true, FullNodeName: l.Name, UniqueID: l.ID}
}

func (c *Container) serveUnload(id uint64) msg.UnloadNodeResponse {
	if err := c.unload(id); err != nil {
		c.n.Logger().Warn("a component was not unloaded well", "id", id, "err", err)
		return msg.UnloadNodeResponse{ErrorMessage: err.Error()}
	}
	return msg.UnloadNodeResponse{Success: true}
}

// UnsupportedError says that a request wants what a container cannot do; what it accepted would not be kept.
type UnsupportedError struct{ What, Why string }

func (e *UnsupportedError) Error() string { return e.What + " is not supported: " + e.Why }

// request is what a message asks for.
func request(m *msg.LoadNodeRequest) (Request, error) {
	r := Request{Type: Type{m.PackageName, m.PluginName}, Name: m.NodeName, Namespace: m.NodeNamespace}
	for _, rule := range m.RemapRules {
		// Rules for the name and the namespace count less than those fields.
		from, to, ok := strings.Cut(rule, ":=")
		switch {
		case !ok:
			return r, fmt.Errorf("remap rule %q: want from:=to", rule)
		case from == "__node":
			r.Name = cmp.Or(m.NodeName, to)
		case from == "__ns":
			r.Namespace = cmp.Or(m.NodeNamespace, to)
		default:
			return r, &UnsupportedError{fmt.Sprintf("remap rule %q", rule), "rules for topics and services hold for the whole process; give them to the container"}
		}
	}
	if m.LogLevel != 0 {
		return r, &UnsupportedError{fmt.Sprint("log_level ", m.LogLevel), "give the container --log-level"}
	}
	list, err := wire.Parameters(m.Parameters)
	if err != nil {
		return r, err
	}
	for _, p := range list {
		if r.Parameters == nil {
			r.Parameters = make(map[string]param.Value)
		}
		r.Parameters[p.Name] = p.Value
	}
	return r, extra(m.ExtraArguments)
}

// extraArguments are those of rclcpp that ask for what is so anyway, with the value that does.
var extraArguments = map[string]bool{
	"use_intra_process_comms":         true,
	"start_parameter_services":        true,
	"start_parameter_event_publisher": true,
	"enable_rosout":                   true,
	"forward_global_arguments":        true,
	"enable_topic_statistics":         false,
}

// extra refuses extra arguments that would change something.
func extra(args []rcl_interfaces.Parameter) error {
	list, err := wire.Parameters(args)
	if err != nil {
		return err
	}
	for _, a := range list {
		what := "extra argument " + a.Name
		is, known := extraArguments[a.Name]
		v, err := param.As[bool](a.Value)
		switch {
		case !known:
			return &UnsupportedError{what, "there is no such argument"}
		case err != nil:
			return fmt.Errorf("%s: %w", what, err)
		case v != is:
			return &UnsupportedError{fmt.Sprintf("%s = %v", what, v), fmt.Sprintf("it is always %v", is)}
		}
	}
	return nil
}
