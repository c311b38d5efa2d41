package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/qos"
)

// topicInfo is what "topic info --json" prints.
type topicInfo struct {
	Name          string         `json:"name"`
	Types         []string       `json:"types"`
	Publishers    []endpointInfo `json:"publishers"`
	Subscriptions []endpointInfo `json:"subscriptions"`
}

type endpointInfo struct {
	Node      string  `json:"node_name"`
	Namespace string  `json:"node_namespace"`
	Type      string  `json:"topic_type"`
	Hash      string  `json:"topic_type_hash"`
	GID       string  `json:"gid"`
	QoS       qosInfo `json:"qos"`
}

// qosInfo spells a profile in the words of the ros2 command line. Durations are nanoseconds, null is infinite; depth is null with keep_all.
type qosInfo struct {
	Reliability string `json:"reliability"`
	History     string `json:"history"`
	Depth       *int   `json:"depth"`
	Durability  string `json:"durability"`
	Lifespan    *int64 `json:"lifespan_ns"`
	Deadline    *int64 `json:"deadline_ns"`
	Liveliness  string `json:"liveliness"`
	Lease       *int64 `json:"liveliness_lease_duration_ns"`
}

func newTopicInfo(e env) *cobra.Command {
	var verbose, asJSON bool
	domain := -1
	cmd := &cobra.Command{
		Use:   "info TOPIC",
		Short: "Print what a topic has",
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
			list := d.Graph().Topics()
			i := slices.IndexFunc(list, func(t graph.Topic) bool { return t.Name == topic })
			if i < 0 {
				return verbatim{"Unknown topic '" + args[0] + "'"}
			}
			pubs, subs := d.Graph().Publishers(topic), d.Graph().Subscriptions(topic)
			if asJSON {
				return printJSON(e, topicInfo{topic, list[i].Types, endpointInfos(pubs), endpointInfos(subs)})
			}
			_, err = fmt.Fprint(e.out, infoText(list[i].Types, pubs, subs, verbose))
			return err
		}),
		ValidArgsFunction: completeTopics(&domain),
	}
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "print node, hash, GID and QoS of every endpoint")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, with everything")
	domainFlag(cmd, &domain)
	return cmd
}

// infoText is the form of the ros2 command line.
func infoText(types []string, pubs, subs []graph.Endpoint, verbose bool) string {
	end := "\n"
	if verbose {
		end = "\n\n"
	}
	text := "['" + strings.Join(types, "', '") + "']"
	if len(types) == 1 {
		text = types[0]
	}
	var b strings.Builder
	side := func(title string, list []graph.Endpoint, kind string) {
		fmt.Fprintf(&b, "%s count: %d%s", title, len(list), end)
		if !verbose {
			return
		}
		for _, p := range list {
			b.WriteString(endpointText(p, kind) + end)
		}
	}
	b.WriteString("Type: " + text + end)
	side("Publisher", pubs, "PUBLISHER")
	side("Subscription", subs, "SUBSCRIPTION")
	return b.String()
}

func endpointText(p graph.Endpoint, kind string) string {
	q := p.QoS.Resolved()
	history := strings.ToUpper(q.History.String())
	if q.History == qos.KeepLast {
		history = fmt.Sprintf("%s (%d)", history, q.Depth)
	}
	return strings.Join([]string{
		"Node name: " + p.Node.Name,
		"Node namespace: " + p.Node.Namespace,
		"Topic type: " + p.Type,
		"Topic type hash: " + p.Hash,
		"Endpoint type: " + kind,
		"GID: " + p.GID.String(),
		"QoS profile:",
		"  Reliability: " + strings.ToUpper(q.Reliability.String()),
		"  History (Depth): " + history,
		"  Durability: " + strings.ToUpper(q.Durability.String()),
		"  Lifespan: " + durationText(q.Lifespan),
		"  Deadline: " + durationText(q.Deadline),
		"  Liveliness: " + strings.ToUpper(q.Liveliness.String()),
		"  Liveliness lease duration: " + durationText(q.LivelinessLeaseDuration),
	}, "\n")
}

// durationText is how the ros2 command line shows a duration of a profile.
func durationText(d time.Duration) string {
	if d == 0 {
		return "Infinite"
	}
	return fmt.Sprintf("%d nanoseconds", d.Nanoseconds())
}

func endpointInfos(list []graph.Endpoint) []endpointInfo {
	out := []endpointInfo{}
	span := func(d time.Duration) *int64 {
		if d == 0 {
			return nil
		}
		ns := d.Nanoseconds()
		return &ns
	}
	for _, p := range list {
		q := p.QoS.Resolved()
		i := endpointInfo{Node: p.Node.Name, Namespace: p.Node.Namespace, Type: p.Type, Hash: p.Hash, GID: p.GID.String(), QoS: qosInfo{
			Reliability: q.Reliability.String(), History: q.History.String(), Durability: q.Durability.String(), Liveliness: q.Liveliness.String(),
			Lifespan: span(q.Lifespan), Deadline: span(q.Deadline), Lease: span(q.LivelinessLeaseDuration),
		}}
		if q.History == qos.KeepLast {
			i.QoS.Depth = &q.Depth
		}
		out = append(out, i)
	}
	return out
}
