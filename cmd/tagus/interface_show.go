package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tagus-ros/tagus/rosidl"
)

// shownInterface is what "interface show --json" prints.
type shownInterface struct {
	Name string      `json:"name"`
	Kind string      `json:"kind"`
	Hash string      `json:"hash"`
	File string      `json:"file"`
	Text string      `json:"text"` // of the definition file
	Part []shownPart `json:"parts"`
}

// shownPart is a message, a request, a goal and so on.
type shownPart struct {
	Name      string       `json:"name"`
	Fields    []shownField `json:"fields"`
	Constants []shownConst `json:"constants"`
}

type shownField struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Default string `json:"default,omitempty"`
	Comment string `json:"comment,omitempty"`
}

type shownConst struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Value   any    `json:"value"`
	Comment string `json:"comment,omitempty"`
}

func newInterfaceShow(e env) *cobra.Command {
	var defs definitions
	var every, none, asJSON bool
	cmd := &cobra.Command{
		Use:   "show TYPE",
		Short: "Print the definition of a type",
		Long:  "Print the definition of a type, with the fields of nested types below each field that has one. TYPE is \"std_msgs/msg/String\"; - reads it\nfrom the standard input, so that \"tagus topic type /chatter | tagus interface show -\" works.",
		Args:  cobra.ExactArgs(1),
		RunE: verb(func(_ *cobra.Command, args []string) error {
			name, err := typeArgument(e.in, args[0])
			if err != nil {
				return err
			}
			d, err := findInterface(&defs, name)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(e, shownOf(d))
			}
			comments := rosidl.TopComments
			switch {
			case every:
				comments = rosidl.AllComments
			case none:
				comments = rosidl.NoComments
			}
			text, err := d.set.Show(d.name, comments)
			if err != nil {
				return err
			}
			_, err = io.WriteString(e.out, text)
			return err
		}),
		ValidArgsFunction: completeTypes(&defs, rosidl.KindMessage, rosidl.KindService, rosidl.KindAction),
	}
	cmd.Flags().BoolVar(&every, "all-comments", false, "show all comments, those of nested types, too")
	cmd.Flags().BoolVar(&none, "no-comments", false, "show no comments and no blank lines")
	cmd.MarkFlagsMutuallyExclusive("all-comments", "no-comments")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	searchFlag(cmd, &defs)
	return cmd
}

// typeArgument is a type name given on the command line or, for "-", on the first line of in.
func typeArgument(in io.Reader, arg string) (string, error) {
	if arg == "-" {
		line, err := bufio.NewReader(in).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		arg = strings.TrimSpace(line)
	}
	if arg == "" {
		return "", usage{errors.New("the name of the type is empty")}
	}
	return arg, nil
}

// findInterface finds what a file defines, and tells its absence in the words of the ros2 command line.
func findInterface(defs *definitions, name string) (*definition, error) {
	if strings.Count(name, "/") != 2 {
		text := fmt.Sprintf("Invalid name '%s'. Expected three parts separated by '/'", name)
		if pkg, short, ok := strings.Cut(name, "/"); ok && !strings.Contains(short, "/") {
			text += didYouMean(nearest(pkg+"/msg/"+short, defs.names(rosidl.KindMessage, rosidl.KindService, rosidl.KindAction)))
		}
		return nil, verbatim{text}
	}
	d, err := defs.find(name, "")
	if err == nil && d.set.Interface(d.name) != nil {
		return d, nil
	}
	var unknown *unknownTypeError
	switch {
	case err == nil:
		return nil, verbatim{fmt.Sprintf("Could not find the interface '%s'\nIt is part of another one and has no definition of its own.", name)}
	case !errors.As(err, &unknown):
		return nil, err
	}
	all, err := defs.all()
	if err != nil {
		return nil, err
	}
	if pkg, _, _ := strings.Cut(name, "/"); len(all[pkg]) == 0 {
		return nil, unknownPackage(pkg, defs, all)
	}
	text := fmt.Sprintf("Could not find the interface '%s'", name)
	if len(unknown.near) == 0 {
		unknown.near = nearest(name, defs.names(rosidl.KindMessage, rosidl.KindService, rosidl.KindAction))
	}
	return nil, verbatim{text + didYouMean(unknown.near)}
}

func shownOf(d *definition) shownInterface {
	i := d.set.Interface(d.name)
	out := shownInterface{Name: d.name, Kind: i.Kind.Folder(), Hash: d.hash, File: i.File, Text: i.Text}
	for _, st := range i.Parts {
		part := shownPart{Name: st.Name, Fields: []shownField{}, Constants: []shownConst{}}
		for _, f := range st.Fields {
			field := shownField{Name: f.Name, Type: f.Type.String(), Comment: f.Comment}
			if f.Default != nil {
				field.Default = f.Default.Text
			}
			part.Fields = append(part.Fields, field)
		}
		for _, c := range st.Constants {
			part.Constants = append(part.Constants, shownConst{c.Name, rosidl.FieldType{ID: c.Type}.String(), c.Value, c.Comment})
		}
		out.Part = append(out.Part, part)
	}
	return out
}
