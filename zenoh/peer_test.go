package zenoh

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The real peer of these tests: the reference library, in the version that the
// golden bytes were captured with.
const reference = "eclipse-zenoh==1.10.2"

var installed struct {
	once sync.Once
	dir  string
	err  error
}

// referenceDir installs the reference library below .cache at the root of the
// repository, once, and returns where. Where that is impossible the test is
// skipped, except in CI.
func referenceDir(t testing.TB) string {
	t.Helper()
	installed.once.Do(func() {
		root, err := filepath.Abs("..")
		if err != nil {
			installed.err = err
			return
		}
		dir := filepath.Join(root, ".cache", "py", reference)
		installed.dir = dir
		if _, err := os.Stat(filepath.Join(dir, "zenoh")); err == nil {
			return
		}
		if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
			installed.err = err
			return
		}
		tmp, err := os.MkdirTemp(filepath.Dir(dir), "install-*")
		if err != nil {
			installed.err = err
			return
		}
		defer os.RemoveAll(tmp)
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		defer cancel()
		out, err := exec.CommandContext(ctx, "python3", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-warn-script-location",
			"--target", tmp, reference).CombinedOutput()
		if err != nil {
			installed.err = fmt.Errorf("pip install %s: %w\n%s", reference, err, out)
			return
		}
		if err := os.Rename(tmp, dir); err != nil && !errors.Is(err, os.ErrExist) {
			if _, statErr := os.Stat(filepath.Join(dir, "zenoh")); statErr != nil { // another test process was faster
				installed.err = err
			}
		}
	})
	if installed.err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(installed.err)
		}
		t.Skip(installed.err)
	}
	return installed.dir
}

// peer is a running program of the reference library.
type peer struct {
	t      testing.TB
	cmd    *exec.Cmd
	in     io.WriteCloser
	mu     sync.Mutex
	next   int
	wait   map[int]chan answer
	events chan event
	gone   chan struct{}
	zid    string
}

type answer struct {
	Result json.RawMessage `json:"result"`
	Error  string          `json:"error"`
}

type packed struct {
	Len int    `json:"len"`
	SHA string `json:"sha"`
	B64 []byte `json:"b64"`
}

// event is what a peer reports by itself.
type event struct {
	Ev         string  `json:"ev"`
	On         string  `json:"on"`
	Key        string  `json:"key"`
	Kind       string  `json:"kind"`
	Payload    *packed `json:"payload"`
	Att        []byte  `json:"att"`
	Enc        string  `json:"enc"`
	TS         *string `json:"ts"`
	Prio       int     `json:"prio"`
	Block      bool    `json:"block"`
	Express    bool    `json:"express"`
	Src        []any   `json:"src"`
	Parameters string  `json:"parameters"`
	Alive      bool    `json:"alive"`
	N          int     `json:"n"`
	Seconds    float64 `json:"seconds"`
}

func startPeer(t testing.TB) *peer {
	t.Helper()
	dir := referenceDir(t)
	p := &peer{t: t, wait: map[int]chan answer{}, events: make(chan event, 1<<16), gone: make(chan struct{})}
	p.cmd = exec.Command("python3", filepath.Join("testdata", "peer.py"))
	p.cmd.Env = append(os.Environ(), "PYTHONPATH="+dir)
	p.cmd.Stderr = os.Stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.gone)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var head struct {
				ID *int   `json:"id"`
				Ev string `json:"ev"`
			}
			if err := json.Unmarshal(lines.Bytes(), &head); err != nil {
				continue
			}
			if head.ID == nil {
				var e event
				if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
					t.Errorf("peer says %s: %v", lines.Bytes(), err)
				}
				p.events <- e
				continue
			}
			var a answer
			_ = json.Unmarshal(lines.Bytes(), &a)
			p.mu.Lock()
			ch := p.wait[*head.ID]
			p.mu.Unlock()
			ch <- a
		}
		_ = p.cmd.Wait()
	}()
	t.Cleanup(p.stop)
	return p
}

func (p *peer) stop() {
	_ = p.in.Close()
	select {
	case <-p.gone:
	case <-time.After(5 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.gone
	}
}

func (p *peer) kill() {
	_ = p.cmd.Process.Kill()
	<-p.gone
}

type args map[string]any

// call runs a command and decodes its result into out, if that is not nil.
func (p *peer) call(op string, a args, out any) {
	p.t.Helper()
	if err := p.try(op, a, out); err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) try(op string, a args, out any) error {
	p.mu.Lock()
	p.next++
	id := p.next
	ch := make(chan answer, 1)
	p.wait[id] = ch
	p.mu.Unlock()
	m := args{"op": op, "id": id}
	for k, v := range a {
		m[k] = v
	}
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if _, err := p.in.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	select {
	case ans := <-ch:
		if ans.Error != "" {
			return fmt.Errorf("%s: %s", op, ans.Error)
		}
		if out != nil {
			return json.Unmarshal(ans.Result, out)
		}
		return nil
	case <-p.gone:
		return fmt.Errorf("%s: peer is gone", op)
	case <-time.After(60 * time.Second):
		return fmt.Errorf("%s: no answer for 60 s", op)
	}
}

func (p *peer) event() event {
	p.t.Helper()
	select {
	case e := <-p.events:
		return e
	case <-p.gone:
		p.t.Fatal("peer is gone")
	case <-time.After(10 * time.Second):
		p.t.Fatal("peer reports nothing for 10 s")
	}
	return event{}
}

func (p *peer) open(a args) *peer {
	p.t.Helper()
	var r struct {
		ZID string `json:"zid"`
	}
	p.call("open", a, &r)
	p.zid = r.ZID
	return p
}

// freePort finds a port on loopback that nobody listens on.
func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// router starts the reference router and returns its locator.
func router(t testing.TB) string {
	t.Helper()
	at := fmt.Sprintf("tcp/127.0.0.1:%d", freePort(t))
	startPeer(t).open(args{"mode": "router", "listen": []string{at}})
	return at
}

// client starts a plain program connected to the router.
func client(t testing.TB, at string) *peer {
	t.Helper()
	return startPeer(t).open(args{"mode": "client", "connect": []string{at}})
}

// session opens one of ours.
func session(t testing.TB, at string, change ...func(*Config)) *Session {
	t.Helper()
	cfg := Config{Connect: []string{at}, RetryMin: 50 * time.Millisecond, RetryMax: 200 * time.Millisecond}
	for _, f := range change {
		f(&cfg)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	s, err := Open(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func within[T any](t testing.TB, what string, ch <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-ch:
	case <-time.After(10 * time.Second):
		t.Fatalf("%s: nothing for 10 s", what)
	}
	return v
}

func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

var bg = context.Background()
