package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tagus-ros/tagus/rosidl"
)

// hashedInterface is what "interface hash --json" prints.
type hashedInterface struct {
	Name string `json:"name"`
	Hash string `json:"hash"`
}

func newInterfaceHash(e env) *cobra.Command {
	var defs definitions
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "hash TYPE",
		Short: "Print the type hash of a type",
		Long: "Print the type hash of a type, as \"topic info -v\" shows it for endpoints: only endpoints of one hash talk to each other. - reads TYPE\n" +
			"from the standard input.",
		Args: cobra.ExactArgs(1),
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
				return printJSON(e, hashedInterface{d.name, d.hash})
			}
			_, err = fmt.Fprintln(e.out, d.hash)
			return err
		}),
		ValidArgsFunction: completeTypes(&defs, rosidl.KindMessage, rosidl.KindService, rosidl.KindAction),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	searchFlag(cmd, &defs)
	return cmd
}
