package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/cdr"
	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/qos"
	"github.com/tagus-ros/tagus/rosidl/dynamic"
)

// echoFlags are the arguments of "topic echo".
type echoFlags struct {
	field, filter, node                      string
	csv, full, noArr, noStr, flow, raw, once bool
	info, noLost, clear, asJSON              bool
	truncate, domain                         int
	timeout, spin                            float64
	qos                                      qosFlags
	defs                                     definitions
}

// echoedMessage is a line of "topic echo --json". Times are nanoseconds since 1970; null where they are not known.
type echoedMessage struct {
	Topic        string          `json:"topic"`
	Type         string          `json:"type"`
	SourceTime   int64           `json:"source_timestamp"`
	ReceivedTime int64           `json:"received_timestamp"`
	Sequence     uint64          `json:"publication_sequence_number"`
	Reception    uint64          `json:"reception_sequence_number"`
	Publisher    string          `json:"publisher_gid"`
	Path         string          `json:"path"`
	Bytes        int             `json:"bytes"` // of the payload with its encapsulation
	Message      json.RawMessage `json:"message,omitempty"`
	Field        json.RawMessage `json:"field,omitempty"` // with --field, in place of message
	CDR          []byte          `json:"cdr,omitempty"`   // with --raw, in place of message; base64
}

func newTopicEcho(e env) *cobra.Command {
	var f echoFlags
	cmd := &cobra.Command{
		Use:   "echo TOPIC [TYPE]",
		Short: "Print the messages of a topic",
		Long: "Print the messages of a topic as they come. The definition of its type need not be here: a process that uses the type tells it.\n\n" +
			filterHelp,
		Args: cobra.RangeArgs(1, 2),
		RunE: verb(func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return usage{err}
			}
			return runEcho(cmd.Context(), e, &f, args)
		}),
		ValidArgsFunction: completeTopicAndType(&f.defs, &f.domain),
	}
	fl := cmd.Flags()
	fl.StringVar(&f.field, "field", "", "print one field only, such as pose.position or poses[0].position.x")
	fl.StringVar(&f.filter, "filter", "", "print only messages for which this holds, such as \"m.header.frame_id == 'map' and m.x > 1\"")
	fl.BoolVar(&f.csv, "csv", false, "print values with commas between")
	fl.BoolVarP(&f.full, "full-length", "f", false, "do not shorten lists and texts")
	fl.IntVarP(&f.truncate, "truncate-length", "l", dynamic.Echo.Truncate, "elements and characters after which lists and texts are shortened")
	fl.BoolVar(&f.noArr, "no-arr", false, "do not print lists")
	fl.BoolVar(&f.noStr, "no-str", false, "do not print texts")
	fl.BoolVar(&f.flow, "flow-style", false, "print each message on one line")
	fl.BoolVar(&f.raw, "raw", false, "print the bytes of the encoding; no definition is needed")
	fl.BoolVar(&f.once, "once", false, "end after the first message that is printed")
	fl.Float64Var(&f.timeout, "timeout", 0, "end after that many seconds")
	fl.BoolVarP(&f.info, "include-message-info", "i", false, "print times and numbers of each message, too")
	fl.BoolVar(&f.noLost, "no-lost-messages", false, "do not report lost messages")
	fl.BoolVarP(&f.clear, "clear", "c", false, "clear the screen before each message")
	fl.StringVarP(&f.node, "node-name", "n", "", "name of the node; without it one that lists do not show")
	fl.Float64Var(&f.spin, "spin-time", 0.5, "seconds to wait for the topic, if no TYPE is given")
	fl.BoolVar(&f.asJSON, "json", false, "print a line of JSON for each message, in full")
	f.qos.add(cmd, "subscribe", "sensor_data")
	domainFlag(cmd, &f.domain)
	searchFlag(cmd, &f.defs)
	cmd.MarkFlagsMutuallyExclusive("json", "csv")
	cmd.MarkFlagsMutuallyExclusive("raw", "csv")
	cmd.MarkFlagsMutuallyExclusive("raw", "field")
	return cmd
}

func (f *echoFlags) check() error {
	switch {
	case f.truncate < 1:
		return fmt.Errorf("--truncate-length is %d, want 1 or more; --no-arr and --no-str leave out lists and texts", f.truncate)
	case f.timeout < 0 || f.timeout > 1e9:
		return fmt.Errorf("--timeout is %v s, want more than 0", f.timeout)
	case f.spin < 0 || f.spin > 1e9:
		return fmt.Errorf("--spin-time is %v s, want 0 or more", f.spin)
	}
	return nil
}

