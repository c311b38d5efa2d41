package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tagus-ros/tagus/internal/bench"
	"github.com/tagus-ros/tagus/internal/bench/report"
	"github.com/tagus-ros/tagus/internal/bench/topology"
)

// benchFlags are the arguments of "bench run": first the iRobot benchmark's own, with its defaults, then ours.
type benchFlags struct {
	executor, node                                     int
	ipc, rosParams, nameThreads, tracking, csv         string
	seconds                                            float64
	samplingMS                                         int
	latePercent, lateMicros, tooLatePercent, tooMicros int
	results                                            string

	touch, recycling, json string
	strict, split          bool
	yardsticks, syscalls   string
	domain                 int
	busyPoll               time.Duration
	extraProcs             string
	pin                    []int
}

func newBenchRun(e env) *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "run TOPOLOGY [TOPOLOGY…]",
		Short: "Run topologies, one process each, and report latency and cost",
		Long: "Run topologies, one process each. A TOPOLOGY is a JSON file of the iRobot benchmark or the name of a built-in case\n" +
			"(see \"tagus bench list\"). Result files go to <topology>_log, a table to standard output. Interrupting ends the run early,\n" +
			"with results.",
		Args: cobra.MinimumNArgs(1),
		RunE: verb(func(cmd *cobra.Command, args []string) error {
			return runBench(cmd.Context(), e, &f, args)
		}),
	}
	fl := cmd.Flags()
	fl.IntVarP(&f.executor, "executor", "x", 2, "executor of the tool, 1 to 3; here each executor_id of the topology gets one thread in any case")
	fl.IntVarP(&f.node, "node", "n", 1, "kind of nodes: 1 plain")
	fl.StringVar(&f.ipc, "ipc", "on", "in-process delivery, on or off")
	fl.StringVar(&f.rosParams, "ros_params", "on", "accepted; nodes have no parameter services yet")
	fl.StringVar(&f.nameThreads, "name_threads", "on", "accepted, without effect")
	fl.Float64VarP(&f.seconds, "time", "t", 5, "duration in seconds")
	fl.IntVarP(&f.samplingMS, "sampling", "s", 1000, "sampling period of resources in ms")
	fl.StringVar(&f.tracking, "tracking", "off", "write late, too late and lost messages to events.txt, on or off")
	fl.IntVar(&f.latePercent, "late-percentage", 20, "a message that takes longer than this share of the period is late, %")
	fl.IntVar(&f.lateMicros, "late-absolute", 5000, "a message that takes longer than this is late, µs")
	fl.IntVar(&f.tooLatePercent, "too-late-percentage", 100, "a message that takes longer than this share of the period is too late, %")
	fl.IntVar(&f.tooMicros, "too-late-absolute", 50000, "a message that takes longer than this is too late, µs")
	fl.StringVar(&f.csv, "csv-out", "off", "commas in the result files, on or off")
	fl.StringVar(&f.results, "results-dir", ".", "folder in which <topology>_log is made")
	fl.StringVar(&f.touch, "touch", "none", "how much of a payload the callback reads: none, line (a byte of each cache line), all, or several with commas, run in turn")
	fl.StringVar(&f.recycling, "recycling", "", "how payload memory is used again: lifo (default), fifo, off, or several with commas, run in turn")
	fl.StringVar(&f.json, "json", "", "write the results to this file as one JSON object")
	fl.BoolVar(&f.strict, "strict", false, "unknown keys in topology files are errors")
	fl.BoolVar(&f.split, "split", false, "deal the nodes of each topology to two processes, publishers and subscribers apart where that goes")
	fl.StringVar(&f.yardsticks, "yardsticks", "on", "measure bare copies and wakes before and after, on or off")
	fl.StringVar(&f.syscalls, "count-syscalls", "on", "count system calls where the kernel lets us, on or off")
	fl.IntVar(&f.domain, "domain", -1, "ROS domain; -1: ROS_DOMAIN_ID decides")
	fl.DurationVar(&f.busyPoll, "busy-poll", 0, "executors look for work that long before they sleep")
	fl.StringVar(&f.extraProcs, "extra-procs", "auto", "raise GOMAXPROCS by one for each executor: on, off, or auto for on where a process has several")
	fl.IntSliceVar(&f.pin, "pin", nil, "bind executors to these processors in turn")
	return cmd
}

