package report

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// Setting is one line of metadata.txt.
type Setting struct{ Key, Value string }

// WriteFiles writes the iRobot benchmark's result files for process number p into dir/<name>_log and returns that folder. The first
// columns are the tool's own; what tagus adds stands to the right of them.
func WriteFiles(dir string, r *Result, p int, csv bool, settings []Setting) (string, error) {
	folder := filepath.Join(dir, r.Processes[p].Name+"_log")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", fmt.Errorf("results: %w", err)
	}
	var rows []Topic
	for _, t := range r.Topics {
		if t.Process == p {
			rows = append(rows, t)
		}
	}
	var slow []Slow
	for _, s := range r.Slow {
		if s.Process == p {
			slow = append(slow, s)
		}
	}
	for _, f := range []struct {
		name string
		data []byte
	}{
		{"latency_all.txt", latencyAll(rows, csv)},
		{"latency_total.txt", latencyTotal(rows, csv)},
		{"resources.txt", resources(r.Processes[p].Resources, csv)},
		{"events.txt", events(r.Processes[p].Events, csv)},
		{"slow.txt", slowFile(slow, csv)},
		{"metadata.txt", metadata(settings)},
	} {
		if err := writeWhole(filepath.Join(folder, f.name), f.data); err != nil {
			return "", err
		}
	}
	return folder, nil
}

func latencyAll(rows []Topic, csv bool) []byte {
	c := &columns{csv: csv, widths: []int{15, 15, 10, 15, 10, 15, 10, 10, 10, 10, 10, 10, 12, 10, 10, 10, 10, 13, 7, 11, 6, 6}}
	c.line("node", "topic", "size[b]", "received[#]", "late[#]", "too_late[#]", "lost[#]", "mean[us]", "sd[us]", "min[us]", "max[us]", "freq[hz]", "duration[s]",
		"p50[us]", "p99[us]", "p99.9[us]", "mad[us]", "mean_all[us]", "path", "ownership", "take", "touch")
	for _, t := range rows {
		c.line(t.Node, t.Topic, itoa(t.Size), itoa(t.Received), itoa(t.Late), itoa(t.TooLate), itoa(t.Lost),
			micros(t.Tool.Mean), micros(t.Tool.SD), micros(t.Tool.Min), micros(t.Tool.Max), short(t.Frequency), short(t.Duration.Seconds()),
			micros(t.P50), micros(t.P99), micros(t.P999), micros(t.MAD), micros(t.Mean), dash(t.Path), t.Ownership, t.Take, t.Touch)
	}
	return c.out.Bytes()
}

func latencyTotal(rows []Topic, csv bool) []byte {
	t := Sum(rows, allOf(rows))
	c := &columns{csv: csv, widths: []int{15, 10, 10, 10, 15, 15, 10, 10}}
	c.line("received[#]", "mean[us]", "late[#]", "late[%]", "too_late[#]", "too_late[%]", "lost[#]", "lost[%]", "mean_all[us]")
	c.line(itoa(t.Received), micros(t.ToolMean), itoa(t.Late), share(t.Late, t.Received), itoa(t.TooLate), share(t.TooLate, t.Received),
		itoa(t.Lost), share(t.Lost, t.Received+t.Lost), micros(t.Mean))
	return c.out.Bytes()
}

func resources(lines []Resource, csv bool) []byte {
	c := &columns{csv: csv, widths: []int{15, 10, 15, 15, 15, 15, 15}}
	c.line("time[ms]", "cpu[%]", "arena[KB]", "in_use[KB]", "mmap[KB]", "rss[KB]", "vsz[KB]")
	c.line("0", "0", "0", "0", "0", "0", "0") // the tool begins with such a line
	for _, l := range lines {
		c.line(i64(l.MS), short(l.CPUPercent), i64(l.Arena), i64(l.InUse), i64(l.MMap), i64(l.RSS), i64(l.VSZ))
	}
	return c.out.Bytes()
}

func events(list []Event, csv bool) []byte {
	c := &columns{csv: csv, widths: []int{12, 25, 6, 20}}
	c.line("Time[ms]", "Caller", "Code", "Description")
	for _, e := range list {
		c.line(i64(e.MS), e.Caller, itoa(int(e.Code)), e.Text)
	}
	return c.out.Bytes()
}

func slowFile(list []Slow, csv bool) []byte {
	c := &columns{csv: csv, widths: []int{12, 25, 10, 13, 13, 20}}
	c.line("Time[ms]", "Caller", "number", "latency[us]", "cause", "evidence")
	for _, s := range list {
		c.line(strconv.FormatFloat(s.AtMS, 'f', 1, 64), s.Topic+"->"+s.Node, strconv.FormatUint(uint64(s.Number), 10), micros(s.LatencyMicros), string(s.Cause), s.Why)
	}
	return c.out.Bytes()
}

func metadata(settings []Setting) []byte {
	var out []byte
	for _, s := range settings {
		out = append(out, s.Key+": "+s.Value+"\n"...)
	}
	return out
}

func itoa(n int) string  { return strconv.Itoa(n) }
func i64(n int64) string { return strconv.FormatInt(n, 10) }

// micros keeps a decimal, where the tool rounds to whole microseconds: the figures here are often below one.
func micros(us float64) string { return strconv.FormatFloat(us, 'f', 1, 64) }

func short(x float64) string { return strconv.FormatFloat(x, 'g', 5, 64) }

func share(n, of int) string {
	if of == 0 {
		return "0"
	}
	return strconv.FormatFloat(100*float64(n)/float64(of), 'g', 4, 64)
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
