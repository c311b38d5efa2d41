// Package remote works with the parameters of other nodes: it asks their parameter services, as "ros2 param" does.
//
//	camera, err := remote.New(n, "/front/camera")
//	defer camera.Close()
//	values, err := camera.Get(ctx, "rate", "exposure.auto")
//	err = camera.Set(ctx, param.Parameter{Name: "rate", Value: param.Of(30)})
//
// Every call takes a context and first waits for the service that it needs, so a node that is about to start can be asked at once. It needs
// no executor but the other node's.
//
// It uses public packages of tagus only.
package remote

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/tagus-ros/tagus"
	rcl "github.com/tagus-ros/tagus/msgs/rcl_interfaces"
	"github.com/tagus-ros/tagus/param"
	"github.com/tagus-ros/tagus/param/wire"
	"github.com/tagus-ros/tagus/rosidl"
)

// Client asks one node about its parameters. It is safe for concurrent use. What it needs is made with the first call that needs it.
type Client struct {
	n    *tagus.Node
	node string

	mu      sync.Mutex
	clients map[string]closer // by the last part of the service's name
	closed  bool
}

type closer interface{ Close() error }

// Error says which question to which node failed. The cause tells with errors.Is and errors.As what happened: [tagus.ErrNoServer] with the
// context's error when the node did not come in time or has no parameter services, and otherwise as [tagus.Client.Call] has them.
type Error struct {
	Node string
	Op   string // "get", "set", "list", "describe", …
	Err  error
}

func (e *Error) Error() string {
	return fmt.Sprintf("tagus: parameters of %s: %s: %v", e.Node, e.Op, e.Err)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// SetError says why a node did not change a parameter.
type SetError struct {
	Node   string
	Name   string // of the parameter; several, with commas between them, if they were set atomically
	Reason string // in the words of the node
}

func (e *SetError) Error() string {
	return fmt.Sprintf("parameter %s of %s: %s", e.Name, e.Node, e.Reason)
}

// New makes a client for the node with this name, full or relative to the namespace of n, on which its service clients are made.
func New(n *tagus.Node, node string) (*Client, error) {
	full := node
	if !strings.HasPrefix(node, "/") {
		full = strings.TrimSuffix(n.Namespace(), "/") + "/" + node
	}
	c := &Client{n: n, node: full, clients: map[string]closer{}}
	// The first client tells whether the name can be that of a node.
	if _, err := client[rcl.ListParameters](c, "list_parameters"); err != nil {
		return nil, &Error{full, "new client", err}
	}
	return c, nil
}

// Node is the full name of the node that is asked.
func (c *Client) Node() string { return c.node }

// client gives the client of one of the services, making it if need be.
func client[S rosidl.Service[Req, Resp], Req, Resp any](c *Client, service string) (*tagus.Client[Req, Resp], error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, tagus.ErrClosed
	}
	if cl, ok := c.clients[service]; ok {
		return cl.(*tagus.Client[Req, Resp]), nil
	}
	cl, err := tagus.NewClient[S](c.n, c.node+"/"+service)
	if err != nil {
		return nil, err
	}
	c.clients[service] = cl
	return cl, nil
}

// call waits for a service and asks it.
func call[S rosidl.Service[Req, Resp], Req, Resp any](ctx context.Context, c *Client, op, service string, req *Req) (*Resp, error) {
	cl, err := client[S](c, service)
	if err == nil {
		err = await(ctx, cl)
	}
	if err != nil {
		return nil, &Error{c.node, op, err}
	}
	resp, err := cl.Call(ctx, req)
	if err != nil {
		return nil, &Error{c.node, op, err}
	}
	return resp, nil
}

func await(ctx context.Context, cl interface {
	Available() bool
	WaitForService(context.Context) error
}) error {
	if cl.Available() {
		return nil
	}
	err := cl.WaitForService(ctx)
	if ctx.Err() != nil {
		err = fmt.Errorf("%w with its parameter services: %w", tagus.ErrNoServer, err)
	}
	return err
}

