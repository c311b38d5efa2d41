package tagus_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tagus-ros/tagus"
	rcl "github.com/tagus-ros/tagus/msgs/rcl_interfaces"
	"github.com/tagus-ros/tagus/qos"
)

// lines collects what a domain logs.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, strings.TrimSuffix(string(b), "\n"))
	return len(b), nil
}

func (l *lines) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer func() { l.all = nil }()
	return l.all
}

func (l *lines) handler() slog.Handler {
	return slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(g []string, a slog.Attr) slog.Attr {
		if len(g) == 0 && a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
}

// A program writes as any other ROS 2 program does.
func TestConsole(t *testing.T) {
	if os.Getenv("TAGUS_TEST_CONSOLE") != "" {
		d, err := tagus.Join(tagus.WithDir(t.TempDir()), tagus.WithArgs(append([]string{"prog", "--ros-args"}, strings.Fields(os.Getenv("TAGUS_TEST_CONSOLE"))...)))
		if err != nil {
			t.Fatal(err)
		}
		n, err := d.NewNode("talker", tagus.WithNamespace("/a"))
		if err != nil {
			t.Fatal(err)
		}
		n.Logger().Info("hello", "n", 1, "text", "two words", slog.Group("g", "x", 0.5), "err", errors.New("bad"))
		n.Logger().Debug("details")
		n.ChildLogger("part").With("k", time.Second).WithGroup("h").Debug("details of a part", "v", []int{1})
		n.Logger().Log(context.Background(), tagus.LevelFatal, "the end")
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		return
	}
	for args, want := range map[string][]string{
		"--log-level info": {`[INFO] [T] [a.talker]: hello n=1 text="two words" g.x=0.5 err=bad`, `[FATAL] [T] [a.talker]: the end`},
		"--log-level error --log-level a.talker.part:=debug": {`[DEBUG] [T] [a.talker.part]: details of a part k=1s h.v=[1]`, `[FATAL] [T] [a.talker]: the end`},
		"--log-level a:=debug -r __node:=x --disable-rosout-logs": {`[INFO] [T] [a.x]: hello n=1 text="two words" g.x=0.5 err=bad`, `[DEBUG] [T] [a.x]: details`,
			`[DEBUG] [T] [a.x.part]: details of a part k=1s h.v=[1]`, `[FATAL] [T] [a.x]: the end`},
		"--disable-stdout-logs": nil,
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestConsole$")
		cmd.Env = append(os.Environ(), "TAGUS_TEST_CONSOLE="+args)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		if out, err := cmd.Output(); err != nil {
			t.Fatalf("%s: %v\n%s%s", args, err, out, stderr.String())
		}
		var got []string
		for _, l := range strings.Split(strings.TrimSpace(stderr.String()), "\n") {
			if l != "" {
				got = append(got, regexp.MustCompile(`\[\d{10}\.\d{9}\]`).ReplaceAllString(l, "[T]"))
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s:\n%s\nwant\n%s", args, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestLogHandler(t *testing.T) {
	var l lines
	d := join(t, t.TempDir(), tagus.WithLogHandler(l.handler()), tagus.WithArgs([]string{"p", "--ros-args", "--log-level", "warn"}))
	defer d.Close()
	n := node(t, d, "talker")
	n.Logger().Info("no")
	n.Logger().With("a", 1).WithGroup("g").Warn("yes", "b", 2)
	if got, want := l.take(), []string{`level=WARN msg=yes logger=talker a=1 g.b=2`}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestRosout(t *testing.T) {
	for _, s := range setups {
		t.Run(s.name, func(t *testing.T) {
			nd, sd := s.make(t)
			n := node(t, nd, "talker")
			n.Logger().Info("early", "n", 1)
			got := make(chan rcl.Log, 10)
			sub, err := tagus.NewSubscription(node(t, sd, "listener"), "/rosout", qos.Rosout(), func(_ context.Context, s *tagus.Sample[rcl.Log]) {
				got <- *s.Msg
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := sub.WaitForPublishers(within(t, 5*time.Second), 1); err != nil {
				t.Fatal(err)
			}
			n.Logger().Error("late")
			for _, want := range []rcl.Log{{Level: rcl.LogInfo, Msg: "early n=1"}, {Level: rcl.LogError, Msg: "late"}} {
				select {
				case m := <-got:
					if m.Level != want.Level || m.Msg != want.Msg || m.Name != "talker" || m.Function != "tagus_test.TestRosout.func1" || !strings.HasSuffix(m.File, "logger_test.go") || m.Line == 0 {
						t.Errorf("%+v, want %+v", m, want)
					}
					if at := time.Unix(int64(m.Stamp.Sec), int64(m.Stamp.Nanosec)); time.Since(at) > time.Minute || time.Since(at) < 0 {
						t.Errorf("stamp %v", at)
					}
				case <-time.After(5 * time.Second):
					t.Fatalf("%s did not come", want.Msg)
				}
			}
		})
	}
}

func TestLoggerServices(t *testing.T) {
	var l lines
	d := join(t, t.TempDir(), tagus.WithLogHandler(l.handler()))
	spin(t, d)
	n, err := d.NewNode("talker", tagus.WithLoggerServices())
	if err != nil {
		t.Fatal(err)
	}
	ctx := within(t, 10*time.Second)
	get, err := tagus.NewClient[rcl.GetLoggerLevels](n, "talker/get_logger_levels")
	if err != nil {
		t.Fatal(err)
	}
	set, err := tagus.NewClient[rcl.SetLoggerLevels](n, "talker/set_logger_levels")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(get.WaitForService(ctx), set.WaitForService(ctx)); err != nil {
		t.Fatal(err)
	}
	n.Logger().Debug("no")
	done, err := set.Call(ctx, &rcl.SetLoggerLevelsRequest{Levels: []rcl.LoggerLevel{{Name: "talker", Level: 10}, {Name: "x", Level: 11}, {Name: "x", Level: 1 << 20}}})
	if err != nil || len(done.Results) != 3 || !done.Results[0].Successful || done.Results[1].Successful || done.Results[2].Successful || done.Results[1].Reason == "" {
		t.Fatalf("set: %+v, %v", done, err)
	}
	n.Logger().Debug("yes")
	if got, want := l.take(), []string{"level=DEBUG msg=yes logger=talker"}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", got, want)
	}
	levels, err := get.Call(ctx, &rcl.GetLoggerLevelsRequest{Names: []string{"talker", "x"}})
	if err != nil || fmt.Sprint(levels.Levels) != "[{talker 10} {x 0}]" {
		t.Errorf("get: %v, %v", levels, err)
	}
}

func TestThrottled(t *testing.T) {
	var l lines
	d := join(t, t.TempDir(), tagus.WithLogHandler(l.handler()))
	defer d.Close()
	n := node(t, d, "n")
	hour, always, once := tagus.Throttled(n.Logger(), time.Hour), tagus.Throttled(n.Logger(), 0), tagus.Once(n.Logger())
	for i := range 3 {
		hour.Info("a", "i", i)
		hour.With("k", 1).Info("b", "i", i)
		always.Info("c", "i", i)
		once.Info("d", "i", i)
	}
	want := []string{"a i=0", "b k=1 i=0", "c i=0", "d i=0", "c i=1", "c i=2"}
	got := l.take()
	for i := range got {
		got[i] = strings.ReplaceAll(strings.TrimPrefix(got[i], "level=INFO msg="), " logger=n", "")
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Logging what is not let through allocates nothing, nor does a message for /rosout that
// has no attributes, once what it needs was made.
func TestLogAllocations(t *testing.T) {
	d := join(t, t.TempDir(), tagus.WithArgs([]string{"p", "--ros-args", "--disable-stdout-logs"}))
	defer d.Close()
	n := node(t, d, "n")
	l, ctx := n.Logger(), context.Background()
	v := 1000
	if got := testing.AllocsPerRun(100, func() {
		l.LogAttrs(ctx, slog.LevelDebug, "off", slog.Int("v", v))
		l.Debug("off", "k", "v")
	}); got != 0 {
		t.Errorf("%v allocations for a level that is off", got)
	}
	for range 1100 { // until what is kept is used again
		l.Info("on")
	}
	if got := testing.AllocsPerRun(100, func() { l.Info("on") }); got != 0 {
		t.Errorf("%v allocations for /rosout", got)
	}
	bare, err := d.NewNode("bare", tagus.WithoutROSServices())
	if err != nil {
		t.Fatal(err)
	}
	if bare.Logger().Enabled(ctx, slog.LevelError) {
		t.Error("enabled though nobody listens")
	}
}
