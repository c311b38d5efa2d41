//go:build linux

package folder

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// childVariable names what a process made from the test binary does instead of
// running tests.
const childVariable = "TAGUS_FOLDER_TEST_CHILD"

// childDone is what a child prints last when all went well.
const childDone = "done"

// children are the things a child can do; args are those of startChild. What
// it prints goes to the parent line by line; an error ends it.
var children = map[string]func(args []string) error{}

func TestMain(m *testing.M) {
	name := os.Getenv(childVariable)
	if name == "" {
		os.Exit(m.Run())
	}
	os.Unsetenv(childVariable)
	if err := children[name](os.Args[1:]); err != nil {
		fmt.Println("child", name+":", err)
		os.Exit(1)
	}
	fmt.Println(childDone)
	os.Exit(0)
}

// child is a process made from the test binary.
type child struct {
	t     testing.TB
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
	ended bool
}

// startChild runs children[name]. attr may be nil.
func startChild(t testing.TB, attr *syscall.SysProcAttr, name string, args ...string) *child {
	t.Helper()
	c, err := tryChild(t, attr, name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func tryChild(t testing.TB, attr *syscall.SysProcAttr, name string, args ...string) (*child, error) {
	t.Helper()
	if children[name] == nil {
		t.Fatalf("no child %q", name)
	}
	c := &child{t: t, cmd: exec.Command("/proc/self/exe", args...)}
	c.cmd.Env = append(os.Environ(), childVariable+"="+name)
	c.cmd.SysProcAttr = attr
	c.cmd.Stderr = os.Stderr
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.lines = bufio.NewScanner(out)
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	t.Cleanup(func() { c.kill() })
	return c, nil
}

// line returns the next line that the child prints.
func (c *child) line() string {
	c.t.Helper()
	if !c.lines.Scan() {
		c.t.Fatalf("child ended early: %v", c.wait())
	}
	return c.lines.Text()
}

// expect fails unless the next line is want.
func (c *child) expect(want string) {
	c.t.Helper()
	if got := c.line(); got != want {
		c.t.Fatalf("child printed %q, want %q", got, want)
	}
}

// kill ends the child with SIGKILL and waits until it is gone.
func (c *child) kill() {
	if !c.ended {
		c.cmd.Process.Kill()
		c.wait()
	}
}

func (c *child) wait() error {
	c.ended = true
	return c.cmd.Wait()
}

// finish tells the child to go on to its end and expects a good one.
func (c *child) finish() {
	c.t.Helper()
	c.in.Close()
	c.expect(childDone)
	if err := c.wait(); err != nil {
		c.t.Fatal(err)
	}
}

// untilTold waits until the parent tells the child to go on.
func untilTold() { io.Copy(io.Discard, os.Stdin) }

// runChild runs a child from start to end.
func runChild(t testing.TB, attr *syscall.SysProcAttr, name string, args ...string) {
	t.Helper()
	startChild(t, attr, name, args...).finish()
}

// namespaces asks for new namespaces: as root just so, else inside a user
// namespace in which this user is root.
func namespaces(flags uintptr) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Cloneflags: flags}
	if os.Geteuid() != 0 {
		a.Cloneflags |= unix.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	return a
}

// needNamespaces skips a test where the system does not allow these namespaces
// or, with proc, a /proc of their own in them.
func needNamespaces(t testing.TB, attr *syscall.SysProcAttr, proc ...string) {
	t.Helper()
	c, err := tryChild(t, attr, "try", proc...)
	if err != nil {
		t.Skipf("this system gives no namespaces: %v", err)
	}
	c.in.Close()
	if got := c.line(); got != childDone {
		t.Skipf("this system does not give all that namespaces need: %s", got)
	}
	c.wait()
}

func needRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root to act as another user")
	}
}

// openFDs counts this process's descriptors.
func openFDs(t testing.TB) int {
	t.Helper()
	es, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(es)
}

// noLeak fails if f leaves descriptors open.
func noLeak(t testing.TB, f func()) {
	t.Helper()
	before := openFDs(t)
	f()
	if after := openFDs(t); after != before {
		var all []string
		es, _ := os.ReadDir("/proc/self/fd")
		for _, e := range es {
			to, _ := os.Readlink("/proc/self/fd/" + e.Name())
			all = append(all, e.Name()+" -> "+to)
		}
		t.Errorf("%d descriptors open before, %d after:\n%s", before, after, strings.Join(all, "\n"))
	}
}

func init() {
	children["try"] = func(args []string) error {
		if len(args) > 0 && args[0] == "proc" {
			return mountOver("proc", "/proc", "proc", "")
		}
		return nil
	}
}

// mountOver mounts something in the mount namespace of a child.
func mountOver(source, target, fstype, data string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount(source, target, fstype, 0, data); err != nil {
		return fmt.Errorf("mount %s at %s: %w", fstype, target, err)
	}
	return nil
}