// Wait returns when the node is there with its parameter services.
func (c *Client) Wait(ctx context.Context) error {
	for _, wait := range []func() error{
		func() error { return waitFor[rcl.ListParameters](ctx, c, "list_parameters") },
		func() error { return waitFor[rcl.GetParameters](ctx, c, "get_parameters") },
		func() error { return waitFor[rcl.GetParameterTypes](ctx, c, "get_parameter_types") },
		func() error { return waitFor[rcl.DescribeParameters](ctx, c, "describe_parameters") },
		func() error { return waitFor[rcl.SetParameters](ctx, c, "set_parameters") },
		func() error { return waitFor[rcl.SetParametersAtomically](ctx, c, "set_parameters_atomically") },
	} {
		if err := wait(); err != nil {
			return &Error{c.node, "wait", err}
		}
	}
	return nil
}

func waitFor[S rosidl.Service[Req, Resp], Req, Resp any](ctx context.Context, c *Client, service string) error {
	cl, err := client[S](c, service)
	if err != nil {
		return err
	}
	return await(ctx, cl)
}

// List gives the sorted names of the node's parameters below the prefixes, and the prefixes of these names, as [param.Store.List] does.
func (c *Client) List(ctx context.Context, prefixes []string, depth uint64) (names, namePrefixes []string, err error) {
	resp, err := call[rcl.ListParameters](ctx, c, "list", "list_parameters", &rcl.ListParametersRequest{Prefixes: prefixes, Depth: depth})
	if err != nil {
		return nil, nil, err
	}
	return resp.Result.Names, resp.Result.Prefixes, nil
}

// Get gives the values of the named parameters; one that is not set for a name that the node has not declared.
func (c *Client) Get(ctx context.Context, names ...string) ([]param.Value, error) {
	return each(names, func(names []string) ([]param.Value, error) {
		resp, err := call[rcl.GetParameters](ctx, c, "get", "get_parameters", &rcl.GetParametersRequest{Names: names})
		if err != nil {
			return nil, err
		}
		out := make([]param.Value, len(resp.Values))
		for i := range out {
			if out[i], err = wire.Value(&resp.Values[i]); err != nil {
				return nil, &Error{c.node, "get " + names[min(i, len(names)-1)], err}
			}
		}
		return out, nil
	}, func(string) param.Value { return param.Value{} })
}

// Types gives the types of the named parameters; NotSet for a name that the node has not declared.
func (c *Client) Types(ctx context.Context, names ...string) ([]param.Type, error) {
	return each(names, func(names []string) ([]param.Type, error) {
		resp, err := call[rcl.GetParameterTypes](ctx, c, "get types", "get_parameter_types", &rcl.GetParameterTypesRequest{Names: names})
		if err != nil {
			return nil, err
		}
		out := make([]param.Type, len(resp.Types))
		for i, t := range resp.Types {
			out[i] = param.Type(t)
		}
		return out, nil
	}, func(string) param.Type { return param.NotSet })
}

// Describe gives what is known of the named parameters; nothing but the name of one that the node has not declared.
func (c *Client) Describe(ctx context.Context, names ...string) ([]param.Info, error) {
	return each(names, func(names []string) ([]param.Info, error) {
		resp, err := call[rcl.DescribeParameters](ctx, c, "describe", "describe_parameters", &rcl.DescribeParametersRequest{Names: names})
		if err != nil {
			return nil, err
		}
		out := make([]param.Info, len(resp.Descriptors))
		for i := range out {
			if out[i], err = wire.Info(&resp.Descriptors[i]); err != nil {
				return nil, &Error{c.node, "describe " + names[min(i, len(names)-1)], err}
			}
		}
		return out, nil
	}, func(name string) param.Info { return param.Info{Name: name} })
}

