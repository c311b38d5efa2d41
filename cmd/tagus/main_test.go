package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/graph"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"tagus": main})
}

// TestScripts runs the archives in testdata, one after the other, since they measure. Each gets a domain folder of its own. Besides the usual
// commands there is
//
//	waitfor TOPIC…            wait until somebody publishes or hears each of the topics
//	json FILE PATH OP VALUE   compare a value of a JSON file: PATH is keys and indices joined by dots, or "len" for a length;
//	                          OP is ==, !=, <, <=, >, >=, ~ (a regular expression)
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no archives in testdata:", err)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) { runScript(t, f) })
	}
}

func runScript(t *testing.T, file string) {
	testscript.Run(t, testscript.Params{
		Files:               []string{file},
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("TAGUS_DIR", e.WorkDir+"/domains")
			e.Setenv("ROS_DOMAIN_ID", "")
			return os.Mkdir(e.WorkDir+"/domains", 0o700)
		},
		Condition: func(cond string) (bool, error) {
			if cond == "cpus2" {
				return cpus() > 1, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"json": jsonCmd, "waitfor": waitCmd},
	})
}

func cpus() int {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return 1
	}
	return strings.Count(string(data), "processor\t")
}

// waitCmd is cheaper than to run the program again and again.
func waitCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: waitfor TOPIC…")
	}
	d, err := tagus.Join(tagus.WithDir(ts.Getenv("TAGUS_DIR")), tagus.WithDomainID(0))
	ts.Check(err)
	defer d.Close()
	ts.Check(d.WatchGraph())
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	defer stop()
	for _, topic := range args {
		if err := d.Graph().Wait(ctx, func(g *graph.Graph) bool {
			return g.Count(graph.KindPublisher, topic)+g.Count(graph.KindSubscription, topic) > 0
		}); err != nil {
			ts.Fatalf("no topic %s: %v", topic, err)
		}
	}
}

func jsonCmd(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 4 {
		ts.Fatalf("usage: json FILE PATH OP VALUE")
	}
	var v any
	if err := json.Unmarshal([]byte(ts.ReadFile(args[0])), &v); err != nil {
		ts.Fatalf("%s: %v", args[0], err)
	}
	for _, k := range strings.Split(args[1], ".") {
		switch x := v.(type) {
		case map[string]any:
			var ok bool
			if v, ok = x[k]; !ok {
				ts.Fatalf("%s: no key %q", args[1], k)
			}
		case []any:
			if k == "len" {
				v = float64(len(x))
				continue
			}
			i, err := strconv.Atoi(k)
			if err != nil || i >= len(x) {
				ts.Fatalf("%s: no element %q of %d", args[1], k, len(x))
			}
			v = x[i]
		default:
			ts.Fatalf("%s: nothing below %v", args[1], v)
		}
	}
	if ok := compare(ts, v, args[2], args[3]); ok == neg {
		ts.Fatalf("%s is %v, want %v %s %s", args[1], v, !neg, args[2], args[3])
	}
}

func compare(ts *testscript.TestScript, v any, op, want string) bool {
	text := fmt.Sprint(v)
	if op == "~" {
		return regexp.MustCompile(want).MatchString(text)
	}
	x, isNumber := v.(float64)
	y, err := strconv.ParseFloat(want, 64)
	if !isNumber || err != nil {
		switch op {
		case "==":
			return text == want
		case "!=":
			return text != want
		}
		ts.Fatalf("cannot compare %v %s %s", v, op, want)
	}
	switch op {
	case "==":
		return x == y
	case "!=":
		return x != y
	case "<":
		return x < y
	case "<=":
		return x <= y
	case ">":
		return x > y
	case ">=":
		return x >= y
	}
	ts.Fatalf("unknown comparison %q", op)
	return false
}