// options turns flags into what the runner wants.
func (f *benchFlags) options() (bench.Options, error) {
	o := bench.DefaultOptions()
	var err error
	flag := func(name, value string) bool {
		switch value {
		case "on", "off":
		default:
			if err == nil {
				err = usage{fmt.Errorf("--%s is %q, want on or off", name, value)}
			}
		}
		return value == "on"
	}
	o.InProcess, o.Tracking = flag("ipc", f.ipc), flag("tracking", f.tracking)
	o.Yardsticks, o.Syscalls = flag("yardsticks", f.yardsticks), flag("count-syscalls", f.syscalls)
	flag("ros_params", f.rosParams)
	flag("name_threads", f.nameThreads)
	flag("csv-out", f.csv)
	if err != nil {
		return o, err
	}
	switch {
	case f.executor < 1 || f.executor > 3:
		return o, usage{fmt.Errorf("--executor is %d, want 1 to 3", f.executor)}
	case f.node == 2:
		return o, usage{fmt.Errorf("--node 2: lifecycle nodes are not run yet")}
	case f.node != 1:
		return o, usage{fmt.Errorf("--node is %d, want 1", f.node)}
	case f.seconds <= 0 || f.seconds > 1e6:
		return o, usage{fmt.Errorf("--time is %v s, want more than 0 and at most a million", f.seconds)}
	case f.samplingMS < 10 || f.samplingMS > 3_600_000:
		return o, usage{fmt.Errorf("--sampling is %d ms, want 10 to 3600000", f.samplingMS)}
	case min(f.latePercent, f.lateMicros, f.tooLatePercent, f.tooMicros) < 0:
		return o, usage{fmt.Errorf("bounds of lateness cannot be negative")}
	case f.domain < -1 || f.domain > 232:
		return o, usage{fmt.Errorf("--domain is %d, want 0 to 232", f.domain)}
	case f.extraProcs != "on" && f.extraProcs != "off" && f.extraProcs != "auto":
		return o, usage{fmt.Errorf("--extra-procs is %q, want on, off or auto", f.extraProcs)}
	case f.busyPoll < 0:
		return o, usage{fmt.Errorf("--busy-poll is %v, want 0 or more", f.busyPoll)}
	}
	o.Duration = time.Duration(f.seconds * float64(time.Second))
	o.Sampling = time.Duration(f.samplingMS) * time.Millisecond
	o.Lateness.LatePercent, o.Lateness.LateMicros = f.latePercent, f.lateMicros
	o.Lateness.TooLatePercent, o.Lateness.TooLateMicros = f.tooLatePercent, f.tooMicros
	o.DomainID, o.BusyPoll, o.ExtraProcs, o.Pin = f.domain, f.busyPoll, f.extraProcs, f.pin
	return o, nil
}

// variant is one of several runs of the same topologies.
type variant struct {
	recycling string
	touch     bench.Touch
}

// variants are the runs to make in turn. The case that report 002 measured is run with every way of recycling unless told otherwise.
func (f *benchFlags) variants(args []string) ([]variant, error) {
	recycling := f.recycling
	if recycling == "" {
		recycling = "lifo"
		if len(args) == 1 && args[0] == "mont_blanc_1mb" {
			recycling = strings.Join(bench.Recyclings, ",")
		}
	}
	var out []variant
	for _, p := range strings.Split(recycling, ",") {
		if !slices.Contains(bench.Recyclings, p) {
			return nil, usage{fmt.Errorf("--recycling is %q, want lifo, off or fifo", p)}
		}
		for _, w := range strings.Split(f.touch, ",") {
			t, err := bench.ParseTouch(w)
			if err != nil {
				return nil, usage{fmt.Errorf("--%w", err)}
			}
			out = append(out, variant{p, t})
		}
	}
	return out, nil
}

// name tells variants of one run apart by what differs.
func (v variant) name(all []variant) string {
	var parts []string
	if slices.ContainsFunc(all, func(x variant) bool { return x.recycling != v.recycling }) {
		parts = append(parts, "recycling "+v.recycling)
	}
	if slices.ContainsFunc(all, func(x variant) bool { return x.touch != v.touch }) {
		parts = append(parts, "touch "+v.touch.String())
	}
	return strings.Join(parts, ", ")
}

