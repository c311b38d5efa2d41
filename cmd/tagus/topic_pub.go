package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/internal/clock"
	"github.com/tagus-ros/tagus/rosidl/dynamic"
)

// pubFlags are the arguments of "topic pub".
type pubFlags struct {
	rate, maxWait, keepAlive float64
	print, times, wait       int
	once, stdin, asJSON, sim bool
	node                     string
	domain                   int
	qos                      qosFlags
	defs                     definitions
}

// publishedMessage is a line of "topic pub --json" for a message that is printed.
type publishedMessage struct {
	Number  int             `json:"number"`
	Message json.RawMessage `json:"message"`
}

// publishedSummary is the last line of "topic pub --json".
type publishedSummary struct {
	Topic     string  `json:"topic"`
	Type      string  `json:"type"`
	Hash      string  `json:"hash"`
	Published int     `json:"published"`
	Seconds   float64 `json:"duration_s"` // from the first message to the last
	Rate      float64 `json:"rate_hz"`    // 0 with fewer than two messages
	Matched   int     `json:"subscriptions"`
}

func newTopicPub(e env) *cobra.Command {
	var f pubFlags
	cmd := &cobra.Command{
		Use:   "pub TOPIC TYPE [VALUES]",
		Short: "Publish messages",
		Long: "Publish messages. VALUES are the fields that differ from the type's defaults, in YAML (\"{x: 1, header: auto}\") or JSON; the word auto\n" +
			"where a header belongs, and now where a time does, stand for the time of each publication. TYPE is looked for in the packages that come\n" +
			"with tagus, in --search and AMENT_PREFIX_PATH; else a process of the domain that uses it is asked.",
		Args: cobra.RangeArgs(2, 3),
		RunE: verb(func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd, args); err != nil {
				return err
			}
			return runPub(cmd.Context(), e, &f, args)
		}),
	}
	cmd.ValidArgsFunction = completePub(&f)
	fl := cmd.Flags()
	fl.Float64VarP(&f.rate, "rate", "r", 1, "messages a second")
	fl.IntVarP(&f.print, "print", "p", 1, "print every N-th message; 0: none")
	fl.BoolVarP(&f.once, "once", "1", false, "publish one message and end")
	fl.IntVarP(&f.times, "times", "t", 0, "publish that many messages and end; 0: until interrupted")
	fl.IntVarP(&f.wait, "wait-matching-subscriptions", "w", 0, "wait for that many subscriptions first; 1 unless given with --once or --times, else 0")
	fl.Float64Var(&f.maxWait, "max-wait-time-secs", 0, "wait for them at most that many seconds; 0: for ever")
	fl.Float64Var(&f.keepAlive, "keep-alive", 0.1, "seconds to stay after the last message")
	fl.BoolVar(&f.stdin, "stdin", false, "read VALUES from the standard input")
	fl.StringVarP(&f.node, "node-name", "n", "", "name of the node; without it one that lists do not show")
	fl.BoolVar(&f.asJSON, "json", false, "print JSON: a line for each message that is printed, and a summary")
	simFlag(cmd, &f.sim)
	f.qos.add(cmd, "publish", "default")
	domainFlag(cmd, &f.domain)
	searchFlag(cmd, &f.defs)
	cmd.MarkFlagsMutuallyExclusive("once", "times")
	return cmd
}

func (f *pubFlags) check(cmd *cobra.Command, args []string) error {
	switch {
	case !(f.rate > 0 && f.rate <= 100_000):
		return usage{fmt.Errorf("--rate is %v Hz, want more than 0 and at most 100000", f.rate)}
	case f.print < 0 || f.times < 0 || f.wait < 0:
		return usage{errors.New("--print, --times and --wait-matching-subscriptions want 0 or more")}
	case f.maxWait < 0 || f.keepAlive < 0 || f.maxWait > 1e9 || f.keepAlive > 1e9:
		return usage{errors.New("--max-wait-time-secs and --keep-alive want 0 or more seconds")}
	case f.stdin && len(args) > 2:
		return usage{errors.New("VALUES are given, and --stdin, too")}
	}
	if f.once {
		f.times = 1
	}
	if !cmd.Flags().Changed("wait-matching-subscriptions") && f.times > 0 {
		f.wait = 1
	}
	if f.wait == 0 && f.maxWait > 0 {
		return verbatim{"--max-wait-time-secs option is only effective with --wait-matching-subscriptions, --once or --times"}
	}
	return nil
}

