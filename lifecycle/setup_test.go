package lifecycle_test

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/lifecycle"
	msg "github.com/tagus-ros/tagus/msgs/lifecycle_msgs"
	"github.com/tagus-ros/tagus/qos"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func join(t testing.TB, dir string, opts ...tagus.DomainOption) *tagus.Domain {
	t.Helper()
	d, err := tagus.Join(append([]tagus.DomainOption{tagus.WithDir(dir), tagus.WithDomainID(7), tagus.WithLogHandler(slog.NewTextHandler(&logged, nil))}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return d
}

// spin runs the callbacks of d until the test ends.
func spin(t testing.TB, d *tagus.Domain) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- d.Spin(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("spin: %v", err)
		}
	})
}

// setups are the ways in which a managed node and those who deal with it can be apart.
var setups = []struct {
	name string
	path tagus.Path
	make func(t testing.TB) (node, other *tagus.Domain)
}{
	{"in process", tagus.PathIntra, func(t testing.TB) (node, other *tagus.Domain) {
		d := join(t, t.TempDir())
		spin(t, d)
		return d, d
	}},
	{"two participants", tagus.PathSHM, func(t testing.TB) (node, other *tagus.Domain) {
		dir := t.TempDir()
		node, other = join(t, dir), join(t, dir)
		spin(t, node)
		spin(t, other)
		return node, other
	}},
}

func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func soon(t testing.TB) context.Context { return within(t, 20*time.Second) }

func managed(t testing.TB, d *tagus.Domain, cb lifecycle.Callbacks) *lifecycle.Node {
	t.Helper()
	n, err := lifecycle.NewNode(d, "driver", cb)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func plain(t testing.TB, d *tagus.Domain) *tagus.Node {
	t.Helper()
	n, err := d.NewNode("other")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// await waits until done reports true.
func await(t testing.TB, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !done(); time.Sleep(200 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatalf("not in time: %s", what)
		}
	}
}

func got[T any](t testing.TB, what string, ch <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-ch:
	case <-time.After(20 * time.Second):
		t.Fatalf("not in time: %s", what)
	}
	return v
}

// remote deals with a managed node from outside.
type remote struct {
	t      testing.TB
	change *tagus.Client[msg.ChangeStateRequest, msg.ChangeStateResponse]
	state  *tagus.Client[msg.GetStateRequest, msg.GetStateResponse]
	events chan msg.TransitionEvent
}

func dealWith(t testing.TB, n *tagus.Node, name string) *remote {
	t.Helper()
	r := &remote{t: t, events: make(chan msg.TransitionEvent, 1000)}
	var err error
	r.change, err = tagus.NewClient[msg.ChangeState](n, name+"/change_state")
	must(t, err)
	r.state, err = tagus.NewClient[msg.GetState](n, name+"/get_state")
	must(t, err)
	sub, err := tagus.NewSubscription(n, name+"/transition_event", qos.Default().WithDepth(1000), func(_ context.Context, s *tagus.Sample[msg.TransitionEvent]) {
		r.events <- *s.Msg
	})
	must(t, err)
	must(t, r.change.WaitForService(soon(t)))
	must(t, r.state.WaitForService(soon(t)))
	must(t, sub.WaitForPublishers(soon(t), 1))
	return r
}

func (r *remote) do(label string) bool {
	r.t.Helper()
	resp, err := r.change.Call(soon(r.t), &msg.ChangeStateRequest{Transition: msg.Transition{Label: label}})
	must(r.t, err)
	return resp.Success
}

func (r *remote) get() string {
	r.t.Helper()
	resp, err := r.state.Call(soon(r.t), &msg.GetStateRequest{})
	must(r.t, err)
	if want := lifecycle.State(resp.CurrentState.ID).String(); resp.CurrentState.Label != want {
		r.t.Errorf("state %d has the label %q, want %q", resp.CurrentState.ID, resp.CurrentState.Label, want)
	}
	return resp.CurrentState.Label
}

// logged is what the domains of the test log.
var logged logBuffer

// logs gives what is logged from now on.
func logs() func() string {
	logged.mu.Lock()
	defer logged.mu.Unlock()
	logged.b.Reset()
	return logged.String
}

type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
