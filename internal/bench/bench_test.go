package bench

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/tagus-ros/tagus/internal/bench/machine"
	"github.com/tagus-ros/tagus/internal/bench/report"
	"github.com/tagus-ros/tagus/internal/bench/topology"
)

// TestMain makes the test binary the helper process that a run starts.
func TestMain(m *testing.M) {
	if os.Getenv("TAGUS_TEST_PEER") == "" {
		os.Exit(m.Run())
	}
	var err error
	switch os.Args[1] {
	case WorkerRole:
		err = Serve(os.Stdin, os.Stdout)
	case PongRole:
		err = ServePong(os.Stdin, os.Stdout, os.Args[2:])
	case machine.WakePeer:
		err = machine.ServeWake(3)
	}
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
}

func testEnv(t *testing.T) Env {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TAGUS_DIR", dir)
	return Env{Err: io.Discard, Self: func(args ...string) *exec.Cmd {
		cmd := exec.Command(os.Args[0], args...)
		cmd.Env = append(os.Environ(), "TAGUS_TEST_PEER=1", "TAGUS_DIR="+dir)
		return cmd
	}}
}

func builtin(t *testing.T, name string) *topology.Topology {
	t.Helper()
	top, ok := topology.Find(name)
	if !ok {
		t.Fatal("no case", name)
	}
	return top
}

func runFor(t *testing.T, o Options) *report.Result {
	t.Helper()
	o.Yardsticks = false
	r, err := Run(context.Background(), testEnv(t), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRunSeed5(t *testing.T) {
	o := DefaultOptions()
	o.Topologies = []*topology.Topology{builtin(t, "seed5")}
	o.Duration, o.InProcess, o.Touch = 3*time.Second, false, TouchAll
	r := runFor(t, o)
	var b strings.Builder
	report.WriteTables(&b, r)
	t.Log("\n" + b.String())
}
