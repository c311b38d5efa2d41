package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tagus-ros/tagus/rosidl"
)

// listedInterface is one element of "interface list --json" and "interface package --json".
type listedInterface struct {
	Name    string `json:"name"`
	Package string `json:"package"`
	Kind    string `json:"kind"` // msg, srv or action
	File    string `json:"file"` // "tagus/…" is built in
}

func newInterfaceList(e env) *cobra.Command {
	var defs definitions
	var kinds kindFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the types that there are",
		Args:  cobra.NoArgs,
		RunE: verb(func(*cobra.Command, []string) error {
			all, err := defs.all()
			if err != nil {
				return err
			}
			warnBroken(e, &defs)
			if asJSON {
				return printJSON(e, listedInterfaces(all, kinds.kinds()))
			}
			_, err = fmt.Fprint(e.out, interfaceText(all, kinds.kinds()))
			return err
		}),
	}
	kinds.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	searchFlag(cmd, &defs)
	return cmd
}

// warnBroken names the folders whose definitions are not listed.
func warnBroken(e env, defs *definitions) {
	for _, err := range defs.broken {
		fmt.Fprintln(e.err, "warning:", err)
	}
}

// interfaceText is the form of the ros2 command line.
func interfaceText(all map[string][]rosidl.File, kinds []rosidl.Kind) string {
	titles := []string{"Messages:", "Services:", "Actions:"}
	var b strings.Builder
	for _, k := range kinds {
		b.WriteString(titles[k] + "\n")
		for _, i := range listedInterfaces(all, []rosidl.Kind{k}) {
			b.WriteString("    " + i.Name + "\n")
		}
	}
	return b.String()
}

func listedInterfaces(all map[string][]rosidl.File, kinds []rosidl.Kind) []listedInterface {
	out := []listedInterface{}
	for _, list := range all {
		for _, f := range list {
			if slices.Contains(kinds, f.Kind) {
				out = append(out, listedInterface{fullName(f), f.Package, f.Kind.Folder(), f.String()})
			}
		}
	}
	slices.SortFunc(out, func(a, b listedInterface) int {
		// By package and name, as strings: "a_b/…" after "a/…".
		return slices.Compare(strings.Split(a.Name, "/"), strings.Split(b.Name, "/"))
	})
	return out
}
