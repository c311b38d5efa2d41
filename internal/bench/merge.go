package bench

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/bench/record"
	"github.com/tagus-ros/tagus/internal/bench/report"
)

// collectionAfter is how long after a message's arrival a collection may end and still count as having run meanwhile.
const collectionAfter = int64(20 * time.Millisecond)

// merger joins what the workers of one run found.
type merger struct {
	opts  Options
	found []findings
	pubs  map[graph.GID]pubAt
	out   *report.Result
}

type pubAt struct{ process, index int }

func merge(o Options, found []findings) *report.Result {
	m := &merger{opts: o, found: found, pubs: map[graph.GID]pubAt{}, out: &report.Result{}}
	start, stop := int64(0), int64(0)
	for i := range found {
		f := &found[i]
		for j, p := range f.Publishers {
			m.pubs[p.GID] = pubAt{i, j}
		}
		if start == 0 || f.Started < start {
			start = f.Started
		}
		stop = max(stop, f.Stopped)
		m.out.Topology = append(m.out.Topology, o.Topologies[i].Name)
	}
	m.out.DurationS = float64(stop-start) / 1e9
	var all []int64
	for i := range found {
		m.process(i)
		for j := range found[i].Rows {
			m.topic(i, &found[i].Rows[j])
			all = append(all, found[i].Rows[j].Data.Samples...)
		}
		m.notes(i)
	}
	m.out.Total = report.Sum(m.out.Topics, record.Summarise(all))
	for i := range found {
		m.slow(i, start)
	}
	slices.SortStableFunc(m.out.Slow, func(a, b report.Slow) int {
		switch {
		case a.AtMS < b.AtMS:
			return -1
		case a.AtMS > b.AtMS:
			return 1
		}
		return 0
	})
	return m.out
}

func (m *merger) process(i int) {
	f := &m.found[i]
	p := report.Process{Name: m.opts.Topologies[i].Name, Published: f.Published, Received: f.Received, Resources: f.Resources}
	if u := f.Usage; u != nil {
		p.Steady = u.Wall
		if u.CPU != nil {
			p.CPUPercent = ptr(100 * u.CPU.Seconds() / u.Wall.Seconds())
		}
		p.MinorFaults, p.VoluntarySwitches, p.ForcedSwitches = u.MinorFaults, u.VoluntarySwitches, u.ForcedSwitches
		p.HeapAllocs, p.GCCycles, p.GCPause = ptr(int64(u.HeapAllocs)), ptr(int64(u.Collections)), u.PauseTotal
		p.OwnSyscalls, p.PayloadCopied = f.OwnCalls, f.Copied
		p.Syscalls, p.Madvise, p.Again = u.Syscalls, u.Madvise, u.Again
		p.RSS, p.PSS = u.RSS, u.PSS
	}
	p.Events = m.events(f)
	m.out.Processes = append(m.out.Processes, p)
}

func (m *merger) events(f *findings) []report.Event {
	out := []report.Event{{MS: 0, Caller: "SYSTEM", Code: report.EventDiscovery, Text: "[discovery] all pairs matched"}}
	for _, e := range f.Tracked {
		r := &f.Rows[e.Row]
		caller, ms := r.Topic+"->"+r.Node, (e.At-f.Started)/1e6
		if e.Lost > 0 {
			text := fmt.Sprintf("msg %d lost.", e.Number-1)
			if e.Lost > 1 {
				text = fmt.Sprintf("msgs %d to %d lost.", e.Number-uint32(e.Lost), e.Number-1)
			}
			out = append(out, report.Event{MS: ms, Caller: caller, Code: report.EventLost, Text: text})
		}
		late, tooLate := m.opts.Lateness.Thresholds(m.periodOf(r))
		switch e.Class {
		case record.Late:
			out = append(out, report.Event{MS: ms, Caller: caller, Code: report.EventLate, Text: fmt.Sprintf("msg %d late. %dus > %dus", e.Number, e.Latency/1000, late)})
		case record.TooLate:
			out = append(out, report.Event{MS: ms, Caller: caller, Code: report.EventTooLate, Text: fmt.Sprintf("msg %d too late. %dus > %dus", e.Number, e.Latency/1000, tooLate)})
		}
	}
	if f.TrackMore > 0 {
		out = append(out, report.Event{MS: (f.Stopped - f.Started) / 1e6, Caller: "SYSTEM", Text: fmt.Sprintf("%d more events than there was room for", f.TrackMore)})
	}
	return out
}

// publisher finds a publisher of the run, or nil.
func (m *merger) publisher(gid graph.GID) *publisherFindings {
	at, ok := m.pubs[gid]
	if !ok {
		return nil
	}
	return &m.found[at.process].Publishers[at.index]
}

// periodOf is the period of a row's first publisher.
func (m *merger) periodOf(r *rowFindings) time.Duration {
	for _, g := range r.GIDs {
		if p := m.publisher(g); p != nil {
			return time.Duration(p.PeriodNanos)
		}
	}
	return time.Hour
}

