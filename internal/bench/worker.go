package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/bench/machine"
	"github.com/tagus-ros/tagus/internal/bench/record"
	"github.com/tagus-ros/tagus/internal/bench/report"
	"github.com/tagus-ros/tagus/internal/bench/topology"
	"github.com/tagus-ros/tagus/internal/clock"
)

// WorkerRole is the word by which the program starts a worker; it then calls Serve.
const WorkerRole = "worker"

// drainLimit is how long a worker waits for messages that were published before the end.
const drainLimit = time.Second

// worker is one process of a run.
type worker struct {
	opts  Options
	index int
	top   *topology.Topology
	in    io.Reader
	out   io.Writer

	d       *tagus.Domain
	lanes   []*lane
	laneOf  map[int]*lane // by executor id
	execOf  map[int]*tagus.Executor
	plan    plan
	tickers []ticker
	pubs    []*publication
	specs   []publisherFindings
	hears   []listener
	rows    []*reception
	names   []rowFindings

	counter   *machine.Counter
	resources []report.Resource
	tickBuf   [5 + tickBytes]byte
	notes     []string
}

// Serve runs a worker that is told over in what to do and answers over out. It returns when the coordinator is done with it or gone.
func Serve(in io.Reader, out io.Writer) error {
	kind, body, err := readFrame(in)
	if err != nil {
		return fmt.Errorf("bench worker: %w", err)
	}
	s, err := decode[setup](body)
	if kind != frameSetup || err != nil || s.Index < 0 || s.Index >= len(s.Options.Topologies) {
		return fmt.Errorf("bench worker: first frame %q is no setup: %w", kind, err)
	}
	w := &worker{opts: s.Options, index: s.Index, top: s.Options.Topologies[s.Index], in: in, out: out}
	w.plan = newPlan(s.Options.Topologies, s.Index, s.Options.Duration)
	if err := w.run(); err != nil {
		// Whoever started the worker shows the reason; it is not said twice.
		return writeFrame(out, frameFailed, failure{err.Error()})
	}
	return nil
}

func (w *worker) run() (err error) {
	if err := w.join(); err != nil {
		return err
	}
	defer func() {
		if e := w.d.Close(); err == nil {
			err = e
		}
	}()
	if err := w.build(); err != nil {
		return err
	}
	w.prepare()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	spun := make(chan error, 1)
	go func() { spun <- w.d.Spin(ctx) }()
	orders := w.orders()
	if err := w.meet(ctx, orders); err != nil {
		return err
	}
	if o := <-orders; o.kind != frameGo {
		return o.unexpected()
	}
	f := findings{Started: clock.Mono()}
	for _, l := range w.lanes {
		l.from = f.Started
	}
	for _, t := range w.tickers {
		if err := t.start(); err != nil {
			return err
		}
	}
	order := w.watch(&f, orders)
	if order.kind != frameStop {
		return order.unexpected()
	}
	var counts []uint32
	for _, t := range w.tickers {
		t.stop()
		counts = append(counts, t.count())
	}
	if err := writeFrame(w.out, frameStopped, ended{counts}); err != nil {
		return err
	}
	if order = <-orders; order.kind != frameDrain {
		return order.unexpected()
	}
	all, err := decode[drain](order.body)
	if err != nil {
		return err
	}
	w.drain(all.Counts)
	cancel()
	if err := <-spun; err != nil {
		return err
	}
	w.collect(&f, all.Counts)
	return writeFrame(w.out, frameDone, f)
}

func (w *worker) join() error {
	opts := []tagus.DomainOption{tagus.WithInProcess(w.opts.InProcess), tagus.WithRecycling(w.opts.Recycling)}
	if w.opts.DomainID >= 0 {
		opts = append(opts, tagus.WithDomainID(w.opts.DomainID))
	}
	var err error
	w.d, err = tagus.Join(opts...)
	return err
}