func runEcho(ctx context.Context, e env, f *echoFlags, args []string) error {
	topic, err := fullTopic(args[0])
	if err != nil {
		return err
	}
	name := ""
	if len(args) > 1 {
		if name, err = normalType(args[1]); err != nil {
			return verbatim{"The passed message type is invalid\n" + err.Error()}
		}
	}
	base, err := f.qos.profile()
	if err != nil {
		return err
	}
	d, err := enter(f.domain)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.WatchGraph(); err != nil {
		return err
	}
	if f.timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, time.Duration(f.timeout*float64(time.Second)))
		defer stop()
	}
	t, err := f.typeFor(ctx, e, d, topic, name)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	p, err := newEchoPrinter(e, f, topic, t)
	if err != nil {
		return err
	}
	n, err := toolNode(d, "echo", f.node, false)
	if err != nil {
		return err
	}
	q := base
	if !f.qos.chosen() {
		q = matchingQoS(e, f.asJSON, base, slices.DeleteFunc(d.Graph().Publishers(topic), func(p graph.Endpoint) bool { return p.Type != t.name }))
	}
	ctx, p.stop = context.WithCancelCause(ctx)
	defer p.stop(nil)
	opts := []tagus.SubscriptionOption{}
	if !f.noLost {
		opts = append(opts, tagus.WithEvents(tagus.EventHandlers{MessageLost: p.lost}))
	}
	if _, err := tagus.NewSerializedSubscription(n, topic, t.name, t.hash, q, p.receive, opts...); err != nil {
		return err
	}
	err = d.Spin(ctx)
	if cause := context.Cause(ctx); err == nil && cause != nil && !errors.Is(cause, context.Canceled) && !errors.Is(cause, context.DeadlineExceeded) {
		return cause
	}
	return err
}

// typeFor finds the type to subscribe with. Its definition is left out where only bytes are printed.
func (f *echoFlags) typeFor(ctx context.Context, e env, d *tagus.Domain, topic, name string) (*topicType, error) {
	g := d.Graph()
	typ, hash, ok := typeOnTopic(g, topic, name)
	if !ok && name == "" {
		// A publisher that starts together with this process may be seen a moment later.
		wait, stop := context.WithTimeout(ctx, time.Duration(f.spin*float64(time.Second)))
		defer stop()
		err := g.Wait(wait, func(g *graph.Graph) bool {
			typ, hash, ok = typeOnTopic(g, topic, "")
			return ok
		})
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if !f.asJSON {
				warnUnpublished(e, topic)
			}
			return nil, noSuchTopic(g, topic)
		}
	}
	if !ok {
		typ = name
	}
	if name == "" {
		if err := oneType(g, topic); err != nil {
			return nil, err
		}
	}
	if f.raw && f.filter == "" && hash != "" {
		return &topicType{name: typ, hash: hash}, nil
	}
	t, err := resolveType(ctx, d, &f.defs, typ, hash)
	var unknown *unknownTypeError
	if errors.As(err, &unknown) && !ok {
		return nil, verbatim{"The passed message type is invalid\n" + err.Error()}
	}
	return t, err
}

// matchingQoS changes a profile so that it fits all publishers, as the ros2 command line does.
func matchingQoS(e env, quiet bool, p qos.Profile, publishers []graph.Endpoint) qos.Profile {
	if len(publishers) == 0 {
		return p
	}
	out := e.out
	if quiet {
		out = e.err
	}
	reliable, transient := 0, 0
	for _, pub := range publishers {
		if pub.QoS.Reliability == qos.Reliable {
			reliable++
		}
		if pub.QoS.Durability == qos.TransientLocal {
			transient++
		}
	}
	notice := func(policy, some, fall string) {
		fmt.Fprintf(out, "Some, but not all, publishers are offering QoS%sPolicy.%s. Falling back to QoS%sPolicy.%s as it will connect to all publishers\n", policy, some, policy, fall)
	}
	p.Reliability = qos.BestEffort
	switch {
	case reliable == len(publishers):
		p.Reliability = qos.Reliable
	case reliable > 0:
		notice("Reliability", "RELIABLE", "BEST_EFFORT")
	}
	p.Durability = qos.Volatile
	switch {
	case transient == len(publishers):
		p.Durability = qos.TransientLocal
	case transient > 0:
		notice("Durability", "TRANSIENT_LOCAL", "VOLATILE")
	}
	return p
}

// echoPrinter prints what a subscription receives. It is used by the executor's thread alone.
type echoPrinter struct {
	out    io.Writer
	err    io.Writer
	now    func() time.Time
	f      *echoFlags
	topic  string
	t      *topicType
	print  dynamic.Print
	field  *fieldPath
	filter *filter
	stop   context.CancelCauseFunc

	dec      cdr.Decoder
	msg      dynamic.Message
	buf      []byte
	received uint64
	bad      uint64    // messages that did not decode
	told     time.Time // when that was last said
	done     bool
}

func newEchoPrinter(e env, f *echoFlags, topic string, t *topicType) (*echoPrinter, error) {
	p := &echoPrinter{out: e.out, err: e.err, now: e.now, f: f, topic: topic, t: t}
	p.print = dynamic.Print{Truncate: f.truncate, NoArrays: f.noArr, NoStrings: f.noStr, Flow: f.flow}
	if f.full {
		p.print.Truncate = 0
	}
	var err error
	if f.field != "" {
		if p.field, err = parsePath(t.typ, f.field); err != nil {
			return nil, verbatim{fmt.Sprintf("Invalid field '%s': %v", f.field, err)}
		}
	}
	if f.filter != "" {
		if p.filter, err = newFilter(f.filter, t.typ, p.field); err != nil {
			return nil, usage{err}
		}
	}
	return p, nil
}

