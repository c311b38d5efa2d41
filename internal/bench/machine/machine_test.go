package machine

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if os.Getenv("TAGUS_TEST_PEER") != "" {
		fd, err := strconv.Atoi(os.Args[2])
		if err == nil && os.Args[1] == WakePeer {
			err = ServeWake(fd)
		}
		if err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func self(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "TAGUS_TEST_PEER=1")
	return cmd
}

func TestTicksKeepTheRate(t *testing.T) {
	counts := make([]int, 3)
	Ticks([]time.Duration{time.Millisecond, 3 * time.Millisecond, time.Hour}, 300*time.Millisecond, func(i int) { counts[i]++ })
	// A machine that is busy loses ticks, never gains any.
	if counts[0] > 300 || counts[0] < 150 || counts[1] > 100 || counts[1] < 50 || counts[2] != 0 {
		t.Error(counts)
	}
}

func TestTicksSkipWhatTheyMissed(t *testing.T) {
	n := 0
	Ticks([]time.Duration{time.Millisecond}, 100*time.Millisecond, func(int) {
		n++
		for end := time.Now().Add(10 * time.Millisecond); time.Now().Before(end); {
		}
	})
	if n > 11 {
		t.Error(n, "ticks of 10 ms in 100 ms")
	}
}

func TestCopies(t *testing.T) {
	if us := HotCopy(20 * time.Millisecond); us < 1 || us > 100_000 {
		t.Error("a copy took", us)
	}
	times := CopyLoop([]time.Duration{2 * time.Millisecond, 5 * time.Millisecond}, 100*time.Millisecond)
	if len(times) < 30 || len(times) > 70 {
		t.Error(len(times), "copies")
	}
	for _, ns := range times {
		if ns < 1000 {
			t.Fatal("a copy of 1 MiB took", ns, "ns")
		}
	}
}

func TestCounterReadsWithoutAllocating(t *testing.T) {
	c := NewCounter(nil)
	if a := testing.AllocsPerRun(100, func() { c.Read(); c.Memory(); c.Heap(); c.CollectionEnds(nil, 1<<62) }); a != 0 {
		t.Error(a, "allocations a reading")
	}
	var sink [][]byte
	a := c.Read()
	for range 1000 {
		sink = append(sink, make([]byte, 100))
	}
	u := c.Between(a, c.Read())
	if u.HeapAllocs < 1000 || u.HeapAllocs > 1100 || u.HeapBytes < 100_000 {
		t.Errorf("%d objects, %d bytes for %d", u.HeapAllocs, u.HeapBytes, len(sink))
	}
	if u.Syscalls != nil || u.Madvise != nil {
		t.Error("system calls without a counter:", u)
	}
}

func TestCollectionEnds(t *testing.T) {
	c := NewCounter(nil)
	before := c.Read()
	runtime.GC()
	ends := c.CollectionEnds(nil, before.At)
	after := c.Read()
	if len(ends) != 1 || ends[0] < before.At || ends[0] > after.At {
		t.Error(before.At, ends, after.At)
	}
	if u := c.Between(before, after); u.Collections != 1 || u.PauseTotal <= 0 {
		t.Errorf("%+v", u)
	}
}
