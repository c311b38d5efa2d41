package arena

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const gib = 1 << 30

// tree writes files, given as path and contents, and returns a host that sees them.
func tree(t *testing.T, files map[string]string) *host {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		put(t, root, name, text)
	}
	return newHost(root)
}

func put(t *testing.T, root, name, text string) {
	t.Helper()
	name = filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func meminfo(total, available int64) string {
	return fmt.Sprintf("MemTotal:       %d kB\nMemFree:        123 kB\nMemAvailable:   %d kB\n", total>>10, available>>10)
}

const (
	mountV1 = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n" +
		"33 31 0:30 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n" +
		"35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n" +
		"41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
	mountV2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
	noneV1  = "9223372036854771712\n"
)

func TestLimit(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		limit int64
		limitedBy,
		path string
	}{
		{"nothing known", nil, gib, LimitShm, ""},
		{"ample", map[string]string{"/proc/meminfo": meminfo(16*gib, 8*gib)}, gib, LimitShm, ""},
		{"small machine", map[string]string{"/proc/meminfo": meminfo(gib, gib/2)}, gib / 2, LimitRAM, ""},
		{"version 2", map[string]string{
			"/proc/meminfo":                    meminfo(16*gib, 8*gib),
			"/proc/self/mountinfo":             mountV2,
			"/proc/self/cgroup":                "0::/a/b\n",
			"/sys/fs/cgroup/a/memory.max":      "max\n",
			"/sys/fs/cgroup/a/b/memory.max":    "1073741824\n",
			"/sys/fs/cgroup/a/b/memory.high":   "max\n",
			"/sys/fs/cgroup/other/memory.max":  "4096\n",
			"/sys/fs/cgroup/a/b/c/memory.max":  "4096\n",
			"/sys/fs/cgroup/a/b/memory.oddity": "1\n",
		}, gib / 4, LimitCgroup, "/sys/fs/cgroup/a/b"},
		{"version 2, limited from above", map[string]string{
			"/proc/self/mountinfo":          mountV2,
			"/proc/self/cgroup":             "0::/a/b\n",
			"/sys/fs/cgroup/a/memory.max":   "536870912\n",
			"/sys/fs/cgroup/a/b/memory.max": "1073741824\n",
		}, gib / 8, LimitCgroup, "/sys/fs/cgroup/a"},
		{"version 2, throttled", map[string]string{
			"/proc/self/mountinfo":         mountV2,
			"/proc/self/cgroup":            "0::/a\n",
			"/sys/fs/cgroup/a/memory.max":  "1073741824\n",
			"/sys/fs/cgroup/a/memory.high": "268435456\n",
		}, gib / 16, LimitCgroup, "/sys/fs/cgroup/a"},
		{"version 2 in a container", map[string]string{
			"/proc/self/mountinfo":      mountV2,
			"/proc/self/cgroup":         "0::/\n",
			"/sys/fs/cgroup/memory.max": "1073741824\n",
		}, gib / 4, LimitCgroup, "/sys/fs/cgroup"},
		{"version 1", map[string]string{
			"/proc/meminfo":                                     meminfo(16*gib, 8*gib),
			"/proc/self/mountinfo":                              mountV1,
			"/proc/self/cgroup":                                 "5:cpuacct:/x\n4:memory:/robot\n0::/\n",
			"/sys/fs/cgroup/memory/memory.limit_in_bytes":       noneV1,
			"/sys/fs/cgroup/memory/robot/memory.limit_in_bytes": "1073741824\n",
		}, gib / 4, LimitCgroup, "/sys/fs/cgroup/memory/robot"},
		{"version 1 without a limit", map[string]string{
			"/proc/self/mountinfo":                              mountV1,
			"/proc/self/cgroup":                                 "4:memory:/robot\n",
			"/sys/fs/cgroup/memory/robot/memory.limit_in_bytes": noneV1,
		}, gib, LimitShm, ""},
		{"version 1 in a container that sees only its part", map[string]string{
			"/proc/self/mountinfo":                        "35 31 0:32 /docker/77 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
			"/proc/self/cgroup":                           "4:memory:/docker/77\n",
			"/sys/fs/cgroup/memory/memory.limit_in_bytes": "1073741824\n",
		}, gib / 4, LimitCgroup, "/sys/fs/cgroup/memory"},
		{"a name seen from outside", map[string]string{
			"/proc/self/mountinfo":      "30 23 0:26 /docker/77 /sys/fs/cgroup rw - cgroup2 cgroup rw\n",
			"/proc/self/cgroup":         "0::/docker/778\n",
			"/sys/fs/cgroup/memory.max": "1073741824\n",
		}, gib / 4, LimitCgroup, "/sys/fs/cgroup"},
		{"garbage", map[string]string{
			"/proc/meminfo":             "MemTotal\nMemTotal: x kB\n\n:::\n",
			"/proc/self/mountinfo":      "a b c\n\n- - -\n30 23 0:26 / /sys/fs/cgroup rw -\n" + mountV2,
			"/proc/self/cgroup":         "\n::\n4:memory\n0::relative/../..\n",
			"/sys/fs/cgroup/memory.max": "many\n",
		}, gib, LimitShm, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			limit, name := tree(t, c.files).limit(gib)
			if want := strings.TrimSpace(c.limitedBy + " " + c.path); limit != c.limit || name != want {
				t.Errorf("%d by %q, want %d by %q", limit, name, c.limit, want)
			}
		})
	}
}

