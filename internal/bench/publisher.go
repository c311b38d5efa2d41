package bench

import (
	"context"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/bench/record"
	"github.com/tagus-ros/tagus/internal/bench/topology"
	"github.com/tagus-ros/tagus/internal/clock"
	perf "github.com/tagus-ros/tagus/msgs/performance_test_msgs"
	"github.com/tagus-ros/tagus/rosidl"
)

// publication is the untyped part of a publisher.
type publication struct {
	lane   *lane
	index  int    // among all publishers of this process
	number uint32 // next tracking number
	freq   float32
}

// ticker is a publisher of the benchmark.
type ticker interface {
	start() error // begin to publish on its timer
	stop()        // returns when no publication runs any more
	count() uint32
	overruns() uint64
	gid() graph.GID
	topic() string // fully qualified
	wait(ctx context.Context, n int) error
	matched() int
	stats() tagus.PublisherStats
}

type publisher[T any] struct {
	*publication
	node   *tagus.Node
	pub    *tagus.Publisher[T]
	spec   topology.Publisher
	parts  func(*T) (*perf.PerformanceHeader, []byte)
	resize func(*T, int)
	mine   *T // what Publish sends, or the shape of loans; nil where neither is needed
	timer  *tagus.Timer
	over   uint64
}

func newPublisher[T any, P rosidl.Message[T]](n *tagus.Node, p *publication, spec *topology.Publisher, parts func(*T) (*perf.PerformanceHeader, []byte), resize func(*T, int)) (ticker, error) {
	pub, err := tagus.NewPublisher[T, P](n, spec.Topic, spec.QoS)
	if err != nil {
		return nil, err
	}
	out := &publisher[T]{publication: p, node: n, pub: pub, spec: *spec, parts: parts, resize: resize}
	if spec.Pass == topology.Copy || resize != nil {
		out.mine = new(T)
	}
	if resize != nil {
		resize(out.mine, spec.Size)
	}
	out.freq = float32(float64(time.Second) / float64(spec.Period))
	return out, nil
}

func (p *publisher[T]) start() (err error) {
	p.timer, err = p.node.NewTimer(p.spec.Period, func(_ context.Context, info tagus.TimerInfo) {
		p.over = info.Overruns
		p.tick()
	})
	return err
}

// tick sends one message: every payload byte is written, then the stamp, then it is published.
func (p *publisher[T]) tick() {
	begin := clock.Mono()
	p.lane.tend(begin)
	var err error
	var sent int64
	switch p.spec.Pass {
	case topology.Owned:
		m := p.pub.New()
		if p.resize != nil {
			p.resize(m, p.spec.Size)
		}
		sent = p.write(m)
		err = p.pub.PublishOwned(m)
	case topology.Loaned:
		var l *tagus.Loan[T]
		if l, err = p.pub.Loan(p.loanShape()); err == nil {
			sent = p.write(l.Msg())
			err = l.Publish()
		}
	default:
		sent = p.write(p.mine)
		err = p.pub.Publish(p.mine)
	}
	end := clock.Mono()
	number := p.number
	p.number++
	p.lane.work.Add(record.Span{Kind: record.Publish, Entity: int32(p.index), Number: number, Start: begin, End: end})
	if err != nil {
		p.lane.fail(err)
		return
	}
	p.lane.published.Add(1)
	if end-sent > publishNanos && len(p.lane.calls) < cap(p.lane.calls) {
		p.lane.calls = append(p.lane.calls, slowCall{Publisher: p.index, Number: number, Start: sent, End: end})
	}
}

func (p *publisher[T]) loanShape() *T {
	return p.mine // nil for types of fixed size, which need no shape
}

// write fills m and stamps it last. The stamp is the monotonic clock, which all processes of a host share.
func (p *publisher[T]) write(m *T) int64 {
	h, payload := p.parts(m)
	Fill(payload, p.number)
	h.TrackingNumber, h.Frequency, h.Size = p.number, p.freq, uint32(len(payload))
	now := clock.Mono()
	h.Stamp.Sec, h.Stamp.Nanosec = int32(now/1e9), uint32(now%1e9)
	return now
}

func (p *publisher[T]) stop() {
	if p.timer != nil {
		p.timer.Stop()
	}
}

func (p *publisher[T]) count() uint32    { return p.number }
func (p *publisher[T]) overruns() uint64 { return p.over }
func (p *publisher[T]) gid() graph.GID   { return p.pub.GID() }
func (p *publisher[T]) topic() string    { return p.pub.Topic() }
func (p *publisher[T]) matched() int     { return p.pub.Matched() }

func (p *publisher[T]) wait(ctx context.Context, n int) error {
	return p.pub.WaitForSubscriptions(ctx, n)
}

func (p *publisher[T]) stats() tagus.PublisherStats { return p.pub.Stats() }
