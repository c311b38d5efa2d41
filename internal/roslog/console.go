package roslog

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Console writes lines to a file, usually standard error. Writing never waits for whoever reads the file: while that takes nothing, lines
// are kept up to a bound, further ones are counted, and the count is written once it goes on.
type Console struct {
	format  Format
	colours bool
	w       io.Writer
	ready   func() bool // whether w takes a piece now

	mu      sync.Mutex
	idle    sync.Cond // nobody writes; on mu
	pending []byte    // what nobody has begun to write
	spare   []byte    // memory for the next pending
	writing bool      // somebody brings pending out, and will look again
	lost    int       // lines since the last report

	total atomic.Uint64 // lost lines
}

const (
	pendingLimit = 1 << 20 // bytes of lines that wait
	pieceLimit   = 4096    // bytes that a pipe which is ready takes for sure
	ownShare     = 64 << 10
)

// NewConsole makes a console of a file, as the environment says.
func NewConsole(f *os.File, getenv func(string) string) *Console {
	c := newConsole(f, func() bool { return ready(f) }, ParseFormat(getenv("RCUTILS_CONSOLE_OUTPUT_FORMAT")))
	switch getenv("RCUTILS_COLORIZED_OUTPUT") {
	case "1":
		c.colours = true
	case "":
		info, err := f.Stat()
		c.colours = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return c
}

func newConsole(w io.Writer, ready func() bool, f Format) *Console {
	c := &Console{w: w, ready: ready, format: f}
	c.idle.L = &c.mu
	return c
}

// Standard is the console of the process: standard error, or standard output if RCUTILS_LOGGING_USE_STDOUT is 1.
var Standard = sync.OnceValue(func() *Console {
	f := os.Stderr
	if os.Getenv("RCUTILS_LOGGING_USE_STDOUT") == "1" {
		f = os.Stdout
	}
	return NewConsole(f, os.Getenv)
})

// NeedsLocation says whether lines name the place in the source that they come from.
func (c *Console) NeedsLocation() bool { return c.format.NeedsLocation() }

// Print writes a line. It does not wait, also for other lines: who comes while another writes leaves the line to that one.
func (c *Console) Print(l *Line) {
	c.mu.Lock()
	if len(c.pending) >= pendingLimit {
		c.lost++
		c.total.Add(1)
		c.mu.Unlock()
		return
	}
	c.put(l)
	if c.writing {
		c.mu.Unlock()
		return
	}
	c.writing = true
	c.mu.Unlock()
	c.write()
}

// put adds a line to what waits. Called under mu.
func (c *Console) put(l *Line) {
	start := ""
	if c.colours {
		start = colour(l.Level)
	}
	c.pending = append(c.pending, start...)
	c.pending = c.format.Append(c.pending, l)
	if start != "" {
		c.pending = append(c.pending, plain...)
	}
	c.pending = append(c.pending, '\n')
}

// take gives what waits, or nil: then nobody writes any more.
func (c *Console) take() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost > 0 && len(c.pending) < pendingLimit {
		c.put(&Line{Level: Warn, Time: time.Now().UnixNano(), Logger: "tagus", Message: fmt.Sprintf("%d lines were not written: the console took nothing", c.lost)})
		c.lost = 0
	}
	if len(c.pending) == 0 {
		c.writing = false
		c.idle.Broadcast()
		return nil
	}
	b := c.pending
	c.pending = c.spare[:0]
	c.spare = nil
	return b
}

// give takes the memory of what was written back.
func (c *Console) give(b []byte) {
	c.mu.Lock()
	c.spare = b[:0]
	c.mu.Unlock()
}

// write brings out what waits as far as that goes without waiting. The rest is left to a goroutine made for it.
func (c *Console) write() {
	share := ownShare
	for {
		b := c.take()
		if b == nil {
			return
		}
		rest := b
		for len(rest) > 0 {
			if share <= 0 || !c.ready() {
				go c.finish(b, rest)
				return
			}
			n := min(len(rest), pieceLimit)
			c.out(rest[:n])
			rest = rest[n:]
			share -= n
		}
		c.give(b)
	}
}

// finish writes rest, which is the end of b, and all that comes meanwhile, however long that takes.
func (c *Console) finish(b, rest []byte) {
	for b != nil {
		c.out(rest)
		c.give(b)
		b = c.take()
		rest = b
	}
}

// out writes; an error of the console has nowhere to go.
func (c *Console) out(b []byte) { _, _ = c.w.Write(b) }

// Flush waits until everything is written, but no longer than that.
func (c *Console) Flush(atMost time.Duration) {
	over := false
	t := time.AfterFunc(atMost, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		over = true
		c.idle.Broadcast()
	})
	defer t.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.writing && !over {
		c.idle.Wait()
	}
}

// Lost is how many lines were not written because nobody took them.
func (c *Console) Lost() uint64 { return c.total.Load() }