func TestHeadroom(t *testing.T) {
	const sys = "/sys/fs/cgroup/a/"
	base := map[string]string{
		"/proc/meminfo":        meminfo(64*gib, 8*gib),
		"/proc/self/mountinfo": mountV2,
		"/proc/self/cgroup":    "0::/a\n",
		sys + "memory.max":     fmt.Sprint(4 * gib),
		sys + "memory.current": fmt.Sprint(3 * gib),
		sys + "memory.stat":    fmt.Sprintf("anon 5\ninactive_file %d\nactive_file %d\n", gib/4, gib/8),
	}
	h := tree(t, base)
	spare := int64(4 * gib / 64)
	if left, bound, name := h.headroom(1000); left != gib-spare || bound != 4*gib || name != LimitHeadroom+" /sys/fs/cgroup/a" {
		t.Errorf("%d of %d by %q", left, bound, name)
	}
	// File contents count as free when it matters.
	if left, _, _ := h.headroom(gib); left != gib-spare+gib/4+gib/8 {
		t.Errorf("with the cache %d", left)
	}
	put(t, h.root, sys+"memory.max", "max\n") // limits are read anew
	if left, bound, name := h.headroom(1000); left != 7*gib || bound != 64*gib || name != LimitAvailable {
		t.Errorf("%d of %d by %q", left, bound, name)
	}
	if left, _, _ := plenty.headroom(1000); left != math.MaxInt64 {
		t.Errorf("nothing is known and %d left", left)
	}

	h = tree(t, map[string]string{
		"/proc/self/mountinfo":                          mountV1,
		"/proc/self/cgroup":                             "4:memory:/r\n",
		"/sys/fs/cgroup/memory/r/memory.limit_in_bytes": fmt.Sprint(gib),
		"/sys/fs/cgroup/memory/r/memory.usage_in_bytes": fmt.Sprint(gib),
		"/sys/fs/cgroup/memory/r/memory.stat":           "inactive_file 1\ntotal_inactive_file 70000000\ntotal_active_file 80000000\n",
	})
	if left, _, _ := h.headroom(1000); left != 150_000_000-gib/64 {
		t.Errorf("version 1: %d", left)
	}
}

func TestTooLittleHeadroomIsFull(t *testing.T) {
	const total, left = 1 * gib, 64 << 20
	h := tree(t, map[string]string{"/proc/meminfo": meminfo(total, total/64+left)})
	a := newArena(t, Config{host: h, Heap: true})
	full := (*ErrArenaFull)(nil)
	if _, err := a.Get(left + 1); !errors.As(err, &full) || full.LimitName != LimitAvailable || full.Free != left || full.Limit != total {
		t.Fatalf("%v", err)
	}
	s := get(t, a, left)
	put(t, h.root, "/proc/meminfo", meminfo(total, total/64))
	if _, err := a.Get(1000); !errors.As(err, &full) || full.Free != 0 {
		t.Errorf("%v", err)
	}
	s.Unref()
	get(t, a, left).Unref() // what is there can be used
	if got := a.Stats().Committed; got != left {
		t.Errorf("%d bytes committed", got)
	}
	put(t, h.root, "/proc/meminfo", meminfo(total, total/2))
	get(t, a, 1000).Unref()
}

func TestThisHost(t *testing.T) {
	h := thisHost()
	limit, name := h.limit(gib)
	left, bound, what := h.headroom(1 << 20)
	t.Logf("cgroups %v; limit %d (%s); headroom %d of %d (%s)", h.groups, limit, name, left, bound, what)
	if limit <= 0 || limit > gib {
		t.Errorf("limit %d", limit)
	}
	a := newArena(t, Config{host: h})
	get(t, a, 1<<20).Unref()
}

func TestConfigDefaults(t *testing.T) {
	t.Setenv("TAGUS_SHM_MAX_BYTES", "50000000")
	t.Setenv("TAGUS_BUFFER_POOL_MAX_SIZE_BYTES", "7000000")
	if s := newArena(t, Config{}).Stats(); s.Limit != 50_000_000 || s.Retain != 7_000_000 {
		t.Errorf("from the environment: %+v", s)
	}
	if s := newArena(t, Config{Limit: 1 << 20, Retain: 2 << 20}).Stats(); s.Limit != 1<<20 || s.Retain != 2<<20 {
		t.Errorf("as asked for: %+v", s)
	}
	t.Setenv("TAGUS_BUFFER_POOL_MAX_SIZE_BYTES", "0")
	t.Setenv("TAGUS_SHM_MAX_BYTES", "")
	var warnings []string
	c := ConfigFromEnv(func(msg string) { warnings = append(warnings, msg) })
	if c.Limit != gib || c.Retain != KeepNothing || len(warnings) != 1 || !strings.Contains(warnings[0], "TAGUS_SHM_MAX_BYTES") {
		t.Errorf("%+v with warnings %q", c, warnings)
	}
	c.host = plenty
	if a := newArena(t, c); a.recycle != Off {
		t.Errorf("a bound of 0 recycles %v", a.recycle)
	}
}
