package zenoh

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/tagus-ros/tagus/zenoh/internal/keyexpr"
)

// AdvancedSubscriberOptions are options of NewAdvancedSubscriber.
type AdvancedSubscriberOptions struct {
	SubscriberOptions
	// History is how many of each publisher's kept samples are wanted at the beginning; 0: none.
	History int
	// DetectLate asks publishers that come later for their history, too.
	DetectLate bool
	// Recover asks for samples that were missed; those behind a gap wait for the answer.
	Recover bool
	// Timeout is for the queries this takes; 0: Config.QueryTimeout.
	Timeout time.Duration
	// Detect makes the subscriber known by a token.
	Detect bool
	// OnMiss is told of samples that will not come any more, in the order of the
	// samples. It needs publishers that number theirs.
	OnMiss func(Miss)
}

// Miss are samples of one publisher that were lost.
type Miss struct {
	Source ID
	Entity uint32
	Count  uint32
}

// AdvancedSubscriber receives each sample of an advanced publisher once and in
// order, kept and missed ones included.
type AdvancedSubscriber struct {
	s     *Session
	key   string
	opts  AdvancedSubscriberOptions
	fn    func(*Sample)
	sub   *Subscriber
	beats *Subscriber
	live  *LivelinessSubscriber
	token *Token
	ctx   context.Context // of the queries
	stop  context.CancelFunc
	ready chan struct{} // the first history has come

	mu      sync.Mutex
	sources map[sourceID]*source
	global  int    // queries to all publishers under way
	out     []item // to be delivered, in order
	orders  []order
	running bool // somebody delivers
	closed  bool
}

// order is a query of a source's cache that is to be sent.
type order struct {
	src             *source
	key, parameters string
}

// item is a sample or a miss.
type item struct {
	m    *Sample
	miss Miss
}

