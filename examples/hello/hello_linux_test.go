package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// The test's binary is the program, too.
func TestMain(m *testing.M) {
	if os.Getenv("TAGUS_TEST_HELLO") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// Two programs hear themselves and each other, and end at an interrupt.
func TestTwoPrograms(t *testing.T) {
	dir := t.TempDir()
	start := func() (*exec.Cmd, *bufio.Scanner) {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "TAGUS_TEST_HELLO=1", "TAGUS_DIR="+dir)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill() })
		return cmd, bufio.NewScanner(out)
	}
	a, aSays := start()
	b, bSays := start()
	overdue := time.AfterFunc(time.Minute, func() { a.Process.Kill(); b.Process.Kill() })
	defer overdue.Stop()
	for _, c := range []struct {
		of, other *exec.Cmd
		says      *bufio.Scanner
	}{{a, b, aSays}, {b, a, bSays}} {
		want := map[string]bool{
			fmt.Sprint("hello from ", c.of.Process.Pid, " intra"):  true,
			fmt.Sprint("hello from ", c.other.Process.Pid, " shm"): true,
		}
		for len(want) > 0 && c.says.Scan() {
			text, rest, _ := strings.Cut(c.says.Text(), " (")
			_, path, _ := strings.Cut(strings.TrimSuffix(rest, ")"), ", by ")
			delete(want, text+" "+path)
		}
		if len(want) > 0 {
			t.Errorf("not heard: %v", want)
		}
	}
	for _, c := range []struct {
		cmd  *exec.Cmd
		says *bufio.Scanner
	}{{a, aSays}, {b, bSays}} {
		if err := c.cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		for c.says.Scan() {
		}
		if err := c.cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
}
