package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tagus-ros/tagus/rosidl"
	"github.com/tagus-ros/tagus/rosidl/dynamic"
)

func newInterfaceProto(e env) *cobra.Command {
	var defs definitions
	var bare bool
	cmd := &cobra.Command{
		Use:   "proto TYPE",
		Short: "Print a message with default values, to fill in and publish",
		Long:  "Print a message with default values in YAML: of a service its request, of an action its goal. - reads TYPE from the standard input.",
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
			desc, err := d.set.Describe(d.set.Interface(d.name).Parts[0].Name)
			if err != nil {
				return err
			}
			t, err := dynamic.NewType(desc)
			if err != nil {
				return err
			}
			text := string(t.NewDefault().AppendYAML(nil, dynamic.Print{}))
			if !bare {
				text = `"` + text + `"`
			}
			_, err = fmt.Fprintln(e.out, text)
			return err
		}),
		ValidArgsFunction: completeTypes(&defs, rosidl.KindMessage, rosidl.KindService, rosidl.KindAction),
	}
	cmd.Flags().BoolVar(&bare, "no-quotes", false, "without quotes around")
	searchFlag(cmd, &defs)
	return cmd
}
