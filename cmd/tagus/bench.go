package main

import (
	"fmt"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/tagus-ros/tagus/internal/bench"
	"github.com/tagus-ros/tagus/internal/bench/machine"
)

func newBench(e env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure latency and cost",
		Long: "Measure latency and cost of systems of publishers and subscribers, with the topology files, the arguments and the result\n" +
			"files of the iRobot benchmark.",
	}
	cmd.AddCommand(newBenchRun(e), newBenchList(e), newBenchPingpong(e), newBenchPeer(e))
	return cmd
}

// benchSelf starts this program as a helper process of a measurement.
func benchSelf(e env) machine.Self {
	return func(args ...string) *exec.Cmd { return e.self(append([]string{"bench", "peer"}, args...)...) }
}

// newBenchPeer is the hidden verb behind which the helper processes are. They end with whoever started them; an interrupt at the
// terminal, which reaches them too, is not for them.
func newBenchPeer(e env) *cobra.Command {
	return &cobra.Command{
		Use:    "peer ROLE [ARG…]",
		Hidden: true,
		Args:   cobra.MinimumNArgs(1),
		RunE: verb(func(_ *cobra.Command, args []string) error {
			signal.Ignore(syscall.SIGINT)
			switch args[0] {
			case bench.WorkerRole:
				return bench.Serve(e.in, e.out)
			case bench.PongRole:
				return bench.ServePong(e.in, e.out, args[1:])
			case machine.WakePeer:
				if len(args) != 2 {
					return fmt.Errorf("%s needs a descriptor", args[0])
				}
				fd, err := strconv.Atoi(args[1])
				if err != nil {
					return err
				}
				return machine.ServeWake(fd)
			}
			return fmt.Errorf("unknown role %q", args[0])
		}),
	}
}
