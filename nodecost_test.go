package tagus_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/internal/shm/control"
)

// nodeCost makes nodes and returns what each costs: bytes of heap, bytes of the
// announcement, endpoints, and time.
func nodeCost(t testing.TB, opts ...tagus.NodeOption) (heap, announced, endpoints int, took time.Duration) {
	d := join(t, t.TempDir())
	defer d.Close()
	used := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	const nodes = 50
	if _, err := d.NewNode("first", opts...); err != nil {
		t.Fatal(err)
	}
	before, start := used(), time.Now()
	for i := range nodes {
		if _, err := d.NewNode(fmt.Sprint("node", i), opts...); err != nil {
			t.Fatal(err)
		}
	}
	took = time.Since(start) / nodes
	heap = int(int64(used())-int64(before)) / nodes
	one := d.Graph().NodesNamed("/node0")
	has := d.Graph().Of(one[0])
	with, err := control.AppendAnnouncement(nil, &control.Announcement{Domain: 7, Nodes: one, Endpoints: has})
	if err != nil {
		t.Fatal(err)
	}
	without, err := control.AppendAnnouncement(nil, &control.Announcement{Domain: 7})
	if err != nil {
		t.Fatal(err)
	}
	return heap, len(with) - len(without), len(has), took
}

// What a node costs stays known and small.
func TestNodeCost(t *testing.T) {
	for _, c := range []struct {
		name                       string
		heap, announced, endpoints int
		opts                       []tagus.NodeOption
	}{
		{"plain", 64 << 10, 2100, 9, nil},
		{"bare", 8 << 10, 100, 0, []tagus.NodeOption{tagus.WithoutROSServices()}},
	} {
		heap, announced, endpoints, took := nodeCost(t, c.opts...)
		t.Logf("%s: %d bytes of heap, %d bytes announced, %d endpoints, %v", c.name, heap, announced, endpoints, took)
		if heap > c.heap || announced > c.announced || endpoints != c.endpoints {
			t.Errorf("%s: %d bytes of heap, %d bytes announced, %d endpoints; want at most %d, %d, and %d", c.name, heap, announced, endpoints, c.heap, c.announced, c.endpoints)
		}
	}
}