func runPub(ctx context.Context, e env, f *pubFlags, args []string) error {
	topic, err := fullTopic(args[0])
	if err != nil {
		return err
	}
	name, err := normalType(args[1])
	if err != nil {
		return verbatim{"The passed message type is invalid\n" + err.Error()}
	}
	text := "{}"
	switch {
	case f.stdin:
		all, err := io.ReadAll(e.in)
		if err != nil {
			return err
		}
		text = string(all)
	case len(args) > 2:
		text = args[2]
	}
	values, err := readValues(text)
	if err != nil {
		return err
	}
	q, err := f.qos.profile()
	if err != nil {
		return err
	}
	d, err := enter(f.domain)
	if err != nil {
		return err
	}
	defer d.Close()
	_, hash, _ := typeOnTopic(d.Graph(), topic, name)
	t, err := resolveType(ctx, d, &f.defs, name, hash)
	var unknown *unknownTypeError
	switch {
	case ctx.Err() != nil:
		return nil
	case errors.As(err, &unknown):
		return verbatim{"The passed message type is invalid\n" + err.Error()}
	case err != nil:
		return err
	}
	p := &pubLoop{e: e, f: f, now: e.now, values: values, msg: t.typ.NewDefault()}
	if err := p.fill(); err != nil { // before anybody hears of the publisher
		return err
	}
	n, err := toolNode(d, "pub", f.node, f.sim)
	if err != nil {
		return err
	}
	if p.pub, err = tagus.NewSerializedPublisher(n, topic, t.name, t.hash, t.text, q); err != nil {
		return err
	}
	p.send, p.now = p.pub.Publish, n.Clock().Now
	if err := f.await(ctx, e, p.pub); err != nil || ctx.Err() != nil {
		return err
	}
	if !f.asJSON {
		fmt.Fprintln(e.out, "publisher: beginning loop")
	}
	if err := p.run(ctx, d, n); err != nil {
		return err
	}
	if !f.asJSON {
		return nil
	}
	s := publishedSummary{Topic: topic, Type: t.name, Hash: t.hash, Published: p.count, Matched: p.pub.Matched(), Seconds: float64(p.last-p.start) / 1e9}
	if p.count > 1 && p.last > p.start {
		s.Rate = float64(p.count-1) / s.Seconds
	}
	return json.NewEncoder(e.out).Encode(s)
}

// readValues reads YAML or JSON into what a message takes.
func readValues(text string) (any, error) {
	docs, err := dynamic.ReadYAML(text)
	if json.Valid([]byte(text)) { // what YAML would read otherwise: escapes, tabs
		var v any
		dec := json.NewDecoder(strings.NewReader(text))
		dec.UseNumber()
		if err := dec.Decode(&v); err != nil {
			return nil, err
		}
		docs, err = []any{v}, nil
	}
	if err != nil {
		return nil, verbatim{"Failed to read the values: " + err.Error()}
	}
	if len(docs) == 1 {
		if m, ok := docs[0].(map[string]any); ok {
			return m, nil
		}
	}
	return nil, verbatim{"The passed value needs to be a dictionary in YAML format\nsuch as \"{x: 1.5, header: {frame_id: map}}\"; \"tagus interface show TYPE\" lists the fields."}
}

// await waits for subscriptions, and says so in the words of the ros2 command line.
func (f *pubFlags) await(ctx context.Context, e env, pub *tagus.SerializedPublisher) error {
	if f.wait == 0 {
		return nil
	}
	end := ctx
	if f.maxWait > 0 {
		var stop context.CancelFunc
		end, stop = context.WithTimeout(ctx, time.Duration(f.maxWait*float64(time.Second)))
		defer stop()
	}
	for pub.Matched() < f.wait {
		if !f.asJSON {
			fmt.Fprintf(e.out, "Waiting for at least %d matching subscription(s)...\n", f.wait)
		}
		second, stop := context.WithTimeout(end, time.Second)
		err := pub.WaitForSubscriptions(second, f.wait)
		stop()
		switch {
		case err == nil, ctx.Err() != nil:
			return nil
		case end.Err() != nil:
			return verbatim{fmt.Sprintf("Timed out waiting for subscribers: Expected %d subcribers but only got %d subscribers", f.wait, pub.Matched())}
		case second.Err() == nil:
			return err
		}
	}
	return nil
}

