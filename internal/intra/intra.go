// Package intra is the path inside a process: messages move by pointer through
// a bounded queue for each matched pair, without encoding. Where other readers
// make the publisher encode anyway, the queue carries the slot instead and the
// reader decodes it in place.
//
// It knows no Go message types and imports no other path.
package intra

import "github.com/tagus-ros/tagus/internal/transport"

// New makes the in-process path for the pairs for which joins reports true.
// joins is called under a mutex and must not call back.
func New(joins func(*transport.Outlet, *transport.Inlet) bool) transport.Transport {
	return transport.NewLocal(transport.PathIntra, joins, func(o *transport.Outlet, in *transport.Inlet) (transport.LocalPair, error) {
		return newQueue(in.Depth(), transport.Refuses(&o.Endpoint, &in.Endpoint), o.Endpoint.GID), nil
	})
}
