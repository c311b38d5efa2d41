package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/bench/machine"
	"github.com/tagus-ros/tagus/internal/bench/record"
	"github.com/tagus-ros/tagus/internal/bench/report"
	"github.com/tagus-ros/tagus/internal/bench/topology"
)

// Env is what a run needs of the program around it.
type Env struct {
	Self     machine.Self
	Err      io.Writer // standard error of the workers, and progress
	Terminal bool      // Err is a terminal: progress overwrites its line
}

// How long yardsticks are measured, before and again after the run, and how long workers get for an answer.
const (
	hotCopyFor  = 300 * time.Millisecond
	yardFor     = time.Second
	answerLimit = 10 * time.Second
)

// Run runs topologies and reports what came of it. When ctx ends the run ends early, with results. Errors are those of starting, matching
// or of a worker that died.
func Run(ctx context.Context, env Env, o Options) (*report.Result, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	topology.Unique(o.Topologies)
	yard := newYardsticks(env, o)
	yard.measure(ctx)
	r := &run{env: env, opts: o, frames: make(chan fromWorker)}
	defer r.end()
	if err := r.start(); err != nil {
		return nil, err
	}
	early, err := r.conduct(ctx)
	if err != nil {
		return nil, err
	}
	yard.measure(ctx)
	out := merge(o, r.found)
	out.Machine = yard.facts()
	out.Notes = append(out.Notes, yard.notes...)
	if early {
		out.Notes = append(out.Notes, fmt.Sprintf("ended early, after %.1f of %.1f s", out.DurationS, o.Duration.Seconds()))
	}
	return out, nil
}

func (o *Options) check() error {
	switch {
	case len(o.Topologies) == 0:
		return errors.New("no topology")
	case o.Duration <= 0:
		return fmt.Errorf("duration is %v, want more than 0", o.Duration)
	case o.Sampling < 10*time.Millisecond:
		return fmt.Errorf("sampling period is %v, want at least 10ms", o.Sampling)
	}
	return nil
}

// run is a run under way.
type run struct {
	env     Env
	opts    Options
	workers []*process
	frames  chan fromWorker
	ended   chan struct{} // closed when nobody listens to frames any more
	found   []findings
}

type process struct {
	name string
	cmd  *exec.Cmd
	in   io.WriteCloser
	tick tick
	done bool // has reported; its end is no surprise any more
}

type fromWorker struct {
	index int
	kind  frameKind
	body  []byte
	err   error // the pipe ended
}

func (r *run) start() error {
	r.ended = make(chan struct{})
	r.found = make([]findings, len(r.opts.Topologies))
	for i, t := range r.opts.Topologies {
		cmd := r.env.Self(WorkerRole)
		cmd.Stderr = r.env.Err
		in, err := cmd.StdinPipe()
		if err != nil {
			return err
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			return err
		}
		if err := cmd.Start(); err != nil {
			return fmt.Errorf("start the process for %s: %w", t.Name, err)
		}
		r.workers = append(r.workers, &process{name: t.Name, cmd: cmd, in: in})
		go r.listen(i, out)
		if err := writeFrame(in, frameSetup, setup{Index: i, Options: r.opts}); err != nil {
			return fmt.Errorf("process %s: %w", t.Name, err)
		}
	}
	return nil
}

func (r *run) listen(i int, out io.Reader) {
	for {
		kind, body, err := readFrame(out)
		select {
		case r.frames <- fromWorker{i, kind, body, err}:
		case <-r.ended:
			return
		}
		if err != nil {
			return
		}
	}
}

// partLimit is how long a worker gets to leave the domain when a run ends before its time.
const partLimit = 2 * time.Second

// end tells the workers to go, and ends those that do not.
func (r *run) end() {
	if r.ended != nil {
		close(r.ended)
	}
	for _, w := range r.workers {
		w.in.Close()
	}
	for _, w := range r.workers {
		late := time.AfterFunc(partLimit, func() {
			_ = w.cmd.Process.Kill() // it may have ended just now
		})
		_ = w.cmd.Wait() // how it ended has been told where it matters
		late.Stop()
	}
}

// conduct leads the workers through the run.
func (r *run) conduct(ctx context.Context) (early bool, err error) {
	all := meet{Publishers: make([][]graph.GID, len(r.workers))}
	err = r.gather(ctx, frameReady, r.opts.MatchLimit, func(i int, body []byte) error {
		m, err := decode[meeting](body)
		all.Publishers[i] = m.Publishers
		return err
	})
	if err != nil {
		return false, err
	}
	if err := r.tell(frameMeet, all); err != nil {
		return false, err
	}
	if err := r.gather(ctx, frameMatched, r.opts.MatchLimit+answerLimit, nil); err != nil {
		return false, err
	}
	if err := r.tell(frameGo, nil); err != nil {
		return false, err
	}
	if early, err = r.wait(ctx); err != nil {
		return early, err
	}
	if err := r.tell(frameStop, nil); err != nil {
		return early, err
	}
	never := context.Background()
	sent := drain{Counts: make([][]uint32, len(r.workers))}
	err = r.gather(never, frameStopped, answerLimit, func(i int, body []byte) error {
		e, err := decode[ended](body)
		sent.Counts[i] = e.Counts
		return err
	})
	if err != nil {
		return early, err
	}
	if err := r.tell(frameDrain, sent); err != nil {
		return early, err
	}
	return early, r.gather(never, frameDone, answerLimit+drainLimit, func(i int, body []byte) error {
		var err error
		r.found[i], err = decode[findings](body)
		return err
	})
}

