package arena

import (
	"bytes"
	"math"
	"path"
	"strconv"
	"strings"
)

// host reads what bounds the memory of this process from /proc and /sys/fs/cgroup.
// Where those do not exist nothing is known and nothing is bounded.
type host struct {
	root   string // before each path: "", or a made-up tree in tests
	groups []group
}

// group is a memory cgroup that this process is in, directly or from above.
type group struct {
	dir string // below host.root
	v2  bool
}

// unlimited is above any limit that is meant: version 1 has no other word for none.
const unlimited = 1 << 60

func thisHost() *host { return newHost("") }

// newHost finds the cgroups of this process, once.
func newHost(root string) *host {
	h := &host{root: root}
	mounts := lines(readFile(h.root + "/proc/self/mountinfo"))
	for _, line := range lines(readFile(h.root + "/proc/self/cgroup")) {
		// 4:memory:/a/b for version 1, 0::/a/b for version 2
		part := strings.SplitN(line, ":", 3)
		if len(part) != 3 {
			continue
		}
		v2 := part[0] == "0" && part[1] == ""
		if v2 || contains(part[1], "memory") {
			h.addGroups(mounts, part[2], v2)
		}
	}
	return h
}

// addGroups adds the group that the kernel calls name and those above it, as far
// as they can be seen under the place where that hierarchy is mounted.
func (h *host) addGroups(mounts []string, name string, v2 bool) {
	for _, line := range mounts {
		// id parent major:minor root mountpoint options … - type source superoptions
		field := strings.Fields(line)
		dash := 0
		for dash < len(field) && field[dash] != "-" {
			dash++
		}
		if dash < 6 || len(field) < dash+4 {
			continue
		}
		kind, super := field[dash+1], field[dash+3]
		if v2 != (kind == "cgroup2") || !v2 && (kind != "cgroup" || !contains(super, "memory")) {
			continue
		}
		// In a container the mount may show only a part of the hierarchy, and the
		// name may be the one seen from outside.
		root, point := field[3], field[4]
		below, inside := strings.CutPrefix(name, strings.TrimSuffix(root, "/"))
		if !inside || below != "" && below[0] != '/' {
			below = "/"
		}
		for {
			h.groups = append(h.groups, group{dir: path.Join(point, below), v2: v2})
			if below = path.Dir(path.Clean("/" + below)); below == "/" {
				break
			}
		}
		if h.groups[len(h.groups)-1].dir != point {
			h.groups = append(h.groups, group{dir: point, v2: v2})
		}
		return
	}
}

// limit returns the smallest of what bounds an arena, and its name.
func (h *host) limit(asked int64) (limit int64, name string) {
	limit, name = asked, LimitShm
	for _, g := range h.groups {
		if most := h.groupLimit(g); most/4 < limit {
			limit, name = most/4, LimitCgroup+" "+g.dir
		}
	}
	if total, _ := h.memory(); total > 0 && total/2 < limit {
		limit, name = total/2, LimitRAM
	}
	return limit, name
}

// headroom returns by how many bytes the arena may grow, and what bounds that. A
// 64th of each bound is left to others. want only says how hard to look.
func (h *host) headroom(want int64) (left, bound int64, name string) {
	left = math.MaxInt64
	if total, available := h.memory(); total > 0 {
		left, bound, name = available-total/64, total, LimitAvailable
	}
	for _, g := range h.groups {
		most := h.groupLimit(g)
		if most >= unlimited {
			continue
		}
		rest := most - most/64 - h.groupUsage(g)
		if rest < want {
			rest += h.groupCache(g)
		}
		if rest < left {
			left, bound, name = rest, most, LimitHeadroom+" "+g.dir
		}
	}
	return left, bound, name
}

// memory returns the machine's memory in bytes and what of it is available.
func (h *host) memory() (total, available int64) {
	info := readFile(h.root + "/proc/meminfo")
	return field(info, "MemTotal:") << 10, field(info, "MemAvailable:") << 10
}

// groupLimit returns the bytes a cgroup may use, unlimited or more if any number.
func (h *host) groupLimit(g group) int64 {
	if !g.v2 {
		return h.number(g, "memory.limit_in_bytes", unlimited)
	}
	return min(h.number(g, "memory.max", unlimited), h.number(g, "memory.high", unlimited))
}

func (h *host) groupUsage(g group) int64 {
	if !g.v2 {
		return h.number(g, "memory.usage_in_bytes", 0)
	}
	return h.number(g, "memory.current", 0)
}

// groupCache returns the bytes of file contents in a cgroup's usage, which the
// kernel drops before it kills.
func (h *host) groupCache(g group) int64 {
	stat := readFile(h.root + g.dir + "/memory.stat")
	if !g.v2 {
		return field(stat, "total_inactive_file") + field(stat, "total_active_file")
	}
	return field(stat, "inactive_file") + field(stat, "active_file")
}

// number reads a file of one number; "max", or no such file, is fallback.
func (h *host) number(g group, file string, fallback int64) int64 {
	n, err := strconv.ParseInt(string(bytes.TrimSpace(readFile(h.root+g.dir+"/"+file))), 10, 64)
	if err != nil {
		return fallback
	}
	return n
}

// field returns the number after a key at the start of a line, 0 if there is none.
func field(text []byte, key string) int64 {
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte(key)); ok && len(rest) > 0 && (rest[0] == ' ' || rest[0] == '\t') {
			number, _, _ := bytes.Cut(bytes.TrimSpace(rest), []byte(" "))
			n, _ := strconv.ParseInt(string(number), 10, 64)
			return n
		}
	}
	return 0
}

func lines(b []byte) []string { return strings.Split(string(b), "\n") }

// contains says whether a list separated by commas has the word.
func contains(list, word string) bool {
	for part := range strings.SplitSeq(list, ",") {
		if part == word {
			return true
		}
	}
	return false
}
