package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tagus-ros/tagus/qos"
)

// qosFlags are the arguments of the ros2 command line that make a profile.
type qosFlags struct {
	preset, history, reliability, durability, liveliness string
	depth                                                int
	lease                                                float64
	cmd                                                  *cobra.Command
}

// qosPresets are the profiles that have a name.
var qosPresets = map[string]func() qos.Profile{
	"default": qos.Default, "system_default": qos.SystemDefault, "sensor_data": qos.SensorData, "services_default": qos.ServicesDefault,
	"parameters": qos.Parameters, "parameter_events": qos.ParameterEvents, "action_status_default": qos.ActionStatus,
	"best_available": qos.BestAvailable, "rosout_default": qos.Rosout,
}

func (q *qosFlags) add(cmd *cobra.Command, what, preset string) {
	q.cmd = cmd
	fl := cmd.Flags()
	fl.StringVar(&q.preset, "qos-profile", preset, "profile to "+what+" with: "+strings.Join(slices.Sorted(maps.Keys(qosPresets)), ", "))
	fl.IntVar(&q.depth, "qos-depth", 0, "messages in a queue, in place of the profile's")
	words := func(p *string, name, what string, choices ...string) {
		fl.StringVar(p, name, "", what+", in place of the profile's: "+strings.Join(choices, ", "))
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(choices, cobra.ShellCompDirectiveNoFileComp))
	}
	words(&q.history, "qos-history", "what a queue keeps", "keep_last", "keep_all", "system_default")
	words(&q.reliability, "qos-reliability", "reliability", "reliable", "best_effort", "best_available", "system_default")
	words(&q.durability, "qos-durability", "durability", "volatile", "transient_local", "best_available", "system_default")
	words(&q.liveliness, "qos-liveliness", "liveliness", "automatic", "manual_by_topic", "best_available", "system_default")
	fl.Float64Var(&q.lease, "qos-liveliness-lease-duration-seconds", 0, "lease of liveliness in seconds, in place of the profile's")
	_ = cmd.RegisterFlagCompletionFunc("qos-profile", cobra.FixedCompletions(slices.Sorted(maps.Keys(qosPresets)), cobra.ShellCompDirectiveNoFileComp))
}

// chosen says whether a policy was given, not just a profile.
func (q *qosFlags) chosen() bool {
	return slices.ContainsFunc([]string{"depth", "history", "reliability", "durability", "liveliness", "liveliness-lease-duration-seconds"}, func(name string) bool {
		return q.cmd.Flags().Changed("qos-" + name)
	})
}

// profile is what the arguments say.
func (q *qosFlags) profile() (qos.Profile, error) {
	preset := qosPresets[q.preset]
	if preset == nil {
		return qos.Profile{}, usage{fmt.Errorf("--qos-profile is %q, want one of %s", q.preset, strings.Join(slices.Sorted(maps.Keys(qosPresets)), ", "))}
	}
	p := preset()
	var errs []error
	set := func(value string, parse func(string) error) {
		if value != "" {
			errs = append(errs, parse(value))
		}
	}
	set(q.history, func(s string) (err error) { p.History, err = qos.ParseHistory(s); return })
	set(q.reliability, func(s string) (err error) { p.Reliability, err = qos.ParseReliability(s); return })
	set(q.durability, func(s string) (err error) { p.Durability, err = qos.ParseDurability(s); return })
	set(q.liveliness, func(s string) (err error) { p.Liveliness, err = qos.ParseLiveliness(s); return })
	if q.depth < 0 {
		errs = append(errs, fmt.Errorf("--qos-depth is %d, want 1 or more", q.depth))
	}
	if q.depth > 0 {
		p.Depth = q.depth
	}
	if q.lease < 0 || q.lease > 9e9 {
		errs = append(errs, fmt.Errorf("--qos-liveliness-lease-duration-seconds is %v, want 0 or more", q.lease))
	}
	if q.lease > 0 {
		p.LivelinessLeaseDuration = time.Duration(q.lease * float64(time.Second))
	}
	if err := errors.Join(append(errs, p.Validate())...); err != nil {
		return p, usage{err}
	}
	return p, nil
}
