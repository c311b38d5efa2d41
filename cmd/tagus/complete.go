package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tagus-ros/tagus/rosidl"
	"github.com/tagus-ros/tagus/rosidl/dynamic"
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

// completeTopics offers topics as the first argument.
func completeTopics(domain *int) completer {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return topicNames(*domain), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeTopicAndType offers topics, and then the type of the topic or all messages.
func completeTopicAndType(defs *definitions, domain *int) completer {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		switch len(args) {
		case 0:
			return topicNames(*domain), cobra.ShellCompDirectiveNoFileComp
		case 1:
			return topicTypes(defs, *domain, args[0]), cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

func topicNames(domain int) []string {
	d, err := enter(domain)
	if err != nil {
		return nil
	}
	defer d.Close()
	var out []string
	for _, t := range topicsOf(d.Graph(), true) {
		out = append(out, t.Name)
	}
	return out
}

func topicTypes(defs *definitions, domain int, topic string) []string {
	if d, err := enter(domain); err == nil {
		defer d.Close()
		for _, t := range topicsOf(d.Graph(), true) {
			if t.Name == topic {
				return t.Types
			}
		}
	}
	return defs.names(rosidl.KindMessage)
}

// completePub offers topic, type and a message with all its fields.
func completePub(f *pubFlags) completer {
	first := completeTopicAndType(&f.defs, &f.domain)
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		if len(args) != 2 {
			return first(cmd, args, toComplete)
		}
		def, err := f.defs.find(args[1], "")
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		t, err := dynamic.NewType(def.desc)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		text := t.NewDefault().AppendYAML(nil, dynamic.Print{Flow: true})
		return []string{strings.TrimSpace(string(text))}, cobra.ShellCompDirectiveNoFileComp
	}
}
