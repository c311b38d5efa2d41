package tagus_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/graph"
)

// warned counts what was said of twins, all of which have that name, once something was.
func warned(ctx context.Context, l *lines, name string) (n int) {
	for n == 0 && ctx.Err() == nil { // it may be about to be written
		for _, line := range l.take() {
			switch {
			case !strings.Contains(line, "same name"):
			case strings.Contains(line, "node="+name+" "):
				n++
			default:
				n += 100
			}
		}
	}
	return n
}

func TestTwins(t *testing.T) {
	var here, there lines
	dir := t.TempDir()
	a := join(t, dir, tagus.WithLogHandler(here.handler()))
	b := join(t, dir, tagus.WithLogHandler(there.handler()))
	defer a.Close()
	defer b.Close()
	if err := a.WatchGraph(); err != nil {
		t.Fatal(err)
	}
	node(t, a, "only")
	first := node(t, a, "twin")
	node(t, b, "twin")
	ctx := within(t, 10*time.Second)
	two := func(g *graph.Graph) bool { return len(g.NodesNamed("/twin")) == 2 }
	if err := a.Graph().Wait(ctx, two); err != nil {
		t.Fatal(err)
	}
	if got := a.Graph().Twins(); len(got) != 1 || got[0] != "/twin" {
		t.Errorf("twins: %v", got)
	}
	node(t, a, "twin") // in the same process too
	if got := warned(ctx, &here, "/twin"); got != 1 {
		t.Errorf("%d warnings, want 1", got)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if err := b.WatchGraph(); err != nil {
		t.Fatal(err)
	}
	// The other process learns of it as soon as it looks.
	if err := b.Graph().Wait(ctx, two); err != nil {
		t.Fatal(err)
	}
	node(t, b, "twin")
	if got := warned(ctx, &there, "/twin"); got != 1 {
		t.Errorf("the other process: %d warnings, want 1", got)
	}
}
