package shm_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tagus-ros/tagus/internal/transport/conformance"
	"github.com/tagus-ros/tagus/qos"
)

// left waits until exactly n files are in the domain's folder, and returns their names.
func left(t *testing.T, dir string, n int) []string {
	t.Helper()
	var names []string
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		entries, err := os.ReadDir(filepath.Join(dir, "1"))
		if err != nil {
			t.Fatal(err)
		}
		names = names[:0]
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if len(names) == n {
			return names
		}
		if time.Now().After(end) {
			t.Fatalf("%d files in the folder, want %d: %v", len(names), n, names)
		}
	}
}

// What killed processes leave is removed by those that live; what they all leave is two
// files each, which the next start removes.
func TestDeadLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	q := qos.Default().WithDepth(5)
	busy := func(name string) conformance.Process {
		p := conformance.StartProcess(t, dir)
		s, err := p.Subscription("/topic", q, conformance.Options{})
		if err == nil {
			err = s.Stream(conformance.Stream{Hold: 2})
		}
		var pub conformance.Publisher
		if err == nil {
			pub, err = p.Publisher("/topic", q)
		}
		if err == nil {
			err = pub.Wait(1)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		go pub.Publish(conformance.Batch{N: 1 << 30, Every: time.Millisecond, Sizes: []int{100000}})
		return p
	}
	// The first has nobody to wait for, so one that only listens is there before it.
	survivor := host(t, dir, nil)
	s, err := survivor.Subscription("/topic", q, conformance.Options{Callback: true})
	if err == nil {
		err = s.Stream(conformance.Stream{})
	}
	if err != nil {
		t.Fatal(err)
	}
	own := left(t, dir, 2)
	var slowest time.Duration
	for range 5 {
		victims := []conformance.Process{busy("first"), busy("second")}
		left(t, dir, 6)
		begun := time.Now()
		for _, v := range victims {
			v.Kill()
		}
		if now := left(t, dir, 2); !slices.Equal(now, own) {
			t.Errorf("left are %v, want %v", now, own)
		}
		slowest = max(slowest, time.Since(begun))
	}
	t.Logf("what two dead left was gone after at most %v", slowest)
	victims := []conformance.Process{busy("first"), busy("second")}
	left(t, dir, 6)
	if err := survivor.Close(); err != nil {
		t.Error(err)
	}
	left(t, dir, 4)
	// Both at once: neither is there to clean up after the other.
	for _, v := range victims {
		v.Freeze()
	}
	for _, v := range victims {
		v.Kill()
	}
	left(t, dir, 4)
	next := host(t, dir, nil)
	left(t, dir, 2)
	if err := next.Close(); err != nil {
		t.Error(err)
	}
	left(t, dir, 0)
}
