// Package control is the language of processes that meet in a folder: what a
// process announces about itself, and what two processes say over a control
// connection. It turns both into bytes and back and does nothing else: no
// connection, no file, no lock, so that every rule of the protocol can be
// tested with bytes alone. What comes in is not trusted: every length is
// bounded and checked before anything is allocated.
//
// Layouts and rules of extension are in docs/shm-protocol.md; the tests hold
// bytes written by hand from that page.
//
// It must not import transports or package folder.
package control

// ProtocolVersion is the version of everything in docs/shm-protocol.md except
// the announcement file around the body, which has its own. Processes of
// different versions refuse each other and name both numbers.
const ProtocolVersion = 1
