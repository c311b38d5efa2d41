package pool

import (
	"fmt"
	"os"
	"strconv"
)

// The environment variables that bound memory, and what holds without them.
// Both take a whole, decimal number of bytes.
const (
	// EnvRetain bounds the bytes kept idle for reuse: by a Pool, and, apart from
	// it, by the arena of shared memory. 0 keeps nothing (for comparing runs).
	EnvRetain = "TAGUS_BUFFER_POOL_MAX_SIZE_BYTES"
	// DefaultRetain is about the size of a modern last-level cache.
	DefaultRetain = 16 << 20

	// EnvShmLimit bounds the bytes of shared memory that a process commits.
	EnvShmLimit = "TAGUS_SHM_MAX_BYTES"
	// DefaultShmLimit is what EnvShmLimit replaces.
	DefaultShmLimit = 1 << 30
)

// RetainFromEnv returns the bound of EnvRetain in bytes, at least 0. An empty
// or unreadable value is reported to warn (which may be nil) and DefaultRetain
// holds.
func RetainFromEnv(warn func(msg string)) int64 {
	return bytesFromEnv(EnvRetain, 0, DefaultRetain, warn)
}

// ShmLimitFromEnv returns the bound of EnvShmLimit in bytes, at least 1. An
// empty or unreadable value, 0 included, is reported to warn (which may be nil)
// and DefaultShmLimit holds.
func ShmLimitFromEnv(warn func(msg string)) int64 {
	return bytesFromEnv(EnvShmLimit, 1, DefaultShmLimit, warn)
}

func bytesFromEnv(name string, least, fallback int64, warn func(msg string)) int64 {
	text, set := os.LookupEnv(name)
	if !set {
		return fallback
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil && n >= least {
		return n
	}
	if warn != nil {
		what := fmt.Sprintf("%q is not a whole number of bytes of at least %d", text, least)
		if text == "" {
			what = "the value is empty"
		}
		warn(fmt.Sprintf("%s: %s; using the default of %d", name, what, fallback))
	}
	return fallback
}
