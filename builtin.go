package tagus

import (
	"context"
	"errors"

	"github.com/tagus-ros/tagus/rosidl"
)

// WithoutROSServices makes a node that has nothing but what the program makes in it: no
// parameter services, no /parameter_events, no /rosout, no type descriptions. Tools see
// such a node and cannot ask it. It costs less to make and to know of, which counts where
// there are very many nodes.
func WithoutROSServices() NodeOption { return func(c *nodeConfig) { c.bare = true } }

// builtIn makes what tools expect of every ROS 2 node.
func (n *Node) builtIn(c *nodeConfig) error {
	if c.bare {
		return n.declareTime()
	}
	r, err := newRosout(n)
	if err == nil {
		n.logger.Handler().(*logHandler).rosout = r // nobody has the logger yet
	}
	if c.loggers {
		err = errors.Join(err, n.serveLoggers())
	}
	return errors.Join(
		err,
		n.tellParameters(),
		n.declareTime(),
		n.serveParameters(),
		n.serveTypes(),
	)
}

// serve makes a service of the node itself.
func serve[S rosidl.Service[Req, Resp], Req, Resp any](n *Node, name string, fn func(context.Context, *Req) (*Resp, error)) error {
	_, err := NewService[S](n, "~/"+name, fn)
	return err
}

// onClose has f called when the node closes, before its endpoints are closed.
func (n *Node) onClose(f func()) error { return n.Adopt(&closing{f}) }

type closing struct{ f func() }

func (c *closing) Close() error {
	c.f()
	return nil
}
