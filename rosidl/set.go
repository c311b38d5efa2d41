package rosidl

import (
	"fmt"
	"slices"
	"strings"
)

// Set is a collection of definitions that refer to each other. Adding is not
// safe for concurrent use; once Resolve has succeeded, reading is.
type Set struct {
	interfaces map[string]*Interface
	structs    map[string]*Struct // messages, parts, and what services and actions imply
}

// NewSet returns an empty set.
func NewSet() *Set {
	return &Set{interfaces: map[string]*Interface{}, structs: map[string]*Struct{}}
}

// Add puts i and the types it implies into the set. An interface of that name
// from another file is an error; from the same file it is left as it is.
func (s *Set) Add(i *Interface) error {
	if old := s.interfaces[i.FullName()]; old != nil {
		if old.File == i.File || old.Text == i.Text {
			return nil
		}
		return &ParseError{File: i.File, What: fmt.Sprintf("%s is also defined, differently, in %s", i.FullName(), old.File)}
	}
	s.interfaces[i.FullName()] = i
	for _, part := range i.Parts {
		s.structs[part.Name] = part
	}
	for _, implied := range i.implied() {
		s.structs[implied.Name] = implied
	}
	return nil
}

// Interfaces lists what was added, by full name.
func (s *Set) Interfaces() []*Interface {
	all := make([]*Interface, 0, len(s.interfaces))
	for _, i := range s.interfaces {
		all = append(all, i)
	}
	slices.SortFunc(all, func(a, b *Interface) int { return strings.Compare(a.FullName(), b.FullName()) })
	return all
}

// Interface returns the one of that full name, or nil.
func (s *Set) Interface(name string) *Interface { return s.interfaces[name] }

// Struct returns the message, part or implied type of that full name, or nil.
func (s *Set) Struct(name string) *Struct { return s.structs[name] }

// Resolve checks that every nested type is in the set and that no type holds
// itself. A bare "Header" that its own package does not define becomes that of
// std_msgs. The error is a [*ParseError] at the field.
func (s *Set) Resolve() error {
	names := make([]string, 0, len(s.structs))
	for name := range s.structs {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		st := s.structs[name]
		for i := range st.Fields {
			f := &st.Fields[i]
			if f.Type.ID != Nested || s.structs[f.Type.NestedName] != nil {
				continue
			}
			if strings.HasSuffix(f.Type.NestedName, "/msg/Header") && s.structs["std_msgs/msg/Header"] != nil {
				f.Type.NestedName = "std_msgs/msg/Header"
				continue
			}
			return fieldError(st, f, fmt.Sprintf("no definition of %s was found", f.Type.NestedName))
		}
	}
	state := map[string]int{}
	for _, name := range names {
		if err := s.acyclic(s.structs[name], state); err != nil {
			return err
		}
	}
	return nil
}

func fieldError(st *Struct, f *Field, what string) error {
	return &ParseError{File: st.File, Line: f.Line, Text: f.Type.String() + " " + f.Name, What: what}
}

// acyclic walks what st holds; state is 1 for types on the way, 2 for done.
func (s *Set) acyclic(st *Struct, state map[string]int) error {
	if state[st.Name] == 2 {
		return nil
	}
	state[st.Name] = 1
	for i := range st.Fields {
		f := &st.Fields[i]
		if f.Type.ID != Nested {
			continue
		}
		if state[f.Type.NestedName] == 1 {
			return fieldError(st, f, fmt.Sprintf("%s holds itself", f.Type.NestedName))
		}
		if err := s.acyclic(s.structs[f.Type.NestedName], state); err != nil {
			return err
		}
	}
	state[st.Name] = 2
	return nil
}

// Describe gives the type description of a type of the set, which Resolve has
// found sound. Also for services ("example_interfaces/srv/AddTwoInts") and
// actions, and for all types they imply.
func (s *Set) Describe(name string) (*TypeDescription, error) {
	top := s.structs[name]
	if top == nil {
		return nil, fmt.Errorf("rosidl: no definition of %s was found", name)
	}
	d := &TypeDescription{Type: top.describe()}
	seen := map[string]bool{}
	if err := s.references(top, seen); err != nil {
		return nil, err
	}
	delete(seen, name)
	for _, ref := range sortedKeys(seen) {
		d.Referenced = append(d.Referenced, s.structs[ref].describe())
	}
	return d, nil
}

func (s *Set) references(st *Struct, seen map[string]bool) error {
	for i := range st.Fields {
		nested := st.Fields[i].Type.NestedName
		if nested == "" || seen[nested] {
			continue
		}
		next := s.structs[nested]
		if next == nil {
			return fieldError(st, &st.Fields[i], fmt.Sprintf("no definition of %s was found", nested))
		}
		seen[nested] = true
		if err := s.references(next, seen); err != nil {
			return err
		}
	}
	return nil
}

func sortedKeys(m map[string]bool) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Names lists the full names of all types in the set, sorted.
func (s *Set) Names() []string {
	names := make([]string, 0, len(s.structs))
	for name := range s.structs {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
