package component_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/component"
	msg "github.com/tagus-ros/tagus/msgs/composition_interfaces"
	rcl "github.com/tagus-ros/tagus/msgs/rcl_interfaces"
	"github.com/tagus-ros/tagus/msgs/std_msgs"
	"github.com/tagus-ros/tagus/param"
	"github.com/tagus-ros/tagus/param/wire"
	"github.com/tagus-ros/tagus/qos"
)

var serviceQoS = qos.ServicesDefault().WithDepth(200)

// talker publishes and listens on the topic "chatter".
func talker(_ context.Context, o component.Options) (component.Node, error) {
	n, err := o.Domain.NewNode(o.NodeName("talker"), o.NodeOptions()...)
	if err != nil {
		return nil, err
	}
	rate, err := param.Declare(n, "rate", 1000.0, param.Descriptor{})
	if err != nil {
		return nil, errors.Join(err, n.Close())
	}
	pub, err := tagus.NewPublisher[std_msgs.String](n, "chatter", qos.Default())
	if err != nil {
		return nil, errors.Join(err, n.Close())
	}
	_, err = tagus.NewSubscription(n, "chatter", qos.Default(), func(context.Context, *tagus.Sample[std_msgs.String]) {})
	if err != nil {
		return nil, errors.Join(err, n.Close())
	}
	_, err = n.NewTimer(time.Duration(float64(time.Second)/rate.Value()), func(context.Context, tagus.TimerInfo) { pub.Publish(&std_msgs.String{Data: n.Name()}) })
	return n, err
}

func registry(t testing.TB) *component.Registry {
	r := &component.Registry{}
	must(t, r.Register("demo", "demo::Talker", talker))
	must(t, r.Register("demo", "demo::Failing", func(context.Context, component.Options) (component.Node, error) {
		return nil, errors.New("no hardware")
	}))
	must(t, r.Register("demo", "demo::Panicking", func(context.Context, component.Options) (component.Node, error) { panic("no brain") }))
	must(t, r.Register("demo", "demo::Nil", func(context.Context, component.Options) (component.Node, error) { return (*badNode)(nil), nil }))
	must(t, r.Register("demo", "demo::Nothing", func(context.Context, component.Options) (component.Node, error) { return nil, nil }))
	return r
}

func parameter(name string, v param.Value) rcl.Parameter {
	return wire.AppendParameters(nil, param.Parameter{Name: name, Value: v})[0]
}

