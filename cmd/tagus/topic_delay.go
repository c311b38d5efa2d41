package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/cdr"
	"github.com/tagus-ros/tagus/rosidl"
	"github.com/tagus-ros/tagus/rosidl/dynamic"
)

// delayWindow is of how many delays the figures are computed, unless told otherwise.
const delayWindow = 10_000

// topicDelay is a line of "topic delay --json".
type topicDelay struct {
	Topic  string  `json:"topic"`
	Mean   float64 `json:"delay_s"` // from the stamp until the message was received, by the system clock or /clock
	Min    float64 `json:"min_s"`
	Max    float64 `json:"max_s"`
	StdDev float64 `json:"std_dev_s"` // of the population
	Window int     `json:"window"`
}

func newTopicDelay(e env) *cobra.Command {
	var asJSON, sim bool
	var seconds float64
	var defs definitions
	window, domain := delayWindow, -1
	cmd := &cobra.Command{
		Use:   "delay TOPIC",
		Short: "Print how old messages are by the stamp in their header",
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
			m := &delayMeter{topic: topic, window: window}
			w := watch{verb: "delay", domain: domain, topic: topic, quiet: asJSON, sim: sim, receive: m.receive}
			w.ready = func(ctx context.Context, n *tagus.Node, name, hash string) error {
				t, err := resolveType(ctx, n.Domain(), &defs, name, hash)
				if err != nil {
					return err
				}
				m.now = n.Clock().Now
				m.stamp, err = stampOf(t.typ)
				return err
			}
			w.print = func() error { return m.print(e, asJSON) }
			return w.run(ctx, e)
		}),
		ValidArgsFunction: completeTopics(&domain),
	}
	fl := cmd.Flags()
	fl.IntVarP(&window, "window", "w", delayWindow, "of how many messages the delay is computed")
	fl.Float64Var(&seconds, "time", 0, "end after that many seconds; 0: when interrupted")
	fl.BoolVar(&asJSON, "json", false, "print a line of JSON each second with new messages")
	simFlag(cmd, &sim)
	domainFlag(cmd, &domain)
	searchFlag(cmd, &defs)
	return cmd
}

// errNoHeader is told in the words of the ros2 command line.
const errNoHeader = "msg does not have header"

// stampOf gives a function that reads the stamp of a message, in ns since 1970. Where the header comes first, nothing else is decoded.
func stampOf(t *dynamic.Type) (func(payload []byte) (int64, error), error) {
	i := t.FieldIndex("header")
	if i < 0 || t.Fields[i].Nested == nil || t.Fields[i].Type.Shape != rosidl.Single || t.Fields[i].Nested.FieldIndex("stamp") < 0 {
		return nil, verbatim{errNoHeader + "\n" + t.Name + " has no field header with a stamp, so that nothing tells when it was made."}
	}
	path := "header.stamp"
	if i == 0 {
		t, path = t.Fields[i].Nested, "stamp"
	}
	var d cdr.Decoder
	var m dynamic.Message
	return func(payload []byte) (int64, error) {
		d.Reset(payload)
		if err := m.Decode(t, &d); err != nil {
			return 0, err
		}
		sec, err := m.GetPath(path + ".sec")
		nanosec, err2 := m.GetPath(path + ".nanosec")
		if err = errors.Join(err, err2); err != nil {
			return 0, err
		}
		s, ok := sec.(int32)
		ns, ok2 := nanosec.(uint32)
		if !ok || !ok2 {
			return 0, errors.New("the stamp of the header is no time")
		}
		return int64(s)*1e9 + int64(ns), nil
	}, nil
}

// delayMeter keeps the last delays.
type delayMeter struct {
	topic  string
	now    func() time.Time
	stamp  func([]byte) (int64, error)
	window int

	mu      sync.Mutex
	delays  []int64 // a ring once it is full, ns
	at      int
	last    int64 // when the last message came
	seen    uint64
	printed uint64 // value of seen when it was printed
	bad     error
}

func (m *delayMeter) receive(_ context.Context, s *tagus.Sample[tagus.SerializedMessage]) {
	now := m.now().UnixNano()
	stamp, err := m.stamp(s.Msg.Data)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		m.bad = err
		return
	}
	switch {
	case now == 0: // nothing came on /clock yet
	case m.seen == 0 || now < m.last: // the first one only begins, as with the ros2 command line; also when /clock goes back
		m.delays, m.at = m.delays[:0], 0
		m.seen++
	default:
		m.seen++
		m.add(now - stamp)
	}
	m.last = now
}

func (m *delayMeter) add(delay int64) {
	if len(m.delays) < m.window {
		m.delays = append(m.delays, delay)
		return
	}
	m.delays[m.at] = delay
	m.at = (m.at + 1) % m.window
}

// delay computes the figures; ok is false while there are none, fresh when no message has come since the last call.
func (m *delayMeter) delay() (d topicDelay, ok, fresh bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bad != nil || len(m.delays) == 0 {
		return d, false, false, m.bad
	}
	fresh, m.printed = m.seen != m.printed, m.seen
	var sum, squares float64
	lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
	for _, x := range m.delays {
		sum += float64(x)
		lo, hi = min(lo, x), max(hi, x)
	}
	mean := sum / float64(len(m.delays))
	for _, x := range m.delays {
		squares += (float64(x) - mean) * (float64(x) - mean)
	}
	return topicDelay{m.topic, mean / 1e9, float64(lo) / 1e9, float64(hi) / 1e9, math.Sqrt(squares/float64(len(m.delays))) / 1e9, len(m.delays)}, true, fresh, nil
}

func (m *delayMeter) print(e env, asJSON bool) error {
	d, ok, fresh, err := m.delay()
	switch {
	case err != nil || !ok:
		return err
	case asJSON && fresh:
		return json.NewEncoder(e.out).Encode(d)
	case asJSON:
		return nil
	case !fresh:
		_, err = fmt.Fprintln(e.out, "no new messages")
	default:
		_, err = fmt.Fprint(e.out, delayText(d))
	}
	return err
}

// delayText is the form of the ros2 command line.
func delayText(d topicDelay) string {
	return fmt.Sprintf("average delay: %.3f\n\tmin: %.3fs max: %.3fs std dev: %.5fs window: %d\n", d.Mean, d.Min, d.Max, d.StdDev, d.Window)
}
