package tagus_test

import (
	"context"
	"strings"
	"testing"

	"github.com/tagus-ros/tagus"
)

// What the system refuses is an error of Spin that says what was wanted.
func TestExecutorOptions(t *testing.T) {
	d := join(t, t.TempDir())
	defer d.Close()
	for name, o := range map[string]tagus.ExecutorOption{
		"processor": tagus.WithPinnedCPU(-1), "busy poll": tagus.WithBusyPoll(-1), "real-time priority": tagus.WithRealTimePriority(100), "niceness": tagus.WithNice(20), "workers": tagus.WithWorkers(-1),
	} {
		if _, err := tagus.NewExecutor(d, o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, o := range map[string]tagus.ExecutorOption{
		"processor": tagus.WithPinnedCPU(1 << 14), "real-time priority": tagus.WithRealTimePriority(1), "niceness": tagus.WithNice(-1), "": tagus.WithNice(1),
	} {
		e, err := tagus.NewExecutor(d, o)
		if err != nil {
			t.Fatal(err)
		}
		err = e.SpinUntil(context.Background(), func() bool { return true })
		if err != nil && (name == "" || !strings.Contains(err.Error(), name)) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "processor" && err == nil {
			t.Error("pinned to a processor that is not there")
		}
	}
}