// TestServices loads, lists and unloads from outside, as "ros2 component" does.
func TestServices(t *testing.T) {
	for _, s := range setups {
		t.Run(s.name, func(t *testing.T) {
			cd, od := s.make(t)
			c := container(t, cd, registry(t))
			o := plain(t, od)
			r := dealWith(t, o)
			load := func(req msg.LoadNodeRequest) string {
				t.Helper()
				resp, err := r.load.Call(soon(t), &req)
				must(t, err)
				return fmt.Sprint(resp.Success, " ", resp.ErrorMessage, " ", resp.FullNodeName, " ", resp.UniqueID)
			}
			list := func() (out []string) {
				resp, err := r.list.Call(soon(t), &msg.ListNodesRequest{})
				must(t, err)
				for i, name := range resp.FullNodeNames {
					out = append(out, fmt.Sprint(resp.UniqueIds[i], " ", name))
				}
				return out
			}
			if l := list(); l != nil {
				t.Error(l)
			}
			talker := msg.LoadNodeRequest{PackageName: "demo", PluginName: "demo::Talker"}
			named := talker
			named.NodeName, named.NodeNamespace = "front", "/robot"
			named.Parameters = []rcl.Parameter{parameter("rate", param.Of(500.0))}
			named.ExtraArguments = []rcl.Parameter{parameter("use_intra_process_comms", param.Of(true))}
			ruled := talker
			ruled.RemapRules = []string{"__node:=rear", "__ns:=/robot"}
			for i, want := range []string{"/talker", "/robot/front", "/robot/rear"} {
				req := []msg.LoadNodeRequest{talker, named, ruled}[i]
				if got := load(req); got != fmt.Sprint("true  ", want, " ", i+1) {
					t.Errorf("%s: %s", want, got)
				}
			}
			if diff := cmp.Diff([]string{"1 /talker", "2 /robot/front", "3 /robot/rear"}, list()); diff != "" {
				t.Error(diff)
			}

			// They are nodes as any others, and have the parameters that were asked for.
			get, err := tagus.NewClient[rcl.GetParameters](o, "/robot/front/get_parameters")
			must(t, err)
			must(t, get.WaitForService(soon(t)))
			resp, err := get.Call(soon(t), &rcl.GetParametersRequest{Names: []string{"rate"}})
			must(t, err)
			if len(resp.Values) != 1 || resp.Values[0].DoubleValue != 500 {
				t.Errorf("%+v", resp.Values)
			}
			heard := make(chan string, 1)
			sub, err := tagus.NewSubscription(o, "/robot/chatter", qos.Default(), func(_ context.Context, s *tagus.Sample[std_msgs.String]) {
				select {
				case heard <- s.Msg.Data:
				default:
				}
			})
			must(t, err)
			for names := map[string]bool{}; len(names) < 2; {
				names[got(t, "message", heard)] = true
			}
			must(t, sub.Close())

			with := func(change func(*msg.LoadNodeRequest)) msg.LoadNodeRequest {
				req := talker
				change(&req)
				return req
			}
			for want, req := range map[string]msg.LoadNodeRequest{
				"there is no component demo demo::Missing; there is demo demo::Failing, demo demo::Nil, demo demo::Nothing, demo demo::Panicking, demo demo::Talker": {PackageName: "demo", PluginName: "demo::Missing"},
				"there is no component  demo::Talker":   {PluginName: "demo::Talker"},
				"no hardware":                           {PackageName: "demo", PluginName: "demo::Failing"},
				"the factory panicked: no brain":        {PackageName: "demo", PluginName: "demo::Panicking"},
				"the factory panicked: runtime error":   {PackageName: "demo", PluginName: "demo::Nil"},
				"returned neither":                      {PackageName: "demo", PluginName: "demo::Nothing"},
				"not a name":                            with(func(r *msg.LoadNodeRequest) { r.NodeName = "not a name" }),
				`remap rule "a:=b" is not supported`:    with(func(r *msg.LoadNodeRequest) { r.RemapRules = []string{"a:=b"} }),
				`remap rule "a=b": want from:=to`:       with(func(r *msg.LoadNodeRequest) { r.RemapRules = []string{"a=b"} }),
				"log_level 10 is not supported":         with(func(r *msg.LoadNodeRequest) { r.LogLevel = 10 }),
				"extra argument speed is not supported": with(func(r *msg.LoadNodeRequest) { r.ExtraArguments = []rcl.Parameter{parameter("speed", param.Of(1))} }),
				"use_intra_process_comms = false": with(func(r *msg.LoadNodeRequest) {
					r.ExtraArguments = []rcl.Parameter{parameter("use_intra_process_comms", param.Of(false))}
				}),
				"extra argument use_intra_process_comms: ": with(func(r *msg.LoadNodeRequest) {
					r.ExtraArguments = []rcl.Parameter{parameter("use_intra_process_comms", param.Of("yes"))}
				}),
				"type number 77": with(func(r *msg.LoadNodeRequest) {
					r.Parameters = []rcl.Parameter{{Name: "x", Value: rcl.ParameterValue{Type: 77}}}
				}),
				"rate": with(func(r *msg.LoadNodeRequest) { r.Parameters = []rcl.Parameter{parameter("rate", param.Of("fast"))} }),
			} {
				if got := load(req); !strings.HasPrefix(got, "false ") || !strings.Contains(got, want) || !strings.HasSuffix(got, "  0") {
					t.Errorf("%q, want %q", got, want)
				}
			}

			unload := func(id uint64) string {
				resp, err := r.unload.Call(soon(t), &msg.UnloadNodeRequest{UniqueID: id})
				must(t, err)
				return fmt.Sprint(resp.Success, " ", resp.ErrorMessage)
			}
			if got := unload(2); got != "true " {
				t.Error(got)
			}
			if got := unload(2); got != "false No node found with unique_id: 2" {
				t.Error(got)
			}
			if diff := cmp.Diff([]string{"1 /talker", "3 /robot/rear"}, list()); diff != "" {
				t.Error(diff)
			}
			if got := load(talker); got != "true  /talker 4" {
				t.Error(got)
			}
			for _, n := range od.Graph().Nodes() {
				if n.Name == "front" && od == cd {
					t.Error("an unloaded node is in the graph")
				}
			}
			must(t, c.Close())
			must(t, c.Close())
			if l := c.Nodes(); l != nil {
				t.Error(l)
			}
			if _, err := c.Load(soon(t), component.Request{Type: component.Type{Package: "demo", Plugin: "demo::Talker"}}); !errors.Is(err, tagus.ErrClosed) {
				t.Error(err)
			}
			if err := c.Unload(1); !errors.Is(err, tagus.ErrClosed) {
				t.Error(err)
			}
		})
	}
}

