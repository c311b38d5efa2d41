package tagus

import (
	"fmt"
	"os"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/names"
	"github.com/tagus-ros/tagus/internal/rosargs"
	"github.com/tagus-ros/tagus/param"
)

// WithArgs takes a command line, usually os.Args: what stands between --ros-args and
// "--" (or the end) remaps names, gives parameters and sets log levels, as for any ROS 2
// program; [Domain.Args] has the rest. What is wrong there is an error of Join that names
// the argument.
func WithArgs(args []string) DomainOption {
	return func(c *domainConfig) (err error) {
		c.args, err = rosargs.Parse(args)
		return err
	}
}

// Args is what was given to WithArgs without the arguments that are for ROS, in its
// order.
func (d *Domain) Args() []string { return d.args.Rest }

// environment reads the variables that say where to join, unless options did.
func (c *domainConfig) environment() error {
	env, err := rosargs.FromEnv(os.Getenv, MaxDomainID)
	if err != nil {
		if c.numberSet {
			return nil // what the variable says does not count
		}
		return err
	}
	for _, w := range env.Warnings {
		c.log.Warn(w)
	}
	if !c.numberSet {
		c.number = env.DomainID
	}
	return nil
}

// WithParameterOverrides gives parameters of the node their values, over those of the
// command line.
func WithParameterOverrides(m map[string]param.Value) NodeOption {
	return func(c *nodeConfig) { c.overrides = m }
}

// WithUndeclaredParameters lets others set parameters that the node did not declare, of
// any type.
func WithUndeclaredParameters() NodeOption { return func(c *nodeConfig) { c.anyParam = true } }

// Parameters is the node's parameters. See package param for how to declare and use them.
func (n *Node) Parameters() *param.Store { return n.params }

// remapped is the name and namespace that a node gets under the command line's rules.
func (d *Domain) remapped(name, namespace string) (string, string, error) {
	if err := names.CheckNode(name); err != nil {
		return "", "", err
	}
	ns := names.Namespace(namespace)
	if err := names.CheckNamespace(ns); err != nil {
		return "", "", err
	}
	return d.args.Remaps.ForNode(name, ns)
}

// overrides are the values that parameters of a node were given from outside.
func (d *Domain) overrides(node string, more map[string]param.Value) map[string]param.Override {
	all := param.Select(d.args.Overrides, node)
	for name, v := range more {
		if all == nil {
			all = make(map[string]param.Override)
		}
		all[name] = param.Override{Node: node, Name: name, Value: v, Source: "WithParameterOverrides"}
	}
	return all
}

// fullName expands the name of a topic or service and applies the command line's rules.
func (n *Node) fullName(k graph.Kind, name string) (string, error) {
	switch k {
	case graph.KindPublisher, graph.KindSubscription:
		return n.d.args.Remaps.ForTopic(name, n.node.Name, n.node.Namespace)
	case graph.KindService, graph.KindClient:
		return n.d.args.Remaps.ForService(name, n.node.Name, n.node.Namespace)
	}
	return "", fmt.Errorf("a %s has no name of its own", k)
}
