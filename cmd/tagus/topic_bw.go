package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/qos"
)

// bwWindow is of how many messages a bandwidth is computed, unless told otherwise.
const bwWindow = 100

// topicBandwidth is a line of "topic bw --json". Sizes are of payloads with their encapsulation.
type topicBandwidth struct {
	Topic    string  `json:"topic"`
	Rate     float64 `json:"bytes_per_s"` // from the oldest message of the window until now
	Messages int     `json:"messages"`    // in the window
	Mean     float64 `json:"mean_bytes"`
	Min      int     `json:"min_bytes"`
	Max      int     `json:"max_bytes"`
	Missed   uint64  `json:"missed"` // messages that came faster than this tool took them; they are in the rate, with the mean size
}

func newTopicBw(e env) *cobra.Command {
	var asJSON, sim bool
	var seconds float64
	window, domain := bwWindow, -1
	cmd := &cobra.Command{
		Use:   "bw TOPIC",
		Short: "Print how many bytes come",
		Args:  cobra.ExactArgs(1),
		RunE: verb(func(cmd *cobra.Command, args []string) error {
			topic, err := fullTopic(args[0])
			if err != nil {
				return err
			}
			ctx, stop, err := watchTime(cmd.Context(), window, seconds)
			if err != nil {
				return err
			}
			defer stop()
			m := newBandwidthMeter(topic, window)
			w := watch{verb: "bw", domain: domain, topic: topic, quiet: asJSON, sim: sim, receive: m.receive}
			w.ready = func(_ context.Context, n *tagus.Node, _, _ string) error {
				m.now = stopwatch(n, sim)
				if !asJSON {
					fmt.Fprintf(e.out, "Subscribed to [%s]\n", topic)
				}
				return nil
			}
			w.print = func() error {
				b, ok := m.bandwidth(m.now())
				if !ok {
					return nil
				}
				if asJSON {
					return json.NewEncoder(e.out).Encode(b)
				}
				_, err := fmt.Fprint(e.out, bandwidthText(b))
				return err
			}
			return w.run(ctx, e)
		}),
		ValidArgsFunction: completeTopics(&domain),
	}
	fl := cmd.Flags()
	fl.IntVarP(&window, "window", "w", bwWindow, "of how many messages the bandwidth is computed")
	fl.Float64Var(&seconds, "time", 0, "end after that many seconds; 0: when interrupted")
	fl.BoolVar(&asJSON, "json", false, "print a line of JSON each second")
	simFlag(cmd, &sim)
	domainFlag(cmd, &domain)
	return cmd
}

// watchTime checks the flags that verbs have which print once a second, and ends their context in time.
func watchTime(ctx context.Context, window int, seconds float64) (context.Context, context.CancelFunc, error) {
	switch {
	case window < 1 || window > 100_000_000:
		return nil, nil, usage{fmt.Errorf("--window is %d, want 1 or more", window)}
	case seconds < 0 || seconds > 1e9:
		return nil, nil, usage{fmt.Errorf("--time is %v, want 0 or more", seconds)}
	case seconds > 0:
		ctx, stop := context.WithTimeout(ctx, time.Duration(seconds*float64(time.Second)))
		return ctx, stop, nil
	}
	return ctx, func() {}, nil
}

// watch is what a verb does that looks at the messages of one topic and prints once a second.
type watch struct {
	verb       string
	domain     int
	topic      string
	quiet, sim bool
	ready      func(ctx context.Context, n *tagus.Node, typeName, hash string) error // called when the type is known
	receive    func(context.Context, *tagus.Sample[tagus.SerializedMessage])
	print      func() error
}

// run waits for the topic and watches it until ctx ends.
func (w *watch) run(ctx context.Context, e env) error {
	d, err := enter(w.domain)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.WatchGraph(); err != nil {
		return err
	}
	n, err := toolNode(d, w.verb, "", w.sim)
	if err != nil {
		return err
	}
	words := e
	if w.quiet {
		words.out = e.err
	}
	name, hash, err := typeOf(ctx, words, d.Graph(), w.topic)
	if ctx.Err() != nil {
		return nil // ended before the topic came
	}
	if err == nil {
		err = w.ready(ctx, n, name, hash)
	}
	if err != nil {
		return err
	}
	_, err = tagus.NewSerializedSubscription(n, w.topic, name, hash, qos.SensorData(), w.receive)
	if err != nil {
		return err
	}
	return spinAndPrint(ctx, d, w.print)
}

// spinAndPrint runs the callbacks of a domain and calls print once a second, until ctx ends.
func spinAndPrint(ctx context.Context, d *tagus.Domain, print func() error) error {
	ctx, stop := context.WithCancel(ctx)
	spun := make(chan error, 1)
	go func() { spun <- d.Spin(ctx) }()
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		select {
		case err := <-spun:
			stop()
			return err
		case <-second.C:
			if err := print(); err != nil {
				stop()
				<-spun
				return err
			}
		}
	}
}

// bandwidthMeter keeps sizes and times of the last messages.
type bandwidthMeter struct {
	topic string
	now   func() int64
	holes holes // of the executor's thread alone

	mu     sync.Mutex
	window []sizedMessage // a ring
	n      int            // messages so far
	missed uint64
}

type sizedMessage struct {
	at     int64 // ns
	size   int
	missed uint64 // messages before it that were not taken
}

func newBandwidthMeter(topic string, window int) *bandwidthMeter {
	return &bandwidthMeter{topic: topic, window: make([]sizedMessage, window)}
}

func (m *bandwidthMeter) receive(_ context.Context, s *tagus.Sample[tagus.SerializedMessage]) {
	m.add(m.now(), len(s.Msg.Data), m.holes.before(&s.Info))
}

func (m *bandwidthMeter) add(now int64, size int, missed uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.n > 0 && now < m.window[(m.n-1)%len(m.window)].at { // the time on /clock went back
		m.n = 0
	}
	m.window[m.n%len(m.window)] = sizedMessage{now, size, missed}
	m.n++
	m.missed += missed
}

// bandwidth is false with fewer than two messages.
func (m *bandwidthMeter) bandwidth(now int64) (topicBandwidth, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := min(m.n, len(m.window))
	b := topicBandwidth{Topic: m.topic, Messages: n, Missed: m.missed}
	oldest := m.window[(m.n-n)%len(m.window)]
	if n < 2 || now <= oldest.at {
		return b, false
	}
	total, came := 0, uint64(n)-oldest.missed // what came before the oldest is not in the time
	b.Min = oldest.size
	for _, x := range m.window[:n] {
		total += x.size
		came += x.missed
		b.Min, b.Max = min(b.Min, x.size), max(b.Max, x.size)
	}
	b.Mean = float64(total) / float64(n)
	b.Rate = b.Mean * float64(came) / (float64(now-oldest.at) / 1e9)
	return b, true
}

// bandwidthText is the form of the ros2 command line, whose unit is that of the rate.
func bandwidthText(b topicBandwidth) string {
	size := func(x float64) string {
		switch {
		case b.Rate < 1e3:
			return fmt.Sprintf("%.0f B", x)
		case b.Rate < 1e6:
			return fmt.Sprintf("%.2f KB", x/1e3)
		}
		return fmt.Sprintf("%.2f MB", x/1e3/1e3)
	}
	return fmt.Sprintf("%s/s from %d messages\n\tMessage size mean: %s min: %s max: %s\n", size(b.Rate), b.Messages, size(b.Mean), size(float64(b.Min)), size(float64(b.Max)))
}