// TestUnderFire loads and unloads components from many callers at once while messages rush through all of them: every call gets its answer, and
// what is left in the end is what was not unloaded.
func TestUnderFire(t *testing.T) {
	for _, s := range setups {
		t.Run(s.name, func(t *testing.T) {
			cd, od := s.make(t)
			c := container(t, cd, registry(t))
			o := plain(t, od)
			r := dealWith(t, o)
			pub, err := tagus.NewPublisher[std_msgs.String](o, "chatter", qos.Default())
			must(t, err)
			end := make(chan struct{})
			var fire sync.WaitGroup
			fire.Go(func() {
				for {
					select {
					case <-end:
						return
					default:
						pub.Publish(&std_msgs.String{Data: "fire"})
						time.Sleep(100 * time.Microsecond)
					}
				}
			})
			const callers, each = 8, 6
			var left sync.Map
			var ids atomic.Int64
			var wg sync.WaitGroup
			for i := range callers {
				wg.Go(func() {
					for k := range each {
						req := &msg.LoadNodeRequest{PackageName: "demo", PluginName: "demo::Talker", NodeName: fmt.Sprintf("talker_%d_%d", i, k)}
						if k == 2 {
							req.PluginName = "demo::Panicking"
						}
						resp, err := r.load.Call(soon(t), req)
						if err != nil {
							t.Error(err)
							return
						}
						if resp.Success != (k != 2) {
							t.Errorf("%+v", resp)
						}
						if !resp.Success {
							continue
						}
						ids.Add(1)
						if k == 5 {
							left.Store(resp.UniqueID, resp.FullNodeName)
							continue
						}
						if gone, err := r.unload.Call(soon(t), &msg.UnloadNodeRequest{UniqueID: resp.UniqueID}); err != nil || !gone.Success {
							t.Errorf("%v %+v", err, gone)
							return
						}
					}
				})
			}
			wg.Wait()
			close(end)
			fire.Wait()
			resp, err := r.list.Call(soon(t), &msg.ListNodesRequest{})
			must(t, err)
			if len(resp.UniqueIds) != callers || ids.Load() != callers*(each-1) {
				t.Errorf("%d are left, %d were loaded", len(resp.UniqueIds), ids.Load())
			}
			last := uint64(0)
			for i, id := range resp.UniqueIds {
				if name, ok := left.Load(id); !ok || name != resp.FullNodeNames[i] || id <= last {
					t.Errorf("%d %s is in the list", id, resp.FullNodeNames[i])
				}
				last = id
			}
			must(t, c.Close())
		})
	}
}

// TestSlowFactory: a factory that hangs keeps nobody from loading, unloading and listing; it ends with the container.
func TestSlowFactory(t *testing.T) {
	cd, od := setups[1].make(t)
	reg := registry(t)
	began := make(chan struct{}, 10)
	must(t, reg.Register("demo", "demo::Slow", func(ctx context.Context, o component.Options) (component.Node, error) {
		began <- struct{}{}
		<-ctx.Done()
		return talker(ctx, o) // too late
	}))
	c := container(t, cd, reg)
	r := dealWith(t, plain(t, od))
	slow := make(chan bool, 1)
	go func() {
		resp, err := r.load.Call(soon(t), &msg.LoadNodeRequest{PackageName: "demo", PluginName: "demo::Slow"})
		slow <- err == nil && resp.Success
	}()
	local := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, err := c.Load(ctx, component.Request{Type: component.Type{Package: "demo", Plugin: "demo::Slow"}, Name: "local"})
		local <- err
	}()
	got(t, "slow factory", began)
	got(t, "slow factory", began)
	resp, err := r.load.Call(soon(t), &msg.LoadNodeRequest{PackageName: "demo", PluginName: "demo::Talker"})
	must(t, err)
	if gone, err := r.unload.Call(soon(t), &msg.UnloadNodeRequest{UniqueID: resp.UniqueID}); err != nil || !gone.Success {
		t.Errorf("%v %+v", err, gone)
	}
	cancel() // of the local caller: its factory makes the node all the same
	must(t, got(t, "local load", local))
	if n := c.Nodes(); len(n) != 1 || n[0].Name != "/local" {
		t.Error(n)
	}
	must(t, c.Close())
	if got(t, "end of the slow load", slow) {
		t.Error("a node was loaded into a closed container")
	}
	for _, n := range cd.Graph().Nodes() {
		if n.Name == "talker" || n.Name == "local" {
			t.Errorf("%s is left", n.FullName())
		}
	}
}

