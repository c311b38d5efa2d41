package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/tagus-ros/tagus/internal/bench"
)

func newBenchPingpong(e env) *cobra.Command {
	o := bench.PingOptions{DomainID: -1}
	var asJSON bool
	var seconds float64
	cmd := &cobra.Command{
		Use:   "pingpong",
		Short: "Compare waking another process by a bare futex, by polling and by tagus",
		Long: "Two processes send 64 bytes to and fro, on the same core and on two: by a bare futex, by polling a word, over tagus, and over\n" +
			"tagus with executors that poll. All ways take turns in one run between the same two processes.",
		Args: cobra.NoArgs,
		RunE: verb(func(cmd *cobra.Command, _ []string) error {
			if seconds <= 0 || seconds > 3600 {
				return usage{fmt.Errorf("--time is %v s, want more than 0 and at most 3600", seconds)}
			}
			o.Duration = time.Duration(seconds * float64(time.Second))
			r, err := bench.Pingpong(cmd.Context(), bench.Env{Self: benchSelf(e), Err: e.err, Terminal: e.terminal}, o)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(e, r)
			}
			_, err = fmt.Fprint(e.out, r.PingTable())
			return err
		}),
	}
	fl := cmd.Flags()
	fl.Float64VarP(&seconds, "time", "t", 8, "duration of each placement in seconds")
	fl.Float64Var(&o.Rate, "rate", 1000, "pings a second, 1 to 20000")
	fl.IntVar(&o.DomainID, "domain", -1, "ROS domain; -1: ROS_DOMAIN_ID decides")
	fl.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