// build makes executors, nodes and endpoints.
func (w *worker) build() error {
	if err := w.executors(); err != nil {
		return err
	}
	for i := range w.top.Nodes {
		spec := &w.top.Nodes[i]
		nodeOpts := []tagus.NodeOption{tagus.WithExecutor(w.execOf[spec.Executor]), tagus.WithoutROSServices()}
		if spec.Namespace != "" {
			nodeOpts = append(nodeOpts, tagus.WithNamespace(spec.Namespace))
		}
		n, err := w.d.NewNode(spec.Name, nodeOpts...)
		if err != nil {
			return err
		}
		l := w.laneOf[spec.Executor]
		for j := range spec.Publishers {
			p := &spec.Publishers[j]
			pub := &publication{lane: l, index: len(w.pubs)}
			t, err := messageTypes[p.Type].publish(n, pub, p)
			if err != nil {
				return err
			}
			w.tickers, w.pubs = append(w.tickers, t), append(w.pubs, pub)
			w.specs = append(w.specs, publisherFindings{Node: spec.Label(), Topic: p.Topic, GID: t.gid(), Ownership: p.Pass.String(), PeriodNanos: int64(p.Period)})
		}
		for j := range spec.Subscribers {
			s := &spec.Subscribers[j]
			r := w.reception(l)
			private := s.Pass == topology.Owned
			h, err := messageTypes[s.Type].subscribe(n, r, s, private)
			if err != nil {
				return err
			}
			take := "lent"
			if private {
				take = "copy"
			}
			w.hears, w.rows = append(w.hears, h), append(w.rows, r)
			w.names = append(w.names, rowFindings{Node: spec.Label(), Topic: s.Topic, Take: take})
		}
	}
	return nil
}

// executors makes one for each executor id of the topology. The first is the domain's own, unless options ask for more than that can do.
func (w *worker) executors() error {
	w.laneOf, w.execOf = map[int]*lane{}, map[int]*tagus.Executor{}
	// Each executor sleeps on a thread of its own, and the runtime notices up to 10 ms late that a sleeping thread has no use for its
	// processor: with more threads than processors one that was woken waits for that.
	extra := w.opts.ExtraProcs == "on" || w.opts.ExtraProcs == "auto" && w.top.Executors() > 1
	for i := range w.top.Nodes {
		id := w.top.Nodes[i].Executor
		if w.laneOf[id] != nil {
			continue
		}
		var opts []tagus.ExecutorOption
		if w.opts.BusyPoll > 0 {
			opts = append(opts, tagus.WithBusyPoll(w.opts.BusyPoll))
		}
		if extra {
			opts = append(opts, tagus.WithExtraProcs())
		}
		if n := len(w.opts.Pin); n > 0 {
			opts = append(opts, tagus.WithPinnedCPU(w.opts.Pin[(w.index+len(w.lanes))%n]))
		}
		e := w.d.DefaultExecutor()
		if len(w.lanes) > 0 || len(opts) > 0 {
			var err error
			if e, err = tagus.NewExecutor(w.d, opts...); err != nil {
				return err
			}
		}
		l := newLane(w.opts.Tracking)
		w.execOf[id], w.laneOf[id] = e, l
		w.lanes = append(w.lanes, l)
	}
	return nil
}

// prepare takes what the run needs, so that the steady state takes nothing.
func (w *worker) prepare() {
	n := int(w.opts.Duration/w.opts.Sampling) + 16
	w.resources = make([]report.Resource, 0, min(n, 1<<20))
	var calls *machine.SyscallCounter
	if w.opts.Syscalls {
		var err error
		if calls, err = machine.NewSyscallCounter(); err != nil {
			w.notes = append(w.notes, "system calls are not counted: "+err.Error())
		}
	}
	w.counter = machine.NewCounter(calls)
	runtime.GC() // what building left behind is not the run's
}

// meet tells the coordinator which publishers are here, learns which there are elsewhere, and waits until all are matched.
func (w *worker) meet(ctx context.Context, orders <-chan order) error {
	var mine meeting
	for _, t := range w.tickers {
		mine.Publishers = append(mine.Publishers, t.gid())
	}
	if err := writeFrame(w.out, frameReady, mine); err != nil {
		return err
	}
	o := <-orders
	if o.kind != frameMeet {
		return o.unexpected()
	}
	all, err := decode[meet](o.body)
	if err != nil {
		return err
	}
	for i, r := range w.rows {
		for _, k := range w.plan.pubsOf[i] {
			if k.Process >= len(all.Publishers) || k.Index >= len(all.Publishers[k.Process]) {
				return fmt.Errorf("the coordinator knows no publisher %d of process %d", k.Index, k.Process)
			}
			r.expect(all.Publishers[k.Process][k.Index], w.opts.Topologies[k.Process].PublisherAt(k.Index).Period)
		}
	}
	if err := w.match(ctx); err != nil {
		return err
	}
	return writeFrame(w.out, frameMatched, nil)
}

