// Package conformance is the one suite that every path of a message passes, within a
// process and between processes.
//
// A path's own tests say by a [Harness] where publishers and subscriptions live, and
// call [Run]. The cases then make endpoints at two [Host]s. A host is a participant of
// this test process or of another one: a test binary that executes itself again serves
// the same calls over its standard input and output, so that each case is written once.
//
// Every message carries its number and filler computed from it and from its
// publisher; whoever takes one checks all of it.
//
// It is for tests only. It imports no path.
package conformance
