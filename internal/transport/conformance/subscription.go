package conformance

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/clock"
	"github.com/tagus-ros/tagus/internal/transport"
	"github.com/tagus-ros/tagus/qos"
)

// subscription takes messages and looks at all of their content.
type subscription struct {
	m      *member
	in     *transport.Inlet
	pull   *pullStation // nil with a callback
	exec   *execStation
	closed atomic.Bool

	turn sync.Mutex // who looks and takes

	mu     sync.Mutex
	held   map[int]*kept
	handle int
	report Report
	stream *Stream
	kept   []*kept       // by the stream, oldest first
	stop   chan struct{} // closed to end the stream's goroutine
	done   chan struct{}
}

func (m *member) Subscription(topic string, q qos.Profile, o Options) (Subscription, error) {
	s := &subscription{m: m, held: make(map[int]*kept)}
	var st transport.Station
	if o.Callback {
		x, err := m.executor()
		if err != nil {
			return nil, err
		}
		x.entry.Task = s
		s.exec, st = x, x
	} else {
		area, off, err := m.Area(pullWords)
		if err != nil {
			return nil, err
		}
		s.pull = &pullStation{area: area, offset: off}
		st = s.pull
	}
	if o.Leases == 0 {
		o.Leases = 4
	}
	var err error
	if s.in, err = transport.NewInlet(m.endpoint(graph.KindSubscription, topic, q), st, o.Leases); err != nil {
		return nil, err
	}
	s.in.NeedsBytes = o.Bytes
	for _, path := range m.Paths {
		if err := path.AddSubscription(s.in); err != nil {
			return nil, err
		}
	}
	m.own(s.in.Endpoint, s.Close)
	return s, nil
}

func (s *subscription) GID() graph.GID { return s.in.Endpoint.GID }

func (s *subscription) Wait(n int) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return s.in.WaitFeeds(ctx, n)
}

// kept is a message that is not given back yet, with the number it had at first.
type kept struct {
	r      *transport.Received
	number uint64
}

// look says what has become of the content meanwhile.
func (k *kept) look() string {
	g := got(k.r)
	if g.Bad == "" && g.Number != k.number {
		g.Bad = fmt.Sprintf("message %d became message %d while it was held", k.number, g.Number)
	}
	return g.Bad
}

// got describes r after looking at all of it.
func got(r *transport.Received) Got {
	g := Got{
		OK: true, GID: r.GID, Sequence: r.Sequence, Source: r.Source, Stamp: r.Stamp, Arrived: r.Arrived,
		Wall: clock.Wall(), Path: r.Path,
	}
	b := payload(r)
	g.Size = len(b)
	g.Number, g.Bad = check(b, &r.GID)
	return g
}

func payload(r *transport.Received) []byte {
	if r.Value != nil {
		return (*filler)(r.Value.Ptr).data
	}
	if len(r.Bytes) < len(encapsulation) || [4]byte(r.Bytes[:4]) != encapsulation {
		return nil
	}
	return r.Bytes[len(encapsulation):]
}

func (s *subscription) Take(within time.Duration, hold bool) (Got, error) {
	if s.pull == nil {
		return Got{}, errors.New("this subscription has a callback")
	}
	s.turn.Lock()
	defer s.turn.Unlock()
	r := new(transport.Received)
	for deadline := clock.Mono() + int64(within); ; {
		if s.closed.Load() {
			return Got{}, transport.ErrClosed
		}
		s.pull.look()
		if ok, _ := s.in.Take(r); ok {
			break
		}
		if clock.Mono() >= deadline {
			return Got{}, nil
		}
		s.pull.area.Wait(deadline)
	}
	g := got(r)
	if !hold {
		s.in.Release(r)
		return g, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handle++
	g.Handle = s.handle
	s.held[g.Handle] = &kept{r, g.Number}
	return g, nil
}

func (s *subscription) Check(handle int) (string, error) {
	s.mu.Lock()
	k := s.held[handle]
	s.mu.Unlock()
	if k == nil {
		return "", fmt.Errorf("message %d is not held", handle)
	}
	return k.look(), nil
}

func (s *subscription) Release(handle int) error {
	s.mu.Lock()
	k := s.held[handle]
	delete(s.held, handle)
	s.mu.Unlock()
	if k == nil {
		return fmt.Errorf("message %d is not held", handle)
	}
	s.in.Release(k.r)
	return nil
}

func (s *subscription) Stream(how Stream) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream != nil {
		return errors.New("there is a stream already")
	}
	s.report, s.stream = Report{}, &how
	if s.exec != nil {
		s.exec.area.Signal(s.kick())
		return nil
	}
	s.stop, s.done = make(chan struct{}), make(chan struct{})
	go s.read(s.stop, s.done)
	return nil
}