// match waits until each endpoint is matched with all its partners of the run. All processes have made theirs, so the graph has them;
// should there be others on the same topics, they are waited for, too, since counts do not tell them apart.
func (w *worker) match(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, w.opts.MatchLimit)
	defer cancel()
	for i, t := range w.tickers {
		n, err := w.patient(ctx, w.plan.subsOf[i], graph.KindSubscription, t.topic(), t.wait)
		if err != nil {
			return w.unmatched(err, fmt.Sprintf("publisher %s of node %s has %d of %d subscriptions", w.specs[i].Topic, w.specs[i].Node, t.matched(), n))
		}
	}
	for i, h := range w.hears {
		n, err := w.patient(ctx, len(w.plan.pubsOf[i]), graph.KindPublisher, h.topic(), h.wait)
		if err != nil {
			return w.unmatched(err, fmt.Sprintf("subscription %s of node %s has %d of %d publishers", w.names[i].Topic, w.names[i].Node, h.stats().Publishers, n))
		}
	}
	return nil
}

// patient waits for n partners on a topic, or as many as the graph has if those are more. It counts again now and then, since one that
// is not of this run may go.
func (w *worker) patient(ctx context.Context, n int, k graph.Kind, topic string, wait func(context.Context, int) error) (int, error) {
	for n > 0 {
		want := max(n, w.d.Graph().Count(k, topic))
		try, cancel := context.WithTimeout(ctx, time.Second)
		err := wait(try, want)
		cancel()
		if err == nil || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return want, err
		}
	}
	return 0, nil
}

func (w *worker) unmatched(err error, what string) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("not all pairs matched within %v: %s", w.opts.MatchLimit, what)
	}
	return err
}

// order is a frame from the coordinator.
type order struct {
	kind frameKind
	body []byte
	err  error
}

func (o order) unexpected() error {
	if o.err != nil {
		return fmt.Errorf("the coordinator is gone: %w", o.err)
	}
	return fmt.Errorf("unexpected frame %q from the coordinator", o.kind)
}

// orders reads frames in a goroutine of its own, which stays in the read until the coordinator closes the pipe.
func (w *worker) orders() <-chan order {
	ch := make(chan order)
	go func() {
		defer close(ch)
		for {
			kind, body, err := readFrame(w.in)
			ch <- order{kind, body, err}
			if err != nil {
				return
			}
		}
	}()
	return ch
}

// watch waits for the coordinator's word to stop. Meanwhile it samples resources, and takes the counters at the start and the end of the
// steady state.
func (w *worker) watch(f *findings, orders <-chan order) order {
	sample := time.NewTicker(w.opts.Sampling)
	defer sample.Stop()
	steady := time.NewTimer(steadyAfter)
	defer steady.Stop()
	begin := w.counter.Read()
	var from, to snapshot
	for {
		select {
		case <-steady.C:
			from = w.snapshot()
		case <-sample.C:
			w.sample(begin, f.Started)
			f.GCEnds = w.counter.CollectionEnds(f.GCEnds, lastOf(f.GCEnds, f.Started))
		case o := <-orders:
			if from.taken {
				to = w.snapshot()
				u := w.counter.Between(from.counts, to.counts)
				f.Usage = &u
				f.Published, f.Received = to.tick.Published-from.tick.Published, to.tick.Received-from.tick.Received
				f.OwnCalls, f.Copied = ptr(to.own.syscalls-from.own.syscalls), ptr(to.own.copied-from.own.copied)
			}
			f.Stopped = clock.Mono()
			return o
		}
	}
}

// snapshot is all counters at one moment.
type snapshot struct {
	taken  bool
	counts machine.Counts
	tick   tick
	own    ownCounts
}

func (w *worker) snapshot() snapshot {
	return snapshot{true, w.counter.Read(), w.tick(), w.own()}
}

// ownCounts are what tagus counts of itself.
type ownCounts struct{ syscalls, copied, committed int64 }

func (w *worker) own() ownCounts {
	s := w.d.Stats()
	return ownCounts{syscalls: int64(s.Syscalls), copied: int64(s.PayloadCopied), committed: s.Arena.Committed}
}

