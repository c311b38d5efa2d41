package component

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/param"
)

// Node is what a factory makes: a *tagus.Node, a *lifecycle.Node, or anything that owns one and closes it.
type Node interface {
	FullyQualifiedName() string
	Close() error
}

// Factory makes the node of a component. It runs on a goroutine of its own and may take its time; ctx ends when the container closes. What
// it made is the container's to close.
type Factory func(ctx context.Context, o Options) (Node, error)

// Options is how a component is to be made. To use a component without a container, call its factory with Options that have a Domain.
type Options struct {
	Domain     *tagus.Domain
	Name       string // of the node; empty: the component's own
	Namespace  string // of the node; empty: the component's own
	Parameters map[string]param.Value
	More       []tagus.NodeOption // in addition
}

// NodeName gives the name for the node, which is own if no other was asked for.
func (o Options) NodeName(own string) string { return cmp.Or(o.Name, own) }

// NodeOptions gives the options for making the node: what was asked for. Options of the component itself go before them.
func (o Options) NodeOptions() []tagus.NodeOption {
	var out []tagus.NodeOption
	if o.Namespace != "" {
		out = append(out, tagus.WithNamespace(o.Namespace))
	}
	if len(o.Parameters) > 0 {
		out = append(out, tagus.WithParameterOverrides(o.Parameters))
	}
	return append(out, o.More...)
}

// Type names a component: the package that it is in, and its name there, which is the name of a class in C++.
type Type struct{ Package, Plugin string }

func (t Type) String() string { return t.Package + " " + t.Plugin }

// Registry knows components by name. The zero Registry is empty and ready. It is safe for concurrent use.
type Registry struct {
	mu        sync.Mutex
	factories map[Type]Factory
}

// Default is the registry that [Register] registers in.
var Default Registry

// Register makes a component known in the default registry, usually from an init function. Errors as [Registry.Register].
func Register(pkg, plugin string, f Factory) error { return Default.Register(pkg, plugin, f) }

// Register makes a component known. It is an error if a name or the factory is missing, or if there is such a component already, which
// stays.
func (r *Registry) Register(pkg, plugin string, f Factory) error {
	t := Type{pkg, plugin}
	if pkg == "" || plugin == "" || f == nil {
		return fmt.Errorf("tagus: register component %q %q: a name or the factory is missing", pkg, plugin)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.factories[t] != nil {
		return fmt.Errorf("tagus: register component %v: there is one of that name", t)
	}
	if r.factories == nil {
		r.factories = make(map[Type]Factory)
	}
	r.factories[t] = f
	return nil
}

// Types gives what is registered, in the order of the names.
func (r *Registry) Types() []Type {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Type
	for t := range r.factories {
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b Type) int {
		return cmp.Or(cmp.Compare(a.Package, b.Package), cmp.Compare(a.Plugin, b.Plugin))
	})
	return out
}

// UnknownError says that no such component is registered.
type UnknownError struct {
	Wanted Type
	Known  []Type // what is registered
}

func (e *UnknownError) Error() string {
	known := "nothing"
	for i, t := range e.Known {
		switch {
		case i == 0:
			known = t.String()
		case i == 10:
			return fmt.Sprintf("there is no component %v; there is %s and %d more", e.Wanted, known, len(e.Known)-i)
		default:
			known += ", " + t.String()
		}
	}
	return fmt.Sprintf("there is no component %v; there is %s", e.Wanted, known)
}

// find gives the factory of t.
func (r *Registry) find(t Type) (Factory, error) {
	r.mu.Lock()
	f := r.factories[t]
	r.mu.Unlock()
	if f == nil {
		return nil, &UnknownError{t, r.Types()}
	}
	return f, nil
}
