package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tagus-ros/tagus/graph"
)

// listedTopic is one line of "topic list --json".
type listedTopic struct {
	Name          string   `json:"name"`
	Types         []string `json:"types"`
	Publishers    int      `json:"publishers"`
	Subscriptions int      `json:"subscriptions"`
}

func newTopicList(e env) *cobra.Command {
	var types, count, hidden, verbose, asJSON bool
	domain := -1
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the topics that there are",
		Args:  cobra.NoArgs,
		RunE: verb(func(*cobra.Command, []string) error {
			d, err := enter(domain)
			if err != nil {
				return err
			}
			defer d.Close()
			list := topicsOf(d.Graph(), hidden)
			switch {
			case asJSON:
				out := []listedTopic{}
				for _, t := range list {
					out = append(out, listedTopic(t))
				}
				return printJSON(e, out)
			case count:
				_, err = fmt.Fprintln(e.out, len(list))
			case verbose && len(list) > 0:
				_, err = fmt.Fprint(e.out, verboseTopics(list))
			case !verbose:
				_, err = fmt.Fprint(e.out, plainTopics(list, types))
			}
			return err
		}),
	}
	fl := cmd.Flags()
	fl.BoolVarP(&types, "show-types", "t", false, "show the type, too")
	fl.BoolVarP(&count, "count-topics", "c", false, "show only how many there are")
	fl.BoolVar(&hidden, "include-hidden-topics", false, "list hidden topics as well")
	fl.BoolVarP(&verbose, "verbose", "v", false, "list publishers and subscribers")
	fl.BoolVar(&asJSON, "json", false, "print JSON")
	domainFlag(cmd, &domain)
	return cmd
}

func plainTopics(list []graph.Topic, types bool) string {
	var b strings.Builder
	for _, t := range list {
		b.WriteString(t.Name)
		if types {
			b.WriteString(" [" + strings.Join(t.Types, ", ") + "]")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// verboseTopics is the long form of the ros2 command line, with its blank lines.
func verboseTopics(list []graph.Topic) string {
	var b strings.Builder
	block := func(title, one string, n func(graph.Topic) int) {
		b.WriteString(title + " topics:\n")
		for _, t := range list {
			switch c := n(t); {
			case c > 1:
				fmt.Fprintf(&b, " * %s [%s] %d %ss\n", t.Name, strings.Join(t.Types, ", "), c, one)
			case c == 1:
				fmt.Fprintf(&b, " * %s [%s] 1 %s\n", t.Name, strings.Join(t.Types, ", "), one)
			}
		}
		b.WriteByte('\n')
	}
	block("Published", "publisher", func(t graph.Topic) int { return t.Publishers })
	block("Subscribed", "subscriber", func(t graph.Topic) int { return t.Subscriptions })
	return b.String()
}