// pubLoop publishes at a rate. It is used by the executor's thread alone, once that runs.
type pubLoop struct {
	e      env
	f      *pubFlags
	now    func() time.Time
	pub    *tagus.SerializedPublisher
	msg    *dynamic.Message
	values any
	stamps any // the part of values that holds times of publication; nil if none does

	send    func(payload []byte) error
	payload []byte
	count   int
	start   int64 // of the first publication, ns of clock.Mono
	last    int64
	forgot  int64 // messages that are not made up for
	err     error
}

// fill puts the values into the message, and finds out which of them stand for the time.
func (p *pubLoop) fill() error {
	stamped := false
	if err := p.msg.Assign(p.values, func() time.Time { stamped = true; return p.now() }); err != nil {
		return verbatim{"Failed to populate field: " + err.Error()}
	}
	if stamped {
		p.stamps = stampsIn(p.values)
	}
	var err error
	if p.payload, err = p.msg.Encode(); err != nil {
		return verbatim{"Failed to populate field: " + err.Error()}
	}
	return nil
}

// stampsIn leaves of values the branches with the words "auto" and "now". A list stays whole: giving it anew replaces all of it.
func stampsIn(v any) any {
	switch v := v.(type) {
	case string:
		if v == "auto" || v == "now" {
			return v
		}
	case []any:
		for _, x := range v {
			if stampsIn(x) != nil {
				return v
			}
		}
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			if s := stampsIn(x); s != nil {
				out[k] = s
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// run publishes until it is done or ctx ends.
func (p *pubLoop) run(ctx context.Context, d *tagus.Domain, n *tagus.Node) error {
	if p.f.sim { // without a time there is nothing to stamp with
		if err := n.Clock().SleepUntil(ctx, time.Unix(0, 1)); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
	}
	p.start = clock.Mono()
	if p.publish(); p.err != nil {
		return p.err
	}
	spin, stop := context.WithCancel(ctx)
	defer stop()
	if p.f.times != 1 {
		period := time.Duration(float64(time.Second) / p.f.rate)
		_, err := n.NewTimer(period, func(context.Context, tagus.TimerInfo) {
			if p.f.sim { // who makes that time decides what a rate is
				p.publish()
			} else {
				p.tick(clock.Mono(), int64(period))
			}
			if p.err != nil || p.done() {
				stop()
			}
		})
		if err != nil {
			return err
		}
		if err := d.Spin(spin); err != nil {
			return err
		}
	}
	if p.err == nil && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(p.f.keepAlive * float64(time.Second))):
		}
	}
	return p.err
}

func (p *pubLoop) done() bool { return p.f.times > 0 && p.count >= p.f.times }

// tick publishes what is due. Where the machine had no time for some, two messages a tick make up for them, so that the rate is kept and no
// queue gets a burst; what is more than a second old is forgotten.
func (p *pubLoop) tick(now, period int64) {
	due := 1 + (now-p.start+period/2)/period - p.forgot - int64(p.count)
	if limit := max(int64(time.Second)/period, 2); due > limit {
		p.forgot += due - limit
	}
	for range min(due, 2) {
		if p.done() || p.err != nil {
			return
		}
		p.publish()
	}
}

func (p *pubLoop) publish() {
	if p.stamps != nil {
		now := p.now()
		if p.err = p.msg.Assign(p.stamps, func() time.Time { return now }); p.err != nil {
			return
		}
		if p.payload, p.err = p.msg.Encode(); p.err != nil {
			return
		}
	}
	p.count++
	if p.f.print > 0 && p.count%p.f.print == 0 {
		if p.err = p.show(); p.err != nil {
			return
		}
	}
	p.last = clock.Mono()
	p.err = p.send(p.payload)
}

func (p *pubLoop) show() error {
	if p.f.asJSON {
		return json.NewEncoder(p.e.out).Encode(publishedMessage{p.count, p.msg.AppendJSON(nil)})
	}
	b := fmt.Appendf(nil, "publishing #%d: ", p.count)
	_, err := p.e.out.Write(append(p.msg.AppendPython(b), "\n\n"...))
	return err
}
