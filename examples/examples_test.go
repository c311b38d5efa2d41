// Package examples holds small programs. Its tests build and run them; it must not be imported.
package examples

import (
	"bufio"

	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// build compiles the examples and returns the folder with the programs.
func build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("go", "build", "-o", dir+string(filepath.Separator), "./...")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// start runs a program in a domain of the test's own until the test ends.
func start(ctx context.Context, t *testing.T, domains, program string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "TAGUS_DIR="+domains)
	cmd.Stderr = os.Stderr
	return cmd
}

func TestTalkerAndListener(t *testing.T) {
	dir := build(t)
	domains := t.TempDir()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	listener := start(ctx, t, domains, filepath.Join(dir, "listener"))
	out, err := listener.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	talker := start(ctx, t, domains, filepath.Join(dir, "talker"))
	for _, c := range []*exec.Cmd{listener, talker} {
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
	}
	heard := regexp.MustCompile(`^heard "hello [0-9]+", [0-9.]+(ns|µs|ms) after it was published, by shm$`)
	n := 0
	for s := bufio.NewScanner(out); n < 3 && s.Scan(); n++ {
		if !heard.MatchString(s.Text()) {
			t.Errorf("the listener said %q", s.Text())
		}
	}
	if n < 3 {
		t.Error("heard", n)
	}
	for _, c := range []*exec.Cmd{listener, talker} {
		if err := c.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		_, _ = io.Copy(io.Discard, out)
		if err := c.Wait(); err != nil {
			t.Error(c.Path, err)
		}
	}
}

func TestLidar(t *testing.T) {
	dir := build(t)
	for _, how := range []string{"copy", "owned", "loan"} {
		t.Run(how, func(t *testing.T) {
			domains := t.TempDir()
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			driver := start(ctx, t, domains, filepath.Join(dir, "lidar"), "-how", how, "-rate", "20")
			if err := driver.Start(); err != nil {
				t.Fatal(err)
			}
			out, err := start(ctx, t, domains, filepath.Join(dir, "lidar"), "-read", "-n", "10").Output()
			if err != nil || !strings.Contains(string(out), "10 clouds; publish to callback: median ") {
				t.Errorf("%v: %s", err, out)
			}
			if err := driver.Process.Signal(os.Interrupt); err != nil {
				t.Error(err)
			}
			if err := driver.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}
