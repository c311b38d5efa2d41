package remote_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tagus-ros/tagus"
	rcl "github.com/tagus-ros/tagus/msgs/rcl_interfaces"
	"github.com/tagus-ros/tagus/param"
	"github.com/tagus-ros/tagus/param/remote"
	"github.com/tagus-ros/tagus/qos"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func join(t *testing.T, dir string, opts ...tagus.DomainOption) *tagus.Domain {
	t.Helper()
	d, err := tagus.Join(append([]tagus.DomainOption{tagus.WithDir(dir), tagus.WithDomainID(7)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- d.Spin(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-done, d.Close()); err != nil {
			t.Error(err)
		}
	})
	return d
}

func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// setups are the ways in which who asks and who is asked can be apart.
var setups = []struct {
	name string
	make func(t *testing.T, opts ...tagus.DomainOption) (asked, asking *tagus.Domain)
}{
	{"in process", func(t *testing.T, opts ...tagus.DomainOption) (*tagus.Domain, *tagus.Domain) {
		d := join(t, t.TempDir(), opts...)
		return d, d
	}},
	{"one process without in-process delivery", func(t *testing.T, opts ...tagus.DomainOption) (*tagus.Domain, *tagus.Domain) {
		d := join(t, t.TempDir(), append(opts, tagus.WithInProcess(false))...)
		return d, d
	}},
	{"two participants", func(t *testing.T, opts ...tagus.DomainOption) (*tagus.Domain, *tagus.Domain) {
		dir := t.TempDir()
		return join(t, dir, opts...), join(t, dir)
	}},
}

// pair makes a node with parameters and a client for it.
func pair(t *testing.T, setup func(*testing.T, ...tagus.DomainOption) (asked, asking *tagus.Domain), opts ...tagus.DomainOption) (*tagus.Node, *remote.Client) {
	t.Helper()
	ad, qd := setup(t, opts...)
	n, err := ad.NewNode("camera", tagus.WithNamespace("/front"))
	if err != nil {
		t.Fatal(err)
	}
	q, err := qd.NewNode("asking", tagus.WithNamespace("/front"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := remote.New(q, "camera")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.Wait(within(t, 10*time.Second)); err != nil {
		t.Fatal(err)
	}
	return n, c
}

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func texts(values []param.Value) string {
	var out []string
	for _, v := range values {
		out = append(out, v.Type().String()+" "+v.String())
	}
	return strings.Join(out, ", ")
}

func TestServices(t *testing.T) {
	for _, s := range setups {
		t.Run(s.name, func(t *testing.T) {
			n, c := pair(t, s.make)
			rate := must[*param.Param[float64]](t)(param.Declare(n, "rate", 10.0, param.Descriptor{Description: "images a second", FloatingPoint: &param.FloatingPointRange{From: 1, To: 60}}))
			must[*param.Param[bool]](t)(param.Declare(n, "exposure.auto", true, param.Descriptor{}))
			must[*param.Param[string]](t)(param.Declare(n, "serial", "x1", param.Descriptor{ReadOnly: true}))
			must[*param.Param[[]int64]](t)(param.Declare(n, "roi", []int64{}, param.Descriptor{}))
			must[*param.Param[param.Value]](t)(param.Declare(n, "any", param.Of(1), param.Descriptor{DynamicTyping: true}))
			ctx := within(t, 10*time.Second)

			names, prefixes, err := c.List(ctx, nil, param.Recursive)
			if err != nil || fmt.Sprint(names, prefixes) != "[any exposure.auto rate roi serial use_sim_time] [exposure]" {
				t.Errorf("list: %v %v, %v", names, prefixes, err)
			}
			values, err := c.Get(ctx, "rate", "nothing", "serial")
			if got := texts(values); err != nil || got != "double 10.0, not set None, string x1" {
				t.Errorf("get: %s, %v", got, err)
			}
			types, err := c.Types(ctx, "roi", "nothing")
			if err != nil || !reflect.DeepEqual(types, []param.Type{param.IntegerArray, param.NotSet}) {
				t.Errorf("types: %v, %v", types, err)
			}
			infos, err := c.Describe(ctx, "rate", "nothing", "serial")
			want := must[[]param.Info](t)(n.Parameters().Describe("rate", "serial"))
			if err != nil || len(infos) != 3 || !reflect.DeepEqual([]param.Info{infos[0], infos[2]}, want) || !reflect.DeepEqual(infos[1], param.Info{Name: "nothing"}) {
				t.Errorf("describe: %+v, %v", infos, err)
			}

			// As people write them: an integer for a double, [] for any array.
			if err := c.Set(ctx, param.Parameter{Name: "rate", Value: param.Of(1)}, param.Parameter{Name: "roi", Value: param.Guess("[]")}); err != nil {
				t.Error(err)
			}
			if rate.Value() != 1 {
				t.Errorf("rate is %v", rate.Value())
			}
			// One by one, a refusal does not keep the others.
			err = c.Set(ctx, param.Parameter{Name: "rate", Value: param.Of("abc")}, param.Parameter{Name: "exposure.auto", Value: param.Of(false)},
				param.Parameter{Name: "serial", Value: param.Of("y")}, param.Parameter{Name: "nothing", Value: param.Of(1)})
			for _, want := range []string{"parameter rate of /front/camera", "want double, given string 'abc'", "serial", "read-only", "nothing", "not declared"} {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("set: %v does not say %q", err, want)
				}
			}
			if v := must[[]param.Value](t)(c.Get(ctx, "rate", "exposure.auto")); texts(v) != "double 1.0, boolean False" {
				t.Errorf("after a refusal: %s", texts(v))
			}
			// Atomically, it does.
			err = c.SetAtomically(ctx, param.Parameter{Name: "exposure.auto", Value: param.Of(true)}, param.Parameter{Name: "rate", Value: param.Of(100)})
			var refused *remote.SetError
			if !errors.As(err, &refused) || refused.Node != "/front/camera" || !strings.Contains(refused.Reason, "not in the range") {
				t.Errorf("set atomically: %v", err)
			}
			if v := must[[]param.Value](t)(c.Get(ctx, "exposure.auto")); texts(v) != "boolean False" {
				t.Errorf("after a refused batch: %s", texts(v))
			}
			if err := c.SetAtomically(ctx, param.Parameter{Name: "exposure.auto", Value: param.Of(true)}, param.Parameter{Name: "rate", Value: param.Of(60)}); err != nil || rate.Value() != 60 {
				t.Errorf("set atomically: %v, rate %v", err, rate.Value())
			}
			if err := c.Delete(ctx, "any"); err != nil || n.Parameters().Declared("any") {
				t.Errorf("delete: %v", err)
			}
			if err := c.Delete(ctx, "rate"); err == nil {
				t.Error("deleted a parameter of a fixed type")
			}

			dump, err := c.Dump(ctx)
			if want := "/front/camera:\n  ros__parameters:\n    exposure:\n      auto: true\n    rate: 60.0\n    roi: []\n    serial: x1\n    use_sim_time: false\n"; err != nil || string(dump) != want {
				t.Errorf("dump: %v\n%s", err, dump)
			}
			file, err := param.ParseFile("f", []byte("/front/*:\n  ros__parameters:\n    rate: 5\n    exposure.auto: false\n/other:\n  ros__parameters:\n    rate: 6\n"))
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Load(ctx, file); err != nil || rate.Value() != 5 {
				t.Errorf("load: %v, rate %v", err, rate.Value())
			}
			if err := c.Load(ctx, nil); err == nil {
				t.Error("loaded nothing")
			}
		})
	}
}

func TestEvents(t *testing.T) {
	for _, s := range setups {
		t.Run(s.name, func(t *testing.T) {
			n, c := pair(t, s.make)
			got := make(chan string, 10)
			sub, err := c.Watch(func(_ context.Context, e param.Event) { got <- fmt.Sprint(e.Node, e.New, e.Changed, e.Deleted) })
			if err != nil {
				t.Fatal(err)
			}
			ctx := within(t, 10*time.Second)
			if err := sub.WaitForPublishers(ctx, 2); err != nil { // that of the asking node too
				t.Fatal(err)
			}
			step := func(want string) {
				t.Helper()
				select {
				case e := <-got:
					if e != want {
						t.Errorf("%s, want %s", e, want)
					}
				case <-ctx.Done():
					t.Fatalf("%s was not told", want)
				}
			}
			p, err := param.Declare(n, "a", param.Of(1), param.Descriptor{DynamicTyping: true})
			must[*param.Param[param.Value]](t)(p, err)
			step("/front/camera[{a 1}] [] []")
			if err := c.Set(ctx, param.Parameter{Name: "a", Value: param.Of("x")}); err != nil {
				t.Error(err)
			}
			step("/front/camera[] [{a x}] []")
			if err := c.Delete(ctx, "a"); err != nil {
				t.Error(err)
			}
			step("/front/camera[] [] [{a x}]")
		})
	}
}

// The event has the time at which the parameter changed.
func TestEventStamp(t *testing.T) {
	d := join(t, t.TempDir())
	n := must[*tagus.Node](t)(d.NewNode("n"))
	stamps := make(chan time.Time, 1)
	sub, err := tagus.NewSubscription(n, "/parameter_events", qos.ParameterEvents(), func(_ context.Context, s *tagus.Sample[rcl.ParameterEvent]) {
		stamps <- time.Unix(int64(s.Msg.Stamp.Sec), int64(s.Msg.Stamp.Nanosec))
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := sub.WaitForPublishers(within(t, 5*time.Second), 1); err != nil {
		t.Fatal(err)
	}
	before := time.Now()
	must[*param.Param[int]](t)(param.Declare(n, "a", 1, param.Descriptor{}))
	if at := <-stamps; at.Before(before) || time.Since(at) > 10*time.Second {
		t.Errorf("stamp %v, declared at %v", at, before)
	}
}

func TestNobodyThere(t *testing.T) {
	d := join(t, t.TempDir())
	n := must[*tagus.Node](t)(d.NewNode("n"))
	c := must[*remote.Client](t)(remote.New(n, "/gone"))
	_, err := c.Get(within(t, 20*time.Millisecond), "a")
	var failed *remote.Error
	if !errors.Is(err, tagus.ErrNoServer) || !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &failed) || failed.Node != "/gone" {
		t.Errorf("get: %v", err)
	}
	// It can be asked before it is there.
	answer := make(chan error, 1)
	ctx := within(t, 10*time.Second)
	go func() {
		_, err := c.Get(ctx, "use_sim_time")
		answer <- err
	}()
	must[*tagus.Node](t)(d.NewNode("gone"))
	if err := <-answer; err != nil {
		t.Errorf("get from a node that came later: %v", err)
	}
	if _, err := remote.New(n, "not a name"); err == nil {
		t.Error("took a name that no node can have")
	}
	if err := errors.Join(c.Close(), c.Close()); err != nil {
		t.Error(err)
	}
	if _, err := c.Get(ctx, "a"); !errors.Is(err, tagus.ErrClosed) {
		t.Errorf("get after close: %v", err)
	}
}

// A node without the services can be made; it is there and answers nothing.
func TestBareNode(t *testing.T) {
	d := join(t, t.TempDir())
	n := must[*tagus.Node](t)(d.NewNode("bare", tagus.WithoutROSServices()))
	if got := d.Graph().Of(d.Graph().NodesNamed(n.FullyQualifiedName())[0]); len(got) != 0 {
		t.Errorf("endpoints: %v", got)
	}
}
