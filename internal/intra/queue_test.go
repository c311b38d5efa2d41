package intra

import (
	"testing"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/transport"
	"github.com/tagus-ros/tagus/internal/wake"
)

type keeper struct{ back int }

func (k *keeper) RecycleValue(*transport.Value) { k.back++ }

// A publisher's goroutines may stamp in another order than they push. What is noted
// must come in the order of the queue, since only its oldest entry can be claimed.
func TestQueueStampsRise(t *testing.T) {
	area, err := wake.NewHeapArea(1)
	if err != nil {
		t.Fatal(err)
	}
	q := newQueue(4, false, graph.GID{1})
	q.Wire(area, 0)
	q.Begin(1)
	k := new(keeper)
	for i, stamp := range []int64{30, 10, 20} {
		v := new(transport.Value)
		v.Init(nil, k)
		q.Push(&transport.Message{Sequence: uint64(i + 1), Stamp: stamp, Value: v})
		v.Drop()
	}
	last := int64(0)
	q.Scan(func(index uint64, stamp int64) {
		if stamp < last {
			t.Errorf("entry %d has stamp %d, after %d", index, stamp, last)
		}
		last = stamp
		if ok, err := q.Claim(index, nil); !ok || err != nil {
			t.Errorf("entry %d cannot be claimed: %v", index, err)
		}
		q.Return(index)
	})
	if k.back != 3 {
		t.Errorf("%d of 3 messages came back", k.back)
	}
}
