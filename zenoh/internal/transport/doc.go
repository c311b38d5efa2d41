// Package transport carries network messages between two Zenoh sessions over
// one stream link: the handshake, the eight priorities with two lanes each,
// frames and fragments both ways, keep-alives, leases and close reasons.
//
// Sending is a pipeline. A message that fits a batch is copied into the batch
// under construction of its priority; a larger one is never copied: its
// fragments point into the sender's payload, and the sender waits until the
// kernel has them or until the message is dropped as a whole. Who finds the
// link idle writes by itself, without a change of goroutine; in a burst, and
// whenever the link does not take all, one goroutine writes, many batches in
// one call. Reading is one goroutine, which calls the Handler for each message.
//
// The package knows the records of wire and nothing of keys, subscriptions or
// queries. It must not import the public package.
package transport
