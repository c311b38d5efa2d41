package main

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tagus-ros/tagus/internal/bench"
	"github.com/tagus-ros/tagus/internal/bench/topology"
)

// listedCase is one line of "bench list --json".
type listedCase struct {
	Name          string  `json:"name"`
	Text          string  `json:"text"`
	File          string  `json:"file"` // of the iRobot benchmark, "" when there is none
	Nodes         int     `json:"nodes"`
	Publishers    int     `json:"publishers"`
	Subscriptions int     `json:"subscriptions"`
	RateHz        float64 `json:"rate_hz"`
	MBPerSecond   float64 `json:"mb_per_s"`
}

// listedType is one line of "bench list --types --json".
type listedType struct {
	Name   string `json:"name"`
	ROS    string `json:"ros"`
	Size   int    `json:"size"` // payload bytes; 0 for vectors, whose msg_size says it
	Vector bool   `json:"vector"`
}

func newBenchList(e env) *cobra.Command {
	var asJSON, types bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the built-in topologies, or the message types",
		Args:  cobra.NoArgs,
		RunE: verb(func(*cobra.Command, []string) error {
			if types {
				return listTypes(e, asJSON)
			}
			return listCases(e, asJSON)
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&types, "types", false, "list the message types that topology files can use")
	return cmd
}

func listCases(e env, asJSON bool) error {
	var list []listedCase
	for _, b := range topology.Builtins() {
		t := b.Topology()
		c := listedCase{Name: b.Name, Text: b.Text, File: b.File, Nodes: len(t.Nodes), RateHz: t.Rate()}
		for _, n := range t.Nodes {
			c.Publishers += len(n.Publishers)
			c.Subscriptions += len(n.Subscribers)
			for _, p := range n.Publishers {
				c.MBPerSecond += float64(bench.PayloadSize(&p)) / p.Period.Seconds() / 1e6
			}
		}
		list = append(list, c)
	}
	if asJSON {
		return printJSON(e, list)
	}
	w := tabwriter.NewWriter(e.out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tNODES\tPUBLISHERS\tSUBSCRIPTIONS\tHZ\tMB/S\tWHAT")
	for _, c := range list {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%.0f\t%.1f\t%s\n", c.Name, c.Nodes, c.Publishers, c.Subscriptions, c.RateHz, c.MBPerSecond, c.Text)
	}
	return w.Flush()
}

func listTypes(e env, asJSON bool) error {
	var list []listedType
	for _, t := range bench.AllTypes() {
		list = append(list, listedType(t))
	}
	if asJSON {
		return printJSON(e, list)
	}
	w := tabwriter.NewWriter(e.out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tBYTES\tROS TYPE")
	for _, t := range list {
		size := fmt.Sprint(t.Size)
		if t.Vector {
			size = "msg_size"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", t.Name, size, t.ROS)
	}
	return w.Flush()
}

func printJSON(e env, v any) error {
	enc := json.NewEncoder(e.out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