func (r *run) tell(kind frameKind, body any) error {
	for _, w := range r.workers {
		if err := writeFrame(w.in, kind, body); err != nil {
			return fmt.Errorf("process %s: %w", w.name, err)
		}
	}
	return nil
}

// gather waits for one frame of a kind from each worker.
func (r *run) gather(ctx context.Context, kind frameKind, limit time.Duration, take func(i int, body []byte) error) error {
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	for missing := len(r.workers); missing > 0; {
		select {
		case f := <-r.frames:
			got, err := r.handle(f)
			if err != nil {
				return err
			}
			if got != kind {
				continue
			}
			missing--
			if take == nil {
				continue
			}
			if err := take(f.index, f.body); err != nil {
				return fmt.Errorf("process %s: %w", r.workers[f.index].name, err)
			}
		case <-ctx.Done():
			return fmt.Errorf("interrupted before the run began: %w", ctx.Err())
		case <-deadline.C:
			return fmt.Errorf("%d of %d processes did not answer within %v", missing, len(r.workers), limit)
		}
	}
	return nil
}

// handle treats what any frame may be: progress, a failure, an end.
func (r *run) handle(f fromWorker) (frameKind, error) {
	w := r.workers[f.index]
	switch {
	case f.err != nil && w.done:
	case f.err != nil:
		w.in.Close()
		err := w.cmd.Wait()
		if err == nil {
			err = f.err
		}
		return 0, fmt.Errorf("process %s ended: %w", w.name, err)
	case f.kind == frameFailed:
		e, err := decode[failure](f.body)
		if err != nil {
			e.Text = err.Error()
		}
		return 0, fmt.Errorf("process %s: %s", w.name, e.Text)
	case f.kind == frameTick:
		w.tick = readTick(f.body)
	case f.kind == frameDone:
		w.done = true
	}
	return f.kind, nil
}

// wait lets the workers run, and shows progress.
func (r *run) wait(ctx context.Context) (early bool, err error) {
	start := time.Now()
	end := time.NewTimer(r.opts.Duration)
	defer end.Stop()
	show := progress{out: r.env.Err, terminal: r.env.Terminal, start: start, total: r.opts.Duration}
	defer show.end()
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		select {
		case f := <-r.frames:
			if _, err := r.handle(f); err != nil {
				return false, err
			}
		case now := <-second.C:
			var sum tick
			for _, w := range r.workers {
				sum.Published += w.tick.Published
				sum.Received += w.tick.Received
				sum.Failed += w.tick.Failed
			}
			if sum != (tick{}) || now.Sub(start) > 2*r.opts.Sampling { // the first ticks are on their way
				show.line(now, sum)
			}
		case <-end.C:
			return false, nil
		case <-ctx.Done():
			return true, nil
		}
	}
}

// progress is the line that shows how far a run is.
type progress struct {
	out      io.Writer
	terminal bool
	start    time.Time
	total    time.Duration
	shown    bool
	last     time.Time
}

// plainEvery is how often a line is printed where it cannot overwrite the one before.
const plainEvery = 5 * time.Second

func (p *progress) line(now time.Time, t tick) {
	text := fmt.Sprintf("%3.0f of %.0f s: %d published, %d received", now.Sub(p.start).Seconds(), p.total.Seconds(), t.Published, t.Received)
	if t.Failed > 0 {
		text += fmt.Sprintf(", %d publications failed", t.Failed)
	}
	switch {
	case p.terminal:
		fmt.Fprintf(p.out, "\r%-78s", text)
		p.shown = true
	case p.last.IsZero() || now.Sub(p.last) >= plainEvery-time.Second/2:
		fmt.Fprintln(p.out, text)
		p.last = now
	}
}

func (p *progress) end() {
	if p.shown {
		fmt.Fprintf(p.out, "\r%78s\r", "")
	}
}

// yardsticks measures the machine before and after the run.
type yardsticks struct {
	env     Env
	opts    Options
	periods []time.Duration
	rate    float64
	hot     []float64
	copies  []int64
	wakes   []int64
	notes   []string
}

func newYardsticks(env Env, o Options) *yardsticks {
	y := &yardsticks{env: env, opts: o}
	for _, t := range o.Topologies {
		y.rate += t.Rate()
		for i := range t.Nodes {
			for _, p := range t.Nodes[i].Publishers {
				y.periods = append(y.periods, p.Period)
			}
		}
	}
	return y
}

func (y *yardsticks) measure(ctx context.Context) {
	if !y.opts.Yardsticks || len(y.periods) == 0 || ctx.Err() != nil {
		return
	}
	y.hot = append(y.hot, machine.HotCopy(hotCopyFor))
	y.copies = append(y.copies, machine.CopyLoop(y.periods, yardFor)...)
	wakes, err := machine.BareWake(y.env.Self, y.rate, yardFor)
	if err != nil {
		y.notes = []string{"bare wake not measured: " + err.Error()}
	}
	y.wakes = append(y.wakes, wakes...)
}

func (y *yardsticks) facts() machine.Facts {
	f := machine.New()
	if len(y.hot) > 0 {
		best := y.hot[0]
		for _, h := range y.hot {
			best = min(best, h)
		}
		f.HotCopy1MiB = &best
	}
	if len(y.copies) > 0 {
		f.CopyLoop = ptr(record.Mean(y.copies))
	}
	if len(y.wakes) > 0 {
		f.BareWake = ptr(record.Mean(y.wakes))
	}
	return f
}
