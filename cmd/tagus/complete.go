package main

import (
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tagus-ros/tagus/rosidl"
)

// What shells offer to complete. A function that cannot find out offers nothing: there is no place for an error at a prompt.

type completer = func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective)

// completePackages offers the packages that have types as the first argument.
func completePackages(defs *definitions) completer {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		all, err := defs.all()
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return slices.Sorted(maps.Keys(all)), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeTypes offers types of some kinds as the first argument.
func completeTypes(defs *definitions, kinds ...rosidl.Kind) completer {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return defs.names(kinds...), cobra.ShellCompDirectiveNoFileComp
	}
}