// receive is the subscription's callback.
func (p *echoPrinter) receive(_ context.Context, s *tagus.Sample[tagus.SerializedMessage]) {
	if p.done {
		return
	}
	p.received++
	if p.t.typ != nil && (!p.f.raw || p.filter != nil) {
		p.dec.Reset(s.Msg.Data)
		if err := p.msg.Decode(p.t.typ, &p.dec); err != nil {
			p.malformed(err)
			return
		}
	}
	if p.filter != nil {
		ok, err := p.filter.holds(&p.msg)
		if err != nil {
			p.end(fmt.Errorf("--filter: %w; \"len(…) > …  and\" in front avoids this", err))
		}
		if err != nil || !ok {
			return
		}
	}
	p.buf = p.buf[:0]
	if p.f.clear {
		p.buf = append(p.buf, "\x1b[H\x1b[2J\n"...)
	}
	if err := p.append(s); err != nil {
		p.end(err)
		return
	}
	if _, err := p.out.Write(p.buf); err != nil {
		p.end(err)
		return
	}
	if p.f.once {
		p.end(nil)
	}
}

func (p *echoPrinter) end(err error) {
	p.done = true
	p.stop(err)
}

// malformed tells of a message that does not decode, at most once in ten seconds.
func (p *echoPrinter) malformed(err error) {
	p.bad++
	if now := p.now(); now.Sub(p.told) >= 10*time.Second {
		p.told = now
		fmt.Fprintf(p.err, "tagus: a message on %s is no %s: %v (%d so far)\n", p.topic, p.t.name, err, p.bad)
	}
}

// lost tells of lost messages in the words of the ros2 command line.
func (p *echoPrinter) lost(l tagus.MessageLost) {
	if p.done {
		return
	}
	if p.f.asJSON || p.f.csv {
		fmt.Fprintf(p.err, "tagus: %d messages were lost, %d so far\n", l.Count, l.Total)
		return
	}
	fmt.Fprintf(p.out, "A message was lost!!!\n\ttotal count change:%d\n\ttotal count: %d---\n", l.Count, l.Total)
}

// append writes a message into buf.
func (p *echoPrinter) append(s *tagus.Sample[tagus.SerializedMessage]) error {
	var value any = &p.msg
	if p.field != nil {
		var err error
		if value, err = p.field.value(&p.msg); err != nil {
			return fmt.Errorf("--field: %w", err)
		}
	}
	if p.f.asJSON {
		return p.appendJSON(s, value)
	}
	m, isMessage := value.(*dynamic.Message)
	switch {
	case p.f.raw || !isMessage:
		if p.f.info {
			p.buf = fmt.Appendf(p.buf, "---Got new message, message info:---\n{'source_timestamp': %d, 'received_timestamp': %d, 'publication_sequence_number': %d, 'reception_sequence_number': %d}\n---Message data:---\n",
				s.Info.SourceTime.UnixNano(), s.Info.ReceivedTime.UnixNano(), s.Info.Sequence, p.received)
		}
		if p.f.raw {
			p.buf = append(p.buf, pythonBytes(s.Msg.Data)...)
		} else {
			p.buf = append(p.buf, pythonText(p.field.field, p.field.list, value)...)
		}
		p.buf = append(p.buf, "\n---\n"...)
	case p.f.csv:
		if p.f.info {
			p.buf = fmt.Appendf(p.buf, "%d,%d,%d,%d,", s.Info.SourceTime.UnixNano(), s.Info.ReceivedTime.UnixNano(), s.Info.Sequence, p.received)
		}
		p.buf = append(m.AppendCSV(p.buf, p.print), '\n')
	default:
		if p.f.info {
			p.buf = fmt.Appendf(p.buf, "publication_sequence_number: %d\nreceived_timestamp: %d\nreception_sequence_number: %d\nsource_timestamp: %d\n---\n",
				s.Info.Sequence, s.Info.ReceivedTime.UnixNano(), p.received, s.Info.SourceTime.UnixNano())
		}
		p.buf = append(m.AppendYAML(p.buf, p.print), "---\n"...)
	}
	return nil
}

func (p *echoPrinter) appendJSON(s *tagus.Sample[tagus.SerializedMessage], value any) error {
	line := echoedMessage{
		Topic: p.topic, Type: p.t.name, SourceTime: s.Info.SourceTime.UnixNano(), ReceivedTime: s.Info.ReceivedTime.UnixNano(),
		Sequence: s.Info.Sequence, Reception: p.received, Publisher: s.Info.Publisher.String(), Path: s.Info.Path.String(), Bytes: len(s.Msg.Data),
	}
	switch {
	case p.f.raw:
		line.CDR = s.Msg.Data
	case p.field != nil:
		line.Field = jsonValue(value)
	default:
		line.Message = p.msg.AppendJSON(nil)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(line); err != nil {
		return err
	}
	p.buf = append(p.buf, b.Bytes()...)
	return nil
}
