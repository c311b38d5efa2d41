package conformance

import (
	"context"
	"errors"
	"sync"
	"time"
	"unsafe"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/clock"
	"github.com/tagus-ros/tagus/internal/transport"
	"github.com/tagus-ros/tagus/qos"
)

// publisher sends payloads in the forms that its readers want, as the typed one does.
type publisher struct {
	m *member
	o *transport.Outlet

	mu     sync.Mutex
	number uint64 // of the next message

	values recycler
}

func (m *member) Publisher(topic string, q qos.Profile) (Publisher, error) {
	p := &publisher{m: m, o: transport.NewOutlet(m.endpoint(graph.KindPublisher, topic, q)), number: 1}
	for _, path := range m.Paths {
		if err := path.AddPublisher(p.o); err != nil {
			return nil, err
		}
	}
	m.own(p.o.Endpoint, p.Close)
	return p, nil
}

func (p *publisher) GID() graph.GID { return p.o.Endpoint.GID }

func (p *publisher) Wait(n int) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return p.o.WaitLinks(ctx, n)
}

func (p *publisher) Publish(b Batch) (Sent, error) {
	lanes := max(b.Lanes, 1)
	var all Sent
	var errs []error
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range lanes {
		wg.Add(1)
		go func() {
			defer wg.Done()
			sent, err := p.lane(b, i, lanes)
			mu.Lock()
			defer mu.Unlock()
			all.N += sent.N
			all.Full += sent.Full
			all.Slowest = max(all.Slowest, sent.Slowest)
			errs = append(errs, err)
		}()
	}
	wg.Wait()
	return all, errors.Join(errs...)
}

// lane sends every lanes-th message of b.
func (p *publisher) lane(b Batch, lane, lanes int) (sent Sent, err error) {
	size := minPayload * 4
	due := time.Now() // of the message, or when the last one was accepted
	for i := lane; i < b.N; i += lanes {
		if len(b.Sizes) > 0 {
			size = b.Sizes[i%len(b.Sizes)]
		}
		if b.Every > 0 {
			due = due.Add(b.Every)
			time.Sleep(time.Until(due))
		}
		for {
			start := time.Now()
			err := p.publish(max(size, minPayload))
			sent.Slowest = max(sent.Slowest, time.Since(start))
			if err == nil {
				sent.N++
				if b.Retry {
					due = time.Now()
				}
				break
			}
			if full := (*transport.QueueFullError)(nil); !errors.As(err, &full) {
				return sent, err
			}
			sent.Full++
			if !b.Retry {
				break
			}
			if time.Since(due) > patience {
				return sent, err
			}
			time.Sleep(50 * time.Microsecond)
		}
	}
	return sent, nil
}

// publish sends one message. What it is numbered is its own affair: one that is refused
// gives its number to the next.
func (p *publisher) publish(size int) error {
	m := transport.Message{Stamp: clock.Mono(), Source: clock.Wall()}
	p.mu.Lock()
	number := p.number
	p.number++
	p.mu.Unlock()
	err := p.send(&m, number, size, p.o.Wants, p.o.Send)
	if m.Slot != nil {
		m.Slot.Unref()
	}
	if m.Value != nil {
		m.Value.Drop()
	}
	if err != nil && m.Sequence == 0 {
		p.mu.Lock()
		p.number--
		p.mu.Unlock()
	}
	return err
}

// send brings m into the forms that are wanted and hands it to give.
func (p *publisher) send(m *transport.Message, number uint64, size int, wants func() transport.Form, give func(*transport.Message) error) error {
	var full error
	for {
		want := wants()
		if want&transport.FormBytes != 0 && m.Slot == nil && full == nil {
			p.o.Collect()
			slot, err := p.m.Arena.Get(transport.SlotHeader + size)
			if err != nil {
				full, m.NoSlot = err, true
			} else {
				mem := slot.Mem()
				copy(mem[transport.CDROffset:], encapsulation[:])
				fill(mem[transport.SlotHeader:], number, &p.o.Endpoint.GID)
				m.Slot, m.Length = slot, len(encapsulation)+size
			}
		}
		if want&transport.FormAny != 0 && m.Slot == nil && m.Value == nil {
			m.Value = p.values.get(size)
			fill((*filler)(m.Value.Ptr).data, number, &p.o.Endpoint.GID)
		}
		err := give(m)
		if err == transport.ErrForm {
			continue
		}
		return errors.Join(err, full)
	}
}

func (p *publisher) Counts() (uint64, transport.LinkCounts, error) {
	accepted, c := p.o.Counts()
	return accepted, c, nil
}

func (p *publisher) Close() error {
	if !p.m.disown(p.o.Endpoint) {
		return nil
	}
	p.o.Close()
	for _, path := range p.m.Paths {
		path.RemovePublisher(p.o)
	}
	return nil
}

// filler is the Go message of this suite.
type filler struct{ data []byte }

// recycler keeps the messages that nobody reads any more, spoilt, so that who still
// does is found out.
type recycler struct {
	mu   sync.Mutex
	free []*transport.Value
}

func (r *recycler) get(size int) *transport.Value {
	r.mu.Lock()
	defer r.mu.Unlock()
	var v *transport.Value
	var f *filler
	if n := len(r.free); n > 0 {
		v = r.free[n-1]
		r.free = r.free[:n-1]
		f = (*filler)(v.Ptr)
	} else {
		v, f = new(transport.Value), new(filler)
	}
	if cap(f.data) < size {
		f.data = make([]byte, size)
	}
	f.data = f.data[:size]
	v.Init(unsafe.Pointer(f), r)
	return v
}

func (r *recycler) RecycleValue(v *transport.Value) {
	for _, at := range []int{0, 8, len((*filler)(v.Ptr).data) - 1} {
		(*filler)(v.Ptr).data[at] ^= 0x5a
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.free = append(r.free, v)
}