// NewAdvancedSubscriber declares an advanced subscriber. fn is called for one
// sample at a time, on a goroutine as of NewSubscriber.
func (s *Session) NewAdvancedSubscriber(key string, fn func(*Sample), opts AdvancedSubscriberOptions) (_ *AdvancedSubscriber, err error) {
	a := &AdvancedSubscriber{s: s, key: key, opts: opts, fn: fn, sources: map[sourceID]*source{}, ready: make(chan struct{})}
	a.ctx, a.stop = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			_ = a.Close()
		}
	}()
	if opts.History > 0 {
		a.global = 1
	}
	if a.sub, err = s.NewSubscriber(key, a.arrived, opts.SubscriberOptions); err != nil {
		return nil, err
	}
	if opts.Recover {
		if a.beats, err = s.NewSubscriber(key+advancedPubs, a.beat, opts.SubscriberOptions); err != nil {
			return nil, err
		}
	}
	if opts.History > 0 {
		a.ask(key+advancedAll, a.historyParameters(), func() {
			a.global--
			for _, src := range a.sources {
				a.settle(src)
			}
			close(a.ready)
		})
		if opts.DetectLate {
			if a.live, err = s.NewLivelinessSubscriber(key+advancedPubs, a.publisher, LivelinessOptions{History: true}); err != nil {
				return nil, err
			}
		}
	} else {
		close(a.ready)
	}
	if opts.Detect {
		if a.token, err = s.NewToken(advancedKey(key, "sub", s.ID(), strconv.FormatUint(uint64(a.sub.id), 10))); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// Key is the key expression.
func (a *AdvancedSubscriber) Key() string { return a.key }

// WaitHistory waits until the history that publishers had kept at the
// beginning has been delivered (or none was to be had).
func (a *AdvancedSubscriber) WaitHistory(ctx context.Context) error {
	select {
	case <-a.ready:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close ends the subscription: no callback begins after it has returned. More calls do nothing.
func (a *AdvancedSubscriber) Close() error {
	a.mu.Lock()
	if a.closed {
		a.mu.Unlock()
		return nil
	}
	a.closed = true
	for _, src := range a.sources {
		src.drop()
	}
	a.mu.Unlock()
	a.stop()
	var errs []error
	if a.token != nil {
		errs = append(errs, a.token.Close())
	}
	if a.live != nil {
		errs = append(errs, a.live.Close())
	}
	if a.beats != nil {
		errs = append(errs, a.beats.Close())
	}
	if a.sub != nil {
		errs = append(errs, a.sub.Close())
	}
	return errors.Join(errs...)
}

func (a *AdvancedSubscriber) historyParameters() string {
	return fmt.Sprintf("_anyke;_max=%d", a.opts.History)
}

// ask queries caches. done is called with mu held when all has come or nothing more can.
func (a *AdvancedSubscriber) ask(key, parameters string, done func()) {
	end := func(error) {
		a.mu.Lock()
		done()
		a.drain() // unlocks
	}
	o := QuerierOptions{Target: All, Consolidation: None, Timeout: a.opts.Timeout, Destination: a.opts.Origin}
	_, err := a.s.Ask(a.ctx, key, o, QueryOptions{Parameters: parameters}, func(r *Reply) {
		if r.Sample != nil && keyexpr.Intersects(a.key, r.Sample.Key) {
			a.mu.Lock()
			a.take(r.Sample, true)
			a.drain() // unlocks
		}
	}, end)
	if err != nil {
		end(err)
	}
}

// arrived takes a sample that was published now.
func (a *AdvancedSubscriber) arrived(m *Sample) {
	a.mu.Lock()
	a.take(m, false)
	a.drain() // unlocks
}

// publisher is told of publishers that come and go.
func (a *AdvancedSubscriber) publisher(e LivelinessEvent) {
	id, ok := parseAdvanced(e.Key)
	if !ok || a.opts.Origin == Remote && id.id == a.s.ID() || a.opts.Origin == SessionLocal && id.id != a.s.ID() {
		return
	}
	a.mu.Lock()
	if a.closed {
		a.mu.Unlock()
		return
	}
	src := a.source(id)
	src.gone = !e.Alive
	if !e.Alive {
		a.mu.Unlock()
		return
	}
	src.queries++
	a.mu.Unlock()
	a.ask(e.Key, a.historyParameters(), func() {
		src.queries--
		a.settle(src)
	})
}

// beat takes a publisher's word of its last number.
func (a *AdvancedSubscriber) beat(m *Sample) {
	id, ok := parseAdvanced(m.Key)
	if !ok || id.timed || m.Kind != Put || len(m.Payload) != 4 {
		return
	}
	last := binary.LittleEndian.Uint32(m.Payload)
	a.mu.Lock()
	if a.closed {
		a.mu.Unlock()
		return
	}
	src := a.source(id)
	if !src.has && a.opts.History == 0 {
		src.has, src.last = true, last // what came before us is not owed
	}
	src.told.raise(last)
	a.settle(src)
	a.drain() // unlocks
}

// drain delivers what is to be delivered and sends the queries that were
// ordered, unless somebody does so already. It is called with mu held and
// unlocks it.
func (a *AdvancedSubscriber) drain() {
	if a.running {
		a.mu.Unlock()
		return
	}
	a.running = true
	for i := 0; ; {
		switch {
		case i < len(a.out):
			x := a.out[i]
			a.out[i] = item{}
			i++
			closed := a.closed
			a.mu.Unlock()
			switch {
			case closed:
			case x.m != nil:
				a.fn(x.m)
			case a.opts.OnMiss != nil:
				a.opts.OnMiss(x.miss)
			}
			if x.m != nil {
				x.m.Release()
			}
			a.mu.Lock()
			continue
		case len(a.orders) > 0:
			o := a.orders[0]
			a.orders = a.orders[:copy(a.orders, a.orders[1:])]
			a.mu.Unlock()
			a.ask(o.key, o.parameters, func() {
				o.src.queries--
				o.src.asked = o.src.asking
				a.settle(o.src)
			})
			a.mu.Lock()
			continue
		}
		break
	}
	a.out = a.out[:0]
	a.running = false
	a.mu.Unlock()
}

// deliver queues a sample; mu is held. A lent one is delivered before the call
// that brought it ends, unless somebody else delivers: then it must be kept.
func (a *AdvancedSubscriber) deliver(m *Sample) {
	if a.running && !m.held {
		m = m.Retain()
	}
	a.out = append(a.out, item{m: m})
}
