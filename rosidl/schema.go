package rosidl

import (
	"fmt"
	"strings"
	"sync"
)

// Schema is the definition that generated code carries for one type.
type Schema struct {
	Name string           // "sensor_msgs/msg/Image"
	Text string           // its part of the definition file
	Deps []func() *Schema // of the types of its fields, each once, in order

	once sync.Once
	desc *TypeDescription
}

// divider stands between the parts of a definition with dependencies.
const divider = "================================================================================"

// Definition is the text with the texts of all that it refers to, in the form
// called ros2msg: each under a line of 80 '=' and a line "MSG: pkg/msg/Type".
func (s *Schema) Definition() string {
	var b strings.Builder
	b.WriteString(s.Text)
	s.append(&b, map[string]bool{s.Name: true})
	return b.String()
}

func (s *Schema) append(b *strings.Builder, seen map[string]bool) {
	for _, get := range s.Deps {
		dep := get()
		if seen[dep.Name] {
			continue
		}
		seen[dep.Name] = true
		if !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(divider + "\nMSG: " + shortName(dep.Name) + "\n" + dep.Text)
		dep.append(b, seen)
	}
}

// Description is the type description, made at the first call.
func (s *Schema) Description() *TypeDescription {
	s.once.Do(func() {
		set, err := ParseDefinition(s.Name, s.Definition())
		if err == nil {
			s.desc, err = set.Describe(s.Name)
		}
		if err != nil {
			// Generated code carries only texts that the generator has read.
			panic("rosidl: definition of " + s.Name + ": " + err.Error())
		}
	})
	return s.desc
}

// ParseDefinition reads a definition with dependencies, as [Schema.Definition]
// gives it, recordings hold it and tools exchange it. Names in MSG lines may be
// short (pkg/Type) or full (pkg/msg/Type).
func ParseDefinition(name, text string) (*Set, error) {
	if len(text) > maxDefinition {
		return nil, &ParseError{File: name, What: fmt.Sprintf("the definition has %d bytes, at most %d are allowed", len(text), maxDefinition)}
	}
	set := NewSet()
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	part, first := name, 0
	add := func(end int) error {
		st, err := parseText(name, part, strings.Join(lines[first:end], "\n"), first+1)
		if err != nil {
			return err
		}
		if set.structs[st.Name] == nil {
			set.structs[st.Name] = st
		}
		return nil
	}
	for i := 0; i < len(lines); i++ {
		if strings.TrimSpace(lines[i]) != divider || i+1 == len(lines) {
			continue
		}
		next, ok := strings.CutPrefix(strings.TrimSpace(lines[i+1]), "MSG: ")
		if !ok {
			return nil, &ParseError{File: name, Line: i + 2, Text: lines[i+1], What: "a line MSG: pkg/msg/Type must follow"}
		}
		if err := add(i); err != nil {
			return nil, err
		}
		next = strings.TrimSpace(next)
		if pkg, short, ok := strings.Cut(next, "/"); ok && !strings.Contains(short, "/") {
			next = pkg + "/msg/" + short
		}
		part, first = next, i+2
		i++
	}
	if err := add(len(lines)); err != nil {
		return nil, err
	}
	return set, set.Resolve()
}
