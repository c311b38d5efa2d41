// Package keyexpr checks, rewrites and compares Zenoh key expressions.
//
// A key is a sequence of non-empty chunks joined by '/'. An expression may
// hold wildcards: "*" stands for one chunk, "**" for any number of chunks,
// "$*" inside a chunk for any number of characters. A chunk that begins with
// '@' is verbatim: it stands only for itself and no wildcard covers it.
//
// Everything here is a pure function over strings, bounded in time by the
// product of the lengths compared, so expressions that come from a peer are
// safe to hand in. The package imports nothing but the standard library and
// knows neither the wire nor sessions.
package keyexpr
