package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// typedTopic is what "topic type --json" prints.
type typedTopic struct {
	Topic string   `json:"topic"`
	Types []string `json:"types"`
}

func newTopicType(e env) *cobra.Command {
	var asJSON bool
	domain := -1
	cmd := &cobra.Command{
		Use:   "type TOPIC",
		Short: "Print the type of a topic",
		Args:  cobra.ExactArgs(1),
		RunE: verb(func(_ *cobra.Command, args []string) error {
			topic, err := fullTopic(args[0])
			if err != nil {
				return err
			}
			d, err := enter(domain)
			if err != nil {
				return err
			}
			defer d.Close()
			var names []string
			for _, t := range topicsOf(d.Graph(), true) {
				if t.Name != topic {
					names = append(names, t.Name)
					continue
				}
				if asJSON {
					return printJSON(e, typedTopic{topic, t.Types})
				}
				for _, name := range t.Types {
					fmt.Fprintln(e.out, name)
				}
				return nil
			}
			return verbatim{"Unknown topic '" + args[0] + "'" + didYouMean(nearest(topic, names))}
		}),
		ValidArgsFunction: completeTopics(&domain),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().Bool("include-hidden-topics", false, "accepted; hidden topics are known, too")
	domainFlag(cmd, &domain)
	return cmd
}
