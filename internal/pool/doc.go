// Package pool keeps plain (heap) buffers for reuse, and holds what every
// recycler of buffers shares: the table of size classes and the reading of the
// two environment variables that bound memory.
//
// A fresh buffer of payload size costs page faults and is cold in the cache;
// the one released last is mapped and hot. So buffers are kept in a bounded
// last-in-first-out list per size class. sync.Pool is no substitute: a
// collection empties it.
//
// The package must import nothing but the standard library: arena, transports
// and network stand on it.
package pool
