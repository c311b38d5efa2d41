package zenoh

import (
	"unsafe"

	"github.com/tagus-ros/tagus/zenoh/internal/keyexpr"
)

// CheckKey reports whether s is a key expression in canon form, the only form
// that declarations take; the error is a *KeyError with place and reason.
func CheckKey(s string) error { return keyexpr.Check(s) }

// Canon rewrites a key expression into canon form: runs of "*" and "**" become
// all single stars first and one double star, "$*" as a whole chunk becomes
// "*". What is no key expression is refused with a *KeyError.
func Canon(s string) (string, error) { return keyexpr.Canon(s) }

// Intersects reports whether some key is covered by both expressions, which must be in canon form.
func Intersects(a, b string) bool { return keyexpr.Intersects(a, b) }

// Includes reports whether a covers every key that b covers; both must be in canon form.
func Includes(a, b string) bool { return keyexpr.Includes(a, b) }

// bytesOf gives the bytes of s for reading only.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
