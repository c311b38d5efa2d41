package bench

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/internal/bench/machine"
	"github.com/tagus-ros/tagus/internal/bench/record"
	"github.com/tagus-ros/tagus/internal/bench/report"
	"github.com/tagus-ros/tagus/internal/clock"
	irobot "github.com/tagus-ros/tagus/msgs/irobot_interfaces_plugin"
	"github.com/tagus-ros/tagus/qos"
)

// PongRole is the word by which the program starts the other end of a ping-pong; it then calls ServePong.
const PongRole = "pong"

// Ping-pong compares waking another process by a bare futex and by polling with what tagus makes of them. All ways run in turn, in short
// blocks, between the same two processes on the same processors, so that whatever the machine does meanwhile hits all alike.
const (
	pingBlock    = 100 // round trips of one way before the next has its turn
	pingPayload  = 40  // with header and length 64 bytes of CDR
	pingTimeout  = 5 * time.Second
	pingMessages = 64 // bytes, for reports
)

// PingOptions of a ping-pong.
type PingOptions struct {
	Rate     float64       // pings a second
	Duration time.Duration // of each placement
	DomainID int           // -1: the environment decides
}

// PingResult is what a ping-pong found. Its JSON form is what "bench pingpong --json" prints.
type PingResult struct {
	Machine    machine.Facts   `json:"machine"`
	RateHz     float64         `json:"rate_hz"`
	Size       int             `json:"size"`
	Placements []PingPlacement `json:"placements"`
}

// PingPlacement is one way of putting the two ends on processors.
type PingPlacement struct {
	Name string    `json:"name"` // "same core", "two cores"
	CPUs [2]int    `json:"cpus"` // of the pinging and of the answering end
	Ways []PingWay `json:"ways"`
}

// PingWay is one way to wake the other end. A way that makes no sense in a placement has no figures and says why.
type PingWay struct {
	Name      string     `json:"name"` // "futex", "busy_poll", "tagus", "tagus_busy_poll"
	Trips     int        `json:"round_trips"`
	OneWay    *PingStats `json:"one_way_us"` // there and back together
	RoundTrip *PingStats `json:"round_trip_us"`
	Note      string     `json:"note,omitempty"`
}

