package machine

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const hasUsage = true

// readUsage takes what one getrusage call gives, which is finer than /proc/self/stat.
func readUsage(out *Counts) {
	var r unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &r) != nil {
		return
	}
	out.CPU = time.Duration(r.Utime.Nano() + r.Stime.Nano())
	out.MinorFaults, out.VoluntarySwitches, out.ForcedSwitches = r.Minflt, r.Nvcsw, r.Nivcsw
}

type procFiles struct {
	statm int
	buf   [128]byte
}

func (p *procFiles) open() {
	fd, err := unix.Open("/proc/self/statm", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		fd = -1
	}
	p.statm = fd // kept as long as the process measures
}

func (p *procFiles) memory() Memory {
	if p.statm < 0 {
		return Memory{}
	}
	n, err := unix.Pread(p.statm, p.buf[:], 0)
	if err != nil || n <= 0 {
		return Memory{}
	}
	var v [2]int64
	i := 0
	for _, b := range p.buf[:n] {
		switch {
		case b >= '0' && b <= '9':
			v[i] = v[i]*10 + int64(b-'0')
		default:
			i++
		}
		if i == len(v) {
			break
		}
	}
	page := int64(os.Getpagesize()) / 1024
	return Memory{VSZ: v[0] * page, RSS: v[1] * page, OK: true}
}

// pss is the proportional set size in KiB: shared pages count in parts. The kernel walks all pages for it, so it is read once, after
// the counters.
func pss() *int64 {
	f, err := os.Open("/proc/self/smaps_rollup")
	if err != nil {
		return nil
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), "Pss:"); ok {
			n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			if err != nil {
				return nil
			}
			return &n
		}
	}
	return nil
}