func (m *merger) topic(process int, r *rowFindings) {
	t := report.Topic{
		Node: r.Node, Topic: r.Topic, Size: r.Size, Process: process, Take: r.Take, Touch: m.opts.Touch.String(),
		Lost: r.Data.Lost, Late: r.Data.Late, TooLate: len(r.Data.TooLateAt), Repeated: r.Data.Repeated, Duration: time.Duration(r.Last - r.First),
	}
	t.SetStats(record.Summarise(slices.Clone(r.Data.Samples)))
	t.Tool = record.Summarise(r.Data.InTime())
	var paths, ways []string
	for i, n := range r.Paths {
		if n > 0 {
			paths = append(paths, tagus.Path(i).String())
		}
	}
	for _, g := range r.GIDs {
		p := m.publisher(g)
		if p == nil {
			continue
		}
		t.Frequency += 1e9 / float64(p.PeriodNanos)
		if !slices.Contains(ways, p.Ownership) {
			ways = append(ways, p.Ownership)
		}
	}
	t.Path, t.Ownership = strings.Join(paths, "+"), strings.Join(ways, "+")
	m.out.Topics = append(m.out.Topics, t)
	if r.Lost != uint64(t.Lost) && m.found[process].Foreign == 0 {
		m.out.Notes = append(m.out.Notes, fmt.Sprintf("%s of node %s: the subscription itself counts %d lost messages, the numbers say %d", r.Topic, r.Node, r.Lost, t.Lost))
	}
	if t.Repeated > 0 {
		m.out.Notes = append(m.out.Notes, fmt.Sprintf("%s of node %s: %d messages came twice or out of order", r.Topic, r.Node, t.Repeated))
	}
}

func (m *merger) notes(i int) {
	f, name := &m.found[i], m.opts.Topologies[i].Name
	say := func(format string, args ...any) {
		m.out.Notes = append(m.out.Notes, name+": "+fmt.Sprintf(format, args...))
	}
	if f.Failed > 0 {
		say("%d publications failed, the first with: %s", f.Failed, f.FirstError)
	}
	if f.Foreign > 0 {
		say("%d messages came from publishers that are not of this run; they are not counted, but they had their share of queues and time", f.Foreign)
	}
	if f.Corrupt > 0 {
		say("%d messages did not hold what their publisher wrote", f.Corrupt)
	}
	var fallbacks, overruns uint64
	for _, p := range f.Publishers {
		fallbacks += p.Fallbacks
		overruns += p.Overruns
	}
	if fallbacks > 0 {
		say("%d loans were copied after all", fallbacks)
	}
	if overruns > 0 {
		say("%d publications were left out because their timers were overrun", overruns)
	}
	if f.Usage == nil {
		say("no counters: the run was over before the steady state, which begins %v after all pairs had matched", steadyAfter)
	}
	for _, n := range f.Notes {
		say("%s", n)
	}
}

// slow completes the evidence for the slow messages of a process with what others saw, and names the causes.
func (m *merger) slow(i int, start int64) {
	f := &m.found[i]
	m.out.SlowMore += f.SlowMore
	for _, s := range f.Slow {
		r := &f.Rows[s.Row]
		s.Evidence.Collections = between(f.GCEnds, s.Published, s.Received+collectionAfter)
		if at, ok := m.pubs[r.GIDs[s.Source]]; ok {
			if at.process != i {
				s.Evidence.Collections += between(m.found[at.process].GCEnds, s.Published, s.Received+collectionAfter)
			}
			for _, c := range m.found[at.process].Calls {
				if c.Publisher == at.index && c.Number == s.Number {
					s.Evidence.Publish = c.End - c.Start
				}
			}
		}
		cause, why := s.Cause(func(sp record.Span) string { return f.spanName(sp) })
		m.out.Slow = append(m.out.Slow, report.Slow{
			AtMS: float64(s.Received-start) / 1e6, Process: i, Topic: r.Topic, Node: r.Node, Number: s.Number,
			LatencyMicros: float64(s.Received-s.Published) / 1000, Cause: cause, Why: why,
		})
	}
}

// spanName says what a thread of this process did.
func (f *findings) spanName(s record.Span) string {
	switch {
	case s.Kind == record.Publish && int(s.Entity) < len(f.Publishers):
		return fmt.Sprintf("the publication of %s %d", f.Publishers[s.Entity].Topic, s.Number)
	case s.Kind == record.Callback && int(s.Entity) < len(f.Rows):
		return fmt.Sprintf("the callback for %s %d", f.Rows[s.Entity].Topic, s.Number)
	default:
		return "the benchmark's own look at a slow message"
	}
}

func between(times []int64, from, to int64) (n int) {
	for _, t := range times {
		if t >= from && t <= to {
			n++
		}
	}
	return n
}