// PingStats are microseconds.
type PingStats struct {
	Mean float64 `json:"mean"`
	Min  float64 `json:"min"`
	P50  float64 `json:"p50"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
	Max  float64 `json:"max"`
	MAD  float64 `json:"mad"`
}

func pingStats(ns []int64) *PingStats {
	s := record.Summarise(ns)
	return &PingStats{s.Mean, s.Min, s.P50, s.P99, s.P999, s.Max, s.MAD}
}

// trips collects the round trips of one way, in nanoseconds.
type trips struct{ there, back, round []int64 }

func newTrips(n int) *trips {
	return &trips{make([]int64, 0, n), make([]int64, 0, n), make([]int64, 0, n)}
}

func (t *trips) add(there, back, round int64) {
	t.there, t.back, t.round = append(t.there, max(there, 0)), append(t.back, max(back, 0)), append(t.round, round)
}

// way is a way to wake the other end.
type way struct {
	name  string
	note  string // why it has no figures here; "" when it runs
	block func(n int, t *trips) error
	got   *trips
}

// Pingpong runs both placements.
func Pingpong(ctx context.Context, env Env, o PingOptions) (*PingResult, error) {
	if o.Rate < 1 || o.Rate > 20_000 {
		return nil, fmt.Errorf("rate is %v Hz, want 1 to 20000", o.Rate)
	}
	cpus, err := machine.CPUs()
	if err != nil {
		return nil, err
	}
	r := &PingResult{Machine: machine.New(), RateHz: o.Rate, Size: pingMessages}
	placements := []PingPlacement{{Name: "same core", CPUs: [2]int{cpus[0], cpus[0]}}}
	if len(cpus) > 1 {
		placements = append(placements, PingPlacement{Name: "two cores", CPUs: [2]int{cpus[0], cpus[1]}})
	}
	for _, p := range placements {
		if ctx.Err() != nil {
			break
		}
		fmt.Fprintf(env.Err, "%s: processors %d and %d, %v\n", p.Name, p.CPUs[0], p.CPUs[1], o.Duration)
		if err := runPlacement(ctx, env, o, &p); err != nil {
			return nil, fmt.Errorf("ping-pong on %s: %w", p.Name, err)
		}
		r.Placements = append(r.Placements, p)
	}
	return r, nil
}

// pongSetup tells the answering process how to be.
type pongSetup struct {
	CPU      int
	Same     bool // both ends share the processor
	DomainID int
	BusyPoll time.Duration
}

func runPlacement(ctx context.Context, env Env, o PingOptions, p *PingPlacement) (err error) {
	period := time.Duration(1e9 / o.Rate)
	same := p.CPUs[0] == p.CPUs[1]
	s := pongSetup{CPU: p.CPUs[1], Same: same, DomainID: o.DomainID, BusyPoll: 2 * period}
	bare, cmd, err := startPong(env, s)
	if err != nil {
		return err
	}
	defer func() {
		if e := bare.end(cmd); err == nil {
			err = e
		}
	}()
	bare.cpu, bare.period, bare.yield = p.CPUs[0], period, same
	spinCtx, stop := context.WithCancel(context.Background())
	defer stop()
	plain, err := newPinger(spinCtx, s, p.CPUs[0], period, false)
	if err != nil {
		return err
	}
	defer plain.close()
	ways := []*way{
		{name: "futex", block: bare.futexBlock},
		{name: "busy_poll", block: bare.pollBlock},
		{name: "tagus", block: plain.block},
	}
	busy := &way{name: "tagus_busy_poll", note: "two ends that poll cannot share a processor"}
	if same {
		ways[1].note = "the polls yield the processor to each other"
	} else {
		poller, err := newPinger(spinCtx, s, p.CPUs[0], period, true)
		if err != nil {
			return err
		}
		defer poller.close()
		busy.note, busy.block = "", poller.block
	}
	ways = append(ways, busy)
	room := int(o.Duration.Seconds()*o.Rate) + pingBlock
	for _, w := range ways {
		w.got = newTrips(room)
	}
	end := time.Now().Add(o.Duration)
	for round := 0; (round < 2 || time.Now().Before(end)) && ctx.Err() == nil; round++ {
		for _, w := range ways {
			if w.block == nil {
				continue
			}
			into := w.got
			if round == 0 {
				into = newTrips(pingBlock) // warm up
			}
			if err := w.block(pingBlock, into); err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
		}
	}
	for _, w := range ways {
		out := PingWay{Name: w.name, Trips: len(w.got.round), Note: w.note}
		if out.Trips > 0 {
			out.OneWay, out.RoundTrip = pingStats(append(w.got.there, w.got.back...)), pingStats(w.got.round)
		}
		p.Ways = append(p.Ways, out)
	}
	return nil
}

// pinger is the pinging end over tagus.
type pinger struct {
	d      *tagus.Domain
	node   *tagus.Node
	pub    *tagus.Publisher[irobot.StampedVector]
	sub    *tagus.Subscription[irobot.StampedVector]
	msg    irobot.StampedVector
	period time.Duration
	spun   chan error
	cancel context.CancelFunc

	// Of the block under way; touched on the executor's thread only.
	left, asked int
	into        *trips
	done        chan error

	answers atomic.Uint64 // of all blocks
}

func pingTopics(busy bool) (ping, pong string) {
	if busy {
		return "/tagus_bench/busy/ping", "/tagus_bench/busy/pong"
	}
	return "/tagus_bench/ping", "/tagus_bench/pong"
}

func pingExecutor(d *tagus.Domain, s pongSetup, cpu int, busy bool) (*tagus.Executor, error) {
	opts := []tagus.ExecutorOption{tagus.WithPinnedCPU(cpu)}
	if busy {
		opts = append(opts, tagus.WithBusyPoll(s.BusyPoll))
	}
	return tagus.NewExecutor(d, opts...)
}

func pingDomain(s pongSetup) (*tagus.Domain, error) {
	if s.DomainID < 0 {
		return tagus.Join()
	}
	return tagus.Join(tagus.WithDomainID(s.DomainID))
}

func newPinger(ctx context.Context, s pongSetup, cpu int, period time.Duration, busy bool) (_ *pinger, err error) {
	p := &pinger{period: period, done: make(chan error, 1), spun: make(chan error, 1)}
	p.msg.Data = make([]byte, pingPayload)
	if p.d, err = pingDomain(s); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.d.Close()
		}
	}()
	e, err := pingExecutor(p.d, s, cpu, busy)
	if err != nil {
		return nil, err
	}
	if p.node, err = p.d.NewNode("tagus_bench_ping", tagus.WithExecutor(e), tagus.WithoutROSServices()); err != nil {
		return nil, err
	}
	ping, pong := pingTopics(busy)
	if p.pub, err = tagus.NewPublisher[irobot.StampedVector](p.node, ping, qos.Default()); err != nil {
		return nil, err
	}
	if p.sub, err = tagus.NewSubscription(p.node, pong, qos.Default(), p.answer); err != nil {
		return nil, err
	}
	ctx, p.cancel = context.WithCancel(ctx)
	go func() { p.spun <- e.Spin(ctx) }()
	wait, stop := context.WithTimeout(ctx, answerLimit)
	defer stop()
	if err = errors.Join(p.pub.WaitForSubscriptions(wait, 1), p.sub.WaitForPublishers(wait, 1)); err != nil {
		p.cancel()
		<-p.spun
		return nil, err
	}
	return p, nil
}

func (p *pinger) close() {
	p.cancel()
	<-p.spun
	p.d.Close()
}

// block pings n times at the rate.
func (p *pinger) block(n int, t *trips) error {
	p.left, p.asked, p.into = n, 0, t
	timer, err := p.node.NewTimer(p.period, p.ping)
	if err != nil {
		return err
	}
	defer timer.Stop()
	check := time.NewTicker(pingTimeout)
	defer check.Stop()
	for before := p.answers.Load(); ; {
		select {
		case err := <-p.done:
			return err
		case <-check.C:
			now := p.answers.Load()
			if now == before {
				return fmt.Errorf("no answer within %v", pingTimeout)
			}
			before = now
		}
	}
}

// ping sends one message, unless the last is still on its way.
func (p *pinger) ping(context.Context, tagus.TimerInfo) {
	if p.left == 0 || p.asked > 0 {
		return
	}
	p.asked++
	stamp(&p.msg, clock.Mono())
	if err := p.pub.Publish(&p.msg); err != nil {
		p.finish(err)
	}
}

// answer takes the reply, which carries the time that the ping took.
func (p *pinger) answer(_ context.Context, s *tagus.Sample[irobot.StampedVector]) {
	now := clock.Mono()
	if p.asked == 0 || len(s.Msg.Data) < pingPayload {
		return
	}
	p.asked = 0
	p.answers.Add(1)
	p.into.add(int64(binary.LittleEndian.Uint64(s.Msg.Data)), now-stamped(s.Msg), now-stamped(&p.msg))
	if p.left--; p.left == 0 {
		p.finish(nil)
	}
}

func (p *pinger) finish(err error) {
	p.left = 0
	select {
	case p.done <- err:
	default:
	}
}

func stamp(m *irobot.StampedVector, now int64) {
	m.Header.Stamp.Sec, m.Header.Stamp.Nanosec = int32(now/1e9), uint32(now%1e9)
}

func stamped(m *irobot.StampedVector) int64 {
	return int64(m.Header.Stamp.Sec)*1e9 + int64(m.Header.Stamp.Nanosec)
}

// ServePong is the answering process: it answers pings over tagus, by futex and by polling until standard input ends.
func ServePong(in io.Reader, out io.Writer, args []string) error {
	_, body, err := readFrame(in)
	if err != nil {
		return fmt.Errorf("pong: %w", err)
	}
	s, err := decode[pongSetup](body)
	if err != nil {
		return fmt.Errorf("pong: %w", err)
	}
	d, err := pingDomain(s)
	if err != nil {
		return err
	}
	defer d.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	spun := make(chan error, 2)
	ends := 0
	for _, busy := range []bool{false, true} {
		if busy && s.Same {
			continue
		}
		e, err := pongNode(d, s, busy)
		if err != nil {
			return err
		}
		ends++
		go func() { spun <- e.Spin(ctx) }()
	}
	stop, err := serveBare(s, args)
	if err != nil {
		return err
	}
	defer stop()
	if err := writeFrame(out, frameMatched, nil); err != nil {
		return err
	}
	_, _, _ = readFrame(in) // nothing comes; it returns when the other end is done or gone
	cancel()
	var errs []error
	for range ends {
		errs = append(errs, <-spun)
	}
	return errors.Join(errs...)
}

// pongNode makes the node that answers pings.
func pongNode(d *tagus.Domain, s pongSetup, busy bool) (*tagus.Executor, error) {
	e, err := pingExecutor(d, s, s.CPU, busy)
	if err != nil {
		return nil, err
	}
	n, err := d.NewNode("tagus_bench_pong", tagus.WithExecutor(e), tagus.WithoutROSServices())
	if err != nil {
		return nil, err
	}
	ping, pong := pingTopics(busy)
	pub, err := tagus.NewPublisher[irobot.StampedVector](n, pong, qos.Default())
	if err != nil {
		return nil, err
	}
	reply := &irobot.StampedVector{Data: make([]byte, pingPayload)}
	_, err = tagus.NewSubscription(n, ping, qos.Default(), func(_ context.Context, m *tagus.Sample[irobot.StampedVector]) {
		now := clock.Mono()
		binary.LittleEndian.PutUint64(reply.Data, uint64(max(now-stamped(m.Msg), 0)))
		stamp(reply, clock.Mono())
		_ = pub.Publish(reply) // the other end notices that no answer comes
	})
	return e, err
}

// startPong starts the answering process.
func startPong(env Env, s pongSetup) (*bareEnd, *exec.Cmd, error) {
	bare, cmd, err := newBareEnd(env.Self)
	if err != nil {
		return nil, nil, err
	}
	cmd.Stderr = env.Err
	if bare.in, err = cmd.StdinPipe(); err != nil {
		return nil, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, fmt.Errorf("start the answering process: %w", err)
	}
	err = writeFrame(bare.in, frameSetup, s)
	if err == nil {
		_, _, err = readFrame(out)
	}
	if err != nil {
		bare.in.Close()
		return nil, nil, fmt.Errorf("the answering process: %w", errors.Join(err, cmd.Wait()))
	}
	return bare, cmd, nil
}

// PingTable prints a ping-pong for people.
func (r *PingResult) PingTable() string {
	t := report.NewTable(2)
	t.Add("placement", "way", "round trips", "one-way p50", "p99", "p99.9", "max", "mean", "round trip p50", "p99", "one-way p50 / futex")
	for _, p := range r.Placements {
		i := slices.IndexFunc(p.Ways, func(w PingWay) bool { return w.Name == "futex" })
		for _, w := range p.Ways {
			if w.OneWay == nil {
				t.Add(p.Name, w.Name, "-")
				continue
			}
			f := func(x float64) string { return fmt.Sprintf("%.2f", x) }
			ratio := "-"
			if i >= 0 && p.Ways[i].OneWay != nil && p.Ways[i].OneWay.P50 > 0 {
				ratio = f(w.OneWay.P50 / p.Ways[i].OneWay.P50)
			}
			t.Add(p.Name, w.Name, fmt.Sprint(w.Trips), f(w.OneWay.P50), f(w.OneWay.P99), f(w.OneWay.P999), f(w.OneWay.Max), f(w.OneWay.Mean), f(w.RoundTrip.P50), f(w.RoundTrip.P99), ratio)
		}
	}
	out := fmt.Sprintf("%d bytes at %g Hz between two processes, µs\n%s", r.Size, r.RateHz, t)
	for _, p := range r.Placements {
		for _, w := range p.Ways {
			if w.Note != "" {
				out += fmt.Sprintf("note: %s, %s: %s\n", p.Name, w.Name, w.Note)
			}
		}
	}
	return out
}
