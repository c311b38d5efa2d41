package gen

import (
	"fmt"

	"github.com/tagus-ros/tagus/rosidl"
)

// names collects the Go names of a package and where each comes from.
type names map[string]string

// claim takes a name, or says whose it is.
func (n names) claim(name, from string) (taken string, ok bool) {
	if old, there := n[name]; there {
		return old, false
	}
	n[name] = from
	return "", true
}

// name gives every type of a package its Go name.
func (g *generator) name(interfaces []*rosidl.Interface) error {
	taken := names{}
	for _, i := range interfaces {
		if i.Kind != rosidl.KindMessage {
			continue
		}
		if err := g.claimType(taken, i, i.Parts[0].Name, i.Name); err != nil {
			return err
		}
	}
	for _, i := range interfaces {
		if i.Kind == rosidl.KindMessage {
			continue
		}
		base := i.Name
		if _, clash := taken[base]; clash && g.o.Suffixes[i.Kind.Folder()] != "" {
			base += g.o.Suffixes[i.Kind.Folder()]
		}
		if old, ok := taken.claim(base, i.File); !ok {
			return &rosidl.ParseError{File: i.File, What: fmt.Sprintf(
				"the Go name %s is taken by %s: choose a suffix for the Go names of such a %s", base, old, i.Kind)}
		}
		g.goNames[i.FullName()] = base
		for _, name := range i.GoTypes() {
			if err := g.claimType(taken, i, name, base+name[len(i.FullName()):]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *generator) claimType(taken names, i *rosidl.Interface, full, ros string) error {
	name := typeGoName(ros)
	for _, claimed := range []string{name, name + "CDR"} {
		if old, ok := taken.claim(claimed, i.File); !ok {
			return &rosidl.ParseError{File: i.File, What: fmt.Sprintf("the Go name %s is taken by %s", claimed, old)}
		}
	}
	g.goNames[full] = name
	return g.nameConstants(taken, g.set.Struct(full), name)
}

// nameConstants claims the names of a type's constants.
func (g *generator) nameConstants(taken names, st *rosidl.Struct, typ string) error {
	for _, c := range st.Constants {
		short, long := constantGoName(typ, c.Name)
		from := fmt.Sprintf("%s:%d", st.File, c.Line)
		name := short
		if _, clash := taken[name]; clash {
			name = long
		}
		if old, ok := taken.claim(name, from); !ok {
			return &rosidl.ParseError{File: st.File, Line: c.Line, Text: c.Name, What: fmt.Sprintf("the Go name %s is taken by %s", name, old)}
		}
		g.goNames[st.Name+"."+c.Name] = name
	}
	return nil
}
