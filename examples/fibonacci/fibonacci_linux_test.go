package main

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// The test's binary is the program, too.
func TestMain(m *testing.M) {
	if os.Getenv("TAGUS_TEST_FIBONACCI") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

type program struct {
	*exec.Cmd
	says *bufio.Scanner
}

func start(t *testing.T, dir string, args ...string) program {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "TAGUS_TEST_FIBONACCI=1", "TAGUS_DIR="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	overdue := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	t.Cleanup(func() {
		overdue.Stop()
		cmd.Process.Kill()
	})
	return program{cmd, bufio.NewScanner(out)}
}

// until reads lines up to the one that begins with prefix.
func (p program) until(t *testing.T, prefix string) string {
	t.Helper()
	for p.says.Scan() {
		if strings.HasPrefix(p.says.Text(), prefix) {
			return p.says.Text()
		}
	}
	t.Fatalf("%v ended before it said %q", p.Args[1:], prefix)
	return ""
}

func TestGoals(t *testing.T) {
	dir := t.TempDir()
	server := start(t, dir, "-serve", "-pace", "10ms")
	c := start(t, dir, "-order", "6")
	if got := c.until(t, "so far"); got != "so far [0 1 1]" {
		t.Error(got)
	}
	if got := c.until(t, "SUCC"); got != "SUCCEEDED [0 1 1 2 3 5 8]" {
		t.Error(got)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	server.until(t, "finished")
	if err := server.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	if err := server.Wait(); err != nil {
		t.Error(err)
	}

	// Ctrl-C cancels, a second goal preempts the first, and the server may go first.
	server = start(t, dir, "-serve", "-pace", "100ms")
	c = start(t, dir, "-order", "46")
	c.until(t, "so far")
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	c.until(t, "CANCELED [0 1 1")
	server.until(t, "stopped")
	first := start(t, dir, "-order", "46")
	first.until(t, "so far")
	second := start(t, dir, "-order", "46")
	second.until(t, "so far")
	first.until(t, "ABORTED [0 1 1")
	if err := server.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	second.until(t, "ABORTED [0 1 1")
	for _, p := range []program{c, first, second, server} {
		if err := p.Wait(); err != nil {
			t.Error(p.Args[1:], err)
		}
	}
}
