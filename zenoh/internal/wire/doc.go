// Package wire encodes and decodes the records of the Zenoh 1.x protocol.
//
// One record stands in one file. Encoding appends to a slice the caller gives;
// decoding reads from a Reader whose input may come from anybody: every length
// is checked against what is left before it is used, byte strings are never
// copied but point into the input, and nothing is allocated except an *Error.
// Encoders trust their caller (the session has checked keys and sizes).
//
// The package holds no state and knows neither connections nor sessions; it
// imports only the standard library.
package wire
