// Package graph is what a process knows about the nodes and endpoints of its domain: their identity, their names, types and
// quality of service, and every change of it.
//
// Identity is the one of rmw_zenoh, on every path and from the first moment: a participant is one session (in tagus: one Domain of
// one process), entities are numbered within it, an entity is written as a liveliness token, and its GID is a hash of that token.
// So a publisher has the same GID in process, through shared memory and over the network.
//
// The package holds data and nothing that speaks: sources (shared memory, network, the process itself) put in what they learn. It
// must not import a transport, message packages or the root package.
package graph
