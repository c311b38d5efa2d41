package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/clock"
	"github.com/tagus-ros/tagus/internal/names"
	"github.com/tagus-ros/tagus/param"
)

func newTopic(e env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "topic",
		Short: "Look at topics, read them, publish",
	}
	cmd.AddCommand(newTopicBw(e), newTopicDelay(e), newTopicEcho(e), newTopicFind(e), newTopicHz(e), newTopicInfo(e), newTopicList(e), newTopicPub(e), newTopicType(e))
	return cmd
}

// domainFlag adds the choice of a domain to a verb, and accepts what the ros2 command line has for its daemon: here is none.
func domainFlag(cmd *cobra.Command, id *int) {
	fl := cmd.Flags()
	fl.IntVar(id, "domain", -1, "ROS domain; -1: ROS_DOMAIN_ID decides")
	fl.Bool("no-daemon", true, "accepted; there is no daemon")
	_ = fl.MarkHidden("no-daemon")
	if fl.Lookup("spin-time") == nil {
		fl.Float64("spin-time", 0, "accepted; what there is is known at once")
		_ = fl.MarkHidden("spin-time")
	}
}

// simFlag adds the choice of the time on /clock to a verb that tells or measures time.
func simFlag(cmd *cobra.Command, sim *bool) {
	cmd.Flags().BoolVarP(sim, "use-sim-time", "s", false, "take the time from /clock")
}

// toolNode makes the node of a verb. Names that begin with an underscore are hidden from lists.
func toolNode(d *tagus.Domain, verb, name string, sim bool) (*tagus.Node, error) {
	if name == "" {
		name = fmt.Sprintf("_tagus_%s_%s", verb, d.ID().String()[:8])
	}
	opts := []tagus.NodeOption{tagus.WithoutROSServices()}
	if sim {
		opts = append(opts, tagus.WithParameterOverrides(map[string]param.Value{"use_sim_time": param.Of(true)}))
	}
	return d.NewNode(name, opts...)
}

// stopwatch gives a clock to measure with, in ns: one that does not step or, if chosen, the time on /clock, which is 0 until it is known.
func stopwatch(n *tagus.Node, sim bool) func() int64 {
	if sim {
		return func() int64 { return n.Clock().Now().UnixNano() }
	}
	return clock.Mono
}

// enter joins a domain to look at it.
func enter(id int) (*tagus.Domain, error) {
	if id < 0 {
		return tagus.Join()
	}
	return tagus.Join(tagus.WithDomainID(id))
}

// topicsOf lists the topics of a graph that something publishes or hears.
func topicsOf(g *graph.Graph, hidden bool) []graph.Topic {
	var out []graph.Topic
	for _, t := range g.Topics() {
		if (hidden || !names.Hidden(t.Name)) && t.Publishers+t.Subscriptions > 0 {
			out = append(out, t)
		}
	}
	return out
}

// verbatim is an error whose text goes out as it is: the ros2 command line prints these words, and scripts look for them.
type verbatim struct{ text string }

func (v verbatim) Error() string { return v.text }

// fullTopic is the name of a topic given on the command line; like the ros2 command line it takes names without the leading slash.
func fullTopic(arg string) (string, error) {
	name := arg
	if !strings.HasPrefix(name, "/") {
		name = "/" + name
	}
	if err := names.CheckFull("topic", name); err != nil {
		return "", usage{err}
	}
	return name, nil
}
