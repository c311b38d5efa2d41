package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tagus-ros/tagus/rosidl"
)

// listedPackage is one element of "interface packages --json".
type listedPackage struct {
	Name     string `json:"name"`
	Messages int    `json:"messages"`
	Services int    `json:"services"`
	Actions  int    `json:"actions"`
}

func newInterfacePackages(e env) *cobra.Command {
	var defs definitions
	var kinds kindFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "packages",
		Short: "List the packages that have types",
		Args:  cobra.NoArgs,
		RunE: verb(func(*cobra.Command, []string) error {
			all, err := defs.all()
			if err != nil {
				return err
			}
			warnBroken(e, &defs)
			out := []listedPackage{}
			for _, pkg := range slices.Sorted(maps.Keys(all)) {
				var n [3]int
				for _, f := range all[pkg] {
					n[f.Kind]++
				}
				if slices.ContainsFunc(kinds.kinds(), func(k rosidl.Kind) bool { return n[k] > 0 }) {
					out = append(out, listedPackage{pkg, n[rosidl.KindMessage], n[rosidl.KindService], n[rosidl.KindAction]})
				}
			}
			if asJSON {
				return printJSON(e, out)
			}
			for _, p := range out {
				fmt.Fprintln(e.out, p.Name)
			}
			return nil
		}),
	}
	kinds.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	searchFlag(cmd, &defs)
	return cmd
}