// topologies loads what the arguments name.
func (f *benchFlags) topologies(e env, args []string) ([]*topology.Topology, error) {
	var out []*topology.Topology
	for _, a := range args {
		t, ok := topology.Find(a)
		if !ok || exists(a) {
			var warnings []string
			var err error
			t, warnings, err = topology.Load(a, topology.Options{Types: bench.Types, Strict: f.strict})
			for _, w := range warnings {
				fmt.Fprintln(e.err, "warning:", w)
			}
			if err != nil {
				if !ok && !exists(a) && !strings.ContainsAny(a, "./") {
					err = fmt.Errorf("%w; it is no built-in case either: %s", err, topology.Names())
				}
				return nil, err
			}
		}
		if f.split {
			first, second := t.Split()
			for _, half := range []*topology.Topology{first, second} {
				if len(half.Nodes) > 0 {
					out = append(out, half)
				}
			}
			continue
		}
		out = append(out, t)
	}
	topology.Unique(out)
	warnings, err := topology.Check(out)
	for _, w := range warnings {
		fmt.Fprintln(e.err, "warning:", w)
	}
	return out, err
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

func runBench(ctx context.Context, e env, f *benchFlags, args []string) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	variants, err := f.variants(args)
	if err != nil {
		return err
	}
	if o.Topologies, err = f.topologies(e, args); err != nil {
		return err
	}
	var done []report.Variant
	for i, v := range variants {
		if ctx.Err() != nil {
			break
		}
		o.Recycling, o.Touch = v.recycling, v.touch
		fmt.Fprintf(e.err, "running %s for %v, in-process delivery %s, recycling %s, touch %s\n", strings.Join(namesOf(o.Topologies), " "), o.Duration, f.ipc, v.recycling, v.touch)
		r, err := bench.Run(ctx, bench.Env{Self: benchSelf(e), Err: e.err, Terminal: e.terminal}, o)
		if err != nil {
			return err
		}
		name := v.name(variants)
		if name != "" {
			fmt.Fprintln(e.out, name)
		}
		if err := report.WriteTables(e.out, r); err != nil {
			return err
		}
		fmt.Fprintln(e.out)
		suffix := ""
		if i > 0 {
			suffix = strings.NewReplacer(", ", "_", " ", "_").Replace(name)
		}
		if err := f.write(e, r, v, suffix, args); err != nil {
			return err
		}
		done = append(done, report.Variant{Name: name, Result: r})
	}
	if len(done) > 1 {
		return report.Compare(e.out, "variant", compared(done[0].Result), done)
	}
	return nil
}

// compared is the topic that a comparison of runs shows: the one with the largest messages.
func compared(r *report.Result) string {
	best := 0
	for i := range r.Topics {
		if r.Topics[i].Size > r.Topics[best].Size {
			best = i
		}
	}
	if len(r.Topics) == 0 {
		return ""
	}
	return r.Topics[best].Topic
}

// write writes the files of one run. The first of several runs has the plain names.
func (f *benchFlags) write(e env, r *report.Result, v variant, suffix string, args []string) error {
	settings := []report.Setting{
		{Key: "topology_json_list", Value: strings.Join(args, " ")},
		{Key: "system_executor", Value: strconv.Itoa(f.executor)}, {Key: "node_type", Value: strconv.Itoa(f.node)},
		{Key: "ipc", Value: f.ipc}, {Key: "ros_params", Value: f.rosParams}, {Key: "duration_sec", Value: strconv.FormatFloat(f.seconds, 'g', -1, 64)},
		{Key: "resources_sampling_per_ms", Value: strconv.Itoa(f.samplingMS)}, {Key: "csv_out", Value: f.csv}, {Key: "tracking.is_enabled", Value: f.tracking},
		{Key: "late_percentage", Value: strconv.Itoa(f.latePercent)}, {Key: "late_absolute_us", Value: strconv.Itoa(f.lateMicros)},
		{Key: "too_late_percentage", Value: strconv.Itoa(f.tooLatePercent)}, {Key: "too_late_absolute_us", Value: strconv.Itoa(f.tooMicros)},
		{Key: "middleware", Value: "tagus " + readVersion().Version}, {Key: "recycling", Value: v.recycling}, {Key: "touch", Value: v.touch.String()},
		{Key: "split", Value: strconv.FormatBool(f.split)}, {Key: "kernel", Value: r.Machine.Kernel}, {Key: "cpus", Value: strconv.Itoa(r.Machine.CPUs)},
		{Key: "date", Value: e.now().UTC().Format(time.RFC3339)},
	}
	dir := f.results
	if suffix != "" {
		dir = filepath.Join(dir, suffix)
	}
	for i := range r.Processes {
		if _, err := report.WriteFiles(dir, r, i, f.csv == "on", settings); err != nil {
			return err
		}
	}
	if f.json == "" {
		return nil
	}
	file := f.json
	if suffix != "" {
		ext := filepath.Ext(file)
		file = strings.TrimSuffix(file, ext) + "_" + suffix + ext
	}
	return report.WriteJSON(file, r)
}

func namesOf(list []*topology.Topology) []string {
	var out []string
	for _, t := range list {
		out = append(out, t.Name)
	}
	return out
}
