package arena

import (
	"time"

	"github.com/tagus-ros/tagus/internal/pool"
)

// Recycle is the order in which released slots are used again.
type Recycle uint8

// LIFO is what everybody wants; the others exist to measure what it brings.
const (
	LIFO Recycle = iota // the slot last released is the next taken
	FIFO                // the slot released longest ago is the next taken
	Off                 // a released slot is given back to the system at once
)

// String returns "lifo", "fifo" or "off".
func (r Recycle) String() string {
	switch r {
	case LIFO:
		return "lifo"
	case FIFO:
		return "fifo"
	case Off:
		return "off"
	}
	return "invalid"
}

// TrimAfter is how long a slot is at least unused before it is given back
// because too much is idle. It is given back before twice that time.
const TrimAfter = 5 * time.Second

// KeepNothing as Config.Retain is a retention bound of 0: as Recycle Off.
const KeepNothing = -1

// Config says how an arena is made.
type Config struct {
	// Limit bounds the committed bytes. 0 takes it from TAGUS_SHM_MAX_BYTES
	// (1 GiB). The arena's limit is lower if a quarter of the memory cgroup's
	// limit, or half of the machine's memory, is less.
	Limit int64
	// Retain is the number of idle bytes that are kept however long they stay
	// idle. 0 takes it from TAGUS_BUFFER_POOL_MAX_SIZE_BYTES (16 MiB);
	// KeepNothing is a bound of 0. It never makes a Get fail.
	Retain int64
	// Recycle is the order of reuse. Off goes with KeepNothing: either sets both.
	Recycle Recycle
	// Heap asks for plain memory of this process, without a descriptor, also
	// where memory files exist. Systems other than Linux have only that.
	Heap bool

	host    *host   // where limits and headroom are read; nil is this machine
	backing backing // nil is chosen by Heap and the system
}

// ConfigFromEnv reads both bounds from the environment. A value that is empty
// or unreadable is reported to warn, which may be nil, and the default holds.
func ConfigFromEnv(warn func(msg string)) Config {
	c := Config{Limit: pool.ShmLimitFromEnv(warn), Retain: pool.RetainFromEnv(warn)}
	if c.Retain == 0 {
		c.Retain = KeepNothing
	}
	return c
}

func (c Config) withDefaults() Config {
	env := ConfigFromEnv(nil)
	if c.Limit <= 0 {
		c.Limit = env.Limit
	}
	if c.Retain == 0 {
		c.Retain = env.Retain
	}
	if c.Retain < 0 || c.Recycle == Off {
		c.Retain, c.Recycle = 0, Off
	}
	if c.host == nil {
		c.host = thisHost()
	}
	return c
}