// kick attaches a source that makes the executor look at what came before the stream.
func (s *subscription) kick() int {
	k := &kick{s: s}
	var err error
	if k.leaf, err = s.exec.Attach(k); err != nil {
		panic(err)
	}
	return k.leaf
}

type kick struct {
	s    *subscription
	leaf int
}

func (k *kick) Poll() {
	k.s.exec.Ready()
	k.s.exec.Detach(k.leaf)
}

// read is the stream's goroutine of a subscription without a callback.
func (s *subscription) read(stop, done chan struct{}) {
	defer close(done)
	for {
		s.turn.Lock()
		for {
			s.pull.look()
			if !s.step() {
				break
			}
		}
		ended := s.closed.Load()
		select {
		case <-stop:
			ended = true
		default:
		}
		if !ended {
			s.pull.area.Wait(-1)
		}
		s.turn.Unlock()
		if ended {
			return
		}
	}
}

// Run is the executor's entry.
func (s *subscription) Run(context.Context) bool { return s.step() }

// step takes one message of the stream and reports whether there was one.
func (s *subscription) step() bool {
	s.mu.Lock()
	how := s.stream
	s.mu.Unlock()
	if how == nil {
		return false
	}
	r := new(transport.Received)
	if ok, _ := s.in.Take(r); !ok {
		return false
	}
	g := got(r)
	if how.Delay > 0 {
		time.Sleep(how.Delay)
	}
	s.mu.Lock()
	s.report.note(&g)
	if how.Hold > 0 {
		s.kept = append(s.kept, &kept{r, g.Number})
		r = nil
		if len(s.kept) > how.Hold {
			r = s.letGo()
		}
	}
	s.mu.Unlock()
	if r != nil {
		s.in.Release(r)
	}
	return true
}

// letGo takes the oldest message out of those that the stream keeps, after a last look.
// Called under mu.
func (s *subscription) letGo() *transport.Received {
	k := s.kept[0]
	s.kept = s.kept[1:]
	if bad := k.look(); bad != "" {
		s.report.Bad = append(s.report.Bad, "held: "+bad)
	}
	return k.r
}

func (s *subscription) Report() (Report, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.report
	r.Flows = append([]Flow(nil), r.Flows...)
	r.Bad = append([]string(nil), r.Bad...)
	return r, nil
}

func (s *subscription) Stop() (Report, error) {
	s.mu.Lock()
	if s.stream == nil {
		s.mu.Unlock()
		return Report{}, errors.New("there is no stream")
	}
	s.stream = nil
	stop, done := s.stop, s.done
	s.mu.Unlock()
	if stop != nil {
		close(stop)
		s.pull.area.Poke()
		<-done
	} else {
		s.exec.ex.Call(func() {}) // a step that runs is over then
	}
	for {
		s.mu.Lock()
		if len(s.kept) == 0 {
			s.mu.Unlock()
			return s.Report()
		}
		r := s.letGo()
		s.mu.Unlock()
		s.in.Release(r)
	}
}

func (s *subscription) Counts() (transport.InletCounts, error) { return s.in.Counts(), nil }

func (s *subscription) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	s.mu.Lock()
	streaming := s.stream != nil
	s.mu.Unlock()
	if streaming {
		s.Stop()
	} else if s.pull != nil {
		s.pull.area.Poke()
	}
	s.turn.Lock()
	defer s.turn.Unlock()
	s.in.Close()
	for _, path := range s.m.Paths {
		path.RemoveSubscription(s.in)
	}
	s.m.disown(s.in.Endpoint)
	if s.pull != nil && s.m.Release != nil {
		s.m.Release(s.pull.offset, pullWords)
	}
	return nil
}
