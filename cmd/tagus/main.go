// Command tagus shows and measures ROS 2 systems that use tagus.
//
// Each verb is one file with a function that gets its context, its streams and its clock from the caller, so that tests run it without a
// process of its own. Verbs decide nothing about messaging: they use the public API and internal/bench.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// env is what a verb knows of the world.
type env struct {
	in       io.Reader
	out      io.Writer
	err      io.Writer
	terminal bool // err is a terminal
	screen   bool // out is a terminal
	now      func() time.Time
	self     func(args ...string) *exec.Cmd // this program with other arguments
}

func main() { os.Exit(run()) }

// run runs the program with the process's own arguments. The first interrupt ends a verb in good order, the second the process.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	exe, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, "tagus:", err)
		return 1
	}
	return execute(ctx, env{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, terminal: isTerminal(os.Stderr), screen: isTerminal(os.Stdout), now: time.Now,
		self: func(args ...string) *exec.Cmd { return exec.Command(exe, args...) },
	}, os.Args[1:])
}

// execute runs a command line and returns the exit status: 0, 1 for what went wrong, 2 for a wrong command line.
func execute(ctx context.Context, e env, args []string) int {
	root := newRoot(e)
	root.SetArgs(args)
	root.SetOut(e.out)
	root.SetErr(e.err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	status := 2 // cobra found fault with the command line
	if f, ok := err.(failed); ok {
		status, err = 1, f.err
	}
	text := err.Error()
	if _, ok := err.(verbatim); !ok && !strings.HasPrefix(text, "tagus: ") { // errors of the library say so themselves
		text = "tagus: " + text
	}
	fmt.Fprintln(e.err, text)
	return status
}

// failed marks an error of a verb at work, as against one of its arguments.
type failed struct{ err error }

func (f failed) Error() string { return fmt.Sprint(f.err) }

// verb wraps the function of a verb for cobra.
func verb(fn func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := fn(cmd, args); err != nil {
			if u, ok := err.(usage); ok {
				return u
			}
			return failed{err}
		}
		return nil
	}
}

// usage is an error of arguments that cobra cannot see.
type usage struct{ error }

func newRoot(e env) *cobra.Command {
	root := &cobra.Command{
		Use:           "tagus",
		Short:         "ROS 2 messaging in pure Go: look, measure, show",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newBench(e), newDemo(e), newGen(), newInterface(e), newTopic(e), newVersion(e))
	return root
}

func isTerminal(f *os.File) bool {
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}
