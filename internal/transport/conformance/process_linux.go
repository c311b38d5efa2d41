package conformance

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// ChildVariable is set in the environment of a test binary that is to call ServeChild.
const ChildVariable = "TAGUS_CONFORMANCE_CHILD"

// stdio is the connection of a child to the process that started it.
type stdio struct {
	io.Reader
	io.WriteCloser
}

// ServeChild serves the host over standard input and output, and ends the process. What
// the process has to say goes to standard error.
func ServeChild(h Host) {
	// The descriptors of standard input and output are for the connection alone: a
	// stray print must not break it.
	out := os.Stdout
	os.Stdout = os.Stderr
	if err := Serve(h, stdio{os.Stdin, out}); err != nil {
		os.Stderr.WriteString("conformance child: " + err.Error() + "\n")
		os.Exit(1)
	}
	os.Exit(0)
}

// StartProcess executes the test binary again as a child with the arguments in its
// environment variable, and returns the host that it serves. It is killed at the end of
// the test if it was not closed, and what it had to say is an error of the test.
func StartProcess(t *testing.T, arguments string) Process {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), ChildVariable+"="+arguments)
	var said strings.Builder
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err == nil {
		var out io.Reader
		if out, err = cmd.StdoutPipe(); err == nil {
			if err = cmd.Start(); err == nil {
				p := &process{Host: Dial(stdio{out, in}), t: t, cmd: cmd, said: &said}
				t.Cleanup(p.end)
				return p
			}
		}
	}
	t.Fatal(err)
	return nil
}

type process struct {
	Host
	t      *testing.T
	cmd    *exec.Cmd
	said   *strings.Builder
	killed bool
	over   bool
}

func (p *process) Kill() {
	p.killed = true
	p.cmd.Process.Kill()
	p.wait()
}

func (p *process) wait() error {
	if p.over {
		return nil
	}
	p.over = true
	err := p.cmd.Wait()
	if s := p.said.String(); s != "" {
		p.t.Errorf("a child process said:\n%s", s)
	}
	if p.killed {
		return nil
	}
	return err
}

func (p *process) Freeze() { p.signal(syscall.SIGSTOP) }
func (p *process) Thaw()   { p.signal(syscall.SIGCONT) }

func (p *process) signal(s syscall.Signal) {
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Errorf("%v to a child: %v", s, err)
	}
}

// Close closes the host and waits for the end of the process.
func (p *process) Close() error {
	if p.over {
		return nil
	}
	return errors.Join(p.Host.Close(), p.wait())
}

func (p *process) end() {
	if !p.over {
		p.Kill()
	}
}
