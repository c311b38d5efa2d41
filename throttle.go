package tagus

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/tagus-ros/tagus/internal/clock"
)

// Throttled is l, but of what each place in the source logs through it at most one message
// a period passes. Make it once and keep it: each call begins anew.
func Throttled(l *slog.Logger, period time.Duration) *slog.Logger {
	return slog.New(&throttle{h: l.Handler(), state: &throttled{period: int64(max(period, 0))}})
}

// Once is l, but each place in the source logs through it once only. Make it once and
// keep it: each call begins anew.
func Once(l *slog.Logger) *slog.Logger {
	return slog.New(&throttle{h: l.Handler(), state: &throttled{period: -1}})
}

type throttle struct {
	h     slog.Handler
	state *throttled
}

// throttled remembers when each place was last let through.
type throttled struct {
	period int64 // ns; below 0: for ever
	mu     sync.Mutex
	last   map[uintptr]int64 // ns of clock.Mono by place; as many as log through it
}

func (t *throttled) pass(pc uintptr, now int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	last, before := t.last[pc]
	if before && (t.period < 0 || now-last < t.period) {
		return false
	}
	if t.last == nil {
		t.last = make(map[uintptr]int64)
	}
	t.last[pc] = now
	return true
}

func (t *throttle) Enabled(ctx context.Context, level slog.Level) bool {
	return t.h.Enabled(ctx, level)
}

func (t *throttle) Handle(ctx context.Context, r slog.Record) error {
	if !t.state.pass(r.PC, clock.Mono()) {
		return nil
	}
	return t.h.Handle(ctx, r)
}

func (t *throttle) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &throttle{t.h.WithAttrs(attrs), t.state}
}

func (t *throttle) WithGroup(name string) slog.Handler {
	return &throttle{t.h.WithGroup(name), t.state}
}
