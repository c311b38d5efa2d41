package tagus_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/param"
)

// Parameters are taken as people write them, from wherever: 1 for a double, [] for a list.
// What does not fit is refused, with an error that says whose, which, and where from.
func TestParametersAsWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "camera.yaml")
	if err := os.WriteFile(file, []byte("/**/camera:\n  ros__parameters:\n    rate: 1\n    roi: []\n    bad: abc\n    count: 1.5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for from, opts := range map[string]struct {
		args  []string
		given map[string]param.Value
		bad   string // where the bad value stands
	}{
		"file":         {[]string{"--params-file", file}, nil, "camera.yaml:5"},
		"command line": {[]string{"-p", "rate:=1", "-p", "roi:=[]", "-p", "bad:=abc", "-p", "count:=1.5"}, nil, "bad:=abc"},
		"program":      {nil, map[string]param.Value{"rate": param.Of(int64(1)), "roi": param.Of([]string{}), "bad": param.Of("abc"), "count": param.Of(1.5)}, "WithParameterOverrides"},
	} {
		t.Run(from, func(t *testing.T) {
			d := join(t, t.TempDir(), tagus.WithArgs(append([]string{"p", "--ros-args"}, opts.args...)))
			defer d.Close()
			n, err := d.NewNode("camera", tagus.WithNamespace("/front"), tagus.WithParameterOverrides(opts.given))
			if err != nil {
				t.Fatal(err)
			}
			if rate, err := param.Declare(n, "rate", 10.0, param.Descriptor{}); err != nil || rate.Value() != 1 {
				t.Errorf("rate: %v", err)
			}
			if roi, err := param.Declare(n, "roi", []int64{1}, param.Descriptor{}); err != nil || len(roi.Value()) != 0 {
				t.Errorf("roi: %v", err)
			}
			_, err = param.Declare(n, "bad", 1.0, param.Descriptor{})
			for _, want := range []string{"parameter bad of /front/camera", opts.bad, "want double, given string 'abc'"} {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("bad: %v does not say %q", err, want)
				}
			}
			var wrong *param.TypeError
			if _, err = param.Declare(n, "count", 1, param.Descriptor{}); !errors.As(err, &wrong) || wrong.Want != param.Integer {
				t.Errorf("count: %v", err)
			}
		})
	}
}

// A node whose own parameters are given nonsense is not made.
func TestBadBuiltInParameter(t *testing.T) {
	d := join(t, t.TempDir(), tagus.WithArgs([]string{"p", "--ros-args", "-p", "use_sim_time:=perhaps"}))
	defer d.Close()
	if _, err := d.NewNode("n"); err == nil || !strings.Contains(err.Error(), "use_sim_time") {
		t.Errorf("made: %v", err)
	}
	if n := d.Graph().Nodes(); len(n) != 0 {
		t.Errorf("left: %v", n)
	}
}

func TestUndeclaredParameters(t *testing.T) {
	d := join(t, t.TempDir())
	defer d.Close()
	n, err := d.NewNode("n", tagus.WithUndeclaredParameters())
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Parameters().Set(t.Context(), "any", param.Of("x")); err != nil {
		t.Error(err)
	}
	if err := node(t, d, "strict").Parameters().Set(t.Context(), "any", param.Of("x")); !errors.Is(err, param.ErrNotDeclared) {
		t.Errorf("undeclared: %v", err)
	}
}
