package rosidl

import (
	"fmt"
	"strings"
)

// Comments says which comments and blank lines Show keeps.
type Comments uint8

// The choices of "interface show".
const (
	TopComments Comments = iota // those of the interface itself
	AllComments                 // also those of the types in it
	NoComments
)

// Show gives the definition of an interface with the fields of nested types
// below each field that has one, indented by a tab, as "interface show" prints
// it. The name is full: "std_msgs/msg/Header".
func (s *Set) Show(name string, c Comments) (string, error) {
	var b strings.Builder
	if err := s.show(&b, name, c, 0); err != nil {
		return "", err
	}
	return b.String(), nil
}

func (s *Set) show(b *strings.Builder, name string, c Comments, indent int) error {
	i := s.interfaces[name]
	if i == nil {
		return fmt.Errorf("rosidl: no definition of %s was found", name)
	}
	if indent > maxShown {
		return fmt.Errorf("rosidl: %s is nested more than %d deep", name, maxShown)
	}
	below := c
	if c == TopComments {
		below = NoComments
	}
	for _, line := range strings.Split(strings.TrimSuffix(i.Text, "\n"), "\n") {
		line = strings.TrimRight(line, " \t")
		body, _, commented := cutComment(line)
		body = strings.TrimSpace(body)
		text := line
		if c == NoComments {
			if text = body; text == "" {
				continue
			}
			if !commented {
				text = line
			}
		}
		if text != "" {
			b.WriteString(strings.Repeat("\t", indent) + text)
		}
		b.WriteByte('\n')
		if nested := s.nestedIn(i, body); nested != "" {
			if err := s.show(b, nested, below, indent+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxShown is how deep types are shown in each other.
const maxShown = 32

// nestedIn is the type of the field that a line without comment defines, if that
// is a message.
func (s *Set) nestedIn(i *Interface, line string) string {
	typ, rest, _ := strings.Cut(strings.ReplaceAll(line, "\t", " "), " ")
	if rest == "" {
		return ""
	}
	p := parser{pkg: i.Package}
	t, err := p.fieldType(typ)
	if err != nil || t.ID != Nested {
		return ""
	}
	if s.structs[t.NestedName] == nil && strings.HasSuffix(t.NestedName, "/msg/Header") {
		return "std_msgs/msg/Header" // as Resolve has it
	}
	return t.NestedName
}

// List gives the full names of all interfaces of a kind, sorted.
func (s *Set) List(kind Kind) []string {
	var names []string
	for _, i := range s.Interfaces() {
		if i.Kind == kind {
			names = append(names, i.FullName())
		}
	}
	return names
}

// Packages gives the names of all packages, sorted.
func (s *Set) Packages() []string {
	seen := map[string]bool{}
	for _, i := range s.interfaces {
		seen[i.Package] = true
	}
	return sortedKeys(seen)
}
