package param

import (
	"slices"
	"strings"
	"sync"
)

// Owner has parameters: a node, or a Store itself.
type Owner interface{ Parameters() *Store }

// Options are the settings of a Store. The zero Options are those of a plain node.
type Options struct {
	// Overrides are the values given from outside for this node, by the names of parameters, as [Select] chooses them. They are in force
	// when a parameter is declared.
	Overrides map[string]Override
	// AllowUndeclared lets Set declare what it does not know, with dynamic typing, and Get find nothing instead of an error.
	AllowUndeclared bool
}

// Store is the parameters of one node. It is safe for concurrent use.
type Store struct {
	node            string
	allowUndeclared bool

	mu         sync.Mutex // never held while code of others runs
	entries    map[string]*entry
	overrides  map[string]Override
	validators []*storeValidator
	version    uint64 // counts changes
	deliveries deliveries
}

// entry is one declared parameter. Its fields are guarded by Store.mu.
type entry struct {
	name       string
	typ        Type // NotSet: any
	descriptor Descriptor
	value      Value
	version    uint64
	validators []func(old, new Value) error
	watchers   []func(old, new Value)
	fits       func(Value) error // says whether a value of the right type can be had as the handle's
	apply      func(Value)       // puts it where the handle reads it
}

// Parameter is a name and a value.
type Parameter struct {
	Name  string
	Value Value
}

// Info is what is known of a parameter beside its value.
type Info struct {
	Name       string
	Type       Type
	Descriptor Descriptor
}

// NewStore makes the parameters of the node with this full name.
func NewStore(node string, o Options) *Store {
	s := &Store{node: node, allowUndeclared: o.AllowUndeclared, entries: map[string]*entry{}, overrides: map[string]Override{}}
	for name, given := range o.Overrides {
		s.overrides[name] = given
	}
	return s
}

// Parameters gives the Store itself, which makes it an Owner.
func (s *Store) Parameters() *Store { return s }

// Node is the full name of the node.
func (s *Store) Node() string { return s.node }

// fail wraps a cause with what was tried.
func (s *Store) fail(op, name string, err error) error {
	return &Error{Op: op, Node: s.node, Name: name, Err: err}
}

// Declared says whether there is such a parameter.
func (s *Store) Declared(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entries[name] != nil
}

// Get gives the values of the named parameters as they were at one moment. A name that is not declared is an error, or a value that is not
// set where undeclared parameters are allowed.
func (s *Store) Get(names ...string) ([]Value, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Value, len(names))
	for i, name := range names {
		e := s.entries[name]
		switch {
		case e != nil:
			out[i] = e.value
		case !s.allowUndeclared:
			return nil, s.fail("get", name, ErrNotDeclared)
		}
	}
	return out, nil
}

// Describe gives what is known of the named parameters. A name that is not declared is an error, or an Info with nothing but the name where
// undeclared parameters are allowed.
func (s *Store) Describe(names ...string) ([]Info, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Info, len(names))
	for i, name := range names {
		e := s.entries[name]
		out[i].Name = name
		switch {
		case e != nil:
			out[i].Type, out[i].Descriptor = e.value.typ, e.descriptor.clone()
		case !s.allowUndeclared:
			return nil, s.fail("describe", name, ErrNotDeclared)
		}
	}
	return out, nil
}

// Unused gives the values that were given from outside for parameters that are not declared, by name: often a slip in a file.
func (s *Store) Unused() []Override {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Override
	for name, given := range s.overrides {
		if s.entries[name] == nil {
			out = append(out, given)
		}
	}
	slices.SortFunc(out, func(a, b Override) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// DeclareOverrides declares every parameter that was given a value from outside and is not declared, with dynamic typing. Call it after
// declaring those that the program knows.
func (s *Store) DeclareOverrides() error {
	for _, given := range s.Unused() {
		if !given.Value.IsSet() {
			continue
		}
		if _, err := Declare(s, given.Name, Value{}, Descriptor{DynamicTyping: true}); err != nil {
			return err
		}
	}
	return nil
}

// Undeclare removes a parameter. Its handle keeps the last value. A read-only parameter stays.
func (s *Store) Undeclare(name string) error {
	s.mu.Lock()
	e := s.entries[name]
	switch {
	case e == nil:
		s.mu.Unlock()
		return s.fail("undeclare", name, ErrNotDeclared)
	case e.descriptor.ReadOnly:
		s.mu.Unlock()
		return s.fail("undeclare", name, ErrReadOnly)
	}
	delete(s.entries, name)
	s.version++
	d := s.deliveries.put(&delivery{event: Event{Node: s.node, Deleted: []Parameter{{name, e.value}}}})
	s.mu.Unlock()
	s.deliver(d)
	return nil
}