func (w *worker) tick() tick {
	var t tick
	for _, l := range w.lanes {
		t.Published += l.published.Load()
		t.Received += l.received.Load()
		t.Failed += l.failed.Load()
	}
	return t
}

// sample adds a line to the resources and tells the coordinator how far it is. It allocates nothing.
func (w *worker) sample(begin machine.Counts, started int64) {
	now := w.counter.Light()
	heap, used := w.counter.Heap()
	m := w.counter.Memory()
	if len(w.resources) < cap(w.resources) {
		w.resources = append(w.resources, report.Resource{
			MS:         (now.At - started) / 1e6,
			CPUPercent: 100 * float64(now.CPU-begin.CPU) / float64(now.At-begin.At) / float64(runtime.NumCPU()),
			Arena:      heap, InUse: used, MMap: w.own().committed / 1024, RSS: m.RSS, VSZ: m.VSZ,
		})
	}
	w.tickBuf[0] = byte(frameTick)
	w.tickBuf[1] = tickBytes
	w.tick().put(w.tickBuf[5:])
	_, _ = w.out.Write(w.tickBuf[:]) // a coordinator that is gone ends the run by its closed pipe
}

// drain waits until every message that was published for this process has come, or no more can be expected.
func (w *worker) drain(counts [][]uint32) {
	var want int64
	for _, keys := range w.plan.pubsOf {
		for _, k := range keys {
			want += int64(countOf(counts, k))
		}
	}
	check := time.NewTicker(2 * time.Millisecond)
	defer check.Stop()
	for end := clock.Mono() + int64(drainLimit); clock.Mono() < end && w.tick().Received < want; {
		<-check.C
	}
}

func countOf(counts [][]uint32, k pubKey) uint32 {
	if k.Process >= len(counts) || k.Index >= len(counts[k.Process]) {
		return 0
	}
	return counts[k.Process][k.Index]
}

// reception prepares the record of the next subscription.
func (w *worker) reception(l *lane) *reception {
	i := len(w.rows)
	sources := len(w.plan.pubsOf[i])
	return &reception{
		lane: l, index: i, touch: w.opts.Touch, gids: make([]graph.GID, 0, sources),
		row: record.NewRow(w.opts.Lateness, sources, w.plan.samples[i]),
	}
}

// collect gathers what was recorded, after the executors have ended.
func (w *worker) collect(f *findings, counts [][]uint32) {
	for i, r := range w.rows {
		for source, k := range w.plan.pubsOf[i] {
			r.row.EndOf(source, countOf(counts, k))
		}
		out := w.names[i]
		out.Size, out.Data, out.GIDs, out.Paths, out.First, out.Last = int(r.size), r.row.Data(), r.gids, r.paths[:], r.first, r.last
		out.Lost = w.hears[i].stats().Lost
		if keys := w.plan.pubsOf[i]; out.Size == 0 && len(keys) > 0 { // nothing came to tell
			out.Size = PayloadSize(w.opts.Topologies[keys[0].Process].PublisherAt(keys[0].Index))
		}
		f.Rows = append(f.Rows, out)
	}
	for i, t := range w.tickers {
		p := w.specs[i]
		p.Fallbacks, p.Overruns = t.stats().LoanFallbacks, t.overruns()
		f.Publishers = append(f.Publishers, p)
	}
	for _, l := range w.lanes {
		f.Slow = append(f.Slow, l.slow...)
		f.SlowMore += l.slowMore
		f.Calls = append(f.Calls, l.calls...)
		f.Tracked = append(f.Tracked, l.events...)
		f.TrackMore += l.more
		f.Failed += l.failed.Load()
		f.Corrupt += l.corrupt.Load()
		f.Foreign += l.foreign.Load()
		if e := l.firstError.Load(); e != nil && f.FirstError == "" {
			f.FirstError = *e
		}
	}
	f.GCEnds = w.counter.CollectionEnds(f.GCEnds, lastOf(f.GCEnds, f.Started))
	f.Resources, f.Notes = w.resources, w.notes
}

func lastOf(s []int64, otherwise int64) int64 {
	if len(s) == 0 {
		return otherwise
	}
	return s[len(s)-1]
}

func ptr[T any](v T) *T { return &v }