// TestUnloadInside: a component can have itself unloaded from its own callback, and the container closed.
func TestUnloadInside(t *testing.T) {
	d := join(t, t.TempDir())
	spin(t, d)
	reg := &component.Registry{}
	var c *component.Container
	done := make(chan error, 10)
	selfish := func(end func() error) component.Factory {
		return func(_ context.Context, o component.Options) (component.Node, error) {
			n, err := o.Domain.NewNode(o.NodeName("selfish"), o.NodeOptions()...)
			if err != nil {
				return nil, err
			}
			var once sync.Once
			_, err = n.NewTimer(20*time.Millisecond, func(context.Context, tagus.TimerInfo) { once.Do(func() { done <- end() }) })
			return n, err
		}
	}
	must(t, reg.Register("demo", "unload", selfish(func() error { return c.Unload(1) })))
	must(t, reg.Register("demo", "close", selfish(func() error { return c.Close() })))
	c = container(t, d, reg)
	for _, plugin := range []string{"unload", "close"} {
		_, err := c.Load(soon(t), component.Request{Type: component.Type{Package: "demo", Plugin: plugin}})
		must(t, err)
		must(t, got(t, plugin, done))
	}
	if n := c.Nodes(); n != nil {
		t.Error(n)
	}
}

// badNode does not close well.
type badNode struct {
	*tagus.Node
	panics bool
}

func (b *badNode) Close() error {
	err := b.Node.Close()
	if b.panics {
		panic("ouch")
	}
	return errors.Join(err, errors.New("the motor still turns"))
}

func TestBadEnd(t *testing.T) {
	d := join(t, t.TempDir())
	reg := &component.Registry{}
	for _, panics := range []bool{false, true} {
		must(t, reg.Register("demo", fmt.Sprint(panics), func(_ context.Context, o component.Options) (component.Node, error) {
			n, err := o.Domain.NewNode(o.NodeName("bad"), o.NodeOptions()...)
			return &badNode{n, panics}, err
		}))
	}
	c := container(t, d, reg)
	load := func(plugin string) component.Loaded {
		l, err := c.Load(soon(t), component.Request{Type: component.Type{Package: "demo", Plugin: plugin}})
		must(t, err)
		return l
	}
	if err := c.Unload(load("false").ID); err == nil || !strings.Contains(err.Error(), "the motor still turns") {
		t.Error(err)
	}
	if err := c.Unload(load("true").ID); err == nil || !strings.Contains(err.Error(), "panicked while it was closed: ouch") {
		t.Error(err)
	}
	if n := c.Nodes(); n != nil {
		t.Error(n)
	}
	load("false")
	if err := c.Close(); err == nil || !strings.Contains(err.Error(), "/bad: the motor still turns") {
		t.Error(err)
	}
}

// TestEndOfDomain: the nodes of a container close with its domain.
func TestEndOfDomain(t *testing.T) {
	d := join(t, t.TempDir())
	c, err := component.NewContainer(d, "container", registry(t), component.WithNodeOptions(tagus.WithNamespace("/robot")),
		component.WithComponentOptions(tagus.WithNamespace("/parts")))
	must(t, err)
	if n := c.Node().FullyQualifiedName(); n != "/robot/container" {
		t.Error(n)
	}
	l, err := c.Load(soon(t), component.Request{Type: component.Type{Package: "demo", Plugin: "demo::Talker"}})
	must(t, err)
	if l.Name != "/parts/talker" || l.ID != 1 {
		t.Error(l)
	}
	must(t, d.Close())
	if n := c.Nodes(); n != nil {
		t.Error(n)
	}
	if _, err := component.NewContainer(d, "container", nil); !errors.Is(err, tagus.ErrClosed) {
		t.Error(err)
	}
}

var registered = component.Register("component_test", "Talker", talker)

func TestRegistry(t *testing.T) {
	r := &component.Registry{}
	if len(r.Types()) != 0 {
		t.Error(r.Types())
	}
	must(t, r.Register("b", "x", talker))
	must(t, r.Register("a", "y", talker))
	must(t, r.Register("a", "x", talker))
	for _, bad := range []error{r.Register("a", "x", talker), r.Register("", "x", talker), r.Register("a", "", talker), r.Register("a", "z", nil)} {
		if bad == nil {
			t.Error("registered")
		}
	}
	if diff := cmp.Diff([]component.Type{{Package: "a", Plugin: "x"}, {Package: "a", Plugin: "y"}, {Package: "b", Plugin: "x"}}, r.Types()); diff != "" {
		t.Error(diff)
	}
	many := &component.UnknownError{Wanted: component.Type{Package: "a", Plugin: "b"}}
	for i := range 15 {
		many.Known = append(many.Known, component.Type{Package: "p", Plugin: fmt.Sprint(i)})
	}
	if s := many.Error(); !strings.HasSuffix(s, "p 9 and 5 more") {
		t.Error(s)
	}
	if types := component.Default.Types(); registered != nil || len(types) != 1 || types[0].String() != "component_test Talker" {
		t.Error(registered, types)
	}
}
