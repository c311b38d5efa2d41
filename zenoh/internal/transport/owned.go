package transport

import (
	"sync"
	"sync/atomic"

	"github.com/tagus-ros/tagus/internal/pool"
)

// Owned is a received message in memory of its own, which a handler may keep:
// it is recycled when the last reference is released.
type Owned struct {
	refs atomic.Int32
	b    []byte
	pool *pool.Pool
}

var owneds = sync.Pool{New: func() any { return new(Owned) }}

// Adopt makes an Owned of memory that p gave, with one reference.
func Adopt(b []byte, p *pool.Pool) *Owned {
	o := owneds.Get().(*Owned)
	o.b, o.pool = b, p
	o.refs.Store(1)
	return o
}

// Ref adds a reference.
func (o *Owned) Ref() { o.refs.Add(1) }

// Unref takes one away; after the last the memory is somebody else's.
func (o *Owned) Unref() {
	if n := o.refs.Add(-1); n > 0 {
		return
	} else if n < 0 {
		panic("zenoh: received message released more often than retained")
	}
	o.pool.Put(o.b)
	o.b, o.pool = nil, nil
	owneds.Put(o)
}
