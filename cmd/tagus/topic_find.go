package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tagus-ros/tagus/rosidl"
)

func newTopicFind(e env) *cobra.Command {
	var count, hidden, asJSON bool
	var defs definitions
	domain := -1
	cmd := &cobra.Command{
		Use:   "find TYPE",
		Short: "List the topics of a type",
		Args:  cobra.ExactArgs(1),
		RunE: verb(func(_ *cobra.Command, args []string) error {
			name, err := normalType(args[0])
			if err != nil {
				return usage{err}
			}
			d, err := enter(domain)
			if err != nil {
				return err
			}
			defer d.Close()
			out := []string{}
			for _, t := range topicsOf(d.Graph(), hidden) {
				if slices.Contains(t.Types, name) {
					out = append(out, t.Name)
				}
			}
			switch {
			case asJSON:
				return printJSON(e, out)
			case count:
				_, err = fmt.Fprintln(e.out, len(out))
				return err
			}
			for _, t := range out {
				fmt.Fprintln(e.out, t)
			}
			return nil
		}),
		ValidArgsFunction: completeTypes(&defs, rosidl.KindMessage),
	}
	fl := cmd.Flags()
	fl.BoolVarP(&count, "count-topics", "c", false, "show only how many there are")
	fl.BoolVar(&hidden, "include-hidden-topics", false, "list hidden topics as well")
	fl.BoolVar(&asJSON, "json", false, "print JSON")
	domainFlag(cmd, &domain)
	return cmd
}
