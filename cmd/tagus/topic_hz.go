package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/qos"
)

// hzWindow is how many gaps a rate is computed from, unless told otherwise.
const hzWindow = 10_000

// topicRate is one line of "topic hz --json".
type topicRate struct {
	Topic  string  `json:"topic"`
	Rate   float64 `json:"rate_hz"`
	Min    float64 `json:"min_s"` // of the gaps between messages
	Max    float64 `json:"max_s"`
	StdDev float64 `json:"std_dev_s"` // of the population
	Window int     `json:"window"`    // gaps
	Missed uint64  `json:"missed"`    // messages that came faster than this tool took them; they are in the rate
}

func newTopicHz(e env) *cobra.Command {
	var asJSON, wall, sim bool
	var seconds float64
	window, domain := hzWindow, -1
	cmd := &cobra.Command{
		Use:   "hz TOPIC [TOPIC…]",
		Short: "Print how often messages come",
		Args:  cobra.MinimumNArgs(1),
		RunE: verb(func(cmd *cobra.Command, args []string) error {
			var topics []string
			for _, a := range args {
				t, err := fullTopic(a)
				if err != nil {
					return err
				}
				topics = append(topics, t)
			}
			ctx, stop, err := watchTime(cmd.Context(), window, seconds)
			if err != nil {
				return err
			}
			defer stop()
			return watchRates(ctx, e, domain, topics, window, asJSON, sim && !wall)
		}),
		ValidArgsFunction: func(_ *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return topicNames(domain), cobra.ShellCompDirectiveNoFileComp
		},
	}
	fl := cmd.Flags()
	fl.IntVarP(&window, "window", "w", hzWindow, "how many gaps the rate is computed from")
	fl.BoolVar(&wall, "wall-time", false, "measure by the clock of the host also with --use-sim-time; without that gaps are measured by a clock that does not step")
	simFlag(cmd, &sim)
	fl.Float64Var(&seconds, "time", 0, "end after that many seconds; 0: when interrupted")
	fl.BoolVar(&asJSON, "json", false, "print a line of JSON for each topic and second")
	domainFlag(cmd, &domain)
	return cmd
}

func watchRates(ctx context.Context, e env, domain int, topics []string, window int, asJSON, sim bool) error {
	d, err := enter(domain)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.WatchGraph(); err != nil {
		return err
	}
	n, err := toolNode(d, "hz", "", sim)
	if err != nil {
		return err
	}
	words := e
	if asJSON {
		words.out = e.err
	}
	var meters []*rateMeter
	for _, topic := range topics {
		name, hash, err := typeOf(ctx, words, d.Graph(), topic)
		if ctx.Err() != nil {
			return nil // ended before the topic came
		}
		if err != nil {
			return err
		}
		m := newRateMeter(topic, window)
		m.now = stopwatch(n, sim)
		if _, err := tagus.NewSerializedSubscription(n, topic, name, hash, qos.SensorData(), m.receive); err != nil {
			return err
		}
		if len(topics) > 1 && !asJSON {
			fmt.Fprintf(e.out, "Subscribed to [%s]\n", topic)
		}
		meters = append(meters, m)
	}
	return spinAndPrint(ctx, d, func() error { return printRates(e, meters, asJSON) })
}

// rateMeter keeps the last gaps between messages.
type rateMeter struct {
	topic string
	now   func() int64
	holes holes // of the executor's thread alone

	mu      sync.Mutex
	gaps    []rateGap // a ring
	at      int
	n       int
	last    int64
	printed int64 // value of last when it was printed
	missed  uint64
}

// rateGap is the time between two messages that were taken.
type rateGap struct {
	ns     int64
	missed uint64 // messages in between that were not
}

func newRateMeter(topic string, window int) *rateMeter {
	return &rateMeter{topic: topic, gaps: make([]rateGap, window)}
}

// receive is the subscription's callback.
func (m *rateMeter) receive(_ context.Context, s *tagus.Sample[tagus.SerializedMessage]) {
	m.add(m.now(), m.holes.before(&s.Info))
}

func (m *rateMeter) add(now int64, missed uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.missed += missed
	if now < m.last { // the time on /clock went back
		m.n, m.at, m.last = 0, 0, 0
	}
	if m.last != 0 {
		m.gaps[m.at] = rateGap{now - m.last, missed}
		m.at = (m.at + 1) % len(m.gaps)
		m.n = min(m.n+1, len(m.gaps))
	}
	m.last = now
}

// rate computes the figures; ok is false when no message has come since the last call.
func (m *rateMeter) rate() (r topicRate, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.n == 0 || m.last == m.printed {
		return r, false
	}
	m.printed = m.last
	var sum, came float64
	lo, hi := int64(math.MaxInt64), int64(0)
	for _, g := range m.gaps[:m.n] {
		sum += float64(g.ns)
		came += float64(1 + g.missed)
		lo, hi = min(lo, g.ns), max(hi, g.ns)
	}
	mean := sum / float64(m.n)
	var squares float64
	for _, g := range m.gaps[:m.n] {
		squares += (float64(g.ns) - mean) * (float64(g.ns) - mean)
	}
	r = topicRate{
		Topic: m.topic, Min: float64(lo) / 1e9, Max: float64(hi) / 1e9, StdDev: math.Sqrt(squares/float64(m.n)) / 1e9,
		Window: m.n, Missed: m.missed,
	}
	if sum > 0 {
		r.Rate = came * 1e9 / sum
	}
	return r, true
}

func printRates(e env, meters []*rateMeter, asJSON bool) error {
	var rates []topicRate
	for _, m := range meters {
		if r, ok := m.rate(); ok {
			rates = append(rates, r)
		}
	}
	if len(rates) == 0 {
		return nil
	}
	if asJSON {
		enc := json.NewEncoder(e.out)
		for _, r := range rates {
			if err := enc.Encode(r); err != nil {
				return err
			}
		}
		return nil
	}
	_, err := fmt.Fprint(e.out, rateText(rates, len(meters) > 1))
	return err
}

// rateText is the form of the ros2 command line: two lines for one topic, a table for several.
func rateText(rates []topicRate, several bool) string {
	if !several {
		r := rates[0]
		return fmt.Sprintf("average rate: %.3f\n\tmin: %.3fs max: %.3fs std dev: %.5fs window: %d\n", r.Rate, r.Min, r.Max, r.StdDev, r.Window)
	}
	rows := [][]string{{"topic", "rate", "min_delta", "max_delta", "std_dev", "window"}}
	for _, r := range rates {
		rows = append(rows, []string{r.Topic, fmt.Sprintf("%.3f", r.Rate), fmt.Sprintf("%.3f", r.Min), fmt.Sprintf("%.3f", r.Max), fmt.Sprintf("%.5f", r.StdDev), fmt.Sprint(r.Window)})
	}
	widths := make([]int, len(rows[0]))
	total := 3 * (len(widths) - 1)
	for i := range widths {
		for _, r := range rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(r[i]))
		}
		total += widths[i]
	}
	var b strings.Builder
	for i, r := range rows {
		for j, f := range r {
			pad := widths[j] - utf8.RuneCountInString(f)
			left := 0
			if i == 0 {
				// As the original centres: an odd blank goes to the left where the width is odd, too.
				left = pad/2 + (pad & widths[j] & 1)
			}
			if j > 0 {
				b.WriteString("   ")
			}
			b.WriteString(strings.Repeat(" ", left) + f + strings.Repeat(" ", pad-left))
		}
		b.WriteByte('\n')
		if i == 0 {
			b.WriteString(strings.Repeat("=", total) + "\n")
		}
	}
	return b.String() + "\n"
}
