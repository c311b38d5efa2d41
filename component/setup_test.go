package component_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/component"
	msg "github.com/tagus-ros/tagus/msgs/composition_interfaces"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func join(t testing.TB, dir string) *tagus.Domain {
	t.Helper()
	d, err := tagus.Join(tagus.WithDir(dir), tagus.WithDomainID(7), tagus.WithLogHandler(slog.DiscardHandler))
	must(t, err)
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

// setups are the ways in which a container and those who deal with it can be apart.
var setups = []struct {
	name string
	make func(t testing.TB) (container, other *tagus.Domain)
}{
	{"in process", func(t testing.TB) (container, other *tagus.Domain) {
		d := join(t, t.TempDir())
		spin(t, d)
		return d, d
	}},
	{"two participants", func(t testing.TB) (container, other *tagus.Domain) {
		dir := t.TempDir()
		container, other = join(t, dir), join(t, dir)
		spin(t, container)
		spin(t, other)
		return container, other
	}},
}

func soon(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
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

func plain(t testing.TB, d *tagus.Domain) *tagus.Node {
	t.Helper()
	n, err := d.NewNode("other")
	must(t, err)
	return n
}

func container(t testing.TB, d *tagus.Domain, r *component.Registry) *component.Container {
	t.Helper()
	c, err := component.NewContainer(d, "container", r)
	must(t, err)
	return c
}

// remote deals with a container from outside.
type remote struct {
	load   *tagus.Client[msg.LoadNodeRequest, msg.LoadNodeResponse]
	unload *tagus.Client[msg.UnloadNodeRequest, msg.UnloadNodeResponse]
	list   *tagus.Client[msg.ListNodesRequest, msg.ListNodesResponse]
}

func dealWith(t testing.TB, n *tagus.Node) *remote {
	t.Helper()
	r := &remote{}
	depth := tagus.WithServiceQoS(serviceQoS)
	var err error
	r.load, err = tagus.NewClient[msg.LoadNode](n, "/container/_container/load_node", depth)
	must(t, err)
	r.unload, err = tagus.NewClient[msg.UnloadNode](n, "/container/_container/unload_node", depth)
	must(t, err)
	r.list, err = tagus.NewClient[msg.ListNodes](n, "/container/_container/list_nodes", depth)
	must(t, err)
	must(t, r.load.WaitForService(soon(t)))
	must(t, r.unload.WaitForService(soon(t)))
	must(t, r.list.WaitForService(soon(t)))
	return r
}
