// Package transport is what all paths of a message have in common: the two
// ends of a topic and what the paths hang between them.
//
// An Outlet is a publisher endpoint without its Go type: it numbers the
// accepted messages, keeps the history for late joiners and hands every
// message to its Links. An Inlet is a subscription endpoint without its Go
// type: it puts what its Feeds hold into one order, keeps exactly the newest
// Depth of it, leases messages to the callback and counts what was lost. A
// Transport finds pairs of ends and joins them with a Link on the publisher's
// side and a Source on the subscription's side; the in-process path does that
// by a queue of pointers, the shared-memory path by a ring of slots.
//
// Every path passes the suite in package conformance. This package knows
// neither Go message types nor sockets, files or the network, and imports no
// path.
package transport
