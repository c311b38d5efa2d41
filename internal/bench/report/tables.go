package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/tagus-ros/tagus/internal/bench/record"
)

// slowShown is how many slow messages a table lists; the rest is in slow.txt.
const slowShown = 40

// WriteTables prints a run for people.
func WriteTables(w io.Writer, r *Result) error {
	var b strings.Builder
	b.WriteString(Machine(r))
	b.WriteByte('\n')
	b.WriteString(Latency(r))
	b.WriteByte('\n')
	b.WriteString(Processes(r))
	if s := SlowTable(r); s != "" {
		b.WriteByte('\n')
		b.WriteString(s)
	}
	for _, n := range r.Notes {
		b.WriteString("note: " + n + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Machine is one line about the machine and its yardsticks.
func Machine(r *Result) string {
	m := &r.Machine
	return fmt.Sprintf("machine: %d CPUs, %s; 1 MiB copied hot %s, on the topology's timers %s; bare futex wake %s\n",
		m.CPUs, m.Kernel, opt(m.HotCopy1MiB, " µs"), opt(m.CopyLoop, " µs"), opt(m.BareWake, " µs"))
}

// Latency is the table of all subscriptions.
func Latency(r *Result) string {
	t := NewTable(2)
	t.Add("node", "topic", "size", "received", "lost", "late", "too late", "mean", "tool's mean", "sd", "min", "p50", "p99", "p99.9", "max", "MAD", "path", "ownership", "take", "touch")
	for _, x := range r.Topics {
		t.Add(x.Node, x.Topic, itoa(x.Size), itoa(x.Received), itoa(x.Lost), itoa(x.Late), itoa(x.TooLate),
			micros(x.Mean), micros(x.Tool.Mean), micros(x.SD), micros(x.Min), micros(x.P50), micros(x.P99), micros(x.P999), micros(x.Max), micros(x.MAD),
			dash(x.Path), x.Ownership, x.Take, x.Touch)
	}
	x := &r.Total
	t.Add("total", "", "", itoa(x.Received), itoa(x.Lost), itoa(x.Late), itoa(x.TooLate),
		micros(x.Mean), micros(x.ToolMean), micros(x.SD), micros(x.Min), micros(x.P50), micros(x.P99), micros(x.P999), micros(x.Max), micros(x.MAD))
	return "latency in µs from the start of publish to the callback; mean: over all received messages; tool's mean: the iRobot\n" +
		"benchmark's, which leaves out messages that came too late\n" + t.String()
}

// Processes is the table of what the processes used in the steady state.
func Processes(r *Result) string {
	t := NewTable(1)
	t.Add("process", "cpu % of one", "faults", "heap allocs", "collections", "gc pauses", "switches", "forced", "own calls", "calls", "madvise", "EAGAIN", "payload copied", "RSS", "PSS")
	per := NewTable(1)
	per.Add("per message", "messages", "faults", "heap allocs", "switches", "own calls", "calls", "payload copied")
	var steady time.Duration
	for i := range r.Processes {
		p := &r.Processes[i]
		steady = max(steady, p.Steady)
		t.Add(p.Name, opt(p.CPUPercent, ""), count(p.MinorFaults), count(p.HeapAllocs), count(p.GCCycles), p.GCPause.String(), count(p.VoluntarySwitches),
			count(p.ForcedSwitches), count(p.OwnSyscalls), count(p.Syscalls), count(p.Madvise), count(p.Again), bytesOf(p.PayloadCopied), kib(p.RSS), kib(p.PSS))
		n := max(p.Published, p.Received)
		per.Add(p.Name, i64(n), ratio(p.MinorFaults, n), ratio(p.HeapAllocs, n), ratio(p.VoluntarySwitches, n), ratio(p.OwnSyscalls, n), ratio(p.Syscalls, n), ratio(p.PayloadCopied, n))
	}
	return fmt.Sprintf("processes in the steady state, %.1f s from one second after all pairs had matched\n", steady.Seconds()) + t.String() +
		"\n" + per.String()
}

// SlowTable lists slow messages with their likely causes, or is empty.
func SlowTable(r *Result) string {
	if len(r.Slow) == 0 {
		return fmt.Sprintf("no message took over %d ms\n", record.SlowNanos/1_000_000)
	}
	n := len(r.Slow) + r.SlowMore
	t := NewTable(5)
	t.Add("at", "message", "process", "likely cause", "", "latency")
	for i, s := range r.Slow {
		if i == slowShown {
			break
		}
		t.Add(fmt.Sprintf("%.3f s", s.AtMS/1000), fmt.Sprintf("%s %d -> %s", s.Topic, s.Number, s.Node), r.Processes[s.Process].Name, string(s.Cause), s.Why,
			fmt.Sprintf("%.1f ms", s.LatencyMicros/1000))
	}
	out := fmt.Sprintf("%d messages took over %d ms\n", n, record.SlowNanos/1_000_000) + t.String()
	if n > slowShown {
		out += fmt.Sprintf("and %d more; slow.txt in the result folder lists %d of them\n", n-min(slowShown, len(r.Slow)), len(r.Slow))
	}
	return out
}

// Variant is one of several runs of the same topology that are to be compared.
type Variant struct {
	Name   string
	Result *Result
}

// Compare prints one topic of all variants side by side.
func Compare(w io.Writer, title, topic string, vs []Variant) error {
	t := NewTable(2)
	t.Add("node", title, "received", "lost", "mean", "sd", "p50", "p99", "p99.9", "max", "MAD")
	for _, r0 := range vs[0].Result.Topics {
		if r0.Topic != topic {
			continue
		}
		for _, v := range vs {
			for _, x := range v.Result.Topics {
				if x.Topic == topic && x.Node == r0.Node {
					t.Add(x.Node, v.Name, itoa(x.Received), itoa(x.Lost), micros(x.Mean), micros(x.SD), micros(x.P50), micros(x.P99), micros(x.P999), micros(x.Max), micros(x.MAD))
				}
			}
		}
	}
	_, err := fmt.Fprintf(w, "topic %s, µs\n%s", topic, t)
	return err
}

func opt(x *float64, unit string) string {
	if x == nil {
		return "not measured"
	}
	return strconv.FormatFloat(*x, 'f', 1, 64) + unit
}

func count(n *int64) string {
	if n == nil {
		return "-"
	}
	return i64(*n)
}

func ratio(n *int64, of int64) string {
	if n == nil || of == 0 {
		return "-"
	}
	x := float64(*n) / float64(of)
	if x >= 1000 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'f', 3, 64)
}

func kib(n *int64) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f MB", float64(*n)*1024/1e6)
}

func bytesOf(n *int64) string {
	switch {
	case n == nil:
		return "-"
	case *n < 1_000_000:
		return i64(*n) + " B"
	default:
		return fmt.Sprintf("%.1f MB", float64(*n)/1e6)
	}
}

// allOf carries the mean over all messages of rows, which is all that latency_total.txt shows of a summary.
func allOf(rows []Topic) record.Summary {
	var s record.Summary
	for _, t := range rows {
		s.N += t.Received
		s.Mean += t.Mean * float64(t.Received)
	}
	if s.N > 0 {
		s.Mean /= float64(s.N)
	}
	return s
}