// each asks for all names at once. Some nodes answer with nothing at all if they do not know one of the names; then each is asked for alone.
func each[T any](names []string, ask func([]string) ([]T, error), unknown func(string) T) ([]T, error) {
	if len(names) == 0 {
		return nil, nil
	}
	all, err := ask(names)
	if err != nil || len(all) == len(names) {
		return all, err
	}
	if len(names) == 1 {
		return []T{unknown(names[0])}, nil
	}
	out := make([]T, len(names))
	for i := range names {
		one, err := each(names[i:i+1], ask, unknown)
		if err != nil {
			return nil, err
		}
		out[i] = one[0]
	}
	return out, nil
}

// Set changes the parameters one by one: one that is refused does not keep the others from being changed. The error has a [*SetError] for
// each that was refused. A value that is not set takes a parameter away.
func (c *Client) Set(ctx context.Context, parameters ...param.Parameter) error {
	if len(parameters) == 0 {
		return nil
	}
	resp, err := call[rcl.SetParameters](ctx, c, "set", "set_parameters", &rcl.SetParametersRequest{Parameters: wire.AppendParameters(nil, parameters...)})
	if err != nil {
		return err
	}
	if len(resp.Results) != len(parameters) {
		return &Error{c.node, "set", fmt.Errorf("%d results for %d parameters", len(resp.Results), len(parameters))}
	}
	var errs []error
	for i, r := range resp.Results {
		if !r.Successful {
			errs = append(errs, &SetError{c.node, parameters[i].Name, r.Reason})
		}
	}
	return errors.Join(errs...)
}

// SetAtomically changes all of the parameters or none; then the error is a [*SetError].
func (c *Client) SetAtomically(ctx context.Context, parameters ...param.Parameter) error {
	if len(parameters) == 0 {
		return nil
	}
	resp, err := call[rcl.SetParametersAtomically](ctx, c, "set atomically", "set_parameters_atomically",
		&rcl.SetParametersAtomicallyRequest{Parameters: wire.AppendParameters(nil, parameters...)})
	if err != nil {
		return err
	}
	if resp.Result.Successful {
		return nil
	}
	names := make([]string, len(parameters))
	for i, p := range parameters {
		names[i] = p.Name
	}
	return &SetError{c.node, strings.Join(names, ", "), resp.Result.Reason}
}

// Delete takes parameters away, which only those with dynamic typing can be.
func (c *Client) Delete(ctx context.Context, names ...string) error {
	list := make([]param.Parameter, len(names))
	for i, name := range names {
		list[i].Name = name
	}
	return c.Set(ctx, list...)
}

// All gives all parameters of the node, sorted by name.
func (c *Client) All(ctx context.Context) ([]param.Parameter, error) {
	names, _, err := c.List(ctx, nil, param.Recursive)
	if err != nil {
		return nil, err
	}
	values, err := c.Get(ctx, names...)
	if err != nil {
		return nil, err
	}
	out := make([]param.Parameter, len(names))
	for i, name := range names {
		out[i] = param.Parameter{Name: name, Value: values[i]}
	}
	return out, nil
}

// Dump gives all parameters of the node as a parameter file.
func (c *Client) Dump(ctx context.Context) ([]byte, error) {
	all, err := c.All(ctx)
	if err != nil {
		return nil, err
	}
	return param.Dump(c.node, all), nil
}

// Load sets what a parameter file gives the node, one by one, as Set does. Without anything for this node it is an error.
func (c *Client) Load(ctx context.Context, file []param.Override) error {
	given := param.Select(file, c.node)
	if len(given) == 0 {
		return &Error{c.node, "load", errors.New("the file has no parameters for the node")}
	}
	var list []param.Parameter
	for name, o := range given {
		list = append(list, param.Parameter{Name: name, Value: o.Value})
	}
	sortByName(list)
	return c.Set(ctx, list...)
}

// Close ends the client; calls under way return tagus.ErrClosed. It is idempotent.
func (c *Client) Close() error {
	c.mu.Lock()
	c.closed = true
	clients := c.clients
	c.clients = nil
	c.mu.Unlock()
	var errs []error
	for _, cl := range clients {
		errs = append(errs, cl.Close())
	}
	return errors.Join(errs...)
}
