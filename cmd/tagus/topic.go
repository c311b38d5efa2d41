package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/names"
)

func newTopic(e env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "topic",
		Short: "Look at topics: list, info, hz",
	}
	cmd.AddCommand(newTopicList(e), newTopicInfo(e), newTopicHz(e))
	return cmd
}

// domainFlag adds the choice of a domain to a verb.
func domainFlag(cmd *cobra.Command, id *int) {
	cmd.Flags().IntVar(id, "domain", -1, "ROS domain; -1: ROS_DOMAIN_ID decides")
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

// typeOf waits until a topic is there and returns what its endpoints agree on.
func typeOf(ctx context.Context, g *graph.Graph, topic string) (name, hash string, err error) {
	find := func(g *graph.Graph) bool {
		for _, list := range [][]graph.Endpoint{g.Publishers(topic), g.Subscriptions(topic)} {
			for _, e := range list {
				name, hash = e.Type, e.Hash
				return true
			}
		}
		return false
	}
	if err := g.Wait(ctx, find); err != nil {
		return "", "", err
	}
	for _, list := range [][]graph.Endpoint{g.Publishers(topic), g.Subscriptions(topic)} {
		for _, e := range list {
			if e.Type != name {
				return "", "", fmt.Errorf("topic %s has several types: %s", topic, strings.Join([]string{name, e.Type}, ", "))
			}
		}
	}
	return name, hash, nil
}

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
