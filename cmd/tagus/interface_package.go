package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tagus-ros/tagus/rosidl"
)

func newInterfacePackage(e env) *cobra.Command {
	var defs definitions
	var kinds kindFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "package PACKAGE",
		Short: "List the types of a package",
		Args:  cobra.ExactArgs(1),
		RunE: verb(func(_ *cobra.Command, args []string) error {
			all, err := defs.all()
			if err != nil {
				return err
			}
			list := all[args[0]]
			if len(list) == 0 {
				return unknownPackage(args[0], &defs, all)
			}
			out := listedInterfaces(map[string][]rosidl.File{args[0]: list}, kinds.kinds())
			if asJSON {
				return printJSON(e, out)
			}
			for _, i := range out {
				fmt.Fprintln(e.out, i.Name)
			}
			return nil
		}),
		ValidArgsFunction: completePackages(&defs),
	}
	kinds.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	searchFlag(cmd, &defs)
	return cmd
}

func unknownPackage(name string, defs *definitions, all map[string][]rosidl.File) error {
	text := "Unknown package '" + name + "'"
	if near := nearest(name, slices.Collect(maps.Keys(all))); len(near) > 0 {
		return verbatim{text + didYouMean(near)}
	}
	text += "\nLooked at " + defs.places() + "."
	for _, err := range defs.broken {
		text += "\n" + err.Error()
	}
	return verbatim{text}
}
