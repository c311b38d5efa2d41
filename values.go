package tagus

import (
	"sync"

	"github.com/tagus-ros/tagus/internal/transport"
	"github.com/tagus-ros/tagus/rosidl"
)

// valuePool recycles the messages that move by pointer, last in first out, with the
// counted Values that carry them. A message comes back when its last reader is done.
type valuePool[T any] struct {
	ts *rosidl.TypeSupport[T]

	mu     sync.Mutex
	idle   []*pooled[T]       // messages of this pool that nobody has
	out    map[*T]*pooled[T]  // messages of this pool that New gave out
	values []*transport.Value // without a message
	lent   map[*transport.Value]*pooled[T]
}

// pooled is a message of the pool with the slices that the pool made for it.
type pooled[T any] struct {
	msg   *T
	owned rosidl.Owned
}

// idleMessages bounds what a pool keeps: more are in use at a time only when readers
// retain them.
const idleMessages = 16

func (p *valuePool[T]) init(ts *rosidl.TypeSupport[T]) {
	p.ts = ts
	p.out = make(map[*T]*pooled[T])
	p.lent = make(map[*transport.Value]*pooled[T])
}

// get takes an idle message or makes one. Called under mu.
func (p *valuePool[T]) get() *pooled[T] {
	if n := len(p.idle); n > 0 {
		m := p.idle[n-1]
		p.idle[n-1] = nil
		p.idle = p.idle[:n-1]
		return m
	}
	return &pooled[T]{msg: new(T)}
}

func (p *valuePool[T]) new() *T {
	p.mu.Lock()
	m := p.get()
	if len(p.out) < idleMessages { // who keeps more does not give them to PublishOwned
		p.out[m.msg] = m
	}
	p.mu.Unlock()
	p.ts.Default(m.msg)
	return m.msg
}

// own wraps m, which its user gave away.
func (p *valuePool[T]) own(m *T) *transport.Value {
	p.mu.Lock()
	defer p.mu.Unlock()
	v := p.value()
	if pm := p.out[m]; pm != nil {
		delete(p.out, m)
		p.lent[v] = pm
	}
	v.Init(pointer(m), p)
	return v
}

// copy wraps a copy of m in a recycled message.
func (p *valuePool[T]) copy(m *T) *transport.Value {
	p.mu.Lock()
	pm := p.get()
	v := p.value()
	p.lent[v] = pm
	p.mu.Unlock()
	p.ts.Copy(pm.msg, m)
	v.Init(pointer(pm.msg), p)
	return v
}

func (p *valuePool[T]) value() *transport.Value {
	if n := len(p.values); n > 0 {
		v := p.values[n-1]
		p.values = p.values[:n-1]
		return v
	}
	return new(transport.Value)
}

// RecycleValue takes back v with its message. A message that did not come from the
// pool is left to the garbage collector, and so are slices that its user put in.
func (p *valuePool[T]) RecycleValue(v *transport.Value) {
	v.Ptr = nil
	p.mu.Lock()
	defer p.mu.Unlock()
	pm := p.lent[v]
	delete(p.lent, v)
	p.values = append(p.values, v)
	if pm == nil || len(p.idle) >= idleMessages {
		return
	}
	p.ts.Recycle(pm.msg, &pm.owned)
	p.idle = append(p.idle, pm)
}
